#include "core/flows.h"
#include "core/rule_at.h"

typedef struct argument {
    ar_node *node;
    uint32_t target;     /* what a pointer argument points to */
    uint32_t first_load; /* the floats its value was computed from */
    uint32_t load_count;
} argument;

typedef struct call {
    ar_node *node;
    ar_decl *callee; /* NULL: through a pointer */
    const ar_function_rule *rule;
    argument *args;
    uint32_t count;
} call;

static bool is_pointer(const ar_type *type) {
    return type &&
           (type->kind == AR_TYPE_POINTER || type->kind == AR_TYPE_ARRAY);
}

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
            node->kid_count != 1 || !is_pointer(node->kids[0]->type))
            return ar_float_depth(node->type) > 0;
        node = node->kids[0];
    }
}

static const char *name_of(const call *c) {
    return c->callee ? c->callee->name : "a function pointer";
}

static void site(ar_walk *w, const call *c, ar_site_kind kind, ar_node *at,
                 uint32_t cell) {
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

static void byte_sink(ar_walk *w, const call *c, uint32_t memory) {
    if (!memory || w->is_quiet)
        return;
    for (uint32_t i = 0; i < c->count && w->g->is_apart; i++)
        if (!is_pointer(c->args[i].node->type))
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

static argument *pointer_argument(const call *c, ar_direction first,
                                  ar_direction second) {
    uint32_t count =
        c->count < c->rule->param_count ? c->count : c->rule->param_count;
    for (uint32_t i = 0; i < count; i++) {
        ar_direction direction = c->rule->params[i].direction;
        if ((direction == first || direction == second) &&
            is_pointer(c->args[i].node->type))
            return &c->args[i];
    }
    for (uint32_t i = 0; i < count; i++)
        if (has_use(c->rule, i, AR_USE_POINTER))
            return &c->args[i];
    return NULL;
}

static uint32_t allocate(ar_walk *w, const call *c) {
    ar_graph *g = w->g;
    uint32_t memory = ar_cell_new(g);
    argument *out = pointer_argument(c, AR_DIR_OUT, AR_DIR_OUT);
    if (out && out->target && !w->is_quiet) {
        ar_cell_unify(g, ar_cell_pointee(g, out->target), memory);
        memory = ar_cell_pointee(g, out->target);
    }
    byte_sink(w, c, memory);
    site(w, c, AR_SITE_ALLOCATION, c->node, memory);
    return memory;
}

static uint32_t reallocate(ar_walk *w, const call *c) {
    argument *old = pointer_argument(c, AR_DIR_INOUT, AR_DIR_IN);
    uint32_t memory = old && old->target ? old->target : ar_cell_new(w->g);
    byte_sink(w, c, memory);
    site(w, c, AR_SITE_ALLOCATION, c->node, memory);
    return memory;
}

static uint32_t copy(ar_walk *w, const call *c) {
    ar_graph *g = w->g;
    argument *to = pointer_argument(c, AR_DIR_OUT, AR_DIR_INOUT);
    argument *from = pointer_argument(c, AR_DIR_IN, AR_DIR_IN);
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
    site(w, c, AR_SITE_COPY, c->node, to->target);
    if (converts)
        site(w, c, AR_SITE_COPY, c->node, from->target);
    return to->target;
}

/* What a helper takes as void * is float memory at its calls only, which have
 * no site in the helper's text. */
static void pin_untyped(ar_walk *w, const call *c, const argument *buffer) {
    if (buffer->target && !w->is_quiet && !is_visibly_float(buffer->node))
        ar_cell_pin(w->g, buffer->target, AR_PIN_FOREIGN_CALL,
                    ar_here(w, c->node),
                    ar_sprintf(w->g->arena,
                               "'%s' gets its bytes through an untyped pointer",
                               name_of(c)));
}

static bool sets_zero(const call *c) {
    for (uint32_t i = 0; i < c->count; i++)
        if (has_use(c->rule, i, AR_USE_VALUE))
            return ar_is_zero(c->args[i].node);
    return true;
}

static uint32_t clear(ar_walk *w, const call *c) {
    argument *to = pointer_argument(c, AR_DIR_OUT, AR_DIR_INOUT);
    if (!to)
        return 0;
    if (!sets_zero(c))
        pin_untyped(w, c, to);
    byte_sink(w, c, to->target);
    site(w, c, AR_SITE_CLEAR, c->node, to->target);
    return to->target;
}

/* Floats inside a struct that goes to a file as bytes keep their layout. */
static void pin_struct_bytes(ar_walk *w, const call *c, uint32_t target) {
    ar_graph *g = w->g;
    const ar_decl *record = g->cells.data[ar_cell_find(g, target)].record;
    if (!record || record->is_system)
        return;
    ar_pin_fields(g, record, ar_here(w, c->node),
                  ar_sprintf(g->arena, "its struct goes through '%s' as bytes",
                             name_of(c)));
}

static void transfer_file(ar_walk *w, const call *c) {
    argument *data = c->rule->kind == AR_RULE_SAVE
                         ? pointer_argument(c, AR_DIR_IN, AR_DIR_IN)
                         : pointer_argument(c, AR_DIR_OUT, AR_DIR_INOUT);
    if (!data || c->rule->is_variadic)
        return;
    if (data->target && !w->is_quiet)
        pin_struct_bytes(w, c, data->target);
    pin_untyped(w, c, data);
    byte_sink(w, c, data->target);
    site(w, c, AR_SITE_FILE, c->node, data->target);
}

/* Does the rule say that it adds to this argument? gemm with a literal beta of
 * 0 does not. */
static bool rule_updates(const call *c, uint32_t i) {
    const ar_function_rule *rule = c->rule;
    for (uint32_t e = 0; e < rule->equation_count; e++) {
        const ar_equation *equation = &rule->algebra[e];
        if (equation->target != i)
            continue;
        for (uint32_t t = 0; t < equation->term_count; t++) {
            const ar_term *term = &equation->terms[t];
            bool has_target = false, has_zero = false;
            for (uint32_t f = 0; f < term->factor_count; f++) {
                uint32_t factor = term->factors[f];
                has_target |= factor == i;
                has_zero |= factor != i && factor < c->count &&
                            ar_is_zero(c->args[factor].node);
            }
            if (has_target && !has_zero)
                return true;
        }
    }
    return false;
}

static void note_repeated_update(ar_walk *w, const call *c, const argument *arg,
                                 uint32_t memory) {
    if (!w->accumulation)
        return;
    ar_repetition repeated =
        ar_call_repetition(w->accumulation, c->node, arg->node);
    if (repeated.inner)
        ar_note_accumulation(w, AR_ACCUMULATE_CALL, memory, c->node, repeated);
}

static void note_update(ar_walk *w, const call *c, uint32_t i) {
    const argument *arg = &c->args[i];
    ar_cell_fact(w->g, arg->target, AR_FACT_UPDATED, ar_here(w, c->node), NULL,
                 0);
    note_repeated_update(w, c, arg, arg->target);
}

/* ---- functions that are not described ------------------------------------ */

/* pthread_create(..., function, argument): the rule says which is which. */
static void hand_over(ar_walk *w, const call *c) {
    const argument *function = NULL, *value = NULL;
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
static void pin_callback(ar_walk *w, const call *c, uint32_t function) {
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
            ar_sprintf(g->arena, "'%s' calls back with it", name_of(c)));
        site(w, c, AR_SITE_CALL, c->node, memory);
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
static bool vector_access(ar_walk *w, const call *c) {
    bool is_copy = strcmp(c->callee->name, "operator=") == 0;
    if (!is_copy && !is_vector_access(c->callee->name))
        return false;
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t target = c->args[i].target;
        if (!target ||
            (!is_visibly_float(c->args[i].node) &&
             !ar_cell_has(w->g, target, AR_FACT_SCALAR + AR_SCALAR_VECTOR)))
            continue;
        if (is_vector_store(c->callee->name) && was_read_as_vector(w, target))
            note_update(w, c, i);
        site(w, c, AR_SITE_VECTOR, c->node, target);
    }
    return true;
}

static uint32_t foreign(ar_walk *w, const call *c) {
    ar_graph *g = w->g;
    if (w->is_quiet)
        return 0;
    if (vector_access(w, c))
        return 0;
    bool is_broken = ar_entity_of(g->program, c->callee)->decl->has_errors;
    const char *reason =
        ar_sprintf(g->arena, "its address is passed to '%s'%s", name_of(c),
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
    reason = ar_sprintf(g->arena, "the memory comes from '%s'", name_of(c));
    if (!is_pointer(c->node->type))
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
static void untyped_sites(ar_walk *w, const call *c) {
    for (uint32_t i = 0; i < c->count; i++) {
        ar_node *node = c->args[i].node;
        if (!c->args[i].target || !is_pointer(node->type) ||
            ar_float_depth(node->type) > 0)
            continue;
        site(w, c, AR_SITE_CALL, node, c->args[i].target);
        pin_untyped(w, c, &c->args[i]);
    }
}

/* memcmp(a, b, bytes) of two float buffers: both have one element type, and the
 * bytes are counted in it. */
static void compare(ar_walk *w, const call *c) {
    const argument *sides[2] = {NULL, NULL};
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->count && i < c->rule->param_count; i++)
        if (c->rule->params[i].direction == AR_DIR_IN && count < 2)
            sides[count++] = &c->args[i];
    const argument *a = sides[0], *b = sides[1];
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

static uint32_t ruled(ar_walk *w, const call *c) {
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
            if (c->args[i].target && !w->is_quiet && rule_updates(c, i))
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
    if (is_pointer(c->node->type))
        return ar_cell_new(w->g);
    return ar_pinned_object(
        w, c->node, AR_PIN_FOREIGN_RESULT,
        ar_sprintf(w->g->arena, "the memory comes from '%s'", name_of(c)));
}

/* ---- calls of own functions ---------------------------------------------- */

/* The text of a pointer to functions names the struct, and stays. */
static void pin_object(ar_walk *w, uint32_t cell, const ar_type *type,
                       ar_node *at, const char *reason) {
    if (cell && !w->is_quiet && ar_apart_record(w->g, type))
        ar_cell_pin(w->g, ar_object_below(w->g, cell, type),
                    AR_PIN_FOREIGN_CALL, ar_here(w, at), reason);
}

static void pin_pointer_call(ar_walk *w, const call *c, uint32_t function) {
    const char *reason = "goes through a pointer to functions";
    if (!w->g->is_apart)
        return;
    for (uint32_t i = 0; i < c->count; i++)
        pin_object(w, ar_cell_param(w->g, function, i), c->args[i].node->type,
                   c->args[i].node, reason);
    pin_object(w, ar_cell_result(w->g, function), c->node->type, c->node,
               reason);
}

static void pin_function_value(ar_walk *w, uint32_t function, ar_node *node) {
    const ar_type *type = node->decl->type;
    if (!w->g->is_apart || !type)
        return;
    const char *reason = ar_sprintf(
        w->g->arena, "'%s' is called through a pointer", node->decl->name);
    for (uint32_t i = 0; i < type->param_count; i++)
        pin_object(w, ar_cell_param(w->g, function, i), type->params[i], node,
                   reason);
    if (ar_apart_record(w->g, type->element))
        pin_object(w, ar_cell_result(w->g, function), type->element, node,
                   reason);
}

/* The memory behind a field of the object that the parameter is given; 0: the
 * field is none of the object's own. */
static uint32_t behind_field(ar_graph *g, uint32_t param, const ar_type *type,
                             uint32_t field) {
    const ar_decl *record = ar_apart_record(g, type);
    return ar_field_is_apart(g, record->members[field])
               ? ar_object_below(g,
                                 ar_cell_field(g,
                                               ar_object_below(g, param, type),
                                               record->members[field]),
                                 record->members[field]->type)
               : 0;
}

/* What the callee adds to behind the fields of an object, by index. */
static uint64_t updated_fields(ar_graph *g, uint32_t param,
                               const ar_type *type) {
    const ar_decl *record = ar_apart_record(g, type);
    uint64_t set = 0;
    for (uint32_t i = 0; record && i < record->member_count; i++) {
        uint32_t memory = behind_field(g, param, type, i);
        if (memory && ar_cell_has(g, memory, AR_FACT_UPDATED))
            set |= UINT64_C(1) << i;
    }
    return set;
}

static void note_updated_fields(ar_walk *w, const call *c, const argument *arg,
                                uint32_t param, uint64_t set) {
    for (uint32_t i = 0; i < 64 && set >> i; i++)
        if (set >> i & 1)
            note_repeated_update(w, c, arg,
                                 behind_field(w->g, param, arg->node->type, i));
}

static void pass(ar_walk *w, const call *c, uint32_t function, uint32_t i,
                 ar_decl *param) {
    ar_graph *g = w->g;
    const argument *arg = &c->args[i];
    uint32_t cell = ar_cell_param(g, function, i);
    uint64_t fields = updated_fields(g, cell, arg->node->type);
    if (ar_is_apart_value(w, arg->node->type)) {
        ar_copy_object(w, arg->target, cell);
        note_updated_fields(w, c, arg, cell, fields);
        return;
    }
    if (arg->target) {
        /* asked before the two are one, and what others do to it counts */
        uint32_t memory = g->cells.data[ar_cell_find(g, cell)].pointee;
        bool updates =
            memory && ar_cell_has(g, ar_cell_find(g, memory), AR_FACT_UPDATED);
        ar_store_pointer(w, cell, arg->target, arg->node, param, arg->node);
        if (updates)
            note_repeated_update(w, c, arg, arg->target);
        note_updated_fields(w, c, arg, cell, fields);
        return;
    }
    const ar_type *type = arg->node->type;
    if (type && type->kind == AR_TYPE_INT)
        ar_size_flow(w, arg->node, cell);
    for (uint32_t l = 0; l < arg->load_count; l++) {
        ar_load load = w->loads.data[arg->first_load + l];
        ar_raw_flow flow = {AR_FLOW_VALUE, load.cell, cell,
                            load.decl,     param,     ar_here(w, arg->node)};
        AR_PUSH(g->arena, &g->flows, flow);
    }
}

static uint32_t enter(ar_walk *w, const call *c, uint32_t function,
                      const ar_decl *definition) {
    ar_graph *g = w->g;
    if (w->is_quiet && ar_is_apart_value(w, c->node->type))
        return ar_cell_result(g, function);
    if (w->is_quiet)
        return is_pointer(c->node->type)
                   ? ar_cell_pointee(g, ar_cell_result(g, function))
                   : 0;
    for (uint32_t i = 0; i < c->count; i++) {
        bool is_named = !definition || i < definition->member_count;
        ar_decl *param = definition && is_named ? definition->members[i] : NULL;
        if (is_named)
            pass(w, c, function, i, param);
        else if (c->args[i].target)
            ar_cell_pin(g, c->args[i].target, AR_PIN_VARARGS,
                        ar_here(w, c->args[i].node),
                        ar_sprintf(g->arena, "goes through the '...' of '%s'",
                                   name_of(c)));
    }
    uint32_t result = ar_cell_result(g, function);
    const ar_type *type = c->node->type;
    if (is_pointer(type) || ar_returns_reference(c->node))
        return ar_cell_pointee(g, result);
    if (ar_is_apart_value(w, type))
        return result;
    if (type && type->kind == AR_TYPE_INT)
        ar_map_put(&w->cells, ar_key(c->node), (void *)(uintptr_t)result);
    if (ar_is_float(type))
        AR_PUSH(g->arena, &w->loads, (ar_load){result, (ar_decl *)definition});
    return 0;
}

static uint32_t external_function(ar_walk *w, ar_node *node) {
    ar_graph *g = w->g;
    uint32_t cell = ar_cell_of(g, node->decl);
    const ar_type *type = node->decl->type;
    if (g->cells.data[ar_cell_find(g, cell)].is_global)
        return cell;
    ar_cell_make_global(g, cell);
    g->cells.data[ar_cell_find(g, cell)].has_body = true; /* pinned here */
    for (uint32_t i = 0; type && i < type->param_count; i++)
        if (ar_float_depth(type->params[i]) > 0)
            ar_cell_pin(g, ar_cell_pointee(g, ar_cell_param(g, cell, i)),
                        AR_PIN_FOREIGN_CALL, ar_here(w, node),
                        ar_sprintf(g->arena, "its address is passed to '%s'",
                                   node->decl->name));
    return cell;
}

uint32_t ar_mention(ar_walk *w, ar_node *node) {
    ar_graph *g = w->g;
    uint32_t index = g->function_of[ar_entity_of(g->program, node->decl)->id];
    if (!index)
        return external_function(w, node);
    ar_function *f = &g->functions.data[index - 1];
    if (w->is_quiet)
        return f->cell;
    uint32_t cell = ar_function_instance(g, f, node, ar_here(w, node));
    pin_function_value(w, cell, node);
    return cell;
}

/* ---- the call itself ----------------------------------------------------- */

static void varargs_sites(ar_walk *w, const call *c) {
    const ar_type *type = c->callee ? c->callee->type : NULL;
    if (!type || !type->is_variadic)
        return;
    for (uint32_t i = type->param_count; i < c->count; i++) {
        const argument *arg = &c->args[i];
        ar_node *node = ar_skip_casts(arg->node);
        /* whatever it is cast to on the way */
        if (arg->target && ar_is_address(arg->node->type))
            site(w, c, AR_SITE_VARARGS_ADDRESS, arg->node, arg->target);
        else if (arg->load_count && node && ar_is_float(node->type) &&
                 (node->kind == AR_INDEX || node->kind == AR_DEREF))
            site(w, c, AR_SITE_VARARGS_VALUE, node,
                 w->loads.data[arg->first_load].cell);
    }
}

static const ar_type *param_type(const call *c, uint32_t i) {
    const ar_type *type = c->callee ? c->callee->type : NULL;
    return type && i < type->param_count ? type->params[i] : NULL;
}

static void evaluate_arguments(ar_walk *w, call *c, uint32_t first) {
    for (uint32_t i = 0; i < c->count; i++) {
        ar_node *node = c->node->kids[first + i];
        uint32_t mark = w->loads.count;
        c->args[i].node = node;
        c->args[i].first_load = mark;
        c->args[i].target = ar_is_reference(param_type(c, i))
                                ? ar_lvalue(w, node)
                                : ar_eval(w, node);
        c->args[i].load_count = w->loads.count - mark;
        if (c->args[i].target && ar_float_depth(node->type) > 0)
            site(w, c,
                 c->node->kind == AR_LAUNCH ? AR_SITE_LAUNCH : AR_SITE_CALL,
                 node, c->args[i].target);
    }
}

static uint32_t perform(ar_walk *w, call *c) {
    ar_graph *g = w->g;
    if (!c->callee) {
        uint32_t function = ar_eval(w, c->node->kids[0]);
        function = function ? function : ar_cell_new(g);
        if (!w->is_quiet)
            ar_cell_fact(g, function, AR_FACT_CALLED, ar_here(w, c->node), NULL,
                         0);
        uint32_t target = enter(w, c, function, NULL);
        pin_pointer_call(w, c, function);
        return target;
    }
    uint32_t index = g->function_of[ar_entity_of(g->program, c->callee)->id];
    if (index) {
        ar_function *f = &g->functions.data[index - 1];
        uint32_t cell = w->is_quiet ? f->cell
                                    : ar_function_instance(g, f, c->node,
                                                           ar_here(w, c->node));
        return enter(w, c, cell, f->decl);
    }
    varargs_sites(w, c);
    c->rule = ar_rule_at(g->rules, g->program, c->callee, c->node->range);
    return c->rule ? ruled(w, c) : foreign(w, c);
}

uint32_t ar_eval_call(ar_walk *w, ar_node *node) {
    uint32_t first = node->kind == AR_LAUNCH ? 3 : 1;
    for (uint32_t i = 1; i < first; i++)
        ar_eval(w, node->kids[i]);
    uint32_t count = node->kid_count > first ? node->kid_count - first : 0;
    call c = {.node = node,
              .callee = ar_direct_callee(node->kids[0]),
              .args = AR_NEW_ARRAY(w->g->arena, argument, count + 1),
              .count = count};
    uint32_t mark = w->loads.count;
    evaluate_arguments(w, &c, first);
    if (!c.callee)
        return perform(w, &c);
    /* A float function's value depends on what it was given; for any other the
     * loads end here. */
    bool is_own = w->g->function_of[ar_entity_of(w->g->program, c.callee)->id];
    uint32_t end = w->loads.count;
    uint32_t target = perform(w, &c);
    if (is_own || !ar_is_float(node->type)) {
        uint32_t added = w->loads.count - end;
        if (added)
            memmove(&w->loads.data[mark], &w->loads.data[end],
                    added * sizeof *w->loads.data);
        w->loads.count = mark + added;
    }
    return target;
}
