/* Storage edits: calls that are given buffers. */
#include "core/layout.h"
#include "core/plan_storage_parts.h"
#include "core/rule_at.h"

/* ---- who is called ------------------------------------------------------- */

static const ar_function_rule *rule_of(const ar_rewriter *r,
                                       const ar_node *call) {
    return ar_rule_at(r->rules, r->program, ar_direct_callee(call->kids[0]),
                      call->range);
}

const ar_function_rule *ar_memory_rule(const ar_rewriter *r,
                                       const ar_node *call) {
    const ar_decl *callee = ar_direct_callee(call->kids[0]);
    bool has_body = callee && ar_definition_of(r->program, callee);
    return has_body ? NULL : rule_of(r, call);
}

const char *ar_file_function(const ar_node *call) {
    const ar_decl *callee = ar_direct_callee(call->kids[0]);
    if (callee && callee->is_system && strcmp(callee->name, "fwrite") == 0)
        return "amp_fwrite";
    if (callee && callee->is_system && strcmp(callee->name, "fread") == 0)
        return "amp_fread";
    return NULL;
}

static const char *cannot_take(const ar_rewriter *r, const ar_node *call,
                               const char *why) {
    const ar_decl *callee = ar_direct_callee(call->kids[0]);
    return ar_sprintf(r->arena, "it is passed to '%s', %s",
                      callee ? callee->name : "a function pointer", why);
}

static const char *rename_problem(const ar_rewriter *r, const ar_node *call) {
    const char *problem = ar_text_problem(r, call->range);
    return problem ? problem : ar_text_problem(r, call->op_range);
}

/* ---- copies -------------------------------------------------------------- */

bool ar_copy_is_mixed(const ar_rewriter *r, const ar_unit *unit,
                      const ar_node *call) {
    const ar_flow *flow = ar_storage_copy_at(r->storage->index, unit, call);
    return flow &&
           ar_class_is_half(r, flow->from) != ar_class_is_half(r, flow->to);
}

static const ar_node *as_written(const ar_node *argument) {
    while (argument->kind == AR_IMPLICIT && argument->kid_count)
        argument = argument->kids[0];
    return argument;
}

static bool is_buffer_text(const ar_node *argument) {
    return ar_float_depth(as_written(argument)->type) == 1;
}

/* Rows of an array: a[2][3] is no address of a float, *a is. */
static bool is_array_text(const ar_node *argument) {
    const ar_type *type = as_written(argument)->type;
    if (ar_is_kind(type, AR_TYPE_POINTER))
        type = type->element;
    return ar_float_depth(as_written(argument)->type) > 0 &&
           ar_is_float(ar_array_bottom(type));
}

static void put_buffer(ar_rewriter *r, const ar_node *argument,
                       const char *head, const char *tail) {
    const ar_node *text = as_written(argument);
    int depth = ar_float_depth(text->type);
    bool bare = text->kind == AR_REF || text->kind == AR_MEMBER ||
                text->kind == AR_INDEX || depth == 1;
    char stars[8] = "";
    for (int i = 1; i < depth && i < 7; i++)
        stars[i - 1] = '*';
    ar_put_call(r, argument, AR_LAYER_CALL,
                ar_sprintf(r->arena, "%s%s%s", head, stars, bare ? "" : "("),
                ar_sprintf(r->arena, "%s%s", bare ? "" : ")", tail));
}

static uint32_t skip_space_back(const ar_file *file, uint32_t at) {
    while (at > 0 && strchr(" \t", file->bytes[at - 1]))
        at--;
    return at;
}

/* n of n * sizeof(float), or NULL. */
static const ar_node *element_count(const ar_node *bytes) {
    while (bytes->kind == AR_IMPLICIT && bytes->kid_count)
        bytes = bytes->kids[0];
    if (bytes->kind != AR_BINARY || bytes->op != AR_OP_MUL)
        return NULL;
    for (uint32_t i = 0; i < 2; i++) {
        const ar_node *size = ar_skip_casts(bytes->kids[i]);
        if (size->kind == AR_SIZEOF && !size->kid_count &&
            ar_is_float(size->type_operand) && !size->range.in_macro_body)
            return bytes->kids[1 - i];
    }
    return NULL;
}

/* memcpy(d, s, n * sizeof(float)) -> amp_copy(AMP_BUFFER(d), AMP_BUFFER(s), n)
 */
static void put_copy(ar_rewriter *r, const ar_node *call) {
    const ar_node *bytes = call->kids[3];
    const ar_node *count = element_count(bytes);
    ar_put_text(r, call->op_range, "amp_copy");
    for (uint32_t i = 1; i <= 2; i++)
        put_buffer(r, call->kids[i], "AMP_BUFFER(", ")");
    if (!count) {
        ar_put_around(r, bytes->range, AR_LAYER_CALL, "(", ") / sizeof(float)");
        return;
    }
    const ar_node *product = ar_skip_casts(bytes);
    const ar_file *file =
        ar_files_load(&r->program->files, product->range.file);
    ar_range rest = product->range; /* n * [...] or [...] * n */
    if (count == product->kids[0])
        rest.begin = skip_space_back(file, product->op_range.begin);
    else
        rest.end = ar_skip_blank(file, product->op_range.end);
    ar_put_text(r, rest, "");
}

static const char *copy(ar_rewriter *r, const ar_site *site) {
    const ar_node *call = site->node;
    if (!ar_copy_is_mixed(r, site->where.unit, call))
        return NULL;
    const ar_function_rule *rule = rule_of(r, call);
    bool is_plain = rule->param_count == 3 && call->kid_count == 4 &&
                    rule->params[0].direction == AR_DIR_OUT &&
                    rule->params[1].direction == AR_DIR_IN && rule->uses &&
                    rule->uses[2] == AR_USE_BYTES;
    if (!is_plain || !is_array_text(call->kids[1]) ||
        !is_array_text(call->kids[2]))
        return cannot_take(r, call, "which copies between precisions here");
    if (ar_value_is_used(r, site->where.unit, call))
        return cannot_take(r, call, "whose result is used");
    const char *problem = rename_problem(r, call);
    for (uint32_t i = 1; i <= 3 && !problem; i++)
        problem = ar_text_problem(r, call->kids[i]->range);
    if (!problem)
        put_copy(r, call);
    return problem;
}

/* ---- clearing and files -------------------------------------------------- */

static const char *clear(ar_rewriter *r, const ar_site *site) {
    const ar_node *call = site->node;
    const ar_function_rule *rule = rule_of(r, call);
    for (uint32_t i = 0; i < rule->param_count && i + 1 < call->kid_count;
         i++) {
        if (!rule->uses || rule->uses[i] != AR_USE_VALUE)
            continue;
        const ar_node *value = ar_skip_casts(call->kids[i + 1]);
        if (value->kind != AR_INT_LIT || value->int_value != 0)
            return cannot_take(r, call, "which sets its bytes to no zero");
    }
    return NULL;
}

static const char *file(ar_rewriter *r, const ar_site *site) {
    const ar_node *call = site->node;
    const char *name = ar_file_function(call);
    if (!name)
        return cannot_take(r, call, "which has no form for half");
    const ar_node *buffer = call->kids[1];
    const char *problem = rename_problem(r, call);
    if (!problem && !is_array_text(buffer))
        return cannot_take(r, call, "with a buffer that is no float pointer");
    if (!problem && !is_buffer_text(buffer))
        problem = ar_text_problem(r, buffer->range);
    if (problem)
        return problem;
    ar_put_text(r, call->op_range, name);
    if (!is_buffer_text(buffer))
        put_buffer(r, buffer, "", "");
    return NULL;
}

/* ---- ops ----------------------------------------------------------------- */

/* Entries of the runtime that take an amp_buffer for each matrix. */
static const struct mixed_entry {
    const char *name, *header;
} mixed_entries[] = {
    {"amp_gemm", "amp/amp_storage.h"},
    {"amp_gemm_strided", "amp/amp_storage.h"},
    {"amp_gemv", "amp/amp_storage.h"},
    {"amp_linear_forward", "amp/amp_storage.h"},
    {"amp_linear_backward", "amp/amp_storage.h"},
    {"amp_cblas_sgemm", "amp/amp_cblas_storage.h"},
    {"amp_cblas_sgemv", "amp/amp_cblas_storage.h"},
    {"amp_cblas_sgemm_batch_strided", "amp/amp_cblas_storage.h"},
};

static const struct mixed_entry *mixed_entry(const ar_function_rule *rule) {
    size_t count = sizeof mixed_entries / sizeof *mixed_entries;
    for (size_t i = 0; i < count && rule->target; i++)
        if (strcmp(rule->target, mixed_entries[i].name) == 0)
            return &mixed_entries[i];
    return NULL;
}

/* What libamp does element by element where an operand is half. */
static const char *const mixed_calls[] = {"cblas_scopy", "cblas_saxpy",
                                          "cblas_sscal", "cblas_sdot"};

const char *ar_mixed_call(ar_arena *arena, const ar_function_rule *rule,
                          const char *function) {
    size_t count = sizeof mixed_calls / sizeof *mixed_calls;
    for (size_t i = 0; rule->kind == AR_RULE_OP && i < count; i++)
        if (strcmp(function, mixed_calls[i]) == 0)
            return ar_sprintf(arena, "amp_%s_mixed", function);
    return NULL;
}

static bool mentions(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *p = text; (p = strstr(p, name)); p++) {
        bool starts = p == text || !ar_is_word(p[-1]);
        bool ends = !ar_is_word(p[length]);
        if (starts && ends)
            return true;
    }
    return false;
}

/* A wrapper passes a matrix on as it is. */
static bool passes_matrices(const ar_function_rule *rule) {
    for (uint32_t i = 0; i < rule->argument_count; i++)
        for (uint32_t k = 0; k < rule->param_count; k++)
            if (rule->params[k].direction != AR_DIR_VALUE &&
                strcmp(rule->arguments[i], rule->params[k].name) != 0 &&
                mentions(rule->arguments[i], rule->params[k].name))
                return false;
    return true;
}

const char *ar_mixed_target(ar_arena *arena, const ar_function_rule *rule) {
    const struct mixed_entry *entry = mixed_entry(rule);
    return entry && passes_matrices(rule)
               ? ar_sprintf(arena, "%s_mixed", entry->name)
               : NULL;
}

const char *ar_mixed_header(const ar_function_rule *rule) {
    const struct mixed_entry *entry = mixed_entry(rule);
    return entry ? entry->header : NULL;
}

bool ar_is_null_pointer(const ar_node *node) {
    node = ar_skip_casts(node);
    return node && node->kind == AR_INT_LIT && node->int_value == 0;
}

static const char *op(ar_rewriter *r, const ar_op_site *found) {
    const ar_node *call = found->node;
    bool has_form = found->half
                        ? ar_mixed_target(r->arena, found->rule) != NULL
                        : ar_mixed_call(r->arena, found->rule,
                                        found->callee->decl->name) != NULL;
    if (!has_form)
        return cannot_take(r, call, "which has no form for half operands");
    const char *problem = rename_problem(r, call);
    for (uint32_t i = 0; i < found->rule->param_count && !problem; i++) {
        if (found->rule->params[i].direction == AR_DIR_VALUE ||
            i + 1 >= call->kid_count)
            continue;
        if (!is_buffer_text(call->kids[i + 1]) &&
            !ar_is_null_pointer(call->kids[i + 1]))
            return cannot_take(r, call,
                               "with a matrix that is no float pointer");
        if (!ar_is_null_pointer(call->kids[i + 1]))
            problem = ar_text_problem(r, call->kids[i + 1]->range);
    }
    return problem; /* plan_ops.c redirects the call */
}

bool ar_op_has_half_operand(const ar_storage_plan *storage,
                            const ar_node *call) {
    const ar_storage_facts *facts = storage->facts;
    const ar_storage_index *index = storage->index;
    for (uint32_t i = ar_storage_site_at(index, call); i;
         i = ar_storage_site_after(index, i)) {
        const ar_site *site = &facts->sites.data[i - 1];
        if (site->kind == AR_SITE_CALL)
            for (uint32_t k = 0; k < site->class_count; k++)
                if (storage->classes[site->classes[k]].half)
                    return true;
    }
    return false;
}

/* ---- the program's own functions ----------------------------------------- */

/* The solver sees to it that there is a version for the call; plan_versions.c
 * names it. */
static const char *own(ar_rewriter *r, const ar_site *site) {
    if (!r->plan)
        return NULL;
    const ar_storage_call *call =
        ar_storage_call_at(r->storage->index, site->node);
    if (call && r->storage->versions->of[call->callee->id] &&
        !ar_storage_version_called(r->storage, call))
        return cannot_take(r, site->node, "which has no version for that");
    return NULL;
}

static bool is_memory_rule(ar_rule_kind kind) {
    return kind == AR_RULE_ALLOC || kind == AR_RULE_REALLOC ||
           kind == AR_RULE_FREE || kind == AR_RULE_COPY ||
           kind == AR_RULE_CLEAR;
}

/* memcmp(a, b, bytes) == 0: equal numbers have equal bytes in half, too. Their
 * order is none of numbers. */
static bool only_tells_equal(const ar_rewriter *r, const ar_site *site) {
    const ar_node *node = site->node;
    const ar_node *parent =
        ar_storage_parent(r->storage->index, site->where.unit, node);
    while (parent && (parent->kind == AR_IMPLICIT || parent->kind == AR_CAST) &&
           ar_is_kind(parent->type, AR_TYPE_BOOL)) {
        node = parent;
        parent = ar_storage_parent(r->storage->index, site->where.unit, node);
    }
    if (!parent)
        return false;
    switch ((int)parent->kind) {
    case AR_UNARY:
        return parent->op == AR_OP_NOT;
    case AR_BINARY:
        return parent->op == AR_OP_LOGICAL_AND ||
               parent->op == AR_OP_LOGICAL_OR ||
               ((parent->op == AR_OP_EQ || parent->op == AR_OP_NE) &&
                ar_is_null_pointer(parent->kids[parent->kids[0] == node]));
    case AR_IF:
    case AR_WHILE:
        return parent->kids[0] == node;
    case AR_CONDITIONAL:
        return parent->kids[0] == node && parent->kid_count == 3;
    default:
        return false;
    }
}

static const char *comparison(ar_rewriter *r, const ar_site *site) {
    const ar_node *call = site->node;
    for (uint32_t i = 1; i <= 2; i++)
        if (!is_array_text(call->kids[i]))
            return cannot_take(r, call, "beside what is no float memory");
    if (!only_tells_equal(r, site))
        return cannot_take(r, call, "whose result is more than equal or not");
    return NULL;
}

/* The call, or the argument, has another site, which says more. */
static bool has_own_site(const ar_node *call, const ar_function_rule *rule) {
    return ar_vector_form(ar_direct_callee(call->kids[0])) ||
           (rule && (is_memory_rule(rule->kind) || ar_is_scan(rule)));
}

static const char *foreign(ar_rewriter *r, const ar_site *site) {
    const ar_function_rule *rule = rule_of(r, site->node);
    if (site->kind == AR_SITE_CALL && has_own_site(site->node, rule))
        return NULL;
    if (!rule)
        return cannot_take(r, site->node, "which has no body here");
    switch (rule->kind) {
    case AR_RULE_ALLOC:
    case AR_RULE_REALLOC:
    case AR_RULE_FREE:
        return NULL;
    case AR_RULE_COPY:
        return copy(r, site);
    case AR_RULE_CLEAR:
        return clear(r, site);
    case AR_RULE_SAVE:
    case AR_RULE_LOAD:
        return file(r, site);
    case AR_RULE_OP:
    case AR_RULE_OPTIMIZER:
    case AR_RULE_SEED:
    case AR_RULE_CLIP:
    case AR_RULE_ALLREDUCE:
    case AR_RULE_EXIT:
        break;
    case AR_RULE_PURE:
        if (ar_compares_bytes(rule))
            return comparison(r, site);
        break;
    }
    return cannot_take(r, site->node, "which has no form for half");
}

const char *ar_rewrite_call(ar_rewriter *r, const ar_site *site) {
    const ar_node *call = site->node;
    const ar_decl *callee = ar_direct_callee(call->kids[0]);
    if (!callee)
        return "it is passed to a function that is called through a pointer";
    const ar_op_site *found = ar_storage_op_at(r->storage->index, call);
    bool has_body = ar_definition_of(r->program, callee) != NULL;
    if (found && (found->half || (!has_body && site->kind == AR_SITE_CALL)))
        return op(r, found);
    return has_body ? own(r, site) : foreign(r, site);
}
