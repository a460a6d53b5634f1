/* Calls of functions that a rule describes: what they do to memory and to the
 * graph. */
#include "core/interp.h"
#include "core/rule_at.h"

typedef struct rule_call {
    ar_interp *in;
    ar_node *call;
    const ar_function_rule *rule;
    ar_value *args;
    const ar_type *const *types;
    uint32_t count;
    uint32_t next; /* numbers the nodes that one call makes */
} rule_call;

static uint32_t fresh(rule_call *r, ar_vnode_kind kind, const uint32_t *inputs,
                      uint32_t count) {
    return ar_graph_node(r->in, kind, r->call, 0x80000000u | ++r->next, inputs,
                         count);
}

static uint32_t resolve(ar_interp *in, uint32_t node) {
    uint32_t end = node;
    for (int i = 0; i < 8 && AR_VN(in, end)->kind == AR_V_STORE &&
                    AR_VN(in, end)->in_count == 1;
         i++)
        end = AR_VN(in, end)->in[0];
    return end <= AR_NODE_CONST ? end : node;
}

static uint32_t operand(rule_call *r, uint32_t index) {
    if (index >= r->count)
        return AR_NODE_CONST;
    ar_value *v = &r->args[index];
    if (!ar_is_address(r->types[index]))
        return resolve(r->in, ar_float_of(r->in, v));
    ar_node *at =
        index + 1 < r->call->kid_count ? r->call->kids[index + 1] : r->call;
    return resolve(r->in, ar_load_block(r->in, at, v));
}

static uint32_t term_node(rule_call *r, const ar_term *term) {
    if (!term->factor_count && !term->nonlinear_count)
        return term->coefficient != 0 ? AR_NODE_CONST : AR_NODE_ZERO;
    uint32_t node = AR_NODE_CONST;
    for (uint32_t i = 0; i < term->factor_count; i++) {
        uint32_t f = operand(r, term->factors[i]);
        if (term->is_nonlinear) {
            if (f > AR_NODE_CONST)
                f = fresh(r, AR_V_NONLINEAR, &f, 1);
            else
                f = AR_NODE_CONST;
        }
        if (f == AR_NODE_ZERO)
            return AR_NODE_ZERO;
        if (node == AR_NODE_CONST)
            node = f;
        else if (f != AR_NODE_CONST)
            node = fresh(r, AR_V_MUL, (uint32_t[]){node, f}, 2);
    }
    for (uint32_t i = 0; i < term->nonlinear_count; i++) {
        uint32_t f = operand(r, term->nonlinear[i]);
        if (f <= AR_NODE_CONST)
            continue;
        f = fresh(r, AR_V_NONLINEAR, &f, 1);
        node = node == AR_NODE_CONST
                   ? f
                   : fresh(r, AR_V_MUL, (uint32_t[]){node, f}, 2);
    }
    return node;
}

static uint32_t equation_node(rule_call *r, const ar_equation *equation) {
    uint32_t sum = AR_NODE_ZERO;
    for (uint32_t i = 0; i < equation->term_count; i++) {
        uint32_t term = term_node(r, &equation->terms[i]);
        if (sum == AR_NODE_ZERO || sum == term)
            sum = term;
        else if (term != AR_NODE_ZERO)
            sum = fresh(r, AR_V_SUM, (uint32_t[]){sum, term}, 2);
    }
    return sum;
}

static ar_value apply_algebra(rule_call *r, const ar_decl *callee) {
    uint32_t count = r->rule->equation_count;
    uint32_t *values = AR_NEW_ARRAY(r->in->arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++)
        values[i] = equation_node(r, &r->rule->algebra[i]);
    const ar_type *type = callee->type->element;
    ar_value result =
        ar_is_floating(type) ? ar_from_node(AR_NODE_CONST) : ar_unknown();
    for (uint32_t i = 0; i < count; i++) {
        uint32_t target = r->rule->algebra[i].target;
        if (target == AR_TARGET_RESULT) {
            if (ar_is_floating(type))
                result = ar_from_node(values[i]);
            else if (values[i] > AR_NODE_CONST)
                ar_graph_sink(r->in, AR_SINK_INT, r->call, values[i], 0);
        } else if (target < r->count) {
            ar_store_block(r->in, r->call, &r->args[target], values[i], false);
        }
    }
    return result;
}

static int64_t use_of(const rule_call *r, ar_slot_use use) {
    for (uint32_t i = 0; r->rule->uses && i < r->rule->param_count; i++)
        if (r->rule->uses[i] == use)
            return i;
    return -1;
}

static int64_t param_with(const rule_call *r, ar_direction direction) {
    for (uint32_t i = 0; i < r->rule->param_count; i++)
        if (r->rule->params[i].direction == direction)
            return i;
    return -1;
}

bool ar_points_to_floats(ar_interp *in, const ar_value *v,
                         const ar_type *type) {
    if (!ar_is_address(type))
        return false;
    if (ar_is_floating(type->element))
        return true;
    ar_targets set = *ar_memory_targets(in->m, v->targets);
    for (uint32_t i = 0; i < set.count; i++) {
        const ar_mem_cell *c = &in->m->cells.data[set.data[i].cell];
        if (ar_is_floating(ar_array_bottom(c->scalar ? c->scalar : c->type)))
            return true;
    }
    return false;
}

static void sink_argument(rule_call *r, uint32_t i, ar_sink_kind kind) {
    ar_node *at = r->call->kids[i + 1];
    if (ar_is_floating(r->types[i]))
        ar_graph_sink(r->in, kind, at, ar_float_of(r->in, &r->args[i]), 0);
    else if (ar_points_to_floats(r->in, &r->args[i], r->types[i]))
        ar_graph_sink(r->in, kind, at, ar_load_block(r->in, at, &r->args[i]),
                      0);
}

static void apply_save(rule_call *r) {
    for (uint32_t i = 0; i < r->count; i++) {
        bool fixed = i < r->rule->param_count;
        ar_sink_kind kind =
            ar_is_floating(r->types[i]) ? AR_SINK_PRINT : AR_SINK_SAVE;
        if (!fixed || r->rule->params[i].direction == AR_DIR_IN)
            sink_argument(r, i, kind);
    }
}

/* What comes from a file has degree 0 and any value. */
static void load_into(rule_call *r, uint32_t i) {
    if (!ar_is_address(r->types[i]))
        return;
    ar_interp *in = r->in;
    if (ar_points_to_floats(in, &r->args[i], r->types[i])) {
        uint32_t node = fresh(r, AR_V_INPUT, NULL, 0);
        ar_store_block(in, r->call, &r->args[i], node, false);
        return;
    }
    ar_fill_unknown(in, r->call, &r->args[i], r->types[i]->element);
}

ar_value ar_unknown_result(ar_interp *in, ar_node *call) {
    if (ar_is_floating(call->type))
        return ar_from_node(ar_graph_node(in, AR_V_INPUT, call, 0, NULL, 0));
    return ar_unknown();
}

static ar_value apply_alloc(rule_call *r) {
    ar_value memory = ar_allocate(r->in, r->call, r->rule->zeroed);
    int64_t out = param_with(r, AR_DIR_OUT);
    if (out >= 0 && out < r->count) {
        static const ar_type byte = {.kind = AR_TYPE_VOID};
        static const ar_type pointer = {
            .kind = AR_TYPE_POINTER, .bytes = sizeof(void *), .element = &byte};
        ar_interp_store(r->in, r->call, &r->args[out], &pointer, &memory);
        return ar_number(0);
    }
    return memory;
}

static void log_free(ar_interp *in, ar_node *call, const ar_value *pointer) {
    ar_targets set = *ar_memory_targets(in->m, pointer->targets);
    for (uint32_t i = 0; i < set.count; i++) {
        ar_mem_object *object = ar_object_of(in->m, set.data[i].cell);
        if (ar_idtable_get(&in->free_ids, ar_key(call), object->as.id))
            continue;
        ar_idtable_put(&in->free_ids, ar_key(call), object->as.id, 1);
        AR_PUSH(
            in->arena, &in->frees,
            (struct ar_free_site){call, in->frame->context->unit, &object->as});
    }
}

static void run_callback(rule_call *r) {
    int64_t routine = use_of(r, AR_USE_FUNCTION);
    int64_t argument = use_of(r, AR_USE_ARGUMENT);
    if (routine < 0 || routine >= r->count)
        return;
    ar_interp *in = r->in;
    ar_targets set = *ar_memory_targets(in->m, r->args[routine].targets);
    for (uint32_t i = 0; i < set.count; i++) {
        ar_mem_object *object = ar_object_of(in->m, set.data[i].cell);
        if (!object->is_function || !object->as.decl->body)
            continue;
        bool has = argument >= 0 && argument < r->count;
        ar_run_function(in, r->call, object->as.decl,
                        has ? &r->args[argument] : NULL,
                        has ? &r->types[argument] : NULL, has ? 1 : 0);
    }
}

static ar_value apply_pure(rule_call *r, const ar_decl *callee) {
    run_callback(r);
    ar_interp *in = r->in;
    for (uint32_t i = 0; i < r->count && i < r->rule->param_count; i++) {
        ar_direction d = r->rule->params[i].direction;
        if (d == AR_DIR_OUT || d == AR_DIR_INOUT)
            load_into(r, i);
    }
    if (!ar_is_floating(callee->type->element))
        return ar_unknown();
    uint32_t node = 0;
    for (uint32_t i = 0; i < r->count; i++)
        if (ar_is_floating(r->types[i]))
            node = fresh(r, AR_V_NONLINEAR,
                         (uint32_t[]){ar_float_of(in, &r->args[i])}, 1);
    return node ? ar_from_node(node) : ar_unknown_result(in, r->call);
}

/* A sum over processes: what is received has the degree of what is sent. Sent
 * in place (no memory is named), it is the receiving buffer's own. */
static ar_value apply_allreduce(rule_call *r, const ar_decl *callee) {
    for (uint32_t i = 0; i < r->rule->equation_count; i++) {
        const ar_equation *e = &r->rule->algebra[i];
        bool in_place = false;
        for (uint32_t t = 0; t < e->term_count; t++)
            for (uint32_t k = 0; k < e->terms[t].factor_count; k++) {
                uint32_t from = e->terms[t].factors[k];
                in_place |= from < r->count && ar_is_address(r->types[from]) &&
                            !r->args[from].targets;
            }
        if (in_place)
            return ar_unknown_result(r->in, r->call);
    }
    return apply_algebra(r, callee);
}

/* Clipping multiplies the gradient by a function of all of it: what it is
 * given must be unscaled, and so the unscale goes before it. */
static ar_value apply_clip(rule_call *r, const ar_decl *callee) {
    uint32_t norm = 0;
    for (uint32_t i = 0; i < r->count && i < r->rule->param_count; i++) {
        if (r->rule->params[i].direction != AR_DIR_INOUT ||
            !ar_points_to_floats(r->in, &r->args[i], r->types[i]))
            continue;
        uint32_t old = operand(r, i);
        norm = fresh(r, AR_V_NONLINEAR, &old, 1);
        uint32_t clipped = fresh(r, AR_V_MUL, (uint32_t[]){old, norm}, 2);
        ar_store_block(r->in, r->call, &r->args[i], clipped, false);
    }
    return norm && ar_is_floating(callee->type->element)
               ? ar_from_node(norm)
               : ar_unknown_result(r->in, r->call);
}

/* memcpy returns its target, cudaMemcpy that all went well. */
static ar_value returned(const ar_decl *callee, const ar_value *target) {
    return callee->type->element->kind == AR_TYPE_POINTER ? *target
                                                          : ar_number(0);
}

bool ar_apply_rule(ar_interp *in, ar_node *call, const ar_decl *callee,
                   ar_value *args, const ar_type *const *types, uint32_t count,
                   ar_value *result) {
    const ar_function_rule *rule =
        ar_rule_at(in->rules, in->program, callee, call->range);
    if (!rule)
        return false;
    rule_call r = {in, call, rule, args, types, count, 0};
    *result = ar_unknown();
    switch (rule->kind) {
    case AR_RULE_OP:
        if (!rule->algebra)
            return false;
        in->barriers.in_atomic = strcmp(rule->op, "atomic") == 0;
        *result = apply_algebra(&r, callee);
        in->barriers.in_atomic = false;
        return true;
    case AR_RULE_ALLOC:
        *result = apply_alloc(&r);
        return true;
    case AR_RULE_REALLOC: {
        /* The same memory, with room: what was there stays. */
        int64_t p = use_of(&r, AR_USE_POINTER);
        const ar_value *old = p < 0 || p >= count ? &args[0] : &args[p];
        log_free(in, call, old);
        *result = old->targets ? *old : ar_allocate(in, call, false);
        return true;
    }
    case AR_RULE_FREE:
        if (count)
            log_free(in, call, &args[0]);
        return true;
    case AR_RULE_COPY: {
        int64_t to = param_with(&r, AR_DIR_OUT);
        int64_t from = param_with(&r, AR_DIR_IN);
        if (to >= 0 && from >= 0 && to < count && from < count) {
            ar_copy_block(in, call, &args[to], &args[from]);
            *result = returned(callee, &args[to]);
        }
        return true;
    }
    case AR_RULE_CLEAR: {
        int64_t to = param_with(&r, AR_DIR_OUT);
        int64_t value = use_of(&r, AR_USE_VALUE);
        bool zero = value < 0 || value >= count ||
                    (args[value].is_number && !args[value].number);
        if (to >= 0 && to < count) {
            ar_clear_block(in, call, &args[to], zero);
            *result = returned(callee, &args[to]);
        }
        return true;
    }
    case AR_RULE_SAVE:
        apply_save(&r);
        return true;
    case AR_RULE_LOAD:
        *result = ar_unknown_result(in, call);
        for (uint32_t i = 0; i < count; i++)
            if (i >= rule->param_count ||
                rule->params[i].direction == AR_DIR_OUT)
                load_into(&r, i);
        return true;
    case AR_RULE_PURE:
        *result = apply_pure(&r, callee);
        return true;
    case AR_RULE_EXIT:
        ar_state_drop(in->m, &in->state);
        return true;
    case AR_RULE_CLIP:
    case AR_RULE_ALLREDUCE:
        /* A body says more. */
        if (ar_definition_of(in->program, (ar_decl *)callee))
            return false;
        *result = rule->kind == AR_RULE_CLIP ? apply_clip(&r, callee)
                                             : apply_allreduce(&r, callee);
        return true;
    case AR_RULE_OPTIMIZER:
    case AR_RULE_SEED:
        return false;
    }
    return false;
}
