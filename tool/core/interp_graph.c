/* The value graph: nodes, and joins of values and states. */
#include "core/interp.h"

uint32_t ar_graph_part(ar_interp *in, ar_vnode_kind kind, ar_vnode_part part,
                       ar_node *at, uint32_t cell, const uint32_t *inputs,
                       uint32_t count) {
    uint32_t context = in->frame ? in->frame->context->id : 0;
    uint64_t a =
        (uint64_t)(uintptr_t)at << 6 | (uint64_t)part << 4 | (uint64_t)kind;
    uint64_t b = (uint64_t)context << 32 | cell;
    a += ar_path_key(in);
    uint32_t id = ar_idtable_get(&in->node_ids, a, b);
    if (!id) {
        id = in->nodes.count;
        AR_PUSH(in->arena, &in->nodes,
                (ar_vnode){.kind = kind,
                           .part = part,
                           .context = context,
                           .path = in->path,
                           .at = at,
                           /* a high bit marks a number, not a cell */
                           .cell = cell >> 31 ? 0 : cell});
        ar_idtable_put(&in->node_ids, a, b, id);
    }
    ar_vnode *node = AR_VN(in, id);
    if (count > node->in_capacity) {
        node->in = AR_NEW_ARRAY(in->arena, uint32_t, count);
        node->in_capacity = count;
    }
    if (count)
        memcpy(node->in, inputs, count * sizeof *inputs);
    node->in_count = count;
    node->stamp = ++in->clock;
    return id;
}

uint32_t ar_graph_node(ar_interp *in, ar_vnode_kind kind, ar_node *at,
                       uint32_t cell, const uint32_t *inputs, uint32_t count) {
    return ar_graph_part(in, kind, AR_PART_ALL, at, cell, inputs, count);
}

uint32_t ar_graph_sum(ar_interp *in, ar_node *at, uint32_t a, uint32_t b) {
    if (a == b || b == AR_NODE_ZERO)
        return a;
    if (a == AR_NODE_ZERO)
        return b;
    return ar_graph_node(in, AR_V_SUM, at, 0, (uint32_t[]){a, b}, 2);
}

uint32_t ar_graph_mul(ar_interp *in, ar_node *at, uint32_t a, uint32_t b) {
    if (a == AR_NODE_ZERO || b == AR_NODE_ZERO)
        return AR_NODE_ZERO;
    if (a == AR_NODE_CONST)
        return b;
    if (b == AR_NODE_CONST)
        return a;
    return ar_graph_node(in, AR_V_MUL, at, 0, (uint32_t[]){a, b}, 2);
}

void ar_graph_sink(ar_interp *in, ar_sink_kind kind, ar_node *at, uint32_t node,
                   uint32_t other) {
    if (node <= AR_NODE_CONST && other <= AR_NODE_CONST)
        return;
    uint32_t context = in->frame ? in->frame->context->id : 0;
    uint64_t a = (uint64_t)(uintptr_t)at << 5 | (uint64_t)kind;
    uint64_t b = (uint64_t)context << 32 | node;
    uint32_t id = ar_idtable_get(&in->sink_ids, a, b);
    if (!id) {
        AR_PUSH(in->arena, &in->sinks,
                (ar_sink){kind, context, at, node, other, 0});
        id = in->sinks.count;
        ar_idtable_put(&in->sink_ids, a, b, id);
    }
    in->sinks.data[id - 1].other = other;
    in->sinks.data[id - 1].stamp = ++in->clock;
}

uint32_t ar_float_of(ar_interp *in, const ar_value *value) {
    (void)in;
    if (value->node)
        return value->node;
    if (value->is_number)
        return value->number ? AR_NODE_CONST : AR_NODE_ZERO;
    return value->is_undefined ? AR_NODE_UNDEFINED : AR_NODE_CONST;
}

void ar_interp_note(ar_interp *in, ar_diag_id id, ar_range range,
                    const char *text) {
    uint64_t place = (uint64_t)range.file << 32 | range.begin;
    uint64_t name = (uint64_t)id << 32;
    for (const char *c = text; *c; c++)
        name = name * 31 + (unsigned char)*c;
    /* Opaque calls are told once by name, other things once by place. */
    if (id == AR_DIAG_OPAQUE_CALL)
        place = 0;
    if (ar_idtable_get(&in->note_ids, place, name))
        return;
    ar_idtable_put(&in->note_ids, place, name, 1);
    AR_PUSH(in->arena, &in->notes, (ar_note){id, range, text});
}

/* ---- values -------------------------------------------------------------- */

ar_value ar_unknown(void) {
    return (ar_value){.is_partial = true};
}

ar_value ar_number(int64_t n) {
    return (ar_value){
        .is_number = true, .number = n, .shift = n, .may_be_null = !n};
}

ar_value ar_from_node(uint32_t node) {
    return (ar_value){.node = node};
}

ar_value ar_value_pointer(ar_interp *in, uint32_t cell, int64_t index) {
    ar_target target = {cell, index};
    return (ar_value){.targets = ar_memory_set(in->m, &target, 1)};
}

static ar_value join_addresses(ar_interp *in, const ar_value *a,
                               const ar_value *b) {
    if (!a->targets || !b->targets) {
        ar_value one = a->targets ? *a : *b;
        one.node = 0;
        one.number = 0;
        one.may_be_null = true;
        one.is_number = false;
        one.is_undefined = false;
        return one;
    }
    uint32_t symbol =
        a->pointer_symbol == b->pointer_symbol ? a->pointer_symbol : 0;
    bool same_shift = a->pointer_shift == b->pointer_shift;
    return (ar_value){
        .targets = ar_memory_union(in->m, a->targets, b->targets),
        .offset_tags = a->offset_tags & b->offset_tags,
        .pointer_tags = a->pointer_tags & b->pointer_tags,
        .shift = a->shift == b->shift ? a->shift : 0,
        .row = a->row == b->row ? a->row : 0,
        .pointer_symbol = symbol,
        .pointer_shift = same_shift ? a->pointer_shift : AR_NO_SHIFT,
        .may_be_null = a->may_be_null || b->may_be_null,
        .is_partial = a->is_partial || b->is_partial ||
                      (a->offset_tags != b->offset_tags && !a->offset_tags) ||
                      a->shift != b->shift || (!same_shift && !symbol)};
}

ar_value ar_join_values(ar_interp *in, ar_node *at, uint32_t cell,
                        const ar_value *a, const ar_value *b) {
    bool is_zero_a = a->is_number && !a->number && !a->targets;
    bool is_zero_b = b->is_number && !b->number && !b->targets;
    if ((a->targets && (is_zero_b || !b->node)) ||
        (b->targets && (is_zero_a || !a->node)))
        return join_addresses(in, a, b);
    /* Cleared memory is a zero of any type. */
    bool real_a = a->node && !(is_zero_a && a->node == AR_NODE_ZERO);
    bool real_b = b->node && !(is_zero_b && b->node == AR_NODE_ZERO);
    if (!real_a && !real_b && is_zero_a && is_zero_b)
        return a->node ? *a : *b;
    if (real_a || real_b || (a->node && b->node)) {
        ar_value v = ar_from_node(ar_join_nodes(
            in, at, cell, ar_float_of(in, a), ar_float_of(in, b)));
        if (a->targets || b->targets)
            v.targets = ar_memory_union(in->m, a->targets, b->targets);
        return v;
    }
    if (a->targets || b->targets)
        return join_addresses(in, a, b);
    if (a->is_undefined)
        return *b;
    if (b->is_undefined)
        return *a;
    if (a->is_number && b->is_number && a->number == b->number)
        return a->node ? *a : *b;
    ar_value v = ar_unknown();
    v.offset_tags = a->offset_tags & b->offset_tags;
    v.may_be_null =
        (a->may_be_null && !b->excludes) || (b->may_be_null && !a->excludes);
    v.extent = a->extent == b->extent ? a->extent : 0;
    v.row = a->row == b->row ? a->row : 0;
    if (v.offset_tags && a->shift == b->shift && !a->is_partial &&
        !b->is_partial) {
        v.shift = a->shift;
        v.is_partial = false;
    }
    return v;
}

/* ---- states -------------------------------------------------------------- */

typedef struct state_join {
    ar_interp *in;
    ar_node *at;
    ar_state *into;
} state_join;

/* What an absent cell holds in a given state. */
static ar_value value_in(ar_interp *in, const ar_state *state, uint32_t cell,
                         uint32_t id) {
    (void)state;
    if (id)
        return *ar_memory_value(in->m, id);
    if (ar_object_of(in->m, cell)->zero_default)
        return (ar_value){
            .node = AR_NODE_ZERO, .is_number = true, .may_be_null = true};
    return (ar_value){.is_undefined = true};
}

uint32_t ar_join_ids(ar_interp *in, ar_node *at, uint32_t cell, uint32_t a,
                     uint32_t b) {
    if (a == b)
        return a;
    ar_value x = value_in(in, NULL, cell, a), y = value_in(in, NULL, cell, b);
    ar_value v = ar_join_values(in, at, cell, &x, &y);
    return ar_memory_intern(in->m, &v);
}

static void join_cell(void *context, uint32_t cell, uint32_t a, uint32_t b) {
    state_join *j = context;
    ar_value x = value_in(j->in, j->into, cell, a);
    ar_value y = value_in(j->in, j->into, cell, b);
    ar_value v = ar_join_values(j->in, j->at, cell, &x, &y);
    ar_state_set(j->in->m, j->into, cell, ar_memory_intern(j->in->m, &v));
}

/* Consumes both. */
ar_state ar_join_states(ar_interp *in, ar_node *at, ar_state *a, ar_state *b) {
    if (a->dead) {
        ar_state_drop(in->m, a);
        return ar_state_take(b);
    }
    if (b->dead) {
        ar_state_drop(in->m, b);
        return ar_state_take(a);
    }
    ar_state result = ar_state_copy(*a);
    state_join j = {in, at, &result};
    ar_state_diff(a, b, join_cell, &j);
    ar_state_drop(in->m, a);
    ar_state_drop(in->m, b);
    return result;
}
