#include "core/pins_accumulate.h"

/* ---- finding loops and what they assign ---------------------------------- */

typedef struct scan {
    ar_accumulation *a;
    ar_loop *loop;
} scan;

uint64_t ar_variable_key(const ar_accumulation *a, const ar_node *node) {
    if (!node || node->kind != AR_REF || !node->decl ||
        (node->decl->kind != AR_DECL_VAR && node->decl->kind != AR_DECL_PARAM))
        return 0;
    return ar_entity_of(a->g->program, node->decl)->id + 1;
}

typedef enum set_kind {
    SET_PLAIN, /* to a value; NULL: it is declared without one */
    SET_STEP,  /* from its own value */
    SET_LOST   /* its address is taken */
} set_kind;

static void add_start(ar_assignment *all, set_kind kind, ar_node *value,
                      ar_loop *at) {
    if (kind == SET_STEP || (kind == SET_PLAIN && !value))
        return;
    all->is_lost |= kind == SET_LOST || all->start;
    all->start = value;
    all->start_loop = at;
}

/* A second assignment forgets the value. */
static void note_among(scan *s, ar_map *assigned, uint64_t key, set_kind kind,
                       ar_node *value) {
    ar_assignment *all = ar_map_get(assigned, key);
    bool is_first = !all;
    if (is_first) {
        all = AR_NEW(s->a->g->arena, ar_assignment);
        ar_map_put(assigned, key, all);
    }
    all->value = is_first ? value : NULL;
    add_start(all, kind, value, s->loop);
}

/* In the function, and in every loop around the place. */
static void note_assignment(scan *s, uint64_t key, set_kind kind,
                            ar_node *value) {
    if (!key)
        return;
    note_among(s, &s->a->assigned, key, kind, value);
    for (ar_loop *loop = s->loop; loop; loop = loop->outer)
        note_among(s, &loop->assigned, key, kind, value);
}

static void scan_node(scan *s, ar_node *node);

static void scan_kids(scan *s, ar_node *node) {
    for (uint32_t i = 0; i < node->kid_count; i++)
        scan_node(s, node->kids[i]);
}

/* for (i = 0; ...) or for (int i = 0; ...). */
static void find_control(scan *s, ar_loop *loop, ar_node *init) {
    if (!init)
        return;
    if (init->kind == AR_EXPR_STMT && init->kid_count)
        init = init->kids[0];
    if (init && init->kind == AR_ASSIGN) {
        loop->control = ar_variable_key(s->a, ar_skip_casts(init->kids[0]));
        loop->start = init->kids[1];
    }
    if (init && init->kind == AR_DECL_STMT && init->decl_count == 1 &&
        init->decls[0]->init) {
        ar_decl *decl = init->decls[0];
        loop->control = ar_entity_of(s->a->g->program, decl)->id + 1;
        loop->start = decl->init;
    }
}

static void scan_loop(scan *s, ar_node *node) {
    ar_loop *loop = AR_NEW(s->a->g->arena, ar_loop);
    loop->node = node;
    loop->assigned.arena = s->a->g->arena;
    uint32_t first = 0;
    if (node->kind == AR_FOR) { /* the start is before the loop */
        scan_node(s, node->kids[0]);
        find_control(s, loop, node->kids[0]);
        first = 1;
    }
    loop->outer = s->loop;
    s->loop = loop;
    for (uint32_t i = first; i < node->kid_count; i++)
        scan_node(s, node->kids[i]);
    s->loop = loop->outer;
}

static void remember(scan *s, ar_node *node) {
    if (s->loop)
        ar_map_put(&s->a->loop_of, ar_key(node), s->loop);
}

static void scan_node(scan *s, ar_node *node) {
    if (!node)
        return;
    switch (node->kind) {
    case AR_FOR:
    case AR_WHILE:
    case AR_DO:
        scan_loop(s, node);
        return;
    case AR_ASSIGN:
        remember(s, node);
        note_assignment(s, ar_variable_key(s->a, ar_skip_casts(node->kids[0])),
                        SET_PLAIN, node->kids[1]);
        break;
    case AR_COMPOUND_ASSIGN:
        remember(s, node);
        note_assignment(s, ar_variable_key(s->a, ar_skip_casts(node->kids[0])),
                        SET_STEP, NULL);
        break;
    case AR_UNARY:
        if (node->op >= AR_OP_PRE_INC) {
            remember(s, node);
            note_assignment(s,
                            ar_variable_key(s->a, ar_skip_casts(node->kids[0])),
                            SET_STEP, NULL);
        }
        break;
    case AR_ADDRESS: /* may be assigned by whoever gets it */
        note_assignment(s, ar_variable_key(s->a, ar_skip_casts(node->kids[0])),
                        SET_LOST, NULL);
        break;
    case AR_ASM:
        for (uint32_t i = 0; i < node->kid_count; i++)
            note_assignment(s,
                            ar_variable_key(s->a, ar_skip_casts(node->kids[i])),
                            SET_LOST, NULL);
        break;
    case AR_CALL:
    case AR_LAUNCH:
        remember(s, node);
        break;
    case AR_DECL_STMT:
        for (uint32_t i = 0; i < node->decl_count; i++) {
            ar_decl *decl = node->decls[i];
            if (decl->kind != AR_DECL_VAR)
                continue;
            uint64_t key = ar_entity_of(s->a->g->program, decl)->id + 1;
            note_assignment(s, key, SET_PLAIN, decl->init);
            scan_node(s, decl->init);
        }
        break;
    default:
        break;
    }
    scan_kids(s, node);
}

ar_accumulation *ar_accumulation_of(ar_graph *g, ar_unit *unit,
                                    ar_decl *function) {
    (void)unit;
    ar_accumulation *a = AR_NEW(g->arena, ar_accumulation);
    a->g = g;
    a->loop_of.arena = a->assigned.arena = g->arena;
    scan s = {.a = a};
    scan_node(&s, function->body);
    return a;
}

bool ar_is_assigned(const ar_accumulation *a, const ar_decl *variable) {
    uint64_t key = ar_entity_of(a->g->program, variable)->id + UINT64_C(1);
    return ar_map_get(&a->assigned, key);
}

ar_node *ar_only_value(const ar_accumulation *a, const ar_decl *variable) {
    uint64_t key = ar_entity_of(a->g->program, variable)->id + UINT64_C(1);
    const ar_assignment *all = ar_map_get(&a->assigned, key);
    return all ? all->value : NULL;
}

/* ---- what an expression depends on --------------------------------------- */

enum { MAX_DEPTH = 16 };

static bool is_step(const ar_accumulation *a, const ar_node *node) {
    return node->kind == AR_UNARY && node->op >= AR_OP_PRE_INC &&
           ar_variable_key(a, ar_skip_casts(node->kids[0]));
}

/* The variable whose address, or that of a part, is taken: what it holds plays
 * no part. */
static const ar_decl *addressed(const ar_node *node) {
    if (node->kind != AR_ADDRESS)
        return NULL;
    node = ar_skip_casts(node->kids[0]);
    while (node && node->kind == AR_MEMBER && !node->is_arrow &&
           node->kid_count)
        node = ar_skip_casts(node->kids[0]);
    return node && node->kind == AR_REF ? node->decl : NULL;
}

/* A variable of the loop's body is another one each time. */
static bool is_declared_in(const ar_loop *loop, const ar_decl *variable) {
    return ar_range_holds(loop->node->range, variable->range);
}

/* Does an iteration of the loop move anything the expression depends on? A
 * value loaded from memory or returned by a call may be anything. The variable
 * of a loop further in starts anew each time: `inner` up to `loop` are the
 * loops around the expression. */
static bool moves(const ar_accumulation *a, const ar_loop *inner,
                  const ar_loop *loop, ar_node *node, int depth) {
    node = ar_skip_casts(node);
    if (!node)
        return false;
    uint64_t key = ar_variable_key(a, node);
    if (key) {
        const ar_assignment *set = ar_map_get(&loop->assigned, key);
        if (!set)
            return false;
        if (depth >= MAX_DEPTH)
            return true;
        for (const ar_loop *l = inner; l != loop; l = l->outer)
            if (l->control == key)
                return moves(a, l->outer, loop, l->start, depth + 1);
        if (set->value)
            return moves(a, inner, loop, set->value, depth + 1);
        return !set->start || set->is_lost ||
               moves(a, set->start_loop, loop, set->start, depth + 1);
    }
    const ar_decl *variable = addressed(node);
    if (variable)
        return is_declared_in(loop, variable);
    if (is_step(a, node)) /* of *e++: where e stands */
        return moves(a, inner, loop, node->kids[0], depth);
    if (node->kind == AR_CALL || node->kind == AR_ASSIGN ||
        node->kind == AR_COMPOUND_ASSIGN || node->kind == AR_LAUNCH)
        return true;
    if (node->kind == AR_UNARY && node->op >= AR_OP_PRE_INC)
        return true;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (moves(a, inner, loop, node->kids[i], depth))
            return true;
    return false;
}

static ar_repetition repetition(const ar_accumulation *a, ar_loop *inner,
                                ar_node *target) {
    ar_repetition found = {0};
    AR_VEC(ar_node *) loops = {0};
    for (ar_loop *loop = inner; loop; loop = loop->outer)
        if (!moves(a, inner, loop, target, 0))
            AR_PUSH(a->g->arena, &loops, loop->node);
    if (loops.count) {
        found.inner = loops.data[0];
        found.outer = loops.data[loops.count - 1];
    }
    found.loops = loops.data;
    found.loop_count = loops.count;
    return found;
}

ar_repetition ar_call_repetition(ar_accumulation *a, ar_node *call,
                                 ar_node *argument) {
    return repetition(a, ar_map_get(&a->loop_of, ar_key(call)), argument);
}

/* ---- the shape of a store ------------------------------------------------ */

bool ar_is_same_place(ar_node *x, ar_node *y) {
    x = ar_skip_casts(x);
    y = ar_skip_casts(y);
    if (!x || !y)
        return x == y;
    if (x->kind != y->kind || x->decl != y->decl || x->op != y->op ||
        x->int_value != y->int_value || x->kid_count != y->kid_count ||
        x->float_value != y->float_value)
        return false;
    if (x->kind == AR_CALL)
        return false;
    for (uint32_t i = 0; i < x->kid_count; i++)
        if (!ar_is_same_place(x->kids[i], y->kids[i]))
            return false;
    return true;
}

static bool is_term_of(ar_node *target, ar_node *value) {
    value = ar_skip_casts(value);
    if (!value)
        return false;
    if (ar_is_same_place(target, value))
        return true;
    if (value->kind == AR_BINARY &&
        (value->op == AR_OP_ADD || value->op == AR_OP_SUB))
        return is_term_of(target, value->kids[0]) ||
               (value->op == AR_OP_ADD && is_term_of(target, value->kids[1]));
    return false;
}

bool ar_reads_its_target(ar_node *store) {
    switch (store->kind) {
    case AR_COMPOUND_ASSIGN:
        return store->op == AR_OP_ADD || store->op == AR_OP_SUB;
    case AR_UNARY:
        return true;
    case AR_ASSIGN:
        return is_term_of(store->kids[0], store->kids[1]);
    default:
        return false;
    }
}

/* An index that comes from memory: several iterations may hit one element. */
static bool loads_index(const ar_accumulation *a, const ar_loop *loop,
                        ar_node *index, int depth) {
    index = ar_skip_casts(index);
    if (!index)
        return false;
    if (index->kind == AR_INDEX || index->kind == AR_DEREF)
        return true;
    uint64_t key = ar_variable_key(a, index);
    if (key) {
        const ar_assignment *set = NULL;
        for (; loop && !set; loop = loop->outer)
            set = ar_map_get(&loop->assigned, key);
        return set && set->value && depth < MAX_DEPTH &&
               loads_index(a, loop, set->value, depth + 1);
    }
    for (uint32_t i = 0; i < index->kid_count; i++)
        if (loads_index(a, loop, index->kids[i], depth))
            return true;
    return false;
}

static bool address_loads_index(const ar_accumulation *a, ar_loop *loop,
                                ar_node *address, int depth) {
    address = ar_skip_casts(address);
    if (!address || depth > MAX_DEPTH)
        return false;
    switch (address->kind) {
    case AR_INDEX:
        return loads_index(a, loop, address->kids[1], 0) ||
               address_loads_index(a, loop, address->kids[0], depth + 1);
    case AR_DEREF:
    case AR_ADDRESS:
    case AR_MEMBER:
        return address->kid_count &&
               address_loads_index(a, loop, address->kids[0], depth + 1);
    case AR_BINARY: {
        const ar_type *left = address->kids[0]->type;
        bool is_left = left && (left->kind == AR_TYPE_POINTER ||
                                left->kind == AR_TYPE_ARRAY);
        return loads_index(a, loop, address->kids[is_left], 0) ||
               address_loads_index(a, loop, address->kids[!is_left], depth + 1);
    }
    case AR_REF: {
        const ar_assignment *set = NULL;
        uint64_t key = ar_variable_key(a, address);
        for (ar_loop *l = loop; key && l && !set; l = l->outer)
            set = ar_map_get(&l->assigned, key);
        return set && set->value &&
               address_loads_index(a, loop, set->value, depth + 1);
    }
    default:
        return false;
    }
}

ar_accumulator_kind ar_accumulates(ar_accumulation *a, ar_node *store,
                                   ar_repetition *repeated) {
    ar_loop *inner = ar_map_get(&a->loop_of, ar_key(store));
    if (!inner)
        return AR_ACCUMULATE_KINDS;
    ar_node *target = store->kids[0];
    *repeated = repetition(a, inner, target);
    if (repeated->inner)
        return AR_ACCUMULATE_INVARIANT;
    if (address_loads_index(a, inner, target, 0))
        return AR_ACCUMULATE_SCATTER;
    if (ar_index_overlaps(a, inner, target))
        return AR_ACCUMULATE_OVERLAP;
    return AR_ACCUMULATE_KINDS;
}
