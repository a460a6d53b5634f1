/* Expressions: lvalues and rvalues. */
#include "core/interp.h"

/* ---- lvalues ------------------------------------------------------------- */

/* v.x, p->x of a float4 mean all of it. */
static bool is_vector_part(const ar_node *node) {
    const ar_type *type = node->kind == AR_MEMBER ? node->kids[0]->type : NULL;
    if (type && node->is_arrow)
        type = type->element;
    return ar_is_float_vector(type);
}

static ar_value member_address(ar_interp *in, ar_node *node) {
    ar_node *base_node = node->kids[0];
    if (is_vector_part(node))
        return node->is_arrow ? ar_interp_eval(in, base_node)
                              : ar_interp_address(in, base_node);
    ar_value base = node->is_arrow ? ar_interp_eval(in, base_node)
                                   : ar_interp_address(in, base_node);
    const ar_type *record = base_node->type;
    if (node->is_arrow && record)
        record = record->element;
    ar_targets set = *ar_memory_targets(in->m, base.targets);
    if (!set.count && base.is_number && !base.number)
        return base; /* null->x */
    AR_VEC(ar_target) out = {0};
    for (uint32_t i = 0; i < set.count; i++) {
        uint32_t cells[1] = {
            ar_element_cell(in, set.data[i].cell, set.data[i].index, record)};
        ar_decl *field = ar_entity_of(in->program, node->decl)->decl;
        bool is_union = field->parent && field->parent->is_union;
        const ar_decl *key = field;
        if (is_union && field->parent->member_count)
            key = ar_entity_of(in->program, field->parent->members[0])->decl;
        AR_PUSH(in->arena, &out,
                (ar_target){ar_memory_child(in->m, cells[0], AR_STEP_FIELD, key,
                                            0, field->type),
                            0});
        bool any = set.data[i].index == AR_ANY_INDEX;
        if (any && cells[0] == set.data[i].cell)
            continue;
        uint32_t array = set.data[i].cell;
        if (any && !in->m->cells.data[array].type) {
            uint32_t first =
                ar_memory_find_child(in->m, array, AR_STEP_FIELD, key, 0);
            if (first)
                AR_PUSH(in->arena, &out, (ar_target){first, 0});
        }
        for (uint32_t kid = in->m->cells.data[array].first_child; kid;
             kid = in->m->cells.data[kid].next_sibling)
            if (kid != cells[0] &&
                ar_may_be_element(in, kid, set.data[i].index))
                AR_PUSH(in->arena, &out,
                        (ar_target){ar_memory_child(in->m, kid, AR_STEP_FIELD,
                                                    key, 0, field->type),
                                    0});
    }
    uint32_t before = base.targets;
    base.targets = ar_memory_set(in->m, out.data, out.count);
    /* The index of the record now says which object, not where in it. */
    if (base.offset_tags || base.is_partial || base.symbol) {
        ar_value whole = base;
        whole.targets = before;
        base.pointer_symbol = ar_symbol_of_load(in, &whole, &base);
        base.symbol = 0;
    }
    if (base.offset_tags)
        base.pointer_shift = base.is_partial
                                 ? AR_NO_SHIFT
                                 : ar_shift_sum(base.pointer_shift, base.shift);
    base.pointer_tags |= base.offset_tags;
    base.offset_tags = 0;
    base.row = 0;
    base.shift = 0;
    base.is_partial = false;
    base.is_number = false;
    return base;
}

static ar_value index_address(ar_interp *in, ar_node *node) {
    ar_node *base_node = node->kids[0];
    bool is_array = base_node->type && base_node->type->kind == AR_TYPE_ARRAY;
    ar_value base = is_array ? ar_interp_address(in, base_node)
                             : ar_interp_eval(in, base_node);
    ar_value index = ar_interp_eval(in, node->kids[1]);
    static const ar_type pointer = {.kind = AR_TYPE_POINTER};
    static const ar_type integer = {.kind = AR_TYPE_INT};
    return ar_arith(in, node, AR_OP_ADD, base, index, &pointer, &integer,
                    &pointer);
}

static bool is_param_array(const ar_decl *decl) {
    return decl->kind == AR_DECL_PARAM && decl->type->kind == AR_TYPE_ARRAY;
}

ar_value ar_interp_address(ar_interp *in, ar_node *node) {
    in->work++;
    switch ((int)node->kind) {
    case AR_REF:
        if (!node->decl || node->decl->kind == AR_DECL_ENUMERATOR)
            return ar_unknown();
        if (node->decl->kind == AR_DECL_FUNCTION)
            return ar_value_pointer(in, ar_function_target(in, node->decl), 0);
        if (is_param_array(node->decl) || node->decl->type->is_reference) {
            ar_value slot =
                ar_value_pointer(in, ar_variable_cell(in, node->decl), 0);
            return ar_interp_load(in, node, &slot, node->decl->type);
        }
        return ar_value_pointer(in, ar_variable_cell(in, node->decl), 0);
    case AR_MEMBER:
        return member_address(in, node);
    case AR_INDEX:
        return index_address(in, node);
    case AR_DEREF:
        return ar_interp_eval(in, node->kids[0]);
    case AR_CAST:
    case AR_IMPLICIT:
        return node->kid_count ? ar_interp_address(in, node->kids[0])
                               : ar_unknown();
    case AR_COMPOUND_LITERAL:
    case AR_INIT_LIST: /* of C++: a value without a name */
    case AR_STRING_LIT: {
        bool is_new;
        ar_mem_object *object = ar_memory_object(
            in->m, ar_key(node) << 2, in->frame->context->id, &is_new);
        if (is_new) {
            object->as.kind = AR_OBJECT_HEAP;
            object->as.site = node;
            object->as.unit = in->frame->context->unit;
            object->context = in->frame->context->id;
            ar_memory_root(in->m, object, node->type);
        }
        ar_value address = ar_value_pointer(in, object->root, 0);
        ar_node *list = node->kind == AR_INIT_LIST ? node
                        : node->kid_count          ? node->kids[0]
                                                   : NULL;
        if (list && node->kind != AR_STRING_LIT) {
            ar_reset_object(in, object, true);
            ar_init_cell(in, node, &address, node->type, list);
        }
        return address;
    }
    case AR_CALL:
    case AR_CONDITIONAL:
    case AR_COMMA:
    case AR_ASSIGN:
    case AR_STATEMENT_EXPR:
        return ar_interp_eval(in, node); /* a record: its address */
    default:
        for (uint32_t i = 0; i < node->kid_count; i++)
            if (node->kids[i])
                ar_interp_eval(in, node->kids[i]);
        return ar_unknown();
    }
}

/* ---- rvalues ------------------------------------------------------------- */

static void note_named(ar_interp *in, const ar_node *node,
                       const ar_value *pointer) {
    uint32_t context = in->frame->context->id;
    uint32_t known = ar_idtable_get(&in->named_sets, ar_key(node), context);
    ar_idtable_put(&in->named_sets, ar_key(node), context,
                   ar_memory_union(in->m, known, pointer->targets));
    uint32_t symbol = pointer->pointer_symbol + 1;
    uint32_t old = ar_idtable_get(&in->named_symbols, ar_key(node), context);
    ar_idtable_put(&in->named_symbols, ar_key(node), context,
                   old && old != symbol ? AR_SYMBOLS_DIFFER : symbol);
}

static ar_value read_lvalue(ar_interp *in, ar_node *node) {
    ar_value address = ar_interp_address(in, node);
    const ar_type *type = node->type;
    if (!type || ar_is_record(type) || type->kind == AR_TYPE_FUNCTION)
        return address;
    if (type->kind == AR_TYPE_ARRAY) {
        if (node->kind == AR_REF || node->kind == AR_MEMBER)
            if (ar_is_floating(type->element) && address.targets)
                note_named(in, node, &address);
        return address;
    }
    ar_value v = ar_interp_load(in, node, &address, type);
    if (type->kind == AR_TYPE_POINTER && v.targets &&
        ar_is_floating(type->element) &&
        (node->kind == AR_REF || node->kind == AR_MEMBER))
        note_named(in, node, &v);
    return v;
}

/* A term of an update has a node of its own: the scale may enter or leave
 * there. */
ar_value ar_as_term(ar_interp *in, ar_node *at, ar_value v) {
    uint32_t node = ar_float_of(in, &v);
    if (node == AR_NODE_ZERO ||
        (AR_VN(in, node)->at == at && AR_VN(in, node)->kind == AR_V_TERM))
        return v;
    return ar_from_node(ar_graph_node(in, AR_V_TERM, at, 0, &node, 1));
}

static ar_value assign(ar_interp *in, ar_node *node) {
    const ar_type *type = node->kids[0]->type;
    if (type && ar_is_record(type)) {
        ar_value from = ar_interp_address(in, node->kids[1]);
        ar_value to = ar_interp_address(in, node->kids[0]);
        if (!ar_fork_kinds(in, node, &to, &from, type))
            ar_copy_record(in, node, &to, &from, type, false);
        return to;
    }
    ar_value value = ar_interp_eval(in, node->kids[1]);
    if (node->kids[1]->type && type)
        value = ar_interp_convert(in, node, value, node->kids[1]->type, type);
    ar_value to = ar_interp_address(in, node->kids[0]);
    if (is_vector_part(node->kids[0])) { /* the other parts stay */
        ar_value old = ar_interp_load(in, node->kids[0], &to, type);
        value = ar_from_node(ar_graph_sum(in, node, ar_float_of(in, &old),
                                          ar_float_of(in, &value)));
    }
    ar_interp_store(in, node, &to, type, &value);
    return value;
}

static ar_value compound_assign(ar_interp *in, ar_node *node) {
    const ar_type *type = node->kids[0]->type;
    ar_value right = ar_interp_eval(in, node->kids[1]);
    ar_value to = ar_interp_address(in, node->kids[0]);
    ar_value old = ar_interp_load(in, node->kids[0], &to, type);
    if (ar_is_floating(type) &&
        (node->op == AR_OP_ADD || node->op == AR_OP_SUB))
        right = ar_as_term(in, node->kids[1], right);
    ar_value value = ar_arith(in, node, node->op, old, right, type,
                              node->kids[1]->type, type);
    if (!ar_is_floating(type) && ar_is_floating(node->kids[1]->type))
        value = ar_unknown();
    ar_interp_store(in, node, &to, type, &value);
    return value;
}

static ar_value step_variable(ar_interp *in, ar_node *node) {
    const ar_type *type = node->kids[0]->type;
    ar_value to = ar_interp_address(in, node->kids[0]);
    ar_value old = ar_interp_load(in, node->kids[0], &to, type);
    bool down = node->op == AR_OP_PRE_DEC || node->op == AR_OP_POST_DEC;
    ar_value one = ar_number(1);
    if (ar_is_floating(type))
        one.node = AR_NODE_CONST;
    const ar_type int_type = {.kind = AR_TYPE_INT, .bytes = 4};
    ar_value value =
        ar_arith(in, node, down ? AR_OP_SUB : AR_OP_ADD, old, one, type,
                 ar_is_floating(type) ? type : &int_type, type);
    ar_interp_store(in, node, &to, type, &value);
    bool post = node->op == AR_OP_POST_INC || node->op == AR_OP_POST_DEC;
    return post ? old : value;
}

static ar_value unary(ar_interp *in, ar_node *node) {
    if (node->op >= AR_OP_PRE_INC)
        return step_variable(in, node);
    if (node->op == AR_OP_NOT) {
        ar_value v;
        int truth = ar_truth(in, node->kids[0], &v);
        return truth < 0 ? ar_unknown() : ar_number(!truth);
    }
    ar_value v = ar_interp_eval(in, node->kids[0]);
    if (node->op == AR_OP_PLUS)
        return v;
    if (ar_is_floating(node->type)) {
        ar_value negated = ar_from_node(ar_float_of(in, &v));
        if (v.is_number) {
            negated.is_number = true;
            negated.number = -v.number;
        }
        return negated;
    }
    if (v.is_number && node->op == AR_OP_MINUS)
        return ar_number(-v.number);
    if (v.is_number && node->op == AR_OP_BIT_NOT)
        return ar_number(~v.number);
    if (node->op == AR_OP_MINUS)
        return ar_arith(in, node, AR_OP_SUB, ar_number(0), v, node->type,
                        node->type, node->type);
    return ar_unknown();
}

int ar_truth(ar_interp *in, ar_node *node, ar_value *value) {
    ar_value v = ar_interp_eval(in, node);
    *value = v;
    if (v.is_number && !v.targets)
        return v.node && v.node != AR_NODE_ZERO && v.node != AR_NODE_CONST
                   ? -1
                   : v.number != 0;
    if (v.excludes && !v.number)
        return 1;
    if (!v.targets)
        return -1;
    in->assumes_buffers_exist |= v.may_be_null;
    return 1;
}

/* The value of a && b, a || b, a ? b : c: each side runs on its own path. */
static ar_value choose(ar_interp *in, ar_node *node, ar_node *yes, ar_node *no,
                       int truth) {
    if (truth >= 0) {
        ar_node *taken = truth ? yes : no;
        return taken ? ar_interp_eval(in, taken) : ar_number(truth);
    }
    ar_state before = ar_state_copy(in->state);
    ar_value a = yes ? ar_interp_eval(in, yes) : ar_number(1);
    ar_state after = ar_state_take(&in->state);
    in->state = before;
    ar_value b = no ? ar_interp_eval(in, no) : ar_number(0);
    bool a_dead = after.dead, b_dead = in->state.dead;
    ar_state other = ar_state_take(&in->state);
    in->state = ar_join_states(in, node, &after, &other);
    if (a_dead || b_dead)
        return a_dead ? b : a;
    if (node->type && ar_is_record(node->type)) {
        a.targets = ar_memory_union(in->m, a.targets, b.targets);
        a.is_partial = true;
        return a;
    }
    if (ar_is_floating(node->type)) {
        uint32_t x = ar_float_of(in, &a), y = ar_float_of(in, &b);
        return ar_from_node(ar_graph_sum(in, node, x, y));
    }
    return ar_join_values(in, node, 0x80000000u, &a, &b);
}

static ar_value conditional(ar_interp *in, ar_node *node) {
    ar_value v;
    int truth = ar_truth(in, node->kids[0], &v);
    if (node->kid_count == 2) {
        if (truth == 1)
            return v;
        ar_value other = ar_interp_eval(in, node->kids[1]);
        return truth == 0 ? other
                          : ar_join_values(in, node, 0x80000000u, &v, &other);
    }
    return choose(in, node, node->kids[1], node->kids[2], truth);
}

static ar_value logical(ar_interp *in, ar_node *node) {
    ar_value v, first;
    int left = ar_truth(in, node->kids[0], &first);
    bool is_and = node->op == AR_OP_LOGICAL_AND;
    if (left == (is_and ? 0 : 1))
        return ar_number(left);
    if (left < 0) {
        ar_state before = ar_state_copy(in->state);
        ar_truth(in, node->kids[1], &v);
        ar_state after = ar_state_take(&in->state);
        in->state = ar_join_states(in, node, &before, &after);
        return ar_thread_arith(in, node->op, &first, &v);
    }
    int right = ar_truth(in, node->kids[1], &v);
    return right < 0 ? ar_thread_arith(in, node->op, &v, &v) : ar_number(right);
}

static ar_value sizeof_value(const ar_node *node) {
    const ar_type *type = node->type_operand;
    if (!type && node->kid_count && node->kids[0])
        type = node->kids[0]->type;
    return type && type->bytes ? ar_number(type->bytes) : ar_unknown();
}

static ar_value eval(ar_interp *in, ar_node *node) {
    switch ((int)node->kind) {
    case AR_INT_LIT:
        return ar_number(node->int_value);
    case AR_FLOAT_LIT: {
        double f = node->float_value;
        bool whole = f > -1e15 && f < 1e15 && (double)(int64_t)f == f;
        return (ar_value){.node = f != 0 ? AR_NODE_CONST : AR_NODE_ZERO,
                          .is_number = whole || f == 0,
                          .number = whole ? (int64_t)f : 0};
    }
    case AR_REF: {
        ar_value thread;
        if (node->decl && node->decl->kind == AR_DECL_ENUMERATOR)
            return ar_number(node->decl->value);
        if (ar_thread_value(in, node, &thread))
            return thread;
        return read_lvalue(in, node);
    }
    case AR_MEMBER:
        if (is_vector_part(node) && node->kids[0]->kind == AR_CALL)
            return ar_interp_eval(in, node->kids[0]);
        return read_lvalue(in, node);
    case AR_STRING_LIT:
    case AR_COMPOUND_LITERAL:
    case AR_INIT_LIST:
    case AR_INDEX:
    case AR_DEREF:
        return read_lvalue(in, node);
    case AR_CALL:
        return ar_interp_call(in, node);
    case AR_LAUNCH:
        ar_interp_launch(in, node);
        return ar_unknown();
    case AR_UNARY:
        return unary(in, node);
    case AR_ADDRESS:
        return ar_interp_address(in, node->kids[0]);
    case AR_BINARY: {
        if (node->op == AR_OP_LOGICAL_AND || node->op == AR_OP_LOGICAL_OR)
            return logical(in, node);
        ar_value a = ar_interp_eval(in, node->kids[0]);
        ar_value b = ar_interp_eval(in, node->kids[1]);
        return ar_arith(in, node, node->op, a, b, node->kids[0]->type,
                        node->kids[1]->type, node->type);
    }
    case AR_ASSIGN:
        return assign(in, node);
    case AR_COMPOUND_ASSIGN:
        return compound_assign(in, node);
    case AR_CONDITIONAL:
        return conditional(in, node);
    case AR_COMMA: {
        ar_value v = ar_unknown();
        for (uint32_t i = 0; i < node->kid_count; i++)
            v = ar_interp_eval(in, node->kids[i]);
        return v;
    }
    case AR_CAST:
    case AR_IMPLICIT: {
        ar_value v = ar_interp_eval(in, node->kids[0]);
        const ar_type *from = node->kids[0]->type;
        return from && node->type
                   ? ar_interp_convert(in, node, v, from, node->type)
                   : v;
    }
    case AR_SIZEOF:
        return sizeof_value(node);
    case AR_STATEMENT_EXPR:
        if (node->kid_count)
            ar_interp_exec(in, node->kids[0]);
        return ar_unknown();
    default:
        for (uint32_t i = 0; i < node->kid_count; i++)
            if (node->kids[i])
                ar_interp_eval(in, node->kids[i]);
        return ar_unknown();
    }
}

ar_value ar_interp_eval(ar_interp *in, ar_node *node) {
    in->work++;
    if (in->state.dead)
        return (ar_value){.is_undefined = true};
    ar_value v = eval(in, node);
    if (in->term_nodes.count && ar_is_floating(node->type) &&
        ar_idtable_get(&in->term_nodes, ar_key(node), 0))
        return ar_as_term(in, node, v);
    return v;
}
