/* Calls: functions of the program in context, others by rule
 * (interp_rules.c). */
#include "core/interp.h"

static ar_context *context_of(ar_interp *in, ar_node *call, ar_decl *function) {
    uint32_t parent = in->frame ? in->frame->context->id : 0;
    uint64_t a = ar_key(call) + ar_path_key(in);
    uint64_t b = (uint64_t)parent << 32 | function->id;
    uint32_t id = ar_idtable_get(&in->context_ids, a, b);
    if (id)
        return in->contexts.data[id];
    ar_context *c = AR_NEW(in->arena, ar_context);
    c->id = in->contexts.count;
    c->parent = parent;
    c->call = call;
    c->function = function;
    c->unit = ar_entity_of(in->program, function)->unit;
    c->depth = in->frame ? in->frame->context->depth + 1 : 0;
    AR_PUSH(in->arena, &in->contexts, c);
    ar_idtable_put(&in->context_ids, a, b, c->id);
    return c;
}

static bool is_running(const ar_interp *in, const ar_decl *function) {
    for (const ar_frame *f = in->frame; f; f = f->up)
        if (f->context->function->id == function->id)
            return true;
    return false;
}

static void forget_locals(ar_interp *in, const ar_context *context) {
    for (uint32_t i = 0; i < context->locals.count; i++) {
        ar_mem_object *o = in->m->objects.data[context->locals.data[i]];
        ar_reset_object(in, o, false);
    }
}

static uint32_t result_cell(ar_interp *in, ar_node *call,
                            const ar_decl *function) {
    bool is_new;
    ar_mem_object *object =
        ar_memory_object(in->m, ar_key(call) << 2 | 1,
                         (uint64_t)1 << 63 | in->frame->context->id, &is_new);
    if (is_new) {
        object->as.kind = AR_OBJECT_LOCAL;
        object->as.decl = (ar_decl *)function;
        object->as.unit = in->frame->context->unit;
        object->context = in->frame->context->id;
        ar_memory_root(in->m, object, function->type->element);
    }
    ar_reset_object(in, object, false);
    return object->root;
}

static void bind_argument(ar_interp *in, ar_node *call, ar_decl *param,
                          const ar_value *arg, const ar_type *type) {
    uint32_t cell = ar_variable_cell(in, param);
    ar_mem_cell *c = &in->m->cells.data[cell];
    if (ar_is_record(param->type)) {
        ar_value to = ar_value_pointer(in, cell, 0);
        ar_copy_record(in, call, &to, arg, param->type, true);
        return;
    }
    ar_value v = *arg;
    if (type && param->type->kind != AR_TYPE_ARRAY)
        v = ar_interp_convert(in, call, v, type, param->type);
    if (param->type->kind == AR_TYPE_ARRAY)
        c->is_many = false; /* T x[n] is a pointer */
    if (!c->scalar)
        c->scalar = param->type;
    if (ar_is_size(&v) && !v.extent && param->type->kind == AR_TYPE_INT)
        v.extent = ar_new_extent(in, call, cell);
    ar_state_set(in->m, &in->state, cell, ar_memory_intern(in->m, &v));
}

ar_value ar_run_function(ar_interp *in, ar_node *call, ar_decl *function,
                         const ar_value *args, const ar_type *const *types,
                         uint32_t count) {
    if (is_running(in, function)) {
        ar_interp_note(in, AR_DIAG_SCALE_NOTE, call->range,
                       ar_sprintf(in->arena,
                                  "recursive call of '%s' is not followed",
                                  function->name));
        return ar_is_floating(function->type->element)
                   ? ar_from_node(
                         ar_graph_node(in, AR_V_INPUT, call, 0, NULL, 0))
                   : ar_unknown();
    }
    if (in->frame && ar_is_inert(in, function)) {
        ar_skip_call(in, call, args, count);
        return ar_unknown();
    }
    ar_frame frame = {.up = in->frame};
    frame.returns = (ar_state){NULL, true};
    const ar_type *result = function->type->element;
    bool record = result && ar_is_record(result);
    if (record && in->frame)
        frame.result_cell = result_cell(in, call, function);
    frame.context = context_of(in, call, function);
    frame.context->loop_depth = in->active.count;
    ar_break_scope *breaks = in->breaks;
    uint32_t path = in->path;
    in->path = 0;
    in->breaks = NULL;
    in->frame = &frame;
    for (uint32_t i = 0; i < function->member_count && i < count; i++)
        bind_argument(in, call, function->members[i], &args[i],
                      types ? types[i] : NULL);
    ar_interp_exec(in, function->body);
    in->state = ar_join_states(in, function->body, &in->state, &frame.returns);
    if (!in->state.dead)
        forget_locals(in, frame.context);
    in->frame = frame.up;
    in->breaks = breaks;
    in->path = path;
    if (record && frame.result_cell)
        return ar_value_pointer(in, frame.result_cell, 0);
    if (frame.has_result)
        return frame.result;
    return ar_unknown();
}

/* ---- calls --------------------------------------------------------------- */

/* Pointers in the memory that was handed out may be anything now. */
static void forget_pointers(ar_interp *in, uint32_t cell) {
    uint32_t id = ar_state_get(&in->state, cell);
    const ar_value *v = ar_memory_value(in->m, id);
    if (id && !v->targets && !v->node) {
        ar_value unknown = ar_unknown();
        ar_state_set(in->m, &in->state, cell,
                     ar_memory_intern(in->m, &unknown));
    }
    for (uint32_t kid = in->m->cells.data[cell].first_child; kid;
         kid = in->m->cells.data[kid].next_sibling)
        forget_pointers(in, kid);
}

static void hand_out(ar_interp *in, const ar_value *arg, const ar_type *type) {
    if (!ar_is_address(type) || ar_is_floating(type->element))
        return;
    ar_targets set = *ar_memory_targets(in->m, arg->targets);
    for (uint32_t i = 0; i < set.count; i++) {
        ar_mem_object *object = ar_object_of(in->m, set.data[i].cell);
        if (object->is_function)
            continue;
        object->zero_default = false;
        forget_pointers(in, object->root);
    }
}

/* A function that is neither seen nor described: what it is given must have
 * degree 0, and what it could write is unknown. */
static ar_value call_stranger(ar_interp *in, ar_node *call, const char *name,
                              const ar_value *args, const ar_type *const *types,
                              uint32_t count) {
    bool told = false;
    for (uint32_t i = 0; i < count; i++) {
        ar_node *at = call->kids[i + 1];
        if (ar_is_floating(types[i])) {
            ar_graph_sink(in, AR_SINK_CALL, at, ar_float_of(in, &args[i]), 0);
            continue;
        }
        hand_out(in, &args[i], types[i]);
        if (!ar_points_to_floats(in, &args[i], types[i]))
            continue;
        ar_graph_sink(in, AR_SINK_CALL, at, ar_load_block(in, at, &args[i]), 0);
        if (!told)
            ar_interp_note(in, AR_DIAG_OPAQUE_CALL, call->range, name);
        told = true;
    }
    return ar_unknown_result(in, call);
}

static ar_value call_one(ar_interp *in, ar_node *call, ar_decl *callee,
                         ar_value *args, const ar_type *const *types,
                         uint32_t count) {
    ar_value result;
    if (ar_apply_rule(in, call, callee, args, types, count, &result))
        return result;
    ar_decl *definition = ar_definition_of(in->program, callee);
    if (definition) {
        for (uint32_t i = 0; i < count; i++)
            if (ar_is_floating(types[i]))
                args[i] = ar_as_term(in, call->kids[i + 1], args[i]);
        return ar_run_function(in, call, definition, args, types, count);
    }
    return call_stranger(in, call, callee->name, args, types, count);
}

static const char *called_name(ar_node *call) {
    const ar_node *callee = ar_skip_casts(call->kids[0]);
    return callee && callee->decl ? callee->decl->name : "(expression)";
}

static ar_value call_pointer(ar_interp *in, ar_node *call, ar_value *args,
                             const ar_type *const *types, uint32_t count) {
    ar_value callee = ar_interp_eval(in, call->kids[0]);
    ar_targets set = *ar_memory_targets(in->m, callee.targets);
    ar_state before = ar_state_copy(in->state), after = {NULL, true};
    ar_value result = ar_unknown();
    bool found = false, any = false;
    for (uint32_t i = 0; i < set.count; i++) {
        ar_mem_object *object = ar_object_of(in->m, set.data[i].cell);
        if (!object->is_function)
            continue;
        found = true;
        ar_state_drop(in->m, &in->state);
        in->state = ar_state_copy(before);
        ar_value one = call_one(in, call, object->as.decl, args, types, count);
        if (any && !in->state.dead)
            result = ar_join_values(in, call, 0x80000000u | i, &result, &one);
        else if (!in->state.dead)
            result = one;
        any = any || !in->state.dead;
        after = ar_join_states(in, call, &after, &in->state);
        in->state = (ar_state){NULL, true};
    }
    if (!found) {
        ar_state_drop(in->m, &after);
        in->state = before;
        return call_stranger(in, call, called_name(call), args, types, count);
    }
    ar_state_drop(in->m, &before);
    in->state = after;
    return result;
}

ar_value ar_interp_argument(ar_interp *in, ar_node *arg, const ar_decl *param,
                            const ar_type **type) {
    *type = arg->type;
    if (param && param->type->is_reference) {
        *type = param->type;
        return ar_interp_address(in, arg);
    }
    return arg->type && ar_is_record(arg->type) ? ar_interp_address(in, arg)
                                                : ar_interp_eval(in, arg);
}

ar_value ar_interp_call(ar_interp *in, ar_node *node) {
    ar_value value;
    if (ar_thread_call(in, node, &value))
        return value;
    uint32_t count = node->kid_count ? node->kid_count - 1 : 0;
    ar_value *args = AR_NEW_ARRAY(in->arena, ar_value, count + 1);
    const ar_type **types = AR_NEW_ARRAY(in->arena, const ar_type *, count + 1);
    ar_decl *callee = ar_direct_callee(node->kids[0]);
    for (uint32_t i = 0; i < count; i++)
        args[i] = ar_interp_argument(
            in, node->kids[i + 1],
            callee && i < callee->member_count ? callee->members[i] : NULL,
            &types[i]);
    if (in->state.dead)
        return (ar_value){.is_undefined = true};
    if (callee)
        return call_one(in, node, callee, args, types, count);
    return call_pointer(in, node, args, types, count);
}
