/* Calls that need not be followed: whatever a function and those it calls do
 * is done to numbers and bytes, as in option parsers and image decoders. No
 * expression in them has a type through which a float can be reached, and they
 * store no pointer without a type. What the call may leave behind is unknown
 * integers. Only functions with loops are skipped: the others are cheap, and
 * some compute indices. */
#include "core/interp.h"
#include "core/rule_at.h"

typedef struct inert_edge {
    uint32_t from, to;
} inert_edge;

typedef struct inert_scan {
    ar_interp *in;
    AR_VEC(inert_edge) edges;
    AR_VEC(ar_decl *) taken; /* functions whose address is taken */
    AR_VEC(ar_node *) pointer_calls;
    AR_VEC(uint32_t) pointer_callers;
    ar_idtable called; /* REFs that only name what is called */
} inert_scan;

struct ar_inert {
    bool *records; /* entity: a float can be reached through it */
    bool *touches; /* entity: function that has to be followed */
    bool *loops;   /* entity: function with a loop in what it runs */
};

static bool reaches_float(const ar_interp *in, const ar_type *type) {
    type = ar_address_bottom(type);
    if (!type)
        return false;
    if (type->kind == AR_TYPE_RECORD)
        return !type->record ||
               in->inert->records[ar_entity_of(in->program, type->record)->id];
    return type->kind == AR_TYPE_OTHER || ar_is_floating(type);
}

static bool is_untyped(const ar_type *type) {
    while (type &&
           (type->kind == AR_TYPE_POINTER || type->kind == AR_TYPE_ARRAY)) {
        type = type->element;
        if (!type || type->kind == AR_TYPE_VOID)
            return true;
    }
    return false;
}

static void find_records(ar_interp *in) {
    const ar_program *program = in->program;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < program->entities.count; i++) {
            const ar_decl *d = program->entities.data[i].decl;
            if (d->kind != AR_DECL_RECORD || in->inert->records[i])
                continue;
            for (uint32_t k = 0; k < d->member_count; k++)
                if (reaches_float(in, d->members[k]->type))
                    in->inert->records[i] = changed = true;
        }
    }
}

/* ---- what one function does itself --------------------------------------- */

static const ar_decl *stored_variable(ar_node *node) {
    node = ar_skip_casts(node);
    while (node && ((node->kind == AR_MEMBER && !node->is_arrow) ||
                    node->kind == AR_INDEX))
        node = ar_skip_casts(node->kids[0]);
    return node && node->kind == AR_REF ? node->decl : NULL;
}

/* A store that is seen outside in a way that is not made up for. */
static bool stores_outside(ar_node *target) {
    const ar_decl *variable = stored_variable(target);
    bool is_local = variable && variable->storage == AR_STORAGE_AUTO;
    if (is_untyped(target->type))
        return !is_local || ar_skip_casts(target)->kind != AR_REF;
    return variable && !is_local;
}

static ar_node *skip_implicit(ar_node *node) {
    while (node->kind == AR_IMPLICIT && node->kid_count)
        node = node->kids[0];
    return node;
}

/* Code that is not seen, given memory of unknown type. */
static bool hands_out_memory(const ar_node *call) {
    for (uint32_t i = 1; i < call->kid_count; i++)
        if (is_untyped(skip_implicit(call->kids[i])->type))
            return true;
    return false;
}

static bool call_touches(inert_scan *s, ar_node *call, ar_decl *callee) {
    ar_interp *in = s->in;
    const ar_function_rule *rule =
        ar_rule_at(in->rules, in->program, callee, call->range);
    if (!rule)
        return !ar_definition_of(in->program, callee) && hands_out_memory(call);
    switch (rule->kind) {
    case AR_RULE_OP:
    case AR_RULE_OPTIMIZER:
    case AR_RULE_SEED:
    case AR_RULE_CLIP:
    case AR_RULE_ALLREDUCE:
        return true;
    case AR_RULE_ALLOC:
    case AR_RULE_EXIT:
        return false;
    case AR_RULE_REALLOC:
    case AR_RULE_FREE:
    case AR_RULE_COPY:
    case AR_RULE_CLEAR:
    case AR_RULE_SAVE:
    case AR_RULE_LOAD:
    case AR_RULE_PURE:
        return hands_out_memory(call);
    }
    return true;
}

static uint32_t function_id(inert_scan *s, const ar_decl *function) {
    return ar_entity_of(s->in->program, function)->id;
}

static void scan_call(inert_scan *s, uint32_t id, ar_node *call) {
    ar_decl *callee = ar_direct_callee(call->kids[0]);
    if (!callee) {
        AR_PUSH(s->in->arena, &s->pointer_calls, call);
        AR_PUSH(s->in->arena, &s->pointer_callers, id);
        return;
    }
    ar_node *name = call->kids[0];
    while (name->kind != AR_REF)
        name = name->kids[0];
    ar_idtable_put(&s->called, ar_key(name), 0, 1);
    if (call_touches(s, call, callee))
        s->in->inert->touches[id] = true;
}

static void scan_node(void *context, ar_unit *unit, ar_decl *function,
                      ar_node *node) {
    inert_scan *s = context;
    ar_inert *inert = s->in->inert;
    (void)unit;
    bool names = node->kind == AR_REF && node->decl &&
                 node->decl->kind == AR_DECL_FUNCTION;
    if (names && !ar_idtable_get(&s->called, ar_key(node), 0))
        AR_PUSH(s->in->arena, &s->taken, node->decl);
    if (!function)
        return;
    uint32_t id = function_id(s, function);
    if (names)
        AR_PUSH(s->in->arena, &s->edges,
                (inert_edge){id, function_id(s, node->decl)});
    if (reaches_float(s->in, node->type))
        inert->touches[id] = true;
    switch ((int)node->kind) {
    case AR_CALL:
        scan_call(s, id, node);
        break;
    case AR_LAUNCH:
    case AR_ASM:
    case AR_UNKNOWN_EXPR:
    case AR_UNKNOWN_STMT:
        inert->touches[id] = true;
        break;
    case AR_ASSIGN:
    case AR_COMPOUND_ASSIGN:
        inert->touches[id] |= stores_outside(node->kids[0]);
        break;
    case AR_UNARY:
        if (node->op >= AR_OP_PRE_INC)
            inert->touches[id] |= stores_outside(node->kids[0]);
        break;
    case AR_ADDRESS: {
        /* A variable that is not local may be stored to by its address. */
        const ar_decl *variable = stored_variable(node->kids[0]);
        inert->touches[id] |= variable && variable->kind == AR_DECL_VAR &&
                              variable->storage != AR_STORAGE_AUTO;
        break;
    }
    default:
        inert->loops[id] |= ar_is_loop(node);
        break;
    }
}

/* ---- and through those it calls ------------------------------------------ */

static bool may_be_called(const ar_node *call, const ar_decl *function) {
    if (function->member_count + 1 != call->kid_count)
        return false;
    for (uint32_t i = 0; i < function->member_count; i++) {
        const ar_type *given = call->kids[i + 1]->type;
        if (given && given->kind == AR_TYPE_RECORD &&
            function->members[i]->type->kind != AR_TYPE_RECORD)
            return false;
    }
    return true;
}

static void add_pointer_calls(inert_scan *s) {
    for (uint32_t i = 0; i < s->pointer_calls.count; i++) {
        uint32_t from = s->pointer_callers.data[i];
        bool any = false;
        for (uint32_t k = 0; k < s->taken.count; k++) {
            const ar_decl *taken = s->taken.data[k];
            if (!may_be_called(s->pointer_calls.data[i], taken))
                continue;
            any = true;
            AR_PUSH(s->in->arena, &s->edges,
                    (inert_edge){from, function_id(s, taken)});
        }
        if (!any)
            s->in->inert->touches[from] = true;
    }
}

static void spread(inert_scan *s) {
    ar_inert *inert = s->in->inert;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < s->edges.count; i++) {
            inert_edge e = s->edges.data[i];
            if ((inert->touches[e.to] && !inert->touches[e.from]) ||
                (inert->loops[e.to] && !inert->loops[e.from]))
                changed = true;
            inert->touches[e.from] |= inert->touches[e.to];
            inert->loops[e.from] |= inert->loops[e.to];
        }
    }
}

void ar_find_inert(ar_interp *in) {
    uint32_t n = in->program->entities.count + 1;
    in->inert = AR_NEW(in->arena, ar_inert);
    in->inert->records = AR_NEW_ARRAY(in->arena, bool, n);
    in->inert->touches = AR_NEW_ARRAY(in->arena, bool, n);
    in->inert->loops = AR_NEW_ARRAY(in->arena, bool, n);
    find_records(in);
    inert_scan s = {.in = in};
    s.called.arena = in->arena;
    ar_program_visit(in->program, scan_node, &s);
    for (uint32_t i = 0; i < in->program->entities.count; i++) {
        const ar_decl *d = in->program->entities.data[i].decl;
        for (uint32_t k = 0; d->kind == AR_DECL_FUNCTION && k < d->member_count;
             k++)
            in->inert->touches[i] |= reaches_float(in, d->members[k]->type);
    }
    add_pointer_calls(&s);
    spread(&s);
}

/* ---- skipping ------------------------------------------------------------ */

bool ar_is_inert(const ar_interp *in, const ar_decl *function) {
    uint32_t id = ar_entity_of(in->program, function)->id;
    const ar_type *result = function->type->element;
    return in->inert->loops[id] && !in->inert->touches[id] &&
           !reaches_float(in, result) && !is_untyped(result) &&
           !(result && result->kind == AR_TYPE_RECORD);
}

static bool holds_floats(const ar_interp *in, uint32_t cell) {
    const ar_mem_cell *c = &in->m->cells.data[cell];
    if (reaches_float(in, c->type) || reaches_float(in, c->scalar))
        return true;
    for (uint32_t kid = c->first_child; kid;
         kid = in->m->cells.data[kid].next_sibling)
        if (holds_floats(in, kid))
            return true;
    return false;
}

typedef AR_VEC(uint32_t) object_list;

static void add_objects(ar_interp *in, object_list *list, uint32_t targets) {
    ar_targets set = *ar_memory_targets(in->m, targets);
    for (uint32_t i = 0; i < set.count; i++) {
        const ar_mem_object *o = ar_object_of(in->m, set.data[i].cell);
        bool known = o->is_function || holds_floats(in, o->root);
        for (uint32_t k = 0; k < list->count; k++)
            known |= list->data[k] == o->as.id;
        if (!known)
            AR_PUSH(in->arena, list, o->as.id);
    }
}

static void forget_numbers(ar_interp *in, ar_node *call, object_list *list,
                           uint32_t cell) {
    uint32_t id = ar_state_get(&in->state, cell);
    ar_value v = id ? *ar_memory_value(in->m, id) : ar_unknown();
    if (v.targets) {
        add_objects(in, list, v.targets);
    } else {
        v = ar_unknown();
        ar_state_set(in->m, &in->state, cell, ar_memory_intern(in->m, &v));
        ar_scalar_access(in, call, cell, true);
    }
    for (uint32_t kid = in->m->cells.data[cell].first_child; kid;
         kid = in->m->cells.data[kid].next_sibling)
        forget_numbers(in, call, list, kid);
}

void ar_skip_call(ar_interp *in, ar_node *call, const ar_value *args,
                  uint32_t count) {
    object_list list = {0};
    for (uint32_t i = 0; i < count; i++)
        add_objects(in, &list, args[i].targets);
    for (uint32_t i = 0; i < list.count; i++) {
        ar_mem_object *o = in->m->objects.data[list.data[i]];
        o->zero_default = false;
        forget_numbers(in, call, &list, o->root);
    }
}
