/* Storage edits: where text may change, and what is around an expression. */
#include "core/layout.h"
#include "core/plan_storage_parts.h"

/* ---- decisions ----------------------------------------------------------- */

bool ar_class_is_half(const ar_rewriter *r, uint32_t id) {
    return id != AR_NO_ID && r->storage->classes[id].half;
}

bool ar_site_all_half(const ar_rewriter *r, const ar_site *site) {
    for (uint32_t i = 0; i < site->class_count; i++)
        if (!ar_class_is_half(r, site->classes[i]))
            return false;
    return site->class_count > 0;
}

bool ar_site_some_half(const ar_rewriter *r, const ar_site *site) {
    for (uint32_t i = 0; i < site->class_count; i++)
        if (ar_class_is_half(r, site->classes[i]))
            return true;
    return false;
}

bool ar_decl_is_half(const ar_rewriter *r, const ar_decl *decl) {
    const ar_storage_facts *facts = r->storage->facts;
    uint32_t slot = facts->first_slot[ar_entity_of(r->program, decl)->id];
    bool half = slot != 0;
    if (slot && ar_can_be_split(decl))
        return ar_class_is_half(r, facts->slots.data[slot - 1].class_id);
    for (; slot && half; slot = facts->next_slot[slot - 1])
        half = ar_class_is_half(r, facts->slots.data[slot - 1].class_id);
    return half;
}

/* x->data of a struct whose objects are told apart, or a local as it is at this
 * place. */
static uint32_t class_of_member(const ar_storage_facts *facts,
                                const ar_node *node) {
    node = ar_root_node(node);
    uint64_t id = node ? ar_table_get(&facts->members, ar_key(node), 0) : 0;
    return id ? (uint32_t)(id - 1) : AR_NO_ID;
}

ar_memory_precision ar_precision_behind(const ar_storage_plan *storage,
                                        ar_program *program,
                                        const ar_node *node) {
    const ar_decl *decl = ar_root_decl(node);
    const ar_storage_facts *facts = storage->facts;
    uint32_t own = class_of_member(facts, node);
    if (own != AR_NO_ID)
        return storage->classes[own].half ? AR_MEMORY_HALF : AR_MEMORY_FP32;
    uint32_t slot =
        decl ? facts->first_slot[ar_entity_of(program, decl)->id] : 0;
    uint32_t half = 0, count = 0;
    for (; slot; slot = facts->next_slot[slot - 1], count++)
        half += storage->classes[facts->slots.data[slot - 1].class_id].half;
    if (!decl || (half && half < count))
        return AR_MEMORY_UNKNOWN;
    return half ? AR_MEMORY_HALF : AR_MEMORY_FP32;
}

bool ar_object_is_half(const ar_storage_plan *storage, ar_program *program,
                       const ar_node *allocation, const ar_decl *variable) {
    const ar_storage_facts *facts = storage->facts;
    for (uint32_t i = 0; i < facts->sites.count && allocation; i++) {
        const ar_site *site = &facts->sites.data[i];
        if (site->kind == AR_SITE_ALLOCATION && site->node == allocation)
            for (uint32_t k = 0; k < site->class_count; k++)
                if (storage->classes[site->classes[k]].half)
                    return true;
    }
    uint32_t slot =
        variable ? facts->first_slot[ar_entity_of(program, variable)->id] : 0;
    for (; slot; slot = facts->next_slot[slot - 1])
        if (storage->classes[facts->slots.data[slot - 1].class_id].half)
            return true;
    return false;
}

bool ar_counts_half(const ar_storage_plan *storage, const ar_node *node) {
    if (!node)
        return false;
    const ar_storage_index *index = storage->index;
    for (uint32_t i = ar_storage_site_at(index, node); i;
         i = ar_storage_site_after(index, i)) {
        const ar_site *site = &storage->facts->sites.data[i - 1];
        if (site->kind == AR_SITE_SIZEOF && !node->kid_count)
            for (uint32_t k = 0; k < site->class_count; k++)
                if (storage->classes[site->classes[k]].half)
                    return true;
    }
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (ar_counts_half(storage, node->kids[i]))
            return true;
    return false;
}

/* ---- edits --------------------------------------------------------------- */

const char *ar_text_problem(const ar_rewriter *r, ar_range range) {
    if (range.file == AR_NO_FILE)
        return "its text has no place in a file";
    if (range.in_macro_body)
        return "the text comes from a macro body";
    if (!r->program->editable[range.file])
        return "the text is in a file that may not change";
    return NULL;
}

const char *ar_source_text(const ar_rewriter *r, ar_range range) {
    return ar_text(r->arena, &r->program->files, range);
}

static const char *const why = "half storage";

static void need_runtime(ar_rewriter *r, ar_range range) {
    ar_plan_need_header(r->plan, range.file, "amp/amp_storage.h");
    uint32_t *first = &r->plan->first_use[range.file];
    if (range.begin < *first)
        *first = range.begin;
}

void ar_put_text(ar_rewriter *r, ar_range range, const char *text) {
    if (!r->plan)
        return;
    ar_edit_add(r->plan->placer.edits,
                (ar_edit){.range = range, .text = text, .why = why});
    need_runtime(r, range);
}

void ar_put_around(ar_rewriter *r, ar_range range, ar_place_layer layer,
                   const char *head, const char *tail) {
    if (!r->plan)
        return;
    ar_edit_wrap(r->plan->placer.edits,
                 (ar_wrap){range, (int)layer, head, tail, why});
    need_runtime(r, range);
}

void ar_put_call(ar_rewriter *r, const ar_node *argument, ar_place_layer layer,
                 const char *head, const char *tail) {
    const ar_node *written = argument;
    while (written->kind == AR_IMPLICIT && written->kid_count)
        written = written->kids[0];
    if (written->kind == AR_COMMA) {
        head = ar_sprintf(r->arena, "%s(", head);
        tail = ar_sprintf(r->arena, ")%s", tail);
    }
    ar_put_around(r, argument->range, layer, head, tail);
}

/* ---- words for float ----------------------------------------------------- */

static const char *typedef_problem(const ar_rewriter *r, const char *name,
                                   bool *found) {
    for (uint32_t u = 0; u < r->program->unit_count; u++) {
        const ar_unit *unit = r->program->units[u];
        for (uint32_t i = 0; i < unit->decls.count; i++) {
            const ar_decl *decl = unit->decls.data[i];
            if (decl->kind != AR_DECL_TYPEDEF || strcmp(decl->name, name) != 0)
                continue;
            *found = true;
            if (!ar_is_float(decl->aliased) || decl->is_const ||
                decl->is_volatile)
                return "its type is a typedef of more than a float";
        }
    }
    return NULL;
}

/* The one word that the macro stands for, or NULL. */
static const char *macro_word(const ar_rewriter *r, const ar_macro *macro) {
    const char *text = ar_source_text(r, macro->range) + strlen(macro->name);
    text += strspn(text, " \t");
    size_t length = 0;
    while (ar_is_word(text[length]))
        length++;
    const char *rest = text + length;
    return !macro->is_function_like && length &&
                   rest[strspn(rest, " \t\r\n")] == '\0'
               ? ar_strndup(r->arena, text, length)
               : NULL;
}

static const char *word_problem(const ar_rewriter *r, const char *name,
                                int depth);

static const char *macro_problem(const ar_rewriter *r, const char *name,
                                 int depth, bool *found) {
    for (uint32_t u = 0; u < r->program->unit_count; u++) {
        const ar_unit *unit = r->program->units[u];
        for (uint32_t i = 0; i < unit->macros.count; i++) {
            const ar_macro *macro = &unit->macros.data[i];
            if (strcmp(macro->name, name) != 0)
                continue;
            *found = true;
            const char *word = macro_word(r, macro);
            if (!word || depth == 0 || word_problem(r, word, depth - 1))
                return "its type is a macro for more than a float";
        }
    }
    return NULL;
}

/* `float`, or another name for it: typedefs and macros may go on. */
static const char *word_problem(const ar_rewriter *r, const char *name,
                                int depth) {
    bool found = strcmp(name, "float") == 0;
    const char *problem = typedef_problem(r, name, &found);
    if (!problem)
        problem = macro_problem(r, name, depth, &found);
    if (!problem && !found)
        problem = "its type is not spelled as a float";
    return problem;
}

enum { ALIASES = 8 }; /* of aliases; a macro may name itself */

const char *ar_alias_problem(const ar_rewriter *r, ar_range token) {
    return word_problem(r, ar_source_text(r, token), ALIASES);
}

const char *ar_put_half_type(ar_rewriter *r, const ar_node *node) {
    ar_range token = node->float_token;
    const char *problem = node->range.in_macro_body
                              ? ar_text_problem(r, node->range)
                              : ar_text_problem(r, token);
    if (!problem && node->float_is_alias)
        problem = ar_alias_problem(r, token);
    if (!problem)
        ar_put_text(r, token, "amp_half");
    return problem;
}

/* ---- around an expression ------------------------------------------------ */

bool ar_value_is_used(const ar_rewriter *r, const ar_unit *unit,
                      const ar_node *node) {
    const ar_storage_index *index = r->storage->index;
    const ar_node *parent = ar_storage_parent(index, unit, node);
    if (!parent)
        return true;
    switch ((int)parent->kind) {
    case AR_EXPR_STMT: {
        const ar_node *block = ar_storage_parent(index, unit, parent);
        const ar_node *holder =
            block ? ar_storage_parent(index, unit, block) : NULL;
        return holder && holder->kind == AR_STATEMENT_EXPR;
    }
    case AR_FOR:
        return node != parent->kids[0] && node != parent->kids[2];
    case AR_COMMA:
        return node == parent->kids[parent->kid_count - 1] &&
               ar_value_is_used(r, unit, parent);
    case AR_CAST:
    case AR_IMPLICIT:
        return !ar_is_kind(parent->type, AR_TYPE_VOID);
    default:
        return true;
    }
}

/* Math functions change nothing that a program sees but errno. */
static bool call_has_effects(const ar_node *call) {
    const ar_decl *callee = ar_direct_callee(call->kids[0]);
    if (!callee || !callee->is_system)
        return true;
    for (uint32_t i = 1; i < call->kid_count; i++)
        if (ar_is_address(call->kids[i]->type))
            return true;
    return !ar_is_floating(call->type);
}

bool ar_has_effects(const ar_node *node) {
    if (!node)
        return false;
    switch ((int)node->kind) {
    case AR_ASSIGN:
    case AR_COMPOUND_ASSIGN:
    case AR_LAUNCH:
    case AR_STATEMENT_EXPR:
    case AR_VA_ARG:
    case AR_UNKNOWN_EXPR:
        return true;
    case AR_CALL:
        if (call_has_effects(node))
            return true;
        break;
    case AR_UNARY:
        if (node->op >= AR_OP_PRE_INC)
            return true;
        break;
    default:
        break;
    }
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (ar_has_effects(node->kids[i]))
            return true;
    return false;
}

/* ---- functions ----------------------------------------------------------- */

bool ar_is_function_value(const ar_rewriter *r, const ar_decl *function) {
    return ar_storage_is_function_value(r->storage->index,
                                        ar_entity_of(r->program, function));
}
