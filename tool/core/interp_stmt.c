/* Statements, declarations, initialisers. */
#include "core/interp.h"

/* ---- initialisers -------------------------------------------------------- */

static void init_list(ar_interp *in, ar_node *at, const ar_value *address,
                      const ar_type *type, ar_node *list) {
    uint64_t position = 0;
    for (uint32_t i = 0; i < list->kid_count; i++) {
        ar_node *kid = list->kids[i];
        if (!kid)
            continue;
        ar_value to = *address;
        const ar_type *element = type;
        if (ar_is_record(type)) {
            const ar_decl *record =
                type->record ? ar_entity_of(in->program, type->record)->decl
                             : NULL;
            ar_decl *field = NULL;
            if (kid->kind == AR_DESIGNATED && kid->decl)
                field = ar_entity_of(in->program, kid->decl)->decl;
            else if (record && position < record->member_count)
                field =
                    ar_entity_of(in->program, record->members[position])->decl;
            if (!field)
                continue;
            position = field->index + 1u;
            ar_targets set = *ar_memory_targets(in->m, address->targets);
            if (!set.count)
                return;
            uint32_t cell = ar_memory_child(
                in->m,
                ar_element_cell(in, set.data[0].cell, set.data[0].index, type),
                AR_STEP_FIELD, field, 0, field->type);
            to = ar_value_pointer(in, cell, 0);
            element = field->type;
        } else if (type->kind == AR_TYPE_ARRAY) {
            if (kid->kind == AR_DESIGNATED)
                position = (uint64_t)kid->int_value;
            ar_targets set = *ar_memory_targets(in->m, address->targets);
            if (!set.count)
                return;
            int64_t base = set.data[0].index == AR_ANY_INDEX
                               ? AR_ANY_INDEX
                               : set.data[0].index + (int64_t)position;
            to = ar_value_pointer(in, set.data[0].cell, base);
            element = type->element;
            position++;
        }
        if (kid->kind == AR_DESIGNATED)
            kid = kid->kid_count ? kid->kids[0] : NULL;
        if (kid)
            ar_init_cell(in, at, &to, element, kid);
    }
}

void ar_init_cell(ar_interp *in, ar_node *at, const ar_value *address,
                  const ar_type *type, ar_node *init) {
    if (init->kind == AR_INIT_LIST) {
        if (type->kind == AR_TYPE_ARRAY || ar_is_record(type)) {
            init_list(in, at, address, type, init);
            return;
        }
        if (!init->kid_count)
            return;
        init = init->kids[0];
    }
    if (ar_is_record(type)) {
        ar_value from = ar_interp_address(in, init);
        if (ar_fork_kinds(in, at, address, &from, type))
            return;
        ar_copy_record(in, at, address, &from, type, false);
        return;
    }
    if (type->kind == AR_TYPE_ARRAY)
        return; /* a string */
    ar_value v = type->is_reference ? ar_interp_address(in, init)
                                    : ar_interp_eval(in, init);
    if (init->type && !type->is_reference)
        v = ar_interp_convert(in, at, v, init->type, type);
    ar_interp_store(in, at, address, type, &v);
}

/* Storage the initialiser leaves out is zero. */
static bool leaves_out(const ar_node *init) {
    return init && init->kind == AR_INIT_LIST;
}

void ar_init_variable(ar_interp *in, ar_node *at, ar_decl *decl) {
    if (decl->kind != AR_DECL_VAR || !decl->type)
        return;
    bool is_static = decl->storage != AR_STORAGE_AUTO;
    uint32_t cell = ar_variable_cell(in, decl);
    if (is_static)
        return; /* once, before main */
    ar_mem_object *object = ar_object_of(in->m, cell);
    ar_reset_object(in, object, leaves_out(decl->init));
    if (!decl->init)
        return;
    ar_value address = ar_value_pointer(in, cell, 0);
    ar_init_cell(in, at, &address, decl->type, decl->init);
}

/* ---- paths --------------------------------------------------------------- */

static void exec_if(ar_interp *in, ar_node *node) {
    ar_value v;
    int truth = ar_truth(in, node->kids[0], &v);
    ar_node *yes = node->kids[1];
    ar_node *no = node->kid_count > 2 ? node->kids[2] : NULL;
    if (truth < 0)
        truth = ar_thread_guard(in, node, &v);
    if (truth == 1) {
        if (yes)
            ar_interp_exec(in, yes);
        return;
    }
    if (truth == 0) {
        if (no)
            ar_interp_exec(in, no);
        return;
    }
    ar_state other = ar_state_copy(in->state);
    ar_assume(in, node->kids[0], true);
    if (yes)
        ar_interp_exec(in, yes);
    ar_state after = ar_state_take(&in->state);
    in->state = other;
    ar_assume(in, node->kids[0], false);
    if (no)
        ar_interp_exec(in, no);
    if (ar_fork_branches(in, node, &after))
        return;
    other = ar_state_take(&in->state);
    in->state = ar_join_states(in, node, &after, &other);
}

typedef struct switch_scope {
    ar_state entry;
    ar_value value;
    bool has_default, took_constant;
} switch_scope;

static void exec_cases(ar_interp *in, ar_node *node, switch_scope *s) {
    if (!node)
        return;
    if (node->kind == AR_COMPOUND) {
        for (uint32_t i = 0; i < node->kid_count; i++)
            exec_cases(in, node->kids[i], s);
        return;
    }
    if (node->kind != AR_CASE && node->kind != AR_DEFAULT) {
        if (!in->state.dead)
            ar_interp_exec(in, node);
        return;
    }
    bool enters = true;
    if (node->kind == AR_CASE && s->value.is_number) {
        ar_state now = ar_state_take(&in->state);
        in->state = ar_state_copy(s->entry);
        ar_value label = ar_interp_eval(in, node->kids[0]);
        ar_state_drop(in->m, &in->state);
        in->state = now;
        enters = !label.is_number || label.number == s->value.number;
        s->took_constant |= enters;
    }
    if (node->kind == AR_DEFAULT) {
        s->has_default = true;
        enters = !s->took_constant;
    }
    if (enters) {
        ar_state entry = ar_state_copy(s->entry);
        in->state = ar_join_states(in, node, &in->state, &entry);
    }
    exec_cases(in, node->kids[node->kid_count - 1], s);
}

static void exec_switch(ar_interp *in, ar_node *node) {
    switch_scope s = {.value = ar_interp_eval(in, node->kids[0])};
    s.entry = ar_state_take(&in->state);
    s.entry.dead = false;
    in->state = (ar_state){NULL, true};
    ar_state breaks = {NULL, true};
    ar_break_scope scope = {&breaks, in->breaks ? in->breaks->continues : NULL,
                            in->breaks};
    in->breaks = &scope;
    exec_cases(in, node->kids[1], &s);
    in->breaks = scope.up;
    in->state = ar_join_states(in, node, &in->state, &breaks);
    if (s.has_default || s.took_constant)
        ar_state_drop(in->m, &s.entry);
    else
        in->state = ar_join_states(in, node, &in->state, &s.entry);
}

static void leave(ar_interp *in, ar_node *node, ar_state *to) {
    if (to)
        *to = ar_join_states(in, node, to, &in->state);
    else
        ar_state_drop(in->m, &in->state);
    in->state = (ar_state){NULL, true};
}

static void exec_return(ar_interp *in, ar_node *node) {
    ar_frame *frame = in->frame;
    if (node->kid_count && node->kids[0]) {
        ar_node *value = node->kids[0];
        const ar_type *type = frame->context->function->type->element;
        ar_value v;
        if (type && ar_is_record(type) && !frame->result_cell) {
            /* to whoever calls a function that nothing here calls */
            ar_interp_address(in, value);
            v = ar_unknown();
        } else if (type && ar_is_record(type)) {
            v = ar_interp_address(in, value);
            ar_value to = ar_value_pointer(in, frame->result_cell, 0);
            ar_copy_record(in, node, &to, &v, type, true);
            v = to;
        } else {
            v = ar_interp_eval(in, value);
            if (type && value->type)
                v = ar_interp_convert(in, node, v, value->type, type);
        }
        if (in->state.dead)
            return;
        if (frame->has_result)
            v = ar_join_values(in, node, 0x80000000u, &frame->result, &v);
        frame->result = v;
        frame->has_result = true;
    }
    leave(in, node, &frame->returns);
}

/* ---- boundaries ---------------------------------------------------------- */

static void pass_boundary(ar_interp *in, ar_node *node) {
    uint32_t first = ar_idtable_get(&in->boundary_index, ar_key(node), 0);
    if (!first)
        return;
    for (uint32_t i = first - 1; i < in->boundaries.count; i++) {
        const ar_boundary *b = &in->boundaries.data[i];
        if (b->at != node)
            break;
        if (b->context && b->context != in->frame->context->id)
            continue;
        for (uint32_t k = 0; k < b->cell_count; k++) {
            uint32_t id = ar_state_get(&in->state, b->cells[k]);
            if (!id)
                continue;
            ar_value v = *ar_memory_value(in->m, id);
            if (!v.node)
                continue;
            v.node = ar_boundary_node(in, node, b->cells[k], v.node);
            v.is_number = false;
            v.number = 0;
            ar_state_set(in->m, &in->state, b->cells[k],
                         ar_memory_intern(in->m, &v));
        }
    }
}

/* ---- all statements ------------------------------------------------------ */

enum { WORK_LIMIT = 6000000 };

void ar_exec_block(ar_interp *in, ar_node *block, uint32_t from) {
    uint32_t waiting = in->splits.count;
    for (uint32_t i = from; i < block->kid_count; i++) {
        ar_interp_exec(in, block->kids[i]);
        if (in->splits.count > waiting) {
            ar_run_splits(in, block, i + 1, waiting);
            return;
        }
    }
}

static void exec(ar_interp *in, ar_node *node);

void ar_interp_exec(ar_interp *in, ar_node *node) {
    if (!node || in->gave_up)
        return;
    uint32_t waiting = in->splits.count;
    ar_node *statement = in->statement;
    in->statement = node;
    exec(in, node);
    in->statement = statement;
    /* Only blocks know how to go on with what waits. */
    if (in->splits.count > waiting && node->kind != AR_IF &&
        node->kind != AR_DECL_STMT && node->kind != AR_EXPR_STMT)
        ar_join_splits(in, node, waiting);
}

static void exec(ar_interp *in, ar_node *node) {
    if (in->work > WORK_LIMIT) {
        in->gave_up = true;
        ar_interp_note(in, AR_DIAG_SCALE_NOTE, node->range,
                       "the loss-scale analysis was stopped here: too much to "
                       "follow");
        return;
    }
    if (in->state.dead && node->kind != AR_LABEL && node->kind != AR_COMPOUND)
        return;
    if (in->boundaries.count && !in->state.dead)
        pass_boundary(in, node);
    switch ((int)node->kind) {
    case AR_COMPOUND:
        ar_exec_block(in, node, 0);
        return;
    case AR_DECL_STMT:
        for (uint32_t i = 0; i < node->decl_count; i++)
            ar_init_variable(in, node, node->decls[i]);
        return;
    case AR_EXPR_STMT:
        if (node->kid_count && node->kids[0])
            ar_interp_eval(in, node->kids[0]);
        return;
    case AR_IF:
        exec_if(in, node);
        return;
    case AR_FOR:
    case AR_WHILE:
    case AR_DO:
        ar_exec_loop(in, node);
        return;
    case AR_SWITCH:
        exec_switch(in, node);
        return;
    case AR_CASE:
    case AR_DEFAULT:
        ar_interp_exec(in, node->kids[node->kid_count - 1]);
        return;
    case AR_BREAK:
        leave(in, node, in->breaks ? in->breaks->breaks : NULL);
        return;
    case AR_CONTINUE:
        leave(in, node, in->breaks ? in->breaks->continues : NULL);
        return;
    case AR_RETURN:
        exec_return(in, node);
        return;
    case AR_GOTO:
        leave(in, node, ar_jump_from(in, node));
        return;
    case AR_LABEL:
        ar_pass_label(in, node);
        if (!in->state.dead && node->kid_count)
            ar_interp_exec(in, node->kids[node->kid_count - 1]);
        return;
    case AR_ASM: /* of a kernel: may be a barrier of any kind */
        in->barriers.is_fenced = true;
        return;
    case AR_NULL_STMT:
        return;
    case AR_UNKNOWN_STMT:
        for (uint32_t i = 0; i < node->kid_count; i++)
            if (node->kids[i])
                ar_interp_exec(in, node->kids[i]);
        return;
    default:
        ar_interp_eval(in,
                       node); /* an expression where a statement may stand */
        return;
    }
}
