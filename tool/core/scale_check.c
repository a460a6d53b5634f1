/* The check that a placement is exact: from nothing but the seeds and the
 * unscales, degrees are computed forward through the whole graph. */
#include "core/scale_solver.h"

/* ---- values that outlive their scale ------------------------------------- */

/* The heads of the training loop and of those around it: what comes over their
 * back edges was made before the step that moved the scale. */
static bool is_new_iteration(const ar_solver *s, const ar_vnode *v) {
    const ar_analysis *a = s->a;
    const ar_node *here =
        ar_lift(a->in, a->loop->context, a->loop->at, v->context);
    return here && ar_is_loop(v->at) &&
           ar_is_ancestor(a->in, v->context, v->at, here);
}

/* A gradient is unscaled at the step. What it brings along scaled went around
 * a step that was not due, and so did the scale. */
static bool outlives_scale(const ar_solver *s, const ar_vnode *v) {
    bool is_own_grad = s->a->cells[v->cell].role == AR_ROLE_GRAD &&
                       ar_region_of(s, v->cell) >= 0;
    return v->kind == AR_V_LOOP && !is_own_grad && is_new_iteration(s, v);
}

/* ---- degrees ------------------------------------------------------------- */

static uint8_t raise(uint8_t d) {
    return (uint8_t)((d & D0 ? D1 : 0) | (d & (D1 | BAD) ? BAD : 0) |
                     (d & (STALE | AGED)));
}

static uint8_t lower(uint8_t d) {
    return (uint8_t)((d & D1 ? D0 : 0) | (d & (D0 | BAD) ? BAD : 0));
}

/* The value of a cell once it is used for another one. */
static uint8_t as_value(uint8_t d) {
    return d & STALE ? (uint8_t)((d & ~STALE) | AGED) : d;
}

static uint8_t multiply(uint8_t x, uint8_t y) {
    if (!x || !y)
        return 0;
    uint8_t d = (uint8_t)((x | y) & (BAD | AGED));
    if (x & D1 && y & D1)
        d |= BAD;
    if ((x & D1 && y & D0) || (x & D0 && y & D1))
        d |= D1;
    if (x & D0 && y & D0)
        d |= D0;
    return d;
}

/* What the iteration before left, without what this one writes again. */
static uint8_t settle(const ar_solver *s, const ar_vnode *v, uint8_t d) {
    if (!(d & STALE) || !ar_is_renewed(s->repeats, v, s->p->degree))
        return d;
    return d & (uint8_t)~STALE;
}

/* Of a node that is no cell's. */
static uint8_t all_values(const ar_solver *s, const ar_vnode *v) {
    uint8_t all = 0;
    for (uint32_t i = 0; i < v->in_count; i++)
        all |= as_value(s->p->degree[v->in[i]]);
    return all;
}

static uint8_t degree_of_join(const ar_solver *s, const ar_vnode *v) {
    const uint8_t *d = s->p->degree;
    uint8_t all = 0;
    if (!v->cell)
        return all_values(s, v);
    for (uint32_t i = 0; i < v->in_count; i++)
        all |= d[v->in[i]];
    if (v->kind == AR_V_LOOP && s->repeats && d[v->in[1]] & D1 &&
        outlives_scale(s, v))
        return all | STALE;
    return settle(s, v, all);
}

static uint8_t degree_of_store(const ar_solver *s, const ar_vnode *v,
                               bool is_seed) {
    const uint8_t *d = s->p->degree;
    uint8_t all = as_value(d[v->in[0]]);
    if (is_seed)
        all = raise(all);
    return v->in_count > 1 ? all | settle(s, v, d[v->in[1]]) : all;
}

static uint8_t degree_of(const ar_solver *s, uint32_t id) {
    const uint8_t *d = s->p->degree;
    const ar_vnode *v = ar_solver_node(s, id);
    uint8_t all = 0;
    switch (v->kind) {
    case AR_V_ZERO:
    case AR_V_UNDEFINED:
        return 0;
    case AR_V_CONST:
    case AR_V_INPUT:
        return D0;
    case AR_V_LOOP:
    case AR_V_PHI:
        return degree_of_join(s, v);
    case AR_V_SUM:
        return all_values(s, v);
    case AR_V_MUL:
        return multiply(as_value(d[v->in[0]]), as_value(d[v->in[1]]));
    case AR_V_DIV:
        all = as_value(d[v->in[0]]);
        return (uint8_t)(all | (d[v->in[1]] & (D1 | BAD) ? BAD : 0));
    case AR_V_NONLINEAR:
        all = all_values(s, v);
        return (uint8_t)(D0 | (all & (D1 | BAD) ? BAD : 0));
    case AR_V_STORE:
        return degree_of_store(s, v, ar_is_seed(s, id));
    case AR_V_TERM:
    case AR_V_BOUNDARY:
        all = v->kind == AR_V_TERM ? as_value(d[v->in[0]]) : d[v->in[0]];
        if (ar_is_unscale(s, id))
            return lower(all);
        return ar_is_carry(s, id) || ar_is_seed(s, id) ? raise(all) : all;
    }
    return 0;
}

static void propagate(ar_solver *s) {
    const ar_graph_index *g = &s->a->g;
    ar_ids work = {0};
    for (uint32_t i = g->count; i-- > 1;)
        if (g->live[i])
            AR_PUSH(s->a->arena, &work, i);
    while (work.count) {
        uint32_t id = work.data[--work.count];
        uint8_t now = degree_of(s, id) | s->p->degree[id];
        /* What is wrong here is reported here; it must not drown the rest. */
        if (now && (ar_is_update_store(s, id) || ar_is_unscale(s, id)))
            now = D0;
        if (now == s->p->degree[id])
            continue;
        s->p->degree[id] = now;
        for (uint32_t u = g->use_start[id]; u < g->use_start[id + 1]; u++)
            AR_PUSH(s->a->arena, &work, g->uses[u]);
    }
}

static void refuse(ar_solver *s, uint32_t id, int sink, const char *text) {
    ar_conflict c = {.node = id, .sink = sink, .text = text};
    AR_PUSH(s->a->arena, &s->p->conflicts, c);
}

/* From the last value of an iteration to what stored it. */
static uint32_t stored_by(const ar_solver *s, uint32_t last) {
    ar_ids work = {0};
    ar_marks_begin(s->a);
    AR_PUSH(s->a->arena, &work, last);
    while (work.count) {
        uint32_t id = work.data[--work.count];
        const ar_vnode *v = ar_solver_node(s, id);
        if (!(s->p->degree[id] & D1) || !ar_mark(s->a, id))
            continue;
        if (v->kind == AR_V_STORE && s->p->degree[v->in[0]])
            return id;
        for (uint32_t i = 0; i < v->in_count; i++)
            AR_PUSH(s->a->arena, &work, v->in[i]);
    }
    return last;
}

/* Finds where the gradient first reads what the iteration before left. */
static void refuse_stale(ar_solver *s, uint32_t unscale) {
    ar_analysis *a = s->a;
    ar_ids work = {0};
    ar_marks_begin(a);
    AR_PUSH(a->arena, &work, unscale);
    while (work.count) {
        uint32_t id = work.data[--work.count];
        const ar_vnode *v = ar_solver_node(s, id);
        for (uint32_t i = 0; i < v->in_count; i++) {
            uint32_t from = v->in[i];
            const ar_vnode *head = ar_solver_node(s, from);
            if (!(s->p->degree[from] & (STALE | AGED)) || !ar_mark(a, from))
                continue;
            if (!outlives_scale(s, head) || !(s->p->degree[head->in[1]] & D1)) {
                AR_PUSH(a->arena, &work, from);
                continue;
            }
            ar_conflict c = {.node = id, .sink = -1};
            c.text = ar_sprintf(
                a->arena,
                "'%s' may still hold here what the iteration before left in "
                "it, with a loss scale that has moved since",
                ar_cell_name(a, head->cell));
            c.stale_write = stored_by(s, head->in[1]);
            AR_PUSH(a->arena, &s->p->conflicts, c);
            return;
        }
    }
}

/* Where a wrong degree first comes up. */
static const char *origin_text(const ar_solver *s, uint32_t id) {
    const uint8_t *d = s->p->degree;
    const ar_vnode *v = ar_solver_node(s, id);
    if (!(d[id] & BAD))
        return NULL;
    for (uint32_t i = 0; i < v->in_count; i++)
        if (d[v->in[i]] & BAD)
            return NULL;
    switch (v->kind) {
    case AR_V_MUL:
        return "two values that both carry the loss scale are multiplied here";
    case AR_V_DIV:
        return "a value that carries the loss scale is a divisor here";
    case AR_V_NONLINEAR:
        return "a value that carries the loss scale goes through a function "
               "that is not linear here";
    case AR_V_STORE:
    case AR_V_TERM:
        return "a value that already carries the loss scale would be scaled "
               "again here";
    case AR_V_ZERO:
    case AR_V_UNDEFINED:
    case AR_V_CONST:
    case AR_V_INPUT:
    case AR_V_SUM:
    case AR_V_PHI:
    case AR_V_LOOP:
    case AR_V_BOUNDARY:
        return NULL;
    }
    return NULL;
}

/* Two scaled factors: a gradient has taken the place of an activation, or is
 * squared. */
static void name_factors(ar_solver *s, const ar_vnode *v) {
    ar_conflict *c = &s->p->conflicts.data[s->p->conflicts.count - 1];
    for (int i = 0; i < 2; i++)
        c->stores[i] = stored_by(s, v->in[i]);
    if (c->stores[0] == c->stores[1])
        c->stores[1] = 0;
    c->way_out = "where an activation is meant, give the gradient that "
                 "overwrites it a buffer of its own";
}

static void check_origins(ar_solver *s) {
    for (uint32_t i = 1; i < s->a->g.count; i++) {
        const char *text = s->a->g.live[i] ? origin_text(s, i) : NULL;
        const ar_vnode *v = ar_solver_node(s, i);
        if (!text || !ar_where_in_loop(s->a, v->context, v->at))
            continue;
        refuse(s, i, -1, text);
        if (v->kind == AR_V_MUL)
            name_factors(s, v);
    }
}

static void refuse_gradient(ar_solver *s, uint32_t unscale) {
    ar_analysis *a = s->a;
    const ar_vnode *v = ar_solver_node(s, unscale);
    refuse(s, unscale, -1,
           v->cell ? ar_sprintf(a->arena,
                                "not all of the gradient '%s' carries the "
                                "loss scale here",
                                ar_cell_name(a, v->cell))
                   : "not all of this term carries the loss scale");
    ar_conflict *c = &s->p->conflicts.data[s->p->conflicts.count - 1];
    c->way_out = "clear the gradient before the backward pass, or add what is "
                 "not scaled in the step";
}

/* What is wrong in itself is reported where it first came up. */
static bool is_consequence(const ar_solver *s, const ar_conflict *c) {
    const ar_vnode *v = ar_solver_node(s, c->node);
    if (!s->p->conflicts.count || c->text == NULL)
        return false;
    uint32_t id = ar_is_unscale(s, c->node) ? v->in[0] : c->node;
    return s->p->degree[id] & BAD;
}

static void judge(ar_solver *s) {
    ar_interp *in = s->a->in;
    const uint8_t *d = s->p->degree;
    for (uint32_t i = 0; i < in->sinks.count; i++) {
        const ar_sink *sink = &in->sinks.data[i];
        if (sink->stamp < in->run_start)
            continue;
        uint8_t bits = d[sink->node];
        if (sink->kind == AR_SINK_COMPARE_TWO) {
            bits |= d[sink->other];
            if (bits & BAD || (bits & (D0 | D1)) == (D0 | D1))
                refuse(s, sink->node, (int)i,
                       "a scaled value is compared with one that is not");
        } else if (bits & (D1 | BAD)) {
            refuse(s, sink->node, (int)i, "a scaled value leaves here");
        }
    }
    for (uint32_t i = 1; i < s->a->g.count; i++) {
        if (!s->a->g.live[i])
            continue;
        const ar_vnode *v = ar_solver_node(s, i);
        if (ar_is_update_store(s, i) && degree_of(s, i) & (D1 | BAD))
            refuse(s, i, -1, "the update keeps the loss scale");
        if (ar_is_unscale(s, i) && d[v->in[0]] & (D0 | BAD))
            refuse_gradient(s, i);
        else if (ar_is_unscale(s, i) && d[v->in[0]] & (STALE | AGED))
            refuse_stale(s, i);
        if ((v->kind == AR_V_STORE ||
             (v->kind == AR_V_BOUNDARY && ar_is_seed(s, i))) &&
            (d[i] & ~(STALE | AGED)) == D1 &&
            ar_where_in_loop(s->a, v->context, v->at))
            s->p->scaled_writes++;
    }
    if (!s->p->conflicts.count)
        return;
    /* The origins say more than where they end up: first. */
    ar_conflict *ends = s->p->conflicts.data;
    uint32_t count = s->p->conflicts.count;
    s->p->conflicts.data = NULL;
    s->p->conflicts.count = s->p->conflicts.capacity = 0;
    check_origins(s);
    for (uint32_t i = 0; i < count; i++)
        if (!is_consequence(s, &ends[i]))
            AR_PUSH(s->a->arena, &s->p->conflicts, ends[i]);
}

void ar_check_placement(ar_solver *s) {
    propagate(s);
    /* What is left over can be told once all degrees are known. */
    s->repeats = ar_repeats_new(s->a);
    propagate(s);
    judge(s);
}
