/* Expressions: arithmetic, conversions, lvalues. */
#include "core/interp.h"

ar_node *ar_skip_casts(ar_node *node) {
    while (node && (node->kind == AR_IMPLICIT || node->kind == AR_CAST) &&
           node->kid_count)
        node = node->kids[0];
    return node;
}

static bool is_integral(const ar_type *type) {
    return type && (type->kind == AR_TYPE_INT || type->kind == AR_TYPE_ENUM ||
                    type->kind == AR_TYPE_BOOL);
}

static bool is_pointer_like(const ar_type *type) {
    return type &&
           (type->kind == AR_TYPE_POINTER || type->kind == AR_TYPE_ARRAY ||
            type->kind == AR_TYPE_FUNCTION);
}

/* ---- integers and addresses ---------------------------------------------- */

/* Numbers beyond what sizes and indices need are not followed. */
static ar_value number_of(__int128 n) {
    const int64_t limit = (int64_t)1 << 40;
    return n > -limit && n < limit ? ar_number((int64_t)n) : ar_unknown();
}

/* Shifts are only compared; they may wrap. */
static int64_t shift_sum(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t shift_product(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static ar_value add_numbers(ar_value a, ar_value b, bool subtract) {
    if (a.is_number && b.is_number)
        return number_of((__int128)a.number +
                         (subtract ? -(__int128)b.number : b.number));
    ar_value v = {0};
    v.offset_tags = a.offset_tags | b.offset_tags;
    v.shift =
        shift_sum(a.shift, subtract ? shift_product(-1, b.shift) : b.shift);
    v.is_partial = (!a.is_number && (a.is_partial || !a.offset_tags)) ||
                   (!b.is_number && (b.is_partial || !b.offset_tags));
    return v;
}

/* i * n + j and 2 * i are as distinct as i is. */
static ar_value multiply_numbers(ar_value a, ar_value b) {
    if (a.is_number && b.is_number)
        return number_of((__int128)a.number * b.number);
    if ((a.is_number && !a.number) || (b.is_number && !b.number))
        return ar_number(0);
    ar_value v = {0};
    v.offset_tags = a.offset_tags | b.offset_tags;
    if (a.is_number || b.is_number) {
        ar_value n = a.is_number ? a : b, x = a.is_number ? b : a;
        v.shift = shift_product(n.number, x.shift);
        v.is_partial = x.is_partial;
        return v;
    }
    if (!v.offset_tags) {
        v.is_partial = true;
    } else if (a.offset_tags && b.offset_tags) {
        v.is_partial = a.is_partial || b.is_partial;
        v.shift = shift_sum(a.shift, b.shift);
    } else {
        v.is_partial = a.offset_tags ? a.is_partial : b.is_partial;
        v.shift = a.offset_tags ? a.shift : b.shift;
    }
    return v;
}

static bool fold(ar_op op, int64_t a, int64_t b, int64_t *out) {
    switch ((int)op) {
    case AR_OP_DIV:
        if (!b)
            return false;
        *out = a / b;
        return true;
    case AR_OP_REM:
        if (!b)
            return false;
        *out = a % b;
        return true;
    case AR_OP_SHL:
        if (b < 0 || b > 62)
            return false;
        *out = (int64_t)((uint64_t)a << b);
        return true;
    case AR_OP_SHR:
        if (b < 0 || b > 62)
            return false;
        *out = a >> b;
        return true;
    case AR_OP_AND:
        *out = a & b;
        return true;
    case AR_OP_OR:
        *out = a | b;
        return true;
    case AR_OP_XOR:
        *out = a ^ b;
        return true;
    case AR_OP_LT:
        *out = a < b;
        return true;
    case AR_OP_GT:
        *out = a > b;
        return true;
    case AR_OP_LE:
        *out = a <= b;
        return true;
    case AR_OP_GE:
        *out = a >= b;
        return true;
    case AR_OP_EQ:
        *out = a == b;
        return true;
    case AR_OP_NE:
        *out = a != b;
        return true;
    default:
        return false;
    }
}

static ar_value move_pointer(ar_interp *in, ar_value p, ar_value n, bool back) {
    ar_targets set = *ar_memory_targets(in->m, p.targets);
    ar_value v = p;
    v.is_number = false;
    if (n.is_number && !n.number)
        return p;
    if (set.count) {
        ar_target *t = AR_NEW_ARRAY(in->arena, ar_target, set.count);
        for (uint32_t i = 0; i < set.count; i++) {
            bool known = n.is_number && set.data[i].index != AR_ANY_INDEX;
            int64_t step = back ? -n.number : n.number;
            t[i].cell = set.data[i].cell;
            t[i].index = known ? set.data[i].index + step : AR_ANY_INDEX;
        }
        v.targets = ar_memory_set(in->m, t, set.count);
    }
    v.offset_tags |= n.offset_tags;
    v.shift = shift_sum(v.shift, shift_product(back ? -1 : 1, n.shift));
    v.is_partial =
        v.is_partial || (!n.is_number && (n.is_partial || !n.offset_tags));
    return v;
}

/* ---- floats -------------------------------------------------------------- */

static bool is_zero_node(ar_interp *in, uint32_t node) {
    for (int i = 0; i < 8 && AR_VN(in, node)->kind == AR_V_STORE &&
                    AR_VN(in, node)->in_count == 1;
         i++)
        node = AR_VN(in, node)->in[0];
    return node == AR_NODE_ZERO;
}

static bool is_constant_node(ar_interp *in, uint32_t node) {
    for (int i = 0; i < 8 && AR_VN(in, node)->kind == AR_V_STORE &&
                    AR_VN(in, node)->in_count == 1;
         i++)
        node = AR_VN(in, node)->in[0];
    return node <= AR_NODE_CONST;
}

static ar_value compare_floats(ar_interp *in, ar_node *at, uint32_t a,
                               uint32_t b) {
    if (is_zero_node(in, a) || is_zero_node(in, b) || a == b)
        return ar_unknown();
    if (is_constant_node(in, a))
        ar_graph_sink(in, AR_SINK_COMPARE, at, b, 0);
    else if (is_constant_node(in, b))
        ar_graph_sink(in, AR_SINK_COMPARE, at, a, 0);
    else
        ar_graph_sink(in, AR_SINK_COMPARE_TWO, at, a, b);
    return ar_unknown();
}

static ar_value float_arith(ar_interp *in, ar_node *at, ar_op op,
                            const ar_value *av, const ar_value *bv) {
    uint32_t a = ar_float_of(in, av), b = ar_float_of(in, bv);
    switch ((int)op) {
    case AR_OP_ADD:
    case AR_OP_SUB:
        return ar_from_node(ar_graph_sum(in, at, a, b));
    case AR_OP_MUL:
        return ar_from_node(ar_graph_mul(in, at, a, b));
    case AR_OP_DIV:
        if (a == AR_NODE_ZERO)
            return ar_from_node(AR_NODE_ZERO);
        if (b <= AR_NODE_CONST)
            return ar_from_node(a);
        return ar_from_node(
            ar_graph_node(in, AR_V_DIV, at, 0, (uint32_t[]){a, b}, 2));
    case AR_OP_LT:
    case AR_OP_GT:
    case AR_OP_LE:
    case AR_OP_GE:
    case AR_OP_EQ:
    case AR_OP_NE:
        return compare_floats(in, at, a, b);
    default:
        return ar_unknown();
    }
}

ar_value ar_arith(ar_interp *in, ar_node *at, ar_op op, ar_value a, ar_value b,
                  const ar_type *a_type, const ar_type *b_type,
                  const ar_type *type) {
    (void)type;
    if (ar_is_floating(a_type) || ar_is_floating(b_type))
        return float_arith(in, at, op, &a, &b);
    bool pa = is_pointer_like(a_type), pb = is_pointer_like(b_type);
    if (pa != pb && (op == AR_OP_ADD || op == AR_OP_SUB))
        return pa ? move_pointer(in, a, b, op == AR_OP_SUB)
                  : move_pointer(in, b, a, false);
    if (pa || pb) {
        if (op != AR_OP_EQ && op != AR_OP_NE)
            return ar_unknown();
        /* Null tests are decided: a buffer that may exist does. */
        bool null_a = a.is_number && !a.number && !a.targets;
        bool null_b = b.is_number && !b.number && !b.targets;
        if (null_a && null_b)
            return ar_number(op == AR_OP_EQ);
        if ((null_a && b.targets) || (null_b && a.targets))
            return ar_number(op == AR_OP_NE);
        return ar_unknown();
    }
    int64_t folded;
    switch ((int)op) {
    case AR_OP_ADD:
        return add_numbers(a, b, false);
    case AR_OP_SUB:
        return add_numbers(a, b, true);
    case AR_OP_MUL:
        return multiply_numbers(a, b);
    case AR_OP_SHL:
        if (b.is_number && b.number >= 0 && b.number < 32)
            return multiply_numbers(a, ar_number((int64_t)1 << b.number));
        return ar_unknown();
    default:
        if (a.is_number && b.is_number && fold(op, a.number, b.number, &folded))
            return ar_number(folded);
        return ar_unknown();
    }
}

ar_value ar_interp_convert(ar_interp *in, ar_node *at, ar_value value,
                           const ar_type *from, const ar_type *to) {
    if (ar_is_floating(to) && !ar_is_floating(from)) {
        ar_value v = ar_from_node(ar_float_of(in, &value));
        v.is_number = value.is_number;
        v.number = value.number;
        return v;
    }
    if (ar_is_floating(from) && is_integral(to)) {
        /* A test for zero has any degree; the value itself has none. */
        if (to->kind != AR_TYPE_BOOL)
            ar_graph_sink(in, AR_SINK_INT, at, ar_float_of(in, &value), 0);
        return value.is_number && !value.node ? value : ar_unknown();
    }
    if (to->kind == AR_TYPE_POINTER && from->kind == AR_TYPE_POINTER &&
        to->element && from->element &&
        to->element->bytes != from->element->bytes && value.targets) {
        ar_targets set = *ar_memory_targets(in->m, value.targets);
        bool moved = false;
        for (uint32_t i = 0; i < set.count; i++)
            moved |= set.data[i].index != 0;
        if (moved) {
            ar_target *t = AR_NEW_ARRAY(in->arena, ar_target, set.count);
            for (uint32_t i = 0; i < set.count; i++)
                t[i] = (ar_target){set.data[i].cell,
                                   set.data[i].index ? AR_ANY_INDEX : 0};
            value.targets = ar_memory_set(in->m, t, set.count);
        }
    }
    return value;
}

/* ---- lvalues ------------------------------------------------------------- */

static ar_value member_address(ar_interp *in, ar_node *node) {
    ar_node *base_node = node->kids[0];
    ar_value base = node->is_arrow ? ar_interp_eval(in, base_node)
                                   : ar_interp_address(in, base_node);
    const ar_type *record = base_node->type;
    if (node->is_arrow && record)
        record = record->element;
    ar_targets set = *ar_memory_targets(in->m, base.targets);
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
        if (set.data[i].index != AR_ANY_INDEX || cells[0] == set.data[i].cell)
            continue;
        uint32_t array = set.data[i].cell;
        if (!in->m->cells.data[array].type) {
            uint32_t first =
                ar_memory_find_child(in->m, array, AR_STEP_FIELD, key, 0);
            if (first)
                AR_PUSH(in->arena, &out, (ar_target){first, 0});
        }
        for (uint32_t kid = in->m->cells.data[array].first_child; kid;
             kid = in->m->cells.data[kid].next_sibling)
            if (kid != cells[0] && in->m->cells.data[kid].step == AR_STEP_INDEX)
                AR_PUSH(in->arena, &out,
                        (ar_target){ar_memory_child(in->m, kid, AR_STEP_FIELD,
                                                    key, 0, field->type),
                                    0});
    }
    base.targets = ar_memory_set(in->m, out.data, out.count);
    /* The index of the record now says which object, not where in it. */
    base.pointer_tags |= base.offset_tags;
    base.offset_tags = 0;
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
    return move_pointer(in, base, index, false);
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
        if (is_param_array(node->decl)) {
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
        if (node->kind == AR_COMPOUND_LITERAL && node->kid_count) {
            ar_reset_object(in, object, true);
            ar_init_cell(in, node, &address, node->type, node->kids[0]);
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

static ar_value read_lvalue(ar_interp *in, ar_node *node) {
    ar_value address = ar_interp_address(in, node);
    const ar_type *type = node->type;
    if (!type || type->kind == AR_TYPE_RECORD || type->kind == AR_TYPE_FUNCTION)
        return address;
    if (type->kind == AR_TYPE_ARRAY) {
        if (node->kind == AR_REF || node->kind == AR_MEMBER)
            if (ar_is_floating(type->element) && address.targets)
                ar_idtable_put(&in->named_sets, ar_key(node),
                               in->frame->context->id, address.targets);
        return address;
    }
    ar_value v = ar_interp_load(in, node, &address, type);
    if (type->kind == AR_TYPE_POINTER && v.targets &&
        ar_is_floating(type->element) &&
        (node->kind == AR_REF || node->kind == AR_MEMBER))
        ar_idtable_put(&in->named_sets, ar_key(node), in->frame->context->id,
                       v.targets);
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
    if (type && type->kind == AR_TYPE_RECORD) {
        ar_value from = ar_interp_address(in, node->kids[1]);
        ar_value to = ar_interp_address(in, node->kids[0]);
        ar_copy_record(in, node, &to, &from, type, false);
        return to;
    }
    ar_value value = ar_interp_eval(in, node->kids[1]);
    if (node->kids[1]->type && type)
        value = ar_interp_convert(in, node, value, node->kids[1]->type, type);
    ar_value to = ar_interp_address(in, node->kids[0]);
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
        return add_numbers(ar_number(0), v, true);
    return ar_unknown();
}

int ar_truth(ar_interp *in, ar_node *node, ar_value *value) {
    ar_value v = ar_interp_eval(in, node);
    *value = v;
    if (v.is_number && !v.targets)
        return v.node && v.node != AR_NODE_ZERO && v.node != AR_NODE_CONST
                   ? -1
                   : v.number != 0;
    if (v.targets)
        return 1;
    return -1;
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
    if (node->type && node->type->kind == AR_TYPE_RECORD) {
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
    ar_value v;
    int left = ar_truth(in, node->kids[0], &v);
    bool is_and = node->op == AR_OP_LOGICAL_AND;
    if (left == (is_and ? 0 : 1))
        return ar_number(left);
    if (left < 0) {
        ar_state before = ar_state_copy(in->state);
        ar_truth(in, node->kids[1], &v);
        ar_state after = ar_state_take(&in->state);
        in->state = ar_join_states(in, node, &before, &after);
        return ar_unknown();
    }
    int right = ar_truth(in, node->kids[1], &v);
    return right < 0 ? ar_unknown() : ar_number(right);
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
    case AR_REF:
        if (node->decl && node->decl->kind == AR_DECL_ENUMERATOR)
            return ar_number(node->decl->value);
        return read_lvalue(in, node);
    case AR_STRING_LIT:
    case AR_COMPOUND_LITERAL:
    case AR_MEMBER:
    case AR_INDEX:
    case AR_DEREF:
        return read_lvalue(in, node);
    case AR_CALL:
        return ar_interp_call(in, node);
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
