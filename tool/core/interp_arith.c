/* Arithmetic and conversions: integers and addresses with what is known of how
 * they vary, floats as nodes of the graph. */
#include "core/interp.h"

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
int64_t ar_shift_sum(int64_t a, int64_t b) {
    if (a == AR_NO_SHIFT || b == AR_NO_SHIFT)
        return AR_NO_SHIFT;
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t shift_product(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static ar_value add_numbers(ar_interp *in, ar_value a, ar_value b,
                            bool subtract) {
    if (a.is_number && b.is_number)
        return number_of((__int128)a.number +
                         (subtract ? -(__int128)b.number : b.number));
    ar_value v = {0};
    v.offset_tags = a.offset_tags | b.offset_tags;
    v.shift =
        ar_shift_sum(a.shift, subtract ? shift_product(-1, b.shift) : b.shift);
    v.is_partial = (!a.is_number && (a.is_partial || !a.offset_tags)) ||
                   (!b.is_number && (b.is_partial || !b.offset_tags));
    if (b.is_number)
        v.symbol =
            ar_symbol_plus(in, a.symbol, subtract ? -b.number : b.number);
    else if (a.is_number && !subtract)
        v.symbol = ar_symbol_plus(in, b.symbol, a.number);
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
        v.shift = ar_shift_sum(a.shift, b.shift);
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
    if ((n.is_number && !n.number) || (p.is_number && !p.number && !p.targets))
        return p; /* as null as before */
    bool at_start = !p.offset_tags && !p.is_partial;
    for (uint32_t i = 0; i < set.count; i++)
        at_start &= set.data[i].index == 0;
    v.symbol = at_start && !back ? n.symbol : 0;
    if (set.count) {
        ar_target *t = AR_NEW_ARRAY(in->arena, ar_target, set.count);
        for (uint32_t i = 0; i < set.count; i++) {
            bool known = n.is_number && set.data[i].index != AR_ANY_INDEX &&
                         !ar_is_kind_index(set.data[i].index);
            int64_t step = back ? -n.number : n.number;
            t[i].cell = set.data[i].cell;
            t[i].index = known ? set.data[i].index + step : AR_ANY_INDEX;
        }
        v.targets = ar_memory_set(in->m, t, set.count);
    }
    v.offset_tags |= n.offset_tags;
    v.shift = ar_shift_sum(v.shift, shift_product(back ? -1 : 1, n.shift));
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
    if (pa != pb && (op == AR_OP_ADD || op == AR_OP_SUB)) {
        ar_value v = pa ? move_pointer(in, a, b, op == AR_OP_SUB)
                        : move_pointer(in, b, a, false);
        ar_size_arith(in, op, pa ? &a : &b, pa ? &b : &a, &v);
        return v;
    }
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
    ar_value v;
    switch ((int)op) {
    case AR_OP_ADD:
    case AR_OP_SUB:
        v = add_numbers(in, a, b, op == AR_OP_SUB);
        ar_size_arith(in, op, &a, &b, &v);
        return v;
    case AR_OP_MUL:
        v = multiply_numbers(a, b);
        ar_size_arith(in, op, &a, &b, &v);
        return v;
    case AR_OP_SHL:
        if (b.is_number && b.number >= 0 && b.number < 32)
            return multiply_numbers(a, ar_number((int64_t)1 << b.number));
        return ar_thread_arith(in, op, &a, &b);
    case AR_OP_EQ:
    case AR_OP_NE:
        if ((a.excludes && b.is_number && a.number == b.number) ||
            (b.excludes && a.is_number && a.number == b.number))
            return ar_number(op == AR_OP_NE);
        /* fall through */
    default:
        if (a.is_number && b.is_number && fold(op, a.number, b.number, &folded))
            return ar_number(folded);
        return ar_thread_arith(in, op, &a, &b);
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
    if (is_integral(to) && to->bytes < from->bytes && to->bytes < 4)
        value.symbol = 0;
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
