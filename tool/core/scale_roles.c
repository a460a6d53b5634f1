/* The training loop, and what one iteration does to each cell. */
#include "core/scale_analysis.h"

/* The array whose elements a factor is, or 0. */
static uint32_t array_of(const ar_analysis *a, uint32_t id) {
    for (;;) {
        const ar_vnode *v = AR_VN(a->in, id);
        if (v->cell)
            return ar_is_array(a, v->cell) ? v->cell : 0;
        bool passes = v->kind == AR_V_TERM || v->kind == AR_V_NONLINEAR ||
                      (v->kind == AR_V_PHI && v->address);
        if (!passes || !v->in_count)
            return 0;
        id = v->in[0];
    }
}

static bool is_written_in(const ar_analysis *a, const ar_loop *loop,
                          uint32_t cell) {
    for (uint32_t s = a->g.store_of[cell]; s; s = a->g.next_store[s]) {
        const ar_vnode *v = AR_VN(a->in, s);
        if (ar_inside_loop(a->in, loop, v->context, v->at))
            return true;
    }
    return false;
}

/* What a gate lets through (`c[i] = f[i] * c[i]`, a recurrent state) is not
 * updated: the gate is made anew in each iteration of the loop. */
static bool is_gate(const ar_analysis *a, const ar_loop *loop, uint32_t factor,
                    uint32_t own) {
    uint32_t cell = loop ? array_of(a, factor) : 0;
    return cell && cell != own && is_written_in(a, loop, cell);
}

bool ar_reads_itself(ar_analysis *a, uint32_t store, const ar_loop *loop) {
    const ar_vnode *s = AR_VN(a->in, store);
    ar_marks_begin(a);
    ar_ids work = {0};
    AR_PUSH(a->arena, &work, s->in[0]);
    while (work.count) {
        uint32_t id = work.data[--work.count];
        if (!ar_mark(a, id))
            continue;
        const ar_vnode *v = AR_VN(a->in, id);
        if (v->cell == s->cell)
            return true;
        if (v->cell && ar_is_array(a, v->cell))
            continue;
        /* Through several cells at once it is the same cell only if it is the
         * same address. */
        if (v->kind == AR_V_PHI && v->address) {
            if (v->address == s->address)
                return true;
            continue;
        }
        /* An update adds to what was there; an activation in place does not. */
        if (v->kind == AR_V_NONLINEAR)
            continue;
        uint32_t count = v->kind == AR_V_DIV ? 1 : v->in_count;
        for (uint32_t i = 0; i < count; i++)
            if (v->kind != AR_V_MUL || !is_gate(a, loop, v->in[1 - i], s->cell))
                AR_PUSH(a->arena, &work, v->in[i]);
    }
    return false;
}

/* ---- candidates for the training loop ------------------------------------ */

typedef struct loop_score {
    uint32_t params, states;
} loop_score;

static bool writes_only_itself(ar_analysis *a, const ar_loop *loop,
                               uint32_t cell, const bool *self) {
    bool any = false;
    for (uint32_t s = a->g.store_of[cell]; s; s = a->g.next_store[s]) {
        const ar_vnode *v = AR_VN(a->in, s);
        if (!ar_inside_loop(a->in, loop, v->context, v->at))
            continue;
        /* A checkpoint that is loaded on the way is no part of the update. */
        if (AR_VN(a->in, v->in[0])->kind == AR_V_INPUT)
            continue;
        if ((!self[s] || !ar_reads_itself(a, s, loop)) &&
            !ar_brings_itself_back(a, loop, s))
            return false;
        any = true;
    }
    return any;
}

/* What the value at the head of the iteration reaches within it. */
typedef struct reach {
    bool array;       /* an array that is not only updated */
    bool accumulator; /* a sum over an inner loop */
    bool own;         /* an inner loop, in which the cell itself is one */
    bool updated;     /* another cell that is only updated */
} reach;

typedef enum reach_goal { REACH_ARRAY, REACH_UPDATED } reach_goal;

/* Walks no further than the goal is met. */
static reach reach_of(ar_analysis *a, const ar_loop *loop, uint32_t head,
                      const bool *updated, reach_goal goal) {
    reach r = {0};
    uint32_t cell = AR_VN(a->in, head)->cell;
    ar_marks_begin(a);
    ar_ids work = {0};
    AR_PUSH(a->arena, &work, head);
    while (work.count && !(goal == REACH_ARRAY ? r.array : r.updated)) {
        uint32_t id = work.data[--work.count];
        for (uint32_t u = a->g.use_start[id]; u < a->g.use_start[id + 1]; u++) {
            uint32_t to = a->g.uses[u];
            if (!ar_mark(a, to))
                continue;
            const ar_vnode *v = AR_VN(a->in, to);
            if (v->kind == AR_V_LOOP && v->at == loop->at &&
                v->context == loop->context)
                continue;
            if (!ar_inside_loop(a->in, loop, v->context, v->at))
                continue;
            if (v->kind == AR_V_LOOP && !ar_is_array(a, v->cell)) {
                r.own |= v->cell == cell;
                r.accumulator |= v->cell != cell;
            }
            if (v->kind == AR_V_STORE) {
                if (updated[v->cell] && v->cell != cell) {
                    r.updated = true;
                    continue;
                }
                if (ar_is_array(a, v->cell) && v->cell != cell)
                    r.array = true;
            }
            AR_PUSH(a->arena, &work, to);
        }
    }
    return r;
}

/* What has the cell's own value in it, alone or as an addend. */
static bool keeps_value(const ar_vnode *v, uint32_t cell) {
    switch (v->kind) {
    case AR_V_SUM:
    case AR_V_PHI:
    case AR_V_BOUNDARY:
    case AR_V_TERM:
        return true;
    case AR_V_LOOP:
    case AR_V_STORE:
        return v->cell == cell;
    case AR_V_ZERO:
    case AR_V_UNDEFINED:
    case AR_V_CONST:
    case AR_V_INPUT:
    case AR_V_MUL:
    case AR_V_DIV:
    case AR_V_NONLINEAR:
        break;
    }
    return false;
}

/* Follows uses within the iteration; `kept` gets what keeps the value of the
 * cell, `other` the rest, which is followed no further. */
static void follow_value(ar_analysis *a, const ar_loop *loop, uint32_t head,
                         ar_ids *kept, ar_ids *other) {
    uint32_t cell = AR_VN(a->in, head)->cell;
    ar_marks_begin(a);
    AR_PUSH(a->arena, kept, head);
    for (uint32_t k = 0; k < kept->count; k++) {
        uint32_t id = kept->data[k];
        for (uint32_t u = a->g.use_start[id]; u < a->g.use_start[id + 1]; u++) {
            uint32_t to = a->g.uses[u];
            const ar_vnode *v = AR_VN(a->in, to);
            if (!ar_inside_loop(a->in, loop, v->context, v->at) ||
                (v->kind == AR_V_LOOP && v->at == loop->at &&
                 v->context == loop->context) ||
                !ar_mark(a, to))
                continue;
            ar_ids *list = keeps_value(v, cell) ? kept : other;
            AR_PUSH(a->arena, list, to);
        }
    }
}

/* Does what is added to a number depend on the number? What is added up from
 * other values (a mean error, a count) is a statistic. */
static bool answers_itself(ar_analysis *a, const ar_loop *loop, uint32_t head) {
    uint32_t cell = AR_VN(a->in, head)->cell;
    ar_ids kept = {0}, work = {0};
    follow_value(a, loop, head, &kept, &work);
    ar_marks_begin(a);
    while (work.count) {
        uint32_t id = work.data[--work.count];
        const ar_vnode *v = AR_VN(a->in, id);
        if (!ar_mark(a, id) || (v->kind == AR_V_LOOP && v->at == loop->at &&
                                v->context == loop->context))
            continue;
        if (v->kind == AR_V_STORE && v->cell == cell)
            return true;
        for (uint32_t u = a->g.use_start[id]; u < a->g.use_start[id + 1]; u++) {
            const ar_vnode *to = AR_VN(a->in, a->g.uses[u]);
            if (ar_inside_loop(a->in, loop, to->context, to->at))
                AR_PUSH(a->arena, &work, a->g.uses[u]);
        }
    }
    return false;
}

static bool is_float_cell(const ar_analysis *a, uint32_t cell) {
    const ar_mem_cell *c = &a->in->m->cells.data[cell];
    const ar_type *type = c->scalar ? c->scalar : c->type;
    return ar_is_floating(ar_array_bottom(type));
}

static uint32_t *heads_of(ar_analysis *a, const ar_loop *loop,
                          uint32_t *count) {
    ar_ids heads = {0};
    for (uint32_t i = 0; i < loop->carried.count; i++) {
        uint32_t cell = loop->carried.data[i];
        uint32_t value = ar_idtable_get(&loop->carried_value, cell, 0);
        uint32_t node = ar_memory_value(a->in->m, value)->node;
        if (!node || !a->g.live[node] || !is_float_cell(a, cell))
            continue;
        const ar_vnode *v = AR_VN(a->in, node);
        if (v->kind == AR_V_LOOP && v->at == loop->at && v->cell == cell)
            AR_PUSH(a->arena, &heads, node);
    }
    *count = heads.count;
    return heads.data;
}

static bool outlives(const ar_analysis *a, const ar_loop *loop, uint32_t cell) {
    const ar_mem_object *o = ar_object_of(a->in->m, cell);
    if (o->as.kind != AR_OBJECT_LOCAL)
        return true;
    for (uint32_t c = loop->context; c; c = a->in->contexts.data[c]->parent)
        if (c == o->context)
            return true;
    return false;
}

typedef struct candidate {
    const ar_loop *loop;
    uint32_t *heads, head_count;
    ar_ids cells; /* those that are only updated */
    loop_score score;
} candidate;

/* One word per cell and per node, clean between two candidates. */
typedef struct search {
    bool *updated; /* cell: the candidate's cells */
    bool *dep;     /* node */
    /* cell: some writes are copies of another array */
    const bool *by_copy;
} search;

/* Everything in the loop that the given heads reach within one iteration; the
 * list says what is to be cleaned. */
static ar_ids dependents(ar_analysis *a, const candidate *c,
                         const reach *reaches, bool *dep) {
    ar_ids work = {0};
    for (uint32_t i = 0; i < c->head_count; i++)
        if (reaches[i].array || reaches[i].accumulator) {
            dep[c->heads[i]] = true;
            AR_PUSH(a->arena, &work, c->heads[i]);
        }
    for (uint32_t k = 0; k < work.count; k++) {
        uint32_t id = work.data[k];
        for (uint32_t u = a->g.use_start[id]; u < a->g.use_start[id + 1]; u++) {
            uint32_t to = a->g.uses[u];
            const ar_vnode *v = AR_VN(a->in, to);
            if (dep[to] ||
                (v->kind == AR_V_LOOP && v->at == c->loop->at &&
                 v->context == c->loop->context) ||
                !ar_inside_loop(a->in, c->loop, v->context, v->at))
                continue;
            dep[to] = true;
            AR_PUSH(a->arena, &work, to);
        }
    }
    return work;
}

/* Is the cell updated from something else that the parameters led to, through
 * other updated cells perhaps? What is only changed in place is not learned. */
static bool is_learned(ar_analysis *a, const candidate *c, const search *found,
                       uint32_t head) {
    const bool *dep = found->dep, *updated = found->updated;
    uint32_t cell = AR_VN(a->in, head)->cell;
    bool is_fitted = !ar_is_array(a, cell) && answers_itself(a, c->loop, head);
    ar_ids cells = {0}, work = {0};
    ar_idtable seen = {.arena = a->arena};
    AR_PUSH(a->arena, &cells, cell);
    ar_idtable_put(&seen, cell, 0, 1);
    ar_marks_begin(a);
    for (uint32_t k = 0; k < cells.count; k++) {
        for (uint32_t s = a->g.store_of[cells.data[k]]; s;
             s = a->g.next_store[s])
            if (ar_inside_loop(a->in, c->loop, AR_VN(a->in, s)->context,
                               AR_VN(a->in, s)->at))
                AR_PUSH(a->arena, &work, AR_VN(a->in, s)->in[0]);
        while (work.count) {
            uint32_t id = work.data[--work.count];
            if (!ar_mark(a, id))
                continue;
            const ar_vnode *v = AR_VN(a->in, id);
            if (v->kind == AR_V_LOOP && dep[id] && !ar_is_array(a, v->cell) &&
                (v->cell != cell || is_fitted))
                return true;
            if (v->cell && ar_is_array(a, v->cell)) {
                if (!updated[v->cell] && dep[id])
                    return true;
                if (updated[v->cell] && !ar_idtable_get(&seen, v->cell, 0)) {
                    ar_idtable_put(&seen, v->cell, 0, 1);
                    AR_PUSH(a->arena, &cells, v->cell);
                }
                continue;
            }
            for (uint32_t i = 0; i < v->in_count; i++)
                AR_PUSH(a->arena, &work, v->in[i]);
        }
    }
    return false;
}

static void classify(ar_analysis *a, candidate *c, search *found,
                     ar_cell_info *cells) {
    bool arrays = false;
    reach *reaches = AR_NEW_ARRAY(a->arena, reach, c->head_count + 1);
    for (uint32_t i = 0; i < c->head_count; i++) {
        uint32_t cell = AR_VN(a->in, c->heads[i])->cell;
        if (!found->updated[cell])
            continue;
        reaches[i] =
            reach_of(a, c->loop, c->heads[i], found->updated, REACH_ARRAY);
        if (found->by_copy[cell] &&
            !ar_is_multiplied(a, c->loop, c->heads[i], found->updated))
            reaches[i] = (reach){0};
        if (reaches[i].own && !reaches[i].array && !reaches[i].accumulator)
            reaches[i].accumulator = answers_itself(a, c->loop, c->heads[i]);
        arrays |= reaches[i].array;
    }
    c->score = (loop_score){0};
    ar_ids reached = dependents(a, c, reaches, found->dep);
    for (uint32_t i = 0; i < c->head_count; i++) {
        uint32_t cell = AR_VN(a->in, c->heads[i])->cell;
        if (!found->updated[cell])
            continue;
        bool is_param = (arrays ? reaches[i].array : reaches[i].accumulator) &&
                        is_learned(a, c, found, c->heads[i]);
        bool is_state = !is_param && reach_of(a, c->loop, c->heads[i],
                                              found->updated, REACH_UPDATED)
                                         .updated;
        ar_role named = ar_user_role(a, cell);
        if (named == AR_ROLE_PARAM || named == AR_ROLE_STATE) {
            is_param = named == AR_ROLE_PARAM;
            is_state = !is_param;
        }
        c->score.params += is_param;
        /* A rate that an outer loop lets sink says nothing of steps. */
        c->score.states += is_state && ar_is_array(a, cell);
        a->is_trained[cell] |= is_param;
        if (!cells)
            continue;
        cells[cell].is_updated = true;
        cells[cell].role = is_param   ? AR_ROLE_PARAM
                           : is_state ? AR_ROLE_STATE
                                      : AR_ROLE_LOSS;
    }
    for (uint32_t i = 0; i < reached.count; i++)
        found->dep[reached.data[i]] = false;
}

/* What new parameters are made in before they are copied back is part of the
 * update, like state. */
static void add_scratch(ar_analysis *a, const candidate *c, const search *found,
                        ar_cell_info *cells) {
    for (uint32_t i = 0; i < c->cells.count; i++) {
        uint32_t cell = c->cells.data[i];
        if (!found->by_copy[cell] || cells[cell].role != AR_ROLE_PARAM)
            continue;
        for (uint32_t s = a->g.store_of[cell]; s; s = a->g.next_store[s]) {
            const ar_vnode *v = AR_VN(a->in, s);
            if (!ar_is_copy(a, s) ||
                !ar_inside_loop(a->in, c->loop, v->context, v->at))
                continue;
            ar_cell_info *from = &cells[ar_copied_cell(a, s)];
            if (from->role != AR_ROLE_NONE)
                continue;
            from->role = AR_ROLE_STATE;
            from->reason = "made of parameters, copied back to them";
            from->reason_node = s;
        }
    }
}

static void mark_cells(const candidate *c, search *found, bool mark) {
    for (uint32_t i = 0; i < c->cells.count; i++)
        found->updated[c->cells.data[i]] = mark;
}

/* What a loop around this one sets afresh in each iteration is no parameter
 * here. */
static void keep_cells(candidate *c, const candidate *outer, search *found) {
    mark_cells(outer, found, true);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->cells.count; i++)
        if (found->updated[c->cells.data[i]])
            c->cells.data[kept++] = c->cells.data[i];
    c->cells.count = kept;
    mark_cells(outer, found, false);
}

static bool is_deeper(const ar_analysis *a, const ar_loop *x,
                      const ar_loop *y) {
    return ar_inside_loop(a->in, y, x->context, x->at);
}

bool ar_find_training_loop(ar_analysis *a) {
    ar_interp *in = a->in;
    bool *self = AR_NEW_ARRAY(a->arena, bool, a->g.count);
    bool *may_update = AR_NEW_ARRAY(a->arena, bool, a->cell_count);
    bool *by_copy = AR_NEW_ARRAY(a->arena, bool, a->cell_count);
    a->is_trained = AR_NEW_ARRAY(a->arena, bool, a->cell_count);
    for (uint32_t i = 1; i < a->g.count; i++) {
        const ar_vnode *v = AR_VN(in, i);
        if (!a->g.live[i] || v->kind != AR_V_STORE)
            continue;
        self[i] = ar_reads_itself(a, i, NULL);
        may_update[v->cell] |= self[i] || ar_is_copy(a, i);
        by_copy[v->cell] |= !self[i] && ar_is_copy(a, i);
    }
    search found = {AR_NEW_ARRAY(a->arena, bool, a->cell_count),
                    AR_NEW_ARRAY(a->arena, bool, a->g.count), by_copy};
    candidate best = {0};
    AR_VEC(candidate) outer = {0};
    for (uint32_t i = 1; i < in->loops.count; i++) {
        candidate c = {.loop = in->loops.data[i]};
        const ar_context *context = in->contexts.data[c.loop->context];
        if (c.loop->stamp < in->run_start || !ar_is_loop(c.loop->at) ||
            (context && ar_is_device_code(context->function)))
            continue;
        c.heads = heads_of(a, c.loop, &c.head_count);
        for (uint32_t k = 0; k < c.head_count; k++) {
            uint32_t cell = AR_VN(in, c.heads[k])->cell;
            if (may_update[cell] && outlives(a, c.loop, cell) &&
                (writes_only_itself(a, c.loop, cell, self) ||
                 ar_user_role(a, cell) == AR_ROLE_PARAM))
                AR_PUSH(a->arena, &c.cells, cell);
        }
        /* Outer loops come first. */
        for (uint32_t k = 0; k < outer.count && c.cells.count; k++)
            if (is_deeper(a, c.loop, outer.data[k].loop))
                keep_cells(&c, &outer.data[k], &found);
        if (!c.cells.count)
            continue;
        mark_cells(&c, &found, true);
        classify(a, &c, &found, NULL);
        mark_cells(&c, &found, false);
        if (!c.score.params)
            continue;
        AR_PUSH(a->arena, &outer, c);
        uint32_t size = c.score.params + c.score.states;
        uint32_t best_size = best.score.params + best.score.states;
        if (!best.loop || size > best_size ||
            (size == best_size && is_deeper(a, c.loop, best.loop)))
            best = c;
    }
    if (!best.loop)
        return false;
    a->loop = (ar_loop *)best.loop;
    a->cells = AR_NEW_ARRAY(a->arena, ar_cell_info, a->cell_count);
    for (uint32_t i = 0; i < a->cell_count; i++)
        a->cells[i].group = -1;
    mark_cells(&best, &found, true);
    classify(a, &best, &found, a->cells);
    add_scratch(a, &best, &found, a->cells);
    return true;
}

/* ---- dependence on parameters within the iteration ----------------------- */

static bool is_loop_head(const ar_analysis *a, const ar_vnode *v) {
    return v->kind == AR_V_LOOP && v->at == a->loop->at &&
           v->context == a->loop->context;
}

typedef enum flood_stop { FLOOD_ALL, FLOOD_STOPS_AT_UPDATES } flood_stop;

static void flood(ar_analysis *a, bool *seen, ar_ids *work, flood_stop stop) {
    while (work->count) {
        uint32_t id = work->data[--work->count];
        for (uint32_t u = a->g.use_start[id]; u < a->g.use_start[id + 1]; u++) {
            uint32_t to = a->g.uses[u];
            const ar_vnode *v = AR_VN(a->in, to);
            if (seen[to] || is_loop_head(a, v) ||
                !ar_where_in_loop(a, v->context, v->at))
                continue;
            if (stop == FLOOD_STOPS_AT_UPDATES && v->kind == AR_V_STORE &&
                a->cells[v->cell].is_updated && ar_is_array(a, v->cell))
                continue;
            seen[to] = true;
            AR_PUSH(a->arena, work, to);
        }
    }
}

/* `depends`: on the head value of a parameter. `gradlike`: through a value
 * that is more than a copy of parameters and state. */
void ar_mark_dependence(ar_analysis *a) {
    a->depends = AR_NEW_ARRAY(a->arena, bool, a->g.count);
    a->gradlike = AR_NEW_ARRAY(a->arena, bool, a->g.count);
    a->direct = AR_NEW_ARRAY(a->arena, bool, a->g.count);
    ar_ids work = {0};
    for (uint32_t i = 1; i < a->g.count; i++) {
        const ar_vnode *v = AR_VN(a->in, i);
        if (a->g.live[i] && is_loop_head(a, v) &&
            a->cells[v->cell].role == AR_ROLE_PARAM) {
            a->depends[i] = true;
            AR_PUSH(a->arena, &work, i);
        }
    }
    flood(a, a->depends, &work, FLOOD_ALL);
    for (uint32_t i = 1; i < a->g.count; i++) {
        const ar_vnode *v = AR_VN(a->in, i);
        if (!a->depends[i] || is_loop_head(a, v))
            continue;
        bool starts = v->kind == AR_V_NONLINEAR ||
                      (v->kind == AR_V_LOOP && !ar_is_array(a, v->cell)) ||
                      (v->kind == AR_V_STORE && ar_is_array(a, v->cell) &&
                       !a->cells[v->cell].is_updated);
        if (starts) {
            a->gradlike[i] = a->direct[i] = true;
            AR_PUSH(a->arena, &work, i);
        }
    }
    ar_ids again = {0};
    for (uint32_t i = 0; i < work.count; i++)
        AR_PUSH(a->arena, &again, work.data[i]);
    flood(a, a->gradlike, &work, FLOOD_ALL);
    flood(a, a->direct, &again, FLOOD_STOPS_AT_UPDATES);
}

/* ---- the other roles ----------------------------------------------------- */

static void give(ar_cell_info *c, ar_role role, const char *reason,
                 uint32_t node) {
    if (c->role == AR_ROLE_NONE)
        c->role = role;
    if (!c->reason) {
        c->reason = reason;
        c->reason_node = node;
    }
}

static void role_of_cell(ar_analysis *a, uint32_t cell) {
    ar_cell_info *c = &a->cells[cell];
    uint32_t inside = 0, any = 0;
    bool from_outside = false;
    for (uint32_t s = a->g.store_of[cell]; s; s = a->g.next_store[s]) {
        const ar_vnode *v = AR_VN(a->in, s);
        any = s;
        from_outside |= AR_VN(a->in, v->in[0])->kind == AR_V_INPUT;
        if (ar_where_in_loop(a, v->context, v->at))
            inside = s;
    }
    switch (c->role) {
    case AR_ROLE_PARAM:
        give(c, c->role, "updated from its own value; forward results read it",
             inside);
        return;
    case AR_ROLE_STATE:
        give(c, c->role, "updated from its own value; only updates read it",
             inside);
        return;
    case AR_ROLE_LOSS:
        give(c, c->role, "a sum that only reaches output", inside);
        return;
    case AR_ROLE_GRAD:
        return;
    case AR_ROLE_NONE:
    case AR_ROLE_ACTIVATION:
    case AR_ROLE_DATA:
    case AR_ROLE_NORM:
        break;
    }
    if (!inside)
        give(c, AR_ROLE_DATA, "not written by the training loop", any);
    else if (from_outside)
        give(c, AR_ROLE_DATA, "filled from outside", inside);
    else
        give(c, AR_ROLE_ACTIVATION, "written first, then read", inside);
}

void ar_assign_roles(ar_analysis *a) {
    for (uint32_t cell = 1; cell < a->cell_count; cell++)
        if (is_float_cell(a, cell))
            role_of_cell(a, cell);
}
