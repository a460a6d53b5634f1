/* The step: where each group of parameters is updated, and from what.
 *
 * A statement instance is impure when something under it is more than a part
 * of an update: an array that is not only updated is written, something is
 * printed, data is read. The step is the largest pure statement around the
 * writes of parameters; neighbours are one step. */
#include "core/scale_analysis.h"

typedef struct stepper {
    ar_analysis *a;
    bool *is_sink;     /* node: its value leaves the program */
    ar_idtable impure; /* (node, context) */
} stepper;

/* ---- purity -------------------------------------------------------------- */

/* Made before the loop, as a schedule or a momentum from a file. */
static bool is_older(ar_analysis *a, const ar_vnode *v) {
    return v->at && !ar_where_in_loop(a, v->context, v->at) &&
           !(v->at == a->loop->at && v->context == a->loop->context);
}

/* A number that is the same for all elements of the update, as a rate. */
static bool is_uniform(const ar_analysis *a, const ar_vnode *store,
                       const ar_vnode *v) {
    if (v->kind != AR_V_STORE || !v->cell || ar_is_array(a, v->cell))
        return false;
    if (store->at->kind == AR_CALL)
        return true;
    ar_where w = {store->context, store->at};
    do {
        if (!ar_climb(a->in, &w) ||
            (w.context == a->loop->context && w.at == a->loop->at))
            return true;
    } while (!ar_is_loop(w.at));
    const ar_node *here = ar_lift(a->in, v->context, v->at, w.context);
    return !here || !ar_is_ancestor(a->in, w.context, w.at, here);
}

/* Arrays that the stored value is made of, other than what updates use. */
static bool uses_other_arrays(ar_analysis *a, uint32_t store) {
    ar_ids work = {0}, uniform = {0};
    ar_marks_begin(a);
    const ar_vnode *s = AR_VN(a->in, store);
    AR_PUSH(a->arena, &work, s->in[0]);
    bool in_uniform = false;
    while (work.count || uniform.count) {
        if (!work.count) {
            work = uniform;
            uniform = (ar_ids){0};
            in_uniform = true;
        }
        uint32_t id = work.data[--work.count];
        if (!ar_mark(a, id))
            continue;
        const ar_vnode *v = AR_VN(a->in, id);
        if (v->cell == s->cell || (in_uniform && is_older(a, v)))
            continue;
        if (v->cell && ar_is_array(a, v->cell)) {
            ar_role role = a->cells[v->cell].role;
            if (role != AR_ROLE_PARAM && role != AR_ROLE_STATE &&
                role != AR_ROLE_GRAD)
                return true;
            continue;
        }
        if (v->kind == AR_V_INPUT && ar_where_in_loop(a, v->context, v->at))
            return true;
        bool later = !in_uniform && is_uniform(a, s, v);
        for (uint32_t i = 0; i < v->in_count; i++) {
            if (later)
                AR_PUSH(a->arena, &uniform, v->in[i]);
            else
                AR_PUSH(a->arena, &work, v->in[i]);
        }
    }
    return false;
}

/* Sums that nothing but themselves ever reads. */
static bool is_unread(const stepper *s, uint32_t cell) {
    ar_analysis *a = s->a;
    ar_ids work = {0};
    ar_marks_begin(a);
    for (uint32_t w = a->g.store_of[cell]; w; w = a->g.next_store[w])
        AR_PUSH(a->arena, &work, w);
    while (work.count) {
        uint32_t id = work.data[--work.count];
        if (!ar_mark(a, id))
            continue;
        const ar_vnode *v = AR_VN(a->in, id);
        if (s->is_sink[id] || (v->kind == AR_V_STORE && v->cell != cell))
            return false;
        for (uint32_t u = a->g.use_start[id]; u < a->g.use_start[id + 1]; u++)
            AR_PUSH(a->arena, &work, a->g.uses[u]);
    }
    return true;
}

static bool is_update_write(const stepper *s, uint32_t store) {
    ar_analysis *a = s->a;
    const ar_vnode *v = AR_VN(a->in, store);
    ar_role role = a->cells[v->cell].role;
    if (!ar_is_array(a, v->cell) && !ar_is_memory(a, v->cell))
        return true;
    if (role == AR_ROLE_PARAM)
        return true;
    /* Zeroing, decay, clipping: yes. Accumulation of a gradient: no. State may
     * also be copied from what was made of it. */
    if (role == AR_ROLE_STATE || role == AR_ROLE_GRAD)
        return AR_VN(a->in, v->in[0])->kind == AR_V_ZERO ||
               ((role == AR_ROLE_STATE || ar_reads_itself(a, store, a->loop)) &&
                !uses_other_arrays(a, store));
    return !ar_is_array(a, v->cell) ||
           (role == AR_ROLE_LOSS && is_unread(s, v->cell));
}

static void spoil(stepper *s, uint32_t context, ar_node *at) {
    ar_interp *in = s->a->in;
    ar_where w = {context, at};
    while (w.at &&
           !(w.context == s->a->loop->context && w.at == s->a->loop->at)) {
        if (ar_idtable_get(&s->impure, ar_key(w.at), w.context))
            return;
        ar_idtable_put(&s->impure, ar_key(w.at), w.context, 1);
        if (!ar_climb(in, &w))
            return;
    }
}

static void find_impure(stepper *s) {
    ar_analysis *a = s->a;
    ar_interp *in = a->in;
    s->is_sink = AR_NEW_ARRAY(a->arena, bool, a->g.count);
    for (uint32_t i = 0; i < in->sinks.count; i++)
        if (in->sinks.data[i].stamp >= in->run_start)
            s->is_sink[in->sinks.data[i].node] =
                s->is_sink[in->sinks.data[i].other] = true;
    for (uint32_t i = 1; i < a->g.count; i++) {
        const ar_vnode *v = AR_VN(in, i);
        if (!a->g.live[i] || !v->at ||
            (v->kind != AR_V_STORE && v->kind != AR_V_INPUT) ||
            !ar_where_in_loop(a, v->context, v->at))
            continue;
        if (v->kind == AR_V_INPUT || !is_update_write(s, i))
            spoil(s, v->context, v->at);
    }
    for (uint32_t i = 0; i < in->sinks.count; i++) {
        const ar_sink *sink = &in->sinks.data[i];
        if (sink->stamp >= in->run_start &&
            (sink->kind == AR_SINK_PRINT || sink->kind == AR_SINK_SAVE ||
             sink->kind == AR_SINK_CALL) &&
            ar_where_in_loop(a, sink->context, sink->at))
            spoil(s, sink->context, sink->at);
    }
}

/* ---- what the parameters are updated from -------------------------------- */

static bool same_where(const ar_where *x, const ar_where *y) {
    return x->context == y->context && x->at == y->at;
}

static void add_grad(ar_analysis *a, ar_step_region *r, uint32_t cell,
                     uint32_t node) {
    for (uint32_t i = 0; i < r->grads.count; i++)
        if (r->grads.data[i] == cell)
            return;
    AR_PUSH(a->arena, &r->grads, cell);
    ar_cell_info *c = &a->cells[cell];
    if (c->role == AR_ROLE_STATE && c->is_updated)
        c->carries = true;
    c->role = AR_ROLE_GRAD;
    c->reason = c->carries ? "accumulated by the backward pass, kept between "
                             "steps, read by the update"
                           : "written by the backward pass, read by the update";
    c->reason_node = node;
}

/* An array that no update is a sum of: what was measured, or what the forward
 * pass made of it. Factors may be such arrays, in `w -= rate * delta * x`. */
static bool is_foreign(ar_analysis *a, const ar_vnode *v) {
    if (!v->cell || !ar_is_array(a, v->cell) ||
        ar_user_role(a, v->cell) != AR_ROLE_NONE)
        return false;
    ar_role role = a->cells[v->cell].role;
    return role != AR_ROLE_PARAM && role != AR_ROLE_STATE &&
           role != AR_ROLE_GRAD && role != AR_ROLE_LOSS;
}

/* Walks from the updated parameters up to the values that the step finds when
 * it starts. Those that carry the gradient are the gradients. A step that adds
 * up other arrays makes the gradient itself, of an output and its target say:
 * false. */
static bool find_grads(ar_analysis *a, const ar_step_region *r, ar_ids *grads) {
    ar_ids work = {0};
    bool *seen = AR_NEW_ARRAY(a->arena, bool, a->g.count);
    for (uint32_t i = 0; i < r->stores.count; i++)
        AR_PUSH(a->arena, &work, r->stores.data[i]);
    while (work.count) {
        uint32_t id = work.data[--work.count];
        if (seen[id])
            continue;
        seen[id] = true;
        const ar_vnode *v = AR_VN(a->in, id);
        if (!v->at || !ar_where_in_loop(a, v->context, v->at)) {
            if (is_foreign(a, v))
                return false;
            continue;
        }
        if (v->kind == AR_V_LOOP && v->at == a->loop->at &&
            v->context == a->loop->context)
            continue;
        bool inside = ar_in_region(a, r, v->context, v->at);
        if (v->cell && !inside) {
            ar_role role = a->cells[v->cell].role;
            bool cleared = v->kind == AR_V_STORE && ar_is_array(a, v->cell) &&
                           AR_VN(a->in, v->in[0])->kind == AR_V_ZERO;
            ar_role named = ar_user_role(a, v->cell);
            bool is_grad = named == AR_ROLE_NONE ? a->gradlike[id] || cleared
                                                 : named == AR_ROLE_GRAD;
            if (is_grad && role != AR_ROLE_PARAM && role != AR_ROLE_LOSS)
                AR_PUSH(a->arena, grads, id);
            else if (is_foreign(a, v))
                return false;
            continue;
        }
        if (v->kind == AR_V_MUL) {
            /* Both may be wanted: g * g in a second moment. */
            int k = ar_choose_factor(a, v->in[0], v->in[1]);
            AR_PUSH(a->arena, &work, v->in[k]);
            continue;
        }
        if (v->kind == AR_V_DIV) {
            AR_PUSH(a->arena, &work, v->in[0]);
            continue;
        }
        if (v->kind == AR_V_NONLINEAR)
            continue;
        for (uint32_t i = 0; i < v->in_count; i++)
            AR_PUSH(a->arena, &work, v->in[i]);
    }
    return true;
}

/* ---- regions ------------------------------------------------------------- */

/* The largest pure statement around a write. */
static ar_where widen(stepper *s, uint32_t store) {
    ar_analysis *a = s->a;
    const ar_vnode *v = AR_VN(a->in, store);
    ar_where w = {v->context, v->at}, best = w;
    while (!(w.context == a->loop->context && w.at == a->loop->at)) {
        if (ar_idtable_get(&s->impure, ar_key(w.at), w.context))
            break;
        bool is_body = w.at == a->in->contexts.data[w.context]->function->body;
        ar_node *parent =
            is_body ? NULL
                    : ar_interp_parent(a->in, ar_context_unit(a->in, w.context),
                                       w.at);
        bool stands_alone =
            parent && ar_is_statement(w.at) &&
            (parent->kind == AR_COMPOUND ||
             (parent == a->loop->at && w.context == a->loop->context));
        if (stands_alone)
            best = w;
        if (!ar_climb(a->in, &w))
            break;
    }
    /* The body of the loop itself is no step: its statements are. */
    return best;
}

static bool inside_inner_loop(ar_analysis *a, ar_where w) {
    while (ar_climb(a->in, &w)) {
        if (w.context == a->loop->context && w.at == a->loop->at)
            return false;
        if (w.at->kind == AR_FOR || w.at->kind == AR_WHILE ||
            w.at->kind == AR_DO)
            return true;
    }
    return false;
}

static bool all_pure(stepper *s, uint32_t context, const ar_node *compound,
                     uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++)
        if (ar_idtable_get(&s->impure, ar_key(compound->kids[i]), context))
            return false;
    return true;
}

/* Extends a region over the siblings up to `at` if all between are pure. */
static bool extend(stepper *s, ar_step_region *r, ar_where at) {
    ar_analysis *a = s->a;
    if (r->context != at.context)
        return false;
    const ar_unit *unit = ar_context_unit(a->in, r->context);
    ar_node *compound = ar_interp_parent(a->in, unit, r->first);
    if (compound != ar_interp_parent(a->in, unit, at.at) || !compound ||
        compound->kind != AR_COMPOUND)
        return r->first == at.at;
    uint32_t first = ar_interp_position(a->in, unit, r->first);
    uint32_t last = ar_interp_position(a->in, unit, r->last);
    uint32_t here = ar_interp_position(a->in, unit, at.at);
    uint32_t low = here < first ? here : first,
             high = here > last ? here : last;
    if (!all_pure(s, r->context, compound, low, first) ||
        !all_pure(s, r->context, compound, last + 1, high + 1))
        return false;
    r->first = compound->kids[low];
    r->last = compound->kids[high];
    return true;
}

static const ar_decl *in_function(const ar_analysis *a, uint32_t context) {
    return a->in->contexts.data[context]->function;
}

static void take_store(stepper *s, uint32_t store) {
    ar_analysis *a = s->a;
    const ar_vnode *v = AR_VN(a->in, store);
    ar_where w = {v->context, v->at};
    bool named = ar_user_step(a, &w);
    if (!named)
        w = widen(s, store);
    uint32_t cell = AR_VN(a->in, store)->cell;
    bool fused = !ar_is_statement(w.at) || inside_inner_loop(a, w) ||
                 ar_is_device_code(in_function(a, w.context)) ||
                 ar_idtable_get(&s->impure, ar_key(w.at), w.context) != 0;
    ar_step_region *r = NULL;
    for (uint32_t i = 0; i < a->regions.count && !r; i++) {
        ar_step_region *known = &a->regions.data[i];
        ar_where first = {known->context, known->first};
        if (known->is_fused == fused &&
            (fused || same_where(&first, &w) || extend(s, known, w)))
            r = known;
    }
    if (!r) {
        ar_step_region fresh = {
            .context = w.context, .first = w.at, .last = w.at};
        fresh.is_fused = fused;
        fresh.is_named = named;
        AR_PUSH(a->arena, &a->regions, fresh);
        r = &a->regions.data[a->regions.count - 1];
    }
    bool known = false;
    for (uint32_t i = 0; i < r->params.count; i++)
        known |= r->params.data[i] == cell;
    if (!known && a->cells[cell].role == AR_ROLE_PARAM)
        AR_PUSH(a->arena, &r->params, cell);
    AR_PUSH(a->arena, &r->stores, store);
}

/* The region whose parameters the stored value goes into. */
static ar_step_region *region_fed_by(ar_analysis *a, uint32_t store) {
    ar_ids work = {0};
    ar_idtable goals = {.arena = a->arena};
    for (uint32_t i = 0; i < a->regions.count; i++)
        for (uint32_t k = 0; k < a->regions.data[i].stores.count; k++)
            ar_idtable_put(&goals, a->regions.data[i].stores.data[k], 0, i + 1);
    ar_step_region *found = NULL;
    ar_marks_begin(a);
    AR_PUSH(a->arena, &work, store);
    while (work.count) {
        uint32_t id = work.data[--work.count];
        uint32_t goal = ar_idtable_get(&goals, id, 0);
        if (goal) {
            ar_step_region *r = &a->regions.data[goal - 1];
            if (found && found != r)
                return NULL;
            found = r;
            continue;
        }
        for (uint32_t u = a->g.use_start[id]; u < a->g.use_start[id + 1]; u++)
            if (ar_mark(a, a->g.uses[u]))
                AR_PUSH(a->arena, &work, a->g.uses[u]);
    }
    return found;
}

/* State that is updated before or after the parameters, in statements beside
 * theirs: a skipped step must not touch it either. */
static void widen_over_state(stepper *s) {
    ar_analysis *a = s->a;
    for (uint32_t i = 1; i < a->g.count; i++) {
        const ar_vnode *v = AR_VN(a->in, i);
        if (!a->g.live[i] || v->kind != AR_V_STORE ||
            a->cells[v->cell].role != AR_ROLE_STATE ||
            !ar_is_array(a, v->cell) ||
            ar_user_role(a, v->cell) == AR_ROLE_GRAD ||
            !ar_where_in_loop(a, v->context, v->at))
            continue;
        ar_where w = widen(s, i);
        if (!ar_is_statement(w.at) ||
            ar_idtable_get(&s->impure, ar_key(w.at), w.context))
            continue;
        ar_step_region *r = region_fed_by(a, i);
        if (r && !r->is_fused && !r->is_named &&
            !ar_in_region(a, r, w.context, w.at))
            extend(s, r, w);
    }
}

/* Scalars that only the step reads and writes (Adam's counter) belong to it. */
static bool feeds_only_region(ar_analysis *a, const ar_step_region *r,
                              uint32_t context, ar_node *statement) {
    ar_interp *in = a->in;
    bool writes = false;
    for (uint32_t i = 0; i < in->scalar_accesses.count; i++) {
        const ar_scalar_access_record *w = &in->scalar_accesses.data[i];
        if (!w->is_write || w->stamp < in->run_start)
            continue;
        ar_node *here = ar_lift(in, w->context, w->at, context);
        if (!here || !ar_is_ancestor(in, context, statement, here))
            continue;
        const ar_mem_object *o = ar_object_of(in->m, w->cell);
        if (o->as.kind == AR_OBJECT_LOCAL && w->context != o->context &&
            !ar_is_memory(a, w->cell))
            continue; /* dies in the statement */
        writes = true;
        bool read_inside = false;
        for (uint32_t k = 0; k < in->scalar_accesses.count; k++) {
            const ar_scalar_access_record *x = &in->scalar_accesses.data[k];
            if (x->cell != w->cell || x->stamp < in->run_start ||
                !ar_where_in_loop(a, x->context, x->at))
                continue;
            ar_node *there = ar_lift(in, x->context, x->at, context);
            bool same = there && ar_is_ancestor(in, context, statement, there);
            bool inside = ar_in_region(a, r, x->context, x->at);
            read_inside |= inside;
            if (!same && !inside)
                return false;
        }
        if (!read_inside)
            return false;
    }
    return writes;
}

static void widen_over_counters(stepper *s, ar_step_region *r) {
    ar_analysis *a = s->a;
    const ar_unit *unit = ar_context_unit(a->in, r->context);
    ar_node *compound = ar_interp_parent(a->in, unit, r->first);
    if (!compound || compound->kind != AR_COMPOUND)
        return;
    for (uint32_t i = ar_interp_position(a->in, unit, r->first); i-- > 0;) {
        ar_node *kid = compound->kids[i];
        if (kid->kind != AR_EXPR_STMT ||
            ar_idtable_get(&s->impure, ar_key(kid), r->context) ||
            !feeds_only_region(a, r, r->context, kid))
            return;
        r->first = kid;
    }
}

static void order_regions(ar_analysis *a) {
    for (uint32_t i = 1; i < a->regions.count; i++) {
        ar_step_region one = a->regions.data[i];
        uint32_t k = i;
        while (k && AR_VN(a->in, a->regions.data[k - 1].stores.data[0])->stamp >
                        AR_VN(a->in, one.stores.data[0])->stamp) {
            a->regions.data[k] = a->regions.data[k - 1];
            k--;
        }
        a->regions.data[k] = one;
    }
}

/* Gradients can only be told from other arrays once the step is known, and the
 * step includes writes to gradients: first guess, then look again. */
static void guess_grads(ar_analysis *a) {
    for (uint32_t i = 1; i < a->g.count; i++) {
        const ar_vnode *v = AR_VN(a->in, i);
        if (!a->g.live[i] || v->kind != AR_V_STORE ||
            !ar_where_in_loop(a, v->context, v->at))
            continue;
        ar_role role = a->cells[v->cell].role;
        if (role != AR_ROLE_PARAM && role != AR_ROLE_STATE)
            continue;
        ar_ids work = {0};
        ar_marks_begin(a);
        AR_PUSH(a->arena, &work, v->in[0]);
        while (work.count) {
            uint32_t id = work.data[--work.count];
            if (!ar_mark(a, id))
                continue;
            const ar_vnode *x = AR_VN(a->in, id);
            if (x->cell && ar_is_array(a, x->cell)) {
                ar_cell_info *c = &a->cells[x->cell];
                bool cleared = x->kind == AR_V_STORE &&
                               AR_VN(a->in, x->in[0])->kind == AR_V_ZERO;
                if (c->role == AR_ROLE_NONE && (a->gradlike[id] || cleared))
                    c->role = AR_ROLE_GRAD;
                continue;
            }
            for (uint32_t k = 0; k < x->in_count; k++)
                AR_PUSH(a->arena, &work, x->in[k]);
        }
    }
}

static void take_grads(stepper *s, ar_step_region *r) {
    ar_ids grads = {0};
    ar_step_region narrow = *r;
    widen_over_counters(s, r);
    if (find_grads(s->a, r, &grads)) {
        for (uint32_t i = 0; i < grads.count; i++)
            add_grad(s->a, r, AR_VN(s->a->in, grads.data[i])->cell,
                     grads.data[i]);
    } else {
        *r = narrow;
        r->is_fused = true;
    }
}

bool ar_find_steps(ar_analysis *a) {
    stepper s = {.a = a, .impure = {.arena = a->arena}};
    guess_grads(a);
    find_impure(&s);
    for (uint32_t i = 1; i < a->g.count; i++) {
        const ar_vnode *v = AR_VN(a->in, i);
        if (a->g.live[i] && v->kind == AR_V_STORE &&
            a->cells[v->cell].role == AR_ROLE_PARAM &&
            ar_where_in_loop(a, v->context, v->at))
            take_store(&s, i);
    }
    if (!a->regions.count)
        return false;
    order_regions(a);
    widen_over_state(&s);
    /* The guesses end here; what the steps really read is found below. */
    for (uint32_t i = 1; i < a->cell_count; i++)
        if (a->cells[i].role == AR_ROLE_GRAD)
            a->cells[i].role = AR_ROLE_NONE;
    for (uint32_t i = 0; i < a->regions.count; i++) {
        ar_step_region *r = &a->regions.data[i];
        if (!r->is_fused)
            take_grads(&s, r);
        for (uint32_t k = 0; k < r->params.count; k++)
            a->cells[r->params.data[k]].group = (int)i;
        for (uint32_t k = 0; k < r->grads.count; k++)
            a->cells[r->grads.data[k]].group = (int)i;
    }
    return true;
}
