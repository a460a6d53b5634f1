/* Degrees: which values can carry the scale, which must, where it enters.
 *
 * Everything here is a fixpoint over the value graph. The search (must, can,
 * demanded) proposes seeds; scale_check.c then computes every degree forward
 * from nothing but the seeds and the unscales, so that a placement is accepted
 * for what it does and not for how it was found. */
#include "core/scale_solver.h"

/* ---- the places that change the degree ----------------------------------- */

int ar_region_of(const ar_solver *s, uint32_t cell) {
    int group = s->a->cells[cell].group;
    for (uint32_t i = 0; i < s->p->region_count; i++)
        if ((int)s->p->regions[i] == group)
            return (int)i;
    return -1;
}

bool ar_is_unscale(const ar_solver *s, uint32_t id) {
    const ar_vnode *v = ar_solver_node(s, id);
    if (v->kind == AR_V_BOUNDARY) {
        if (s->a->cells[v->cell].role != AR_ROLE_GRAD)
            return false;
        int r = ar_region_of(s, v->cell);
        return r >= 0 && s->p->unscale_at[r] == v->at &&
               s->a->regions.data[s->p->regions[r]].context == v->context;
    }
    if (v->kind != AR_V_TERM)
        return false;
    for (uint32_t i = 0; i < s->p->region_count; i++)
        if (!s->p->unscale_at[i] && s->a->term_unscale &&
            s->a->term_unscale[id])
            return true;
    return false;
}

bool ar_is_carry(const ar_solver *s, uint32_t id) {
    const ar_vnode *v = ar_solver_node(s, id);
    return v->kind == AR_V_BOUNDARY && s->a->cells[v->cell].carries &&
           ar_region_of(s, v->cell) >= 0 && v->at == s->p->carry_at &&
           v->context == s->a->loop->context;
}

bool ar_is_update_store(const ar_solver *s, uint32_t id) {
    const ar_vnode *v = ar_solver_node(s, id);
    if (v->kind != AR_V_STORE)
        return false;
    ar_role role = s->a->cells[v->cell].role;
    return (role == AR_ROLE_PARAM || role == AR_ROLE_STATE) &&
           s->a->cells[v->cell].is_updated;
}

static ar_node *expression_of(const ar_solver *s, uint32_t id) {
    return ar_seed_expression(s->a, id);
}

static void place_key(const ar_solver *s, uint32_t id, uint64_t *x,
                      uint64_t *y) {
    const ar_vnode *v = ar_solver_node(s, id);
    if (v->kind == AR_V_BOUNDARY) {
        *x = ar_key(v->at);
        *y = v->cell;
    } else {
        *x = ar_key(expression_of(s, id));
        *y = UINT64_MAX;
    }
}

static bool is_place(const ar_solver *s, uint32_t id) {
    const ar_vnode *v = ar_solver_node(s, id);
    /* To scale a finished gradient would help nobody. */
    if (v->kind == AR_V_BOUNDARY)
        return s->p->allow_buffers && s->a->buffer_boundary &&
               v->part != AR_PART_REST &&
               s->a->cells[v->cell].role != AR_ROLE_GRAD &&
               !ar_is_unscale(s, id) && !ar_is_carry(s, id) &&
               ar_idtable_get(s->a->buffer_boundary, ar_key(v->at), v->cell) ==
                   1;
    if (v->kind != AR_V_STORE && v->kind != AR_V_TERM)
        return false;
    return !ar_is_unscale(s, id) && expression_of(s, id);
}

static bool is_seedable(const ar_solver *s, uint32_t id) {
    const ar_vnode *v = ar_solver_node(s, id);
    if (!is_place(s, id) || !ar_where_in_loop(s->a, v->context, v->at) ||
        !ar_user_allows_seed(s->a, v->context, v->at))
        return false;
    uint64_t x, y;
    place_key(s, id, &x, &y);
    return !ar_idtable_get(&s->barred, x, y);
}

bool ar_is_seed(const ar_solver *s, uint32_t id) {
    if (!s->seeded.count || !is_place(s, id))
        return false;
    uint64_t x, y;
    place_key(s, id, &x, &y);
    return ar_idtable_get(&s->seeded, x, y) != 0;
}

/* ---- must be 0 ----------------------------------------------------------- */

static void require(ar_solver *s, ar_ids *work, uint32_t id, uint32_t via,
                    int sink) {
    if (id <= AR_NODE_CONST || s->must[id])
        return;
    s->must[id] = true;
    s->must_via[id] = via;
    s->must_sink[id] = sink;
    AR_PUSH(s->a->arena, work, id);
}

static void spread_must(ar_solver *s, ar_ids *work) {
    while (work->count) {
        uint32_t id = work->data[--work->count];
        const ar_vnode *v = ar_solver_node(s, id);
        if (ar_is_unscale(s, id) || ar_is_carry(s, id))
            continue;
        for (uint32_t i = 0; i < v->in_count; i++)
            require(s, work, v->in[i], id, s->must_sink[id]);
    }
}

static void find_must(ar_solver *s) {
    ar_interp *in = s->a->in;
    ar_ids work = {0};
    for (uint32_t i = 0; i < in->sinks.count; i++) {
        const ar_sink *sink = &in->sinks.data[i];
        if (sink->stamp >= in->run_start && sink->kind != AR_SINK_COMPARE_TWO)
            require(s, &work, sink->node, sink->node, (int)i);
    }
    for (uint32_t i = 1; i < s->a->g.count; i++) {
        const ar_vnode *v = ar_solver_node(s, i);
        if (!s->a->g.live[i])
            continue;
        if (v->kind == AR_V_NONLINEAR)
            for (uint32_t k = 0; k < v->in_count; k++)
                require(s, &work, v->in[k], i, -1);
        if (v->kind == AR_V_DIV)
            require(s, &work, v->in[1], i, -1);
        if (ar_is_update_store(s, i))
            require(s, &work, i, i, -1);
    }
    spread_must(s, &work);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < in->sinks.count; i++) {
            const ar_sink *sink = &in->sinks.data[i];
            if (sink->stamp < in->run_start ||
                sink->kind != AR_SINK_COMPARE_TWO ||
                s->must[sink->node] == s->must[sink->other])
                continue;
            uint32_t id = s->must[sink->node] ? sink->other : sink->node;
            if (id <= AR_NODE_CONST)
                continue;
            require(s, &work, id, id, (int)i);
            spread_must(s, &work);
            changed = true;
        }
    }
    for (uint32_t i = 1; i < s->a->g.count; i++) {
        if (!s->a->g.live[i] || !s->must[i] || !is_place(s, i))
            continue;
        uint64_t x, y;
        place_key(s, i, &x, &y);
        ar_idtable_put(&s->barred, x, y, 1);
    }
}

/* ---- can be 1 ------------------------------------------------------------ */

static bool can_be_one(const ar_solver *s, const bool *can, uint32_t id) {
    const ar_vnode *v = ar_solver_node(s, id);
    if (id <= AR_NODE_CONST)
        return id != AR_NODE_CONST;
    if (ar_is_carry(s, id))
        return true;
    if ((can == s->can && s->must[id]) || ar_is_unscale(s, id))
        return false;
    switch (v->kind) {
    case AR_V_ZERO:
    case AR_V_UNDEFINED:
        return true;
    case AR_V_CONST:
    case AR_V_INPUT:
    case AR_V_NONLINEAR:
        return false;
    case AR_V_SUM:
    case AR_V_PHI:
    case AR_V_LOOP:
        for (uint32_t i = 0; i < v->in_count; i++)
            if (!can[v->in[i]])
                return false;
        return true;
    case AR_V_MUL:
        return can[v->in[0]] || can[v->in[1]];
    case AR_V_DIV:
        return can[v->in[0]];
    case AR_V_STORE:
        return (can[v->in[0]] || is_seedable(s, id)) &&
               (v->in_count < 2 || can[v->in[1]]);
    case AR_V_TERM:
    case AR_V_BOUNDARY:
        return can[v->in[0]] || is_seedable(s, id);
    }
    return false;
}

/* Into s->can; into another array: were it not for what must be 0. */
static void find_can(ar_solver *s, bool *can) {
    ar_ids work = {0};
    for (uint32_t i = 1; i < s->a->g.count; i++)
        can[i] = s->a->g.live[i];
    for (uint32_t i = 1; i < s->a->g.count; i++)
        if (can[i] && !can_be_one(s, can, i)) {
            can[i] = false;
            AR_PUSH(s->a->arena, &work, i);
        }
    const ar_graph_index *g = &s->a->g;
    while (work.count) {
        uint32_t id = work.data[--work.count];
        for (uint32_t u = g->use_start[id]; u < g->use_start[id + 1]; u++) {
            uint32_t to = g->uses[u];
            if (!can[to] || can_be_one(s, can, to))
                continue;
            can[to] = false;
            AR_PUSH(s->a->arena, &work, to);
        }
    }
}

/* ---- demanded ------------------------------------------------------------ */

static void demand(ar_solver *s, ar_ids *work, uint32_t id, uint32_t via) {
    if (id == AR_NODE_ZERO || id == AR_NODE_UNDEFINED || s->p->demanded[id])
        return;
    s->p->demanded[id] = true;
    s->via[id] = via;
    AR_PUSH(s->a->arena, work, id);
}

/* The factor that would have to carry the scale. */
static uint32_t wanted_factor(ar_solver *s, const ar_vnode *v) {
    if (!s->could) {
        s->could = AR_NEW_ARRAY(s->a->arena, bool, s->a->g.count);
        find_can(s, s->could);
    }
    if (s->could[v->in[0]] != s->could[v->in[1]])
        return s->could[v->in[0]] ? 0 : 1;
    return (uint32_t)ar_choose_factor(s->a, v->in[0], v->in[1]);
}

static void add_root_cell(ar_solver *s, uint32_t cell) {
    ar_ids *list = &s->p->root_cells;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->data[i] == cell)
            return;
    AR_PUSH(s->a->arena, list, cell);
}

/* From a value that cannot carry the scale to what stands against it: along
 * the gradient, down to values that must not. The buffers on the way could be
 * scaled in place instead. */
static void trace_roots(ar_solver *s, uint32_t from, ar_conflict *c) {
    ar_analysis *a = s->a;
    ar_ids work = {0};
    ar_marks_begin(a);
    bool *met = AR_NEW_ARRAY(a->arena, bool, a->g.count);
    AR_PUSH(a->arena, &work, from);
    met[from] = true;
    while (work.count) {
        uint32_t id = work.data[--work.count];
        const ar_vnode *v = ar_solver_node(s, id);
        if (v->cell && ar_is_array(a, v->cell))
            add_root_cell(s, v->cell);
        if (!c->out_of_reach && !s->must[id] && ar_seed_is_out_of_reach(a, id))
            c->out_of_reach = id;
        if (s->must[id] || v->kind == AR_V_NONLINEAR || v->kind == AR_V_INPUT ||
            v->kind == AR_V_CONST) {
            if (!c->root || (s->must[id] && !s->must[c->root]))
                c->root = id;
            continue;
        }
        uint32_t first = 0, last = v->in_count;
        if (v->kind == AR_V_MUL)
            first = wanted_factor(s, v);
        if (v->kind == AR_V_MUL || v->kind == AR_V_DIV)
            last = first + 1;
        for (uint32_t i = last; i-- > first;) {
            uint32_t to = v->in[i];
            if (!s->can[to] && !met[to]) {
                met[to] = true;
                AR_PUSH(a->arena, &work, to);
            }
        }
    }
}

static void add_conflict(ar_solver *s, uint32_t id) {
    ar_conflict c = {.node = id, .scaled_use = s->via[id], .sink = -1};
    trace_roots(s, id, &c);
    if (c.root > AR_NODE_CONST && s->must[c.root])
        c.sink = s->must_sink[c.root];
    AR_PUSH(s->a->arena, &s->p->conflicts, c);
}

static int choose_factor(const ar_solver *s, const ar_vnode *v) {
    ar_analysis *a = s->a;
    uint32_t x = v->in[0], y = v->in[1];
    if (s->p->number_in == v->at && a->depends[x] != a->depends[y])
        return a->depends[x] ? 1 : 0;
    return ar_choose_factor(a, x, y);
}

/* True when a new place was made a seed: start again. */
static bool demand_pass(ar_solver *s) {
    ar_ids work = {0};
    bool fresh = false;
    memset(s->p->demanded, 0, s->a->g.count * sizeof *s->p->demanded);
    s->p->conflicts.count = s->p->root_cells.count = 0;
    for (uint32_t i = 1; i < s->a->g.count; i++)
        if (s->a->g.live[i] && ar_is_unscale(s, i))
            demand(s, &work, ar_solver_node(s, i)->in[0], i);
    while (work.count) {
        uint32_t id = work.data[--work.count];
        const ar_vnode *v = ar_solver_node(s, id);
        if (ar_is_carry(s, id))
            continue;
        if (!s->can[id]) {
            add_conflict(s, id);
            continue;
        }
        switch (v->kind) {
        case AR_V_ZERO:
        case AR_V_UNDEFINED:
        case AR_V_CONST:
        case AR_V_INPUT:
        case AR_V_NONLINEAR:
            break;
        case AR_V_SUM:
        case AR_V_PHI:
        case AR_V_LOOP:
            for (uint32_t i = 0; i < v->in_count; i++)
                demand(s, &work, v->in[i], id);
            break;
        case AR_V_MUL: {
            int k = s->can[v->in[0]] ? 0 : 1;
            if (s->can[v->in[0]] && s->can[v->in[1]])
                k = choose_factor(s, v);
            demand(s, &work, v->in[k], id);
            break;
        }
        case AR_V_DIV:
            demand(s, &work, v->in[0], id);
            break;
        case AR_V_STORE:
        case AR_V_TERM:
        case AR_V_BOUNDARY:
            if (v->in_count > 1)
                demand(s, &work, v->in[1], id);
            if (ar_is_seed(s, id))
                break;
            if (s->can[v->in[0]]) {
                demand(s, &work, v->in[0], id);
            } else {
                uint64_t x, y;
                place_key(s, id, &x, &y);
                ar_idtable_put(&s->seeded, x, y, 1);
                fresh = true;
            }
            break;
        }
    }
    return fresh;
}

static void collect_seeds(ar_solver *s) {
    ar_idtable seen = {.arena = s->a->arena};
    for (uint32_t i = 1; i < s->a->g.count; i++) {
        if (!s->a->g.live[i] || !s->p->demanded[i] || !ar_is_seed(s, i))
            continue;
        uint64_t x, y;
        place_key(s, i, &x, &y);
        if (ar_idtable_get(&seen, x, y))
            continue;
        ar_idtable_put(&seen, x, y, 1);
        AR_PUSH(s->a->arena, &s->p->seeds, i);
    }
}

/* What is scaled in the step is scaled after the gradients were unscaled: it
 * would protect nothing, and carry its scale over to another one. */
static bool is_in_step(const ar_solver *s, uint32_t seed) {
    const ar_analysis *a = s->a;
    const ar_vnode *v = ar_solver_node(s, seed);
    for (uint32_t i = 0; i < a->regions.count; i++)
        if (!a->regions.data[i].is_fused &&
            ar_in_region(a, &a->regions.data[i], v->context, v->at))
            return true;
    return false;
}

void ar_solve_degrees(ar_analysis *a, ar_placement *p) {
    uint32_t n = a->g.count;
    ar_solver s = {.a = a, .p = p};
    s.must = AR_NEW_ARRAY(a->arena, bool, n);
    s.can = AR_NEW_ARRAY(a->arena, bool, n);
    s.must_via = AR_NEW_ARRAY(a->arena, uint32_t, n);
    s.must_sink = AR_NEW_ARRAY(a->arena, int, n);
    s.via = AR_NEW_ARRAY(a->arena, uint32_t, n);
    s.seeded.arena = s.barred.arena = a->arena;
    p->demanded = AR_NEW_ARRAY(a->arena, bool, n);
    p->degree = AR_NEW_ARRAY(a->arena, uint8_t, n);
    p->seeds.count = 0;
    p->scaled_writes = 0;
    find_must(&s);
    find_can(&s, s.can);
    while (demand_pass(&s))
        ;
    collect_seeds(&s);
    p->ok = p->is_checked = false;
    if (p->conflicts.count || !p->seeds.count)
        return;
    for (uint32_t i = 0; i < p->seeds.count; i++)
        if (is_in_step(&s, p->seeds.data[i]))
            return;
    p->is_checked = true;
    ar_check_placement(&s);
    p->ok = !p->conflicts.count;
}
