/* Calls of code that has no body here: what rules say of it, and what a
 * function that no rule describes may do. */
#include "core/flows_calls.h"
#include "core/rule_at.h"

static bool is_function_pointer(const ar_type *type) {
    if (type && type->kind == AR_TYPE_POINTER)
        type = type->element;
    return type && type->kind == AR_TYPE_FUNCTION;
}

/* Casts to and from void * and char * hide what a buffer holds. */
static bool is_visibly_float(ar_node *node) {
    for (;;) {
        if (ar_float_depth(node->type) == 1)
            return true;
        if ((node->kind != AR_CAST && node->kind != AR_IMPLICIT) ||
            node->kid_count != 1 || !ar_is_address(node->kids[0]->type))
            return ar_float_depth(node->type) > 0;
        node = node->kids[0];
    }
}

const char *ar_flow_callee(const ar_flow_call *c) {
    return c->callee ? c->callee->name : "a function pointer";
}

void ar_flow_site(ar_walk *w, const ar_flow_call *c, ar_site_kind kind,
                  ar_node *at, uint32_t cell) {
    if (!w->is_quiet && cell)
        ar_site_add(w->g, kind, ar_here(w, at), c->node, c->callee, cell);
}

/* ---- memory rules -------------------------------------------------------- */

static bool has_use(const ar_function_rule *rule, uint32_t i, ar_slot_use use) {
    return rule->uses && i < rule->param_count && rule->uses[i] == use;
}

/* n * sizeof(struct matrix) in an allocation of matrices. */
static void name_sizes(ar_walk *w, ar_node *node, uint32_t memory) {
    if (!node || ar_map_get(&w->sized, ar_key(node)))
        return;
    if (node->kind == AR_SIZEOF && !node->kid_count) {
        ar_map_put(&w->sized, ar_key(node), node);
        ar_names_record(w, node, node->type_operand, memory);
    }
    for (uint32_t i = 0; i < node->kid_count && node->kind != AR_CALL; i++)
        name_sizes(w, node->kids[i], memory);
}

static void byte_sink(ar_walk *w, const ar_flow_call *c, uint32_t memory) {
    if (!memory || w->is_quiet)
        return;
    for (uint32_t i = 0; i < c->count && w->g->is_apart; i++)
        if (!ar_is_address(c->args[i].node->type))
            name_sizes(w, c->args[i].node, memory);
    uint32_t cell = 0;
    bool is_zero = true;
    for (uint32_t i = 0; i < c->count; i++) {
        if (!has_use(c->rule, i, AR_USE_BYTES) &&
            !has_use(c->rule, i, AR_USE_SIZE) &&
            !has_use(c->rule, i, AR_USE_COUNT))
            continue;
        /* A count alone is a number of elements: nothing to check. */
        if (!cell && !has_use(c->rule, i, AR_USE_COUNT))
            cell = ar_cell_new(w->g);
        else if (!cell)
            for (uint32_t j = i; j < c->count && !cell; j++)
                if (has_use(c->rule, j, AR_USE_SIZE) ||
                    has_use(c->rule, j, AR_USE_BYTES))
                    cell = ar_cell_new(w->g);
        is_zero &= ar_is_zero(c->args[i].node);
        if (cell)
            ar_size_flow(w, c->args[i].node, cell);
    }
    if (!cell || is_zero)
        return;
    ar_sink sink = {cell, memory, ar_here(w, c->node), c->callee->name, 0};
    AR_PUSH(w->g->arena, &w->g->sinks, sink);
}

static ar_flow_argument *pointer_argument(const ar_flow_call *c,
                                          ar_direction first,
                                          ar_direction second) {
    uint32_t count =
        c->count < c->rule->param_count ? c->count : c->rule->param_count;
    for (uint32_t i = 0; i < count; i++) {
        ar_direction direction = c->rule->params[i].direction;
        if ((direction == first || direction == second) &&
            ar_is_address(c->args[i].node->type))
            return &c->args[i];
    }
    for (uint32_t i = 0; i < count; i++)
        if (has_use(c->rule, i, AR_USE_POINTER))
            return &c->args[i];
    return NULL;
}

static uint32_t allocate(ar_walk *w, const ar_flow_call *c) {
    ar_graph *g = w->g;
    uint32_t memory = ar_cell_new(g);
    ar_flow_argument *out = pointer_argument(c, AR_DIR_OUT, AR_DIR_OUT);
    if (out && out->target && !w->is_quiet) {
        ar_cell_unify(g, ar_cell_pointee(g, out->target), memory);
        memory = ar_cell_pointee(g, out->target);
    }
    byte_sink(w, c, memory);
    ar_flow_site(w, c, AR_SITE_ALLOCATION, c->node, memory);
    return memory;
}

static uint32_t reallocate(ar_walk *w, const ar_flow_call *c) {
    ar_flow_argument *old = pointer_argument(c, AR_DIR_INOUT, AR_DIR_IN);
    uint32_t memory = old && old->target ? old->target : ar_cell_new(w->g);
    byte_sink(w, c, memory);
    ar_flow_site(w, c, AR_SITE_ALLOCATION, c->node, memory);
    return memory;
}

static uint32_t copy(ar_walk *w, const ar_flow_call *c) {
    ar_graph *g = w->g;
    ar_flow_argument *to = pointer_argument(c, AR_DIR_OUT, AR_DIR_INOUT);
    ar_flow_argument *from = pointer_argument(c, AR_DIR_IN, AR_DIR_IN);
    if (!to || !from || !to->target || !from->target || w->is_quiet)
        return to ? to->target : 0;
    bool converts = is_visibly_float(to->node) && is_visibly_float(from->node);
    ar_raw_flow flow = {converts ? AR_FLOW_BYTES : AR_FLOW_MEMORY,
                        from->target,
                        to->target,
                        ar_root_decl(from->node),
                        ar_root_decl(to->node),
                        ar_here(w, c->node)};
    AR_PUSH(g->arena, &g->flows, flow);
    if (!converts)
        ar_cell_unify(g, from->target, to->target);
    byte_sink(w, c, to->target);
    byte_sink(w, c, from->target);
    ar_flow_site(w, c, AR_SITE_COPY, c->node, to->target);
    if (converts)
        ar_flow_site(w, c, AR_SITE_COPY, c->node, from->target);
    return to->target;
}

/* What a helper takes as void * is float memory at its calls only, which have
 * no site in the helper's text. */
static void pin_untyped(ar_walk *w, const ar_flow_call *c,
                        const ar_flow_argument *buffer) {
    if (buffer->target && !w->is_quiet && !is_visibly_float(buffer->node))
        ar_cell_pin(w->g, buffer->target, AR_PIN_FOREIGN_CALL,
                    ar_here(w, c->node),
                    ar_sprintf(w->g->arena,
                               "'%s' gets its bytes through an untyped pointer",
                               ar_flow_callee(c)));
}

static bool sets_zero(const ar_flow_call *c) {
    for (uint32_t i = 0; i < c->count; i++)
        if (has_use(c->rule, i, AR_USE_VALUE))
            return ar_is_zero(c->args[i].node);
    return true;
}

static uint32_t clear(ar_walk *w, const ar_flow_call *c) {
    ar_flow_argument *to = pointer_argument(c, AR_DIR_OUT, AR_DIR_INOUT);
    if (!to)
        return 0;
    if (!sets_zero(c))
        pin_untyped(w, c, to);
    byte_sink(w, c, to->target);
    ar_flow_site(w, c, AR_SITE_CLEAR, c->node, to->target);
    return to->target;
}

/* Floats inside a struct that goes to a file as bytes keep their layout. */
static void pin_struct_bytes(ar_walk *w, const ar_flow_call *c,
                             uint32_t target) {
    ar_graph *g = w->g;
    const ar_decl *record = g->cells.data[ar_cell_find(g, target)].record;
    if (!record || record->is_system)
        return;
    ar_pin_fields(g, record, ar_here(w, c->node),
                  ar_sprintf(g->arena, "its struct goes through '%s' as bytes",
                             ar_flow_callee(c)));
}

static void transfer_file(ar_walk *w, const ar_flow_call *c) {
    ar_flow_argument *data =
        c->rule->kind == AR_RULE_SAVE
            ? pointer_argument(c, AR_DIR_IN, AR_DIR_IN)
            : pointer_argument(c, AR_DIR_OUT, AR_DIR_INOUT);
    if (!data || c->rule->is_variadic)
        return;
    if (data->target && !w->is_quiet)
        pin_struct_bytes(w, c, data->target);
    pin_untyped(w, c, data);
    byte_sink(w, c, data->target);
    ar_flow_site(w, c, AR_SITE_FILE, c->node, data->target);
}

/* The arguments that the target is multiplied with in a term of a rule. */
static bool factors_of(const ar_flow_call *c, const ar_term *term, uint32_t i,
                       ar_node **factors, uint32_t *count) {
    bool has_target = false;
    *count = 0;
    for (uint32_t f = 0; f < term->factor_count; f++) {
        uint32_t factor = term->factors[f];
        if (factor == i)
            has_target = true;
        else if (factor < c->count && *count < AR_MAX_FACTORS)
            factors[(*count)++] = c->args[factor].node;
    }
    return has_target;
}

/* Does the rule say that it adds to this argument? gemm with a beta of 0 does
 * not. */
static void note_update(ar_walk *w, const ar_flow_call *c, uint32_t i) {
    const ar_function_rule *rule = c->rule;
    bool updates = false;
    for (uint32_t e = 0; e < rule->equation_count; e++) {
        const ar_equation *equation = &rule->algebra[e];
        for (uint32_t t = 0; equation->target == i && t < equation->term_count;
             t++) {
            ar_node *factors[AR_MAX_FACTORS];
            uint32_t count;
            if (factors_of(c, &equation->terms[t], i, factors, &count))
                updates |= ar_note_updated(w, c->args[i].target, c->node,
                                           factors, count);
        }
    }
    if (updates)
        ar_flow_repeated(w, c, &c->args[i], c->args[i].target);
}

void ar_flow_repeated(ar_walk *w, const ar_flow_call *c,
                      const ar_flow_argument *arg, uint32_t memory) {
    if (!w->accumulation)
        return;
    ar_repetition repeated =
        ar_call_repetition(w->accumulation, c->node, arg->node);
    if (repeated.inner)
        ar_note_accumulation(w, AR_ACCUMULATE_CALL, memory, c->node, repeated);
}

/* ---- functions that are not described ------------------------------------ */

/* pthread_create(..., function, argument): the rule says which is which. */
static void hand_over(ar_walk *w, const ar_flow_call *c) {
    const ar_flow_argument *function = NULL, *value = NULL;
    for (uint32_t i = 0; i < c->count; i++) {
        if (has_use(c->rule, i, AR_USE_FUNCTION))
            function = &c->args[i];
        if (has_use(c->rule, i, AR_USE_ARGUMENT))
            value = &c->args[i];
    }
    if (function && value && function->target && value->target)
        ar_store_pointer(w, ar_cell_param(w->g, function->target, 0),
                         value->target, value->node, NULL, c->node);
}

/* Foreign code calls the function with memory of its own choice: a class that
 * no variable names. */
static void pin_callback(ar_walk *w, const ar_flow_call *c, uint32_t function) {
    ar_graph *g = w->g;
    uint32_t root = ar_cell_find(g, function);
    uint32_t count = g->cells.data[root].param_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t param = ar_cell_param(g, root, i);
        if (!g->cells.data[ar_cell_find(g, param)].pointee)
            continue;
        uint32_t memory = ar_cell_pointee(g, param);
        ar_cell_pin(
            g, memory, AR_PIN_CALLBACK, ar_here(w, c->node),
            ar_sprintf(g->arena, "'%s' calls back with it", ar_flow_callee(c)));
        ar_flow_site(w, c, AR_SITE_CALL, c->node, memory);
    }
}

/* Intrinsics that move floats between memory and a vector register. */
static bool is_vector_access(const char *name) {
    static const char *const starts[] = {"_mm_", "_mm256_", "_mm512_", "vld1",
                                         "vst1"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

static bool is_vector_store(const char *name) {
    return strstr(name, "store") || strstr(name, "stream") ||
           strncmp(name, "vst1", 4) == 0;
}

/* A vector of the same memory was read in the function before: what is stored
 * may be that and something added to it. */
static bool was_read_as_vector(const ar_walk *w, uint32_t target) {
    ar_graph *g = w->g;
    for (uint32_t i = g->sites.count; i-- > 0;) {
        const ar_site *other = &g->sites.data[i].site;
        if (other->where.function != w->function)
            return false;
        if (other->kind == AR_SITE_VECTOR && other->decl &&
            !is_vector_store(other->decl->name) &&
            ar_cell_find(g, g->sites.data[i].cell) == ar_cell_find(g, target))
            return true;
    }
    return false;
}

/* The assignment of a C++ struct that the compiler makes itself copies it. */
static bool vector_access(ar_walk *w, const ar_flow_call *c) {
    bool is_copy = strcmp(c->callee->name, "operator=") == 0;
    if (!is_copy && !is_vector_access(c->callee->name))
        return false;
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t target = c->args[i].target;
        if (!target ||
            (!is_visibly_float(c->args[i].node) &&
             !ar_cell_has(w->g, target, AR_FACT_SCALAR + AR_SCALAR_VECTOR)))
            continue;
        if (is_vector_store(c->callee->name) && was_read_as_vector(w, target)) {
            ar_note_updated(w, target, c->node, NULL, 0);
            ar_flow_repeated(w, c, &c->args[i], target);
        }
        ar_flow_site(w, c, AR_SITE_VECTOR, c->node, target);
    }
    return true;
}

static uint32_t foreign(ar_walk *w, const ar_flow_call *c) {
    ar_graph *g = w->g;
    if (w->is_quiet)
        return 0;
    if (vector_access(w, c))
        return 0;
    bool is_broken = ar_entity_of(g->program, c->callee)->decl->has_errors;
    const char *reason = ar_sprintf(
        g->arena, "its address is passed to '%s'%s", ar_flow_callee(c),
        is_broken ? ", which contains parse errors" : "");
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t target = c->args[i].target;
        if (target && is_function_pointer(c->args[i].node->type)) {
            pin_callback(w, c, target);
            continue;
        }
        for (int level = 0; target && level < 4; level++) {
            ar_cell_pin(g, target, AR_PIN_FOREIGN_CALL, ar_here(w, c->node),
                        reason);
            target = g->cells.data[ar_cell_find(g, target)].pointee;
        }
    }
    reason =
        ar_sprintf(g->arena, "the memory comes from '%s'", ar_flow_callee(c));
    if (!ar_is_address(c->node->type))
        return ar_pinned_object(w, c->node, AR_PIN_FOREIGN_RESULT, reason);
    uint32_t result = ar_cell_new(g);
    ar_cell_pin(g, result, AR_PIN_FOREIGN_RESULT, ar_here(w, c->node), reason);
    return result;
}

bool ar_compares_bytes(const ar_function_rule *rule) {
    uint32_t sides = 0;
    bool has_bytes = false;
    if (!rule || rule->kind != AR_RULE_PURE || !rule->uses)
        return false;
    for (uint32_t i = 0; i < rule->param_count; i++) {
        sides += rule->params[i].direction == AR_DIR_IN;
        has_bytes |= rule->uses[i] == AR_USE_BYTES;
    }
    return sides == 2 && has_bytes;
}

/* The rule says no more than that the function is a stranger. */
static bool is_opaque(const ar_function_rule *rule) {
    return rule->kind == AR_RULE_OP && rule->has_category &&
           rule->category == AR_CAT_OPAQUE;
}

/* Floats that are passed as void *: MPI_Allreduce(x, ...). */
static void untyped_sites(ar_walk *w, const ar_flow_call *c) {
    for (uint32_t i = 0; i < c->count; i++) {
        ar_node *node = c->args[i].node;
        if (!c->args[i].target || !ar_is_address(node->type) ||
            ar_float_depth(node->type) > 0)
            continue;
        ar_flow_site(w, c, AR_SITE_CALL, node, c->args[i].target);
        pin_untyped(w, c, &c->args[i]);
    }
}

/* memcmp(a, b, bytes) of two float buffers: both have one element type, and the
 * bytes are counted in it. */
static void compare(ar_walk *w, const ar_flow_call *c) {
    const ar_flow_argument *sides[2] = {NULL, NULL};
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->count && i < c->rule->param_count; i++)
        if (c->rule->params[i].direction == AR_DIR_IN && count < 2)
            sides[count++] = &c->args[i];
    const ar_flow_argument *a = sides[0], *b = sides[1];
    if (count < 2 || w->is_quiet || !a->target || !b->target ||
        !is_visibly_float(a->node) || !is_visibly_float(b->node)) {
        untyped_sites(w, c);
        return;
    }
    ar_raw_flow flow = {AR_FLOW_MEMORY,
                        a->target,
                        b->target,
                        ar_root_decl(a->node),
                        ar_root_decl(b->node),
                        ar_here(w, c->node)};
    AR_PUSH(w->g->arena, &w->g->flows, flow);
    ar_cell_unify(w->g, a->target, b->target);
    byte_sink(w, c, a->target);
    untyped_sites(w, c);
}

static uint32_t ruled(ar_walk *w, const ar_flow_call *c) {
    if (is_opaque(c->rule))
        return foreign(w, c);
    if (!w->is_quiet)
        hand_over(w, c);
    switch (c->rule->kind) {
    case AR_RULE_ALLOC:
        return allocate(w, c);
    case AR_RULE_REALLOC:
        return reallocate(w, c);
    case AR_RULE_COPY:
        return copy(w, c);
    case AR_RULE_CLEAR:
        return clear(w, c);
    case AR_RULE_SAVE:
    case AR_RULE_LOAD:
        transfer_file(w, c);
        break;
    case AR_RULE_OP:
    case AR_RULE_OPTIMIZER:
    case AR_RULE_SEED:
    case AR_RULE_CLIP:
    case AR_RULE_ALLREDUCE:
        for (uint32_t i = 0; i < c->count; i++)
            if (c->args[i].target && !w->is_quiet)
                note_update(w, c, i);
        untyped_sites(w, c);
        break;
    case AR_RULE_PURE:
        if (ar_compares_bytes(c->rule))
            compare(w, c);
        else
            untyped_sites(w, c);
        break;
    case AR_RULE_FREE:
    case AR_RULE_EXIT:
        break;
    }
    if (ar_is_address(c->node->type))
        return ar_cell_new(w->g);
    return ar_pinned_object(w, c->node, AR_PIN_FOREIGN_RESULT,
                            ar_sprintf(w->g->arena,
                                       "the memory comes from '%s'",
                                       ar_flow_callee(c)));
}

uint32_t ar_flow_by_rule(ar_walk *w, const ar_flow_call *c) {
    return c->rule ? ruled(w, c) : foreign(w, c);
}
