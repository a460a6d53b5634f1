/* Candidate places: where the unscale may go, which terms of fused updates may
 * be unscaled, where buffers may be scaled in place. */
#include "core/scale_analysis.h"

/* ---- another run, with boundaries ---------------------------------------- */

typedef struct boundary_draft {
    ar_node *at;
    ar_ids cells;
} boundary_draft;

typedef struct drafts {
    AR_VEC(boundary_draft) list;
    ar_idtable index; /* statement -> 1 + its place in list */
    ar_idtable known; /* (statement, cell) */
} drafts;

static drafts no_drafts(ar_analysis *a) {
    return (drafts){.index = {.arena = a->arena}, .known = {.arena = a->arena}};
}

static void add_boundary(ar_analysis *a, drafts *d, ar_node *at,
                         const uint32_t *cells, uint32_t count) {
    uint32_t found = ar_idtable_get(&d->index, ar_key(at), 0);
    if (!found) {
        AR_PUSH(a->arena, &d->list, (boundary_draft){.at = at});
        found = d->list.count;
        ar_idtable_put(&d->index, ar_key(at), 0, found);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (ar_idtable_get(&d->known, ar_key(at), cells[i]))
            continue;
        ar_idtable_put(&d->known, ar_key(at), cells[i], 1);
        AR_PUSH(a->arena, &d->list.data[found - 1].cells, cells[i]);
    }
}

static void install(ar_analysis *a, const drafts *all) {
    ar_interp *in = a->in;
    in->boundaries.count = 0;
    ar_idtable_clear(&in->boundary_index);
    for (uint32_t i = 0; i < all->list.count; i++) {
        const boundary_draft *d = &all->list.data[i];
        AR_PUSH(a->arena, &in->boundaries,
                (ar_boundary){d->at, 0, d->cells.data, d->cells.count});
        ar_idtable_put(&in->boundary_index, ar_key(d->at), 0,
                       in->boundaries.count);
    }
}

static void run_again(ar_analysis *a) {
    uint32_t known = a->cell_count;
    ar_cell_info *old = a->cells;
    ar_interp_run(a->in);
    ar_index_graph(a);
    a->cells = AR_NEW_ARRAY(a->arena, ar_cell_info, a->cell_count);
    memcpy(a->cells, old, known * sizeof *old);
    for (uint32_t i = known; i < a->cell_count; i++)
        a->cells[i].group = -1;
    ar_mark_dependence(a);
}

/* ---- unscales ------------------------------------------------------------ */

static ar_node *first_in_loop(const ar_analysis *a) {
    const ar_node *at = a->loop->at;
    ar_node *body = at->kind == AR_FOR     ? at->kids[3]
                    : at->kind == AR_WHILE ? at->kids[1]
                                           : at->kids[0];
    if (body && body->kind == AR_COMPOUND)
        return body->kid_count ? body->kids[0] : NULL;
    return body;
}

/* What is tried, in this order. Boundaries cost a node of the graph for every
 * place and gradient, and most programs do with those at the step. */
typedef enum trial {
    TRIAL_AT_STEP,
    TRIAL_BEFORE_STEP, /* the unscale may go before earlier statements, too */
    TRIAL_BUFFERS      /* and buffers may be scaled in place */
} trial;

/* Statements before which the unscale may go: the step and what precedes it
 * in its block, the latest first. */
static uint32_t unscale_places(const ar_analysis *a, const ar_step_region *r,
                               trial now, ar_node ***out) {
    ar_node *compound =
        ar_interp_parent(a->in, ar_context_unit(a->in, r->context), r->first);
    if (now == TRIAL_AT_STEP || !compound || compound->kind != AR_COMPOUND) {
        *out = AR_NEW_ARRAY(a->arena, ar_node *, 1);
        (*out)[0] = r->first;
        return 1;
    }
    *out = AR_NEW_ARRAY(a->arena, ar_node *, compound->kid_count);
    uint32_t count = 0, first = 0;
    while (compound->kids[first] != r->first)
        first++;
    for (uint32_t i = first + 1; i-- > 0;)
        (*out)[count++] = compound->kids[i];
    return count;
}

static void all_grads(ar_analysis *a, ar_ids *cells) {
    for (uint32_t i = 0; i < a->regions.count; i++)
        for (uint32_t k = 0; k < a->regions.data[i].grads.count; k++)
            AR_PUSH(a->arena, cells, a->regions.data[i].grads.data[k]);
}

static void unscale_drafts(ar_analysis *a, trial now, drafts *list) {
    ar_ids cells = {0};
    all_grads(a, &cells);
    for (uint32_t i = 0; i < a->regions.count; i++) {
        ar_step_region *r = &a->regions.data[i];
        if (r->is_fused)
            continue;
        ar_node **places;
        uint32_t count = unscale_places(a, r, now, &places);
        for (uint32_t k = 0; k < count; k++)
            add_boundary(a, list, places[k], cells.data, cells.count);
    }
    ar_node *head = first_in_loop(a);
    bool carries = false;
    for (uint32_t i = 0; i < cells.count; i++)
        carries |= a->cells[cells.data[i]].carries;
    if (head && carries)
        add_boundary(a, list, head, cells.data, cells.count);
}

/* ---- terms of fused updates ---------------------------------------------- */

static void wrap_terms(ar_analysis *a, ar_node *e) {
    if (!e || !ar_is_floating(e->type))
        return;
    ar_idtable_put(&a->in->term_nodes, ar_key(e), 0, 1);
    switch ((int)e->kind) {
    case AR_BINARY:
        if (e->op >= AR_OP_ADD && e->op <= AR_OP_DIV)
            for (uint32_t i = 0; i < 2; i++)
                wrap_terms(a, e->kids[i]);
        return;
    case AR_UNARY:
        if (e->op == AR_OP_MINUS || e->op == AR_OP_PLUS)
            wrap_terms(a, e->kids[0]);
        return;
    case AR_CAST:
    case AR_IMPLICIT:
        wrap_terms(a, e->kids[0]);
        return;
    default:
        return;
    }
}

static bool is_fused_update(const ar_analysis *a, uint32_t id) {
    const ar_vnode *v = AR_VN(a->in, id);
    if (!a->g.live[id] || v->kind != AR_V_STORE ||
        !a->cells[v->cell].is_updated)
        return false;
    /* the unscale of one value is a call of the host */
    if (!v->context ||
        ar_is_device_code(a->in->contexts.data[v->context]->function))
        return false;
    return (a->cells[v->cell].role == AR_ROLE_PARAM ||
            a->cells[v->cell].role == AR_ROLE_STATE) &&
           (v->at->kind == AR_ASSIGN || v->at->kind == AR_COMPOUND_ASSIGN);
}

static bool any_direct(const ar_analysis *a, const ar_node *e) {
    for (uint32_t i = 1; i < a->g.count; i++) {
        const ar_vnode *v = AR_VN(a->in, i);
        if (a->g.live[i] && v->kind == AR_V_TERM && v->at == e && a->direct[i])
            return true;
    }
    return false;
}

/* Is every additive part of it made from the gradient? */
static bool is_whole(const ar_analysis *a, ar_node *e) {
    while ((e->kind == AR_CAST || e->kind == AR_IMPLICIT ||
            (e->kind == AR_UNARY && e->op == AR_OP_MINUS)))
        e = e->kids[0];
    if (!any_direct(a, e))
        return false;
    if (e->kind != AR_BINARY)
        return true;
    if (e->op == AR_OP_ADD || e->op == AR_OP_SUB)
        return is_whole(a, e->kids[0]) && is_whole(a, e->kids[1]);
    if (e->op == AR_OP_MUL)
        return is_whole(a, e->kids[0]) || is_whole(a, e->kids[1]);
    return e->op == AR_OP_DIV && is_whole(a, e->kids[0]);
}

static void pick_terms(ar_analysis *a, ar_step_region *r, ar_node *e,
                       uint32_t cell) {
    if (!any_direct(a, e))
        return;
    if (is_whole(a, e)) {
        for (uint32_t i = 0; i < r->terms.count; i++)
            if (r->terms.data[i] == e)
                return;
        AR_PUSH(a->arena, &r->terms, e);
        AR_PUSH(a->arena, &r->term_cells, cell);
        return;
    }
    if (e->kind == AR_BINARY)
        for (uint32_t i = 0; i < 2; i++)
            pick_terms(a, r, e->kids[i], cell);
    else if (e->kid_count && (e->kind == AR_CAST || e->kind == AR_IMPLICIT ||
                              e->kind == AR_UNARY))
        pick_terms(a, r, e->kids[0], cell);
}

/* All updates of the iteration become one fused group. */
static ar_step_region *fuse_regions(ar_analysis *a) {
    ar_step_region fused = {0};
    for (uint32_t i = 0; i < a->regions.count; i++) {
        ar_step_region *r = &a->regions.data[i];
        if (!i) {
            fused.context = r->context;
            fused.first = r->first;
            fused.last = r->last;
        }
        for (uint32_t k = 0; k < r->params.count; k++)
            AR_PUSH(a->arena, &fused.params, r->params.data[k]);
        for (uint32_t k = 0; k < r->stores.count; k++)
            AR_PUSH(a->arena, &fused.stores, r->stores.data[k]);
        for (uint32_t k = 0; k < r->grads.count; k++) {
            ar_cell_info *c = &a->cells[r->grads.data[k]];
            c->role = c->carries ? AR_ROLE_STATE : AR_ROLE_NONE;
            c->carries = false;
            c->group = -1;
            c->reason = NULL;
        }
    }
    fused.is_fused = true;
    a->regions.count = 0;
    AR_PUSH(a->arena, &a->regions, fused);
    for (uint32_t k = 0; k < fused.params.count; k++)
        a->cells[fused.params.data[k]].group = 0;
    return &a->regions.data[0];
}

static void prepare_fused(ar_analysis *a) {
    ar_step_region *r = fuse_regions(a);
    for (uint32_t i = 1; i < a->g.count; i++) {
        const ar_vnode *v = AR_VN(a->in, i);
        if (is_fused_update(a, i) && ar_where_in_loop(a, v->context, v->at))
            wrap_terms(a, v->at->kids[1]);
    }
    drafts none = no_drafts(a);
    install(a, &none);
    run_again(a);
    for (uint32_t i = 1; i < a->g.count; i++) {
        const ar_vnode *v = AR_VN(a->in, i);
        if (is_fused_update(a, i) && ar_where_in_loop(a, v->context, v->at))
            pick_terms(a, r, v->at->kids[1], v->cell);
    }
    bool *unscale = AR_NEW_ARRAY(a->arena, bool, a->g.count);
    for (uint32_t i = 1; i < a->g.count; i++) {
        const ar_vnode *v = AR_VN(a->in, i);
        for (uint32_t k = 0; k < r->terms.count && v->kind == AR_V_TERM; k++)
            unscale[i] |= v->at == r->terms.data[k];
    }
    a->term_unscale = unscale;
}

/* ---- one region ---------------------------------------------------------- */

/* How far an attempt came: nothing to scale, the way back from the gradients
 * blocked at once or later, refused by the check, exact. */
static int closeness(const ar_placement *p) {
    if (p->ok)
        return 4;
    if (p->is_checked)
        return 3;
    return p->seeds.count ? 2 : p->conflicts.count != 0;
}

/* A number that a whole loss is multiplied by is one seed where the terms of
 * the loss are several. It must not scale less behind the seeds: that would be
 * a number further down, a learning rate perhaps. */
static void try_number(ar_analysis *a, const ar_node *product,
                       ar_placement *best) {
    ar_placement p = {.regions = best->regions,
                      .region_count = best->region_count,
                      .unscale_at = best->unscale_at,
                      .carry_at = best->carry_at,
                      .allow_buffers = best->allow_buffers,
                      .number_in = product};
    ar_solve_degrees(a, &p);
    if (p.ok && p.seeds.count < best->seeds.count &&
        p.scaled_writes + best->seeds.count >=
            best->scaled_writes + p.seeds.count)
        *best = p;
}

enum { MAX_NUMBERS = 8 };

static void try_numbers(ar_analysis *a, ar_placement *best) {
    const bool *demanded = best->demanded;
    const ar_node *tried = NULL;
    int left = MAX_NUMBERS;
    for (uint32_t i = 1; i < a->g.count && best->seeds.count > 1; i++) {
        const ar_vnode *v = AR_VN(a->in, i);
        if (!demanded[i] || v->kind != AR_V_MUL || v->at == tried ||
            a->depends[v->in[0]] == a->depends[v->in[1]])
            continue;
        tried = v->at;
        if (left-- == 0)
            return;
        try_number(a, v->at, best);
    }
}

static bool carries(const ar_analysis *a, const ar_step_region *r) {
    for (uint32_t i = 0; i < r->grads.count; i++)
        if (a->cells[r->grads.data[i]].carries)
            return true;
    return false;
}

static bool try_places(ar_analysis *a, uint32_t index, trial now,
                       ar_placement *best) {
    ar_step_region *r = &a->regions.data[index];
    uint32_t *one = AR_NEW_ARRAY(a->arena, uint32_t, 1);
    one[0] = index;
    ar_placement p = {.regions = one, .region_count = 1};
    p.carry_at = first_in_loop(a);
    p.allow_buffers = now == TRIAL_BUFFERS;
    ar_node **places;
    uint32_t count = 1;
    if (r->is_fused) {
        places = AR_NEW_ARRAY(a->arena, ar_node *, 1);
        if (!r->terms.count)
            return false;
    } else {
        count = unscale_places(a, r, now, &places);
        if (!r->grads.count)
            return false;
    }
    ar_ids root_cells = {0};
    for (uint32_t i = 0; i < count; i++) {
        /* where carried gradients are scaled they are not unscaled */
        if (!r->is_fused && places[i] == p.carry_at && carries(a, r))
            continue;
        p.unscale_at = &places[i];
        ar_solve_degrees(a, &p);
        for (uint32_t k = 0; k < p.root_cells.count; k++)
            AR_PUSH(a->arena, &root_cells, p.root_cells.data[k]);
        if (best->ok && !p.ok)
            return true;
        if (i == 0 || (p.ok && p.seeds.count < best->seeds.count) ||
            closeness(&p) > closeness(best))
            *best = p;
        /* A term that is added late could be scaled as well; an earlier unscale
         * saves that seed. */
        if (best->ok && (best->seeds.count < 2 || i + 1 == count ||
                         !ar_only_adds(a, r, places[i + 1])))
            return true;
        p = (ar_placement){.regions = one,
                           .region_count = 1,
                           .carry_at = p.carry_at,
                           .allow_buffers = p.allow_buffers};
    }
    best->root_cells.data = root_cells.data;
    best->root_cells.count = root_cells.count;
    best->root_cells.capacity = root_cells.capacity;
    return false;
}

static bool solve_region(ar_analysis *a, uint32_t index, trial now,
                         ar_placement *best) {
    if (!try_places(a, index, now, best))
        return false;
    try_numbers(a, best);
    return true;
}

/* ---- buffers that are scaled in place ------------------------------------ */

/* Does an expression there mean this buffer and no other? */
static bool is_named(const ar_analysis *a, uint32_t context, const ar_node *e,
                     uint32_t cell) {
    const ar_interp *in = a->in;
    uint32_t set = ar_idtable_get(&in->named_sets, ar_key(e), context);
    const ar_targets *t = ar_memory_targets(in->m, set);
    return t->count == 1 && t->data[0].cell == cell && !t->data[0].index;
}

static void keep_named(const ar_analysis *a, uint32_t context,
                       const ar_node *node, const ar_ids *cells, bool *named) {
    if (ar_idtable_get(&a->in->named_sets, ar_key(node), context))
        for (uint32_t i = 0; i < cells->count; i++)
            named[i] |= is_named(a, context, node, cells->data[i]);
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (node->kids[i])
            keep_named(a, context, node->kids[i], cells, named);
    for (uint32_t i = 0; i < node->decl_count; i++)
        if (node->decls[i]->init)
            keep_named(a, context, node->decls[i]->init, cells, named);
}

/* What has a name in the function. */
static ar_ids named_in(ar_analysis *a, uint32_t context, const ar_ids *cells) {
    ar_ids kept = {0};
    bool *named = AR_NEW_ARRAY(a->arena, bool, cells->count + 1);
    keep_named(a, context, a->in->contexts.data[context]->function->body, cells,
               named);
    for (uint32_t i = 0; i < cells->count; i++)
        if (named[i])
            AR_PUSH(a->arena, &kept, cells->data[i]);
    return kept;
}

static void add_statements(ar_analysis *a, drafts *list, ar_node *node,
                           const ar_ids *cells, ar_idtable *allowed) {
    if (!node || !cells->count)
        return;
    if (node->kind == AR_COMPOUND) {
        for (uint32_t i = 0; i < node->kid_count; i++) {
            ar_node *kid = node->kids[i];
            if (!kid)
                continue;
            add_boundary(a, list, kid, cells->data, cells->count);
            for (uint32_t k = 0; k < cells->count; k++)
                ar_idtable_put(allowed, ar_key(kid), cells->data[k], 1);
        }
    }
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (node->kids[i] && ar_is_statement(node->kids[i]))
            add_statements(a, list, node->kids[i], cells, allowed);
}

/* Buffers whose value must be both scaled and not. */
static void wanted_buffers(ar_analysis *a, const ar_placement *p,
                           ar_ids *cells) {
    for (uint32_t i = 0; i < p->root_cells.count; i++) {
        uint32_t cell = p->root_cells.data[i];
        ar_role role = a->cells[cell].role;
        bool known = role == AR_ROLE_PARAM || role == AR_ROLE_STATE ||
                     role == AR_ROLE_GRAD;
        for (uint32_t k = 0; k < cells->count; k++)
            known |= cells->data[k] == cell;
        if (!known)
            AR_PUSH(a->arena, cells, cell);
    }
}

/* The cells that are written in the context or in what it calls: to scale a
 * buffer is not for a function that only reads it. */
static ar_ids written_in(ar_analysis *a, uint32_t context,
                         const ar_ids *cells) {
    ar_ids kept = {0};
    for (uint32_t i = 0; i < cells->count; i++) {
        bool is_written = false;
        for (uint32_t s = a->g.store_of[cells->data[i]]; s && !is_written;
             s = a->g.next_store[s])
            is_written =
                a->g.live[s] &&
                ar_is_called_from(a, AR_VN(a->in, s)->context, context);
        if (is_written)
            AR_PUSH(a->arena, &kept, cells->data[i]);
    }
    return kept;
}

/* Contexts in the loop that are the only one of their function there. */
static void buffer_drafts(ar_analysis *a, drafts *list, const ar_ids *cells,
                          ar_idtable *allowed) {
    ar_interp *in = a->in;
    ar_ids named = named_in(a, a->loop->context, cells);
    add_statements(a, list,
                   a->loop->at->kids[a->loop->at->kind == AR_DO    ? 0
                                     : a->loop->at->kind == AR_FOR ? 3
                                                                   : 1],
                   &named, allowed);
    ar_idtable count = {.arena = a->arena};
    for (uint32_t i = 1; i < in->contexts.count; i++) {
        const ar_decl *function = in->contexts.data[i]->function;
        uint32_t before = ar_idtable_get(&count, function->id, 0);
        if (ar_where_in_loop(a, i, function->body))
            ar_idtable_put(&count, function->id, 0, before + 1);
    }
    for (uint32_t i = 1; i < in->contexts.count; i++) {
        const ar_context *c = in->contexts.data[i];
        if (i == a->loop->context || ar_is_device_code(c->function) ||
            ar_idtable_get(&count, c->function->id, 0) != 1 ||
            !ar_where_in_loop(a, i, c->function->body))
            continue;
        ar_ids written = written_in(a, i, cells);
        named = named_in(a, i, &written);
        add_statements(a, list, c->function->body, &named, allowed);
    }
}

/* What no expression names cannot be scaled. */
static void bar_nameless(ar_analysis *a, ar_idtable *allowed) {
    for (uint32_t i = 1; i < a->g.count; i++) {
        const ar_vnode *v = AR_VN(a->in, i);
        if (a->g.live[i] && v->kind == AR_V_BOUNDARY && v->context &&
            v->part != AR_PART_REST &&
            ar_idtable_get(allowed, ar_key(v->at), v->cell) &&
            !ar_buffer_name(a, v))
            ar_idtable_put(allowed, ar_key(v->at), v->cell, 2);
    }
}

static void prepare_buffers(ar_analysis *a, const ar_placement *failed) {
    drafts list = no_drafts(a);
    ar_ids cells = {0};
    ar_idtable *allowed = AR_NEW(a->arena, ar_idtable);
    allowed->arena = a->arena;
    wanted_buffers(a, failed, &cells);
    unscale_drafts(a, TRIAL_BUFFERS, &list);
    buffer_drafts(a, &list, &cells, allowed);
    install(a, &list);
    run_again(a);
    bar_nameless(a, allowed);
    a->buffer_boundary = allowed;
}

/* ---- all ----------------------------------------------------------------- */

static bool solve_all(ar_analysis *a, trial now, ar_solution *solution) {
    solution->placements =
        AR_NEW_ARRAY(a->arena, ar_placement, a->regions.count);
    for (uint32_t i = 0; i < a->regions.count; i++) {
        if (solve_region(a, i, now, &solution->placements[i]))
            continue;
        solution->failed = &solution->placements[i];
        if (closeness(solution->failed) > closeness(&solution->closest)) {
            solution->closest = *solution->failed;
            solution->closest_region = i;
        }
        return false;
    }
    return true;
}

/* Seeds on the gradients themselves scale little: what the gradients are made
 * from, in place, would be better. */
static void late_seed_buffers(ar_analysis *a, const ar_solution *solution,
                              ar_placement *wanted) {
    for (uint32_t i = 0; i < a->regions.count; i++) {
        const ar_placement *p = &solution->placements[i];
        for (uint32_t k = 0; k < p->seeds.count; k++) {
            const ar_vnode *v = AR_VN(a->in, p->seeds.data[k]);
            ar_ids work = {0};
            if (!v->cell || a->cells[v->cell].role != AR_ROLE_GRAD)
                continue;
            ar_marks_begin(a);
            AR_PUSH(a->arena, &work, v->in[0]);
            while (work.count) {
                uint32_t id = work.data[--work.count];
                const ar_vnode *x = AR_VN(a->in, id);
                if (id <= AR_NODE_CONST || !ar_mark(a, id))
                    continue;
                if (x->cell && ar_is_array(a, x->cell)) {
                    if (a->gradlike[id])
                        AR_PUSH(a->arena, &wanted->root_cells, x->cell);
                    continue;
                }
                for (uint32_t n = 0; n < x->in_count; n++)
                    AR_PUSH(a->arena, &work, x->in[n]);
            }
        }
    }
}

static uint32_t scaled_writes(const ar_analysis *a,
                              const ar_solution *solution) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < a->regions.count; i++)
        sum += solution->placements[i].scaled_writes;
    return sum;
}

/* Of two exact placements, the one that scales more. */
static void improve(ar_analysis *a, ar_solution *solution) {
    ar_placement wanted = {0};
    late_seed_buffers(a, solution, &wanted);
    if (!wanted.root_cells.count)
        return;
    uint32_t before = scaled_writes(a, solution);
    prepare_buffers(a, &wanted);
    if (solve_all(a, TRIAL_BUFFERS, solution) &&
        scaled_writes(a, solution) > before)
        return;
    if (!solve_all(a, TRIAL_BEFORE_STEP, solution))
        AR_BUG("a placement that was exact is not");
}

static bool try_unscales(ar_analysis *a, trial now, ar_solution *solution) {
    drafts list = no_drafts(a);
    unscale_drafts(a, now, &list);
    install(a, &list);
    run_again(a);
    return solve_all(a, now, solution);
}

/* Several seeds, and before the step a statement that only adds. */
static bool could_save_seeds(ar_analysis *a, const ar_solution *solution) {
    for (uint32_t i = 0; i < a->regions.count; i++) {
        const ar_step_region *r = &a->regions.data[i];
        ar_node **places;
        if (solution->placements[i].seeds.count > 1 &&
            unscale_places(a, r, TRIAL_BEFORE_STEP, &places) > 1 &&
            ar_only_adds(a, r, places[1]))
            return true;
    }
    return false;
}

static bool try_all_unscales(ar_analysis *a, ar_solution *solution) {
    return (try_unscales(a, TRIAL_AT_STEP, solution) &&
            !could_save_seeds(a, solution)) ||
           try_unscales(a, TRIAL_BEFORE_STEP, solution);
}

ar_attempt_result ar_place_scale(ar_analysis *a, ar_solution *solution) {
    bool fused = false;
    for (uint32_t i = 0; i < a->regions.count; i++)
        fused |= a->regions.data[i].is_fused;
    if (fused) {
        prepare_fused(a);
        return solve_all(a, TRIAL_AT_STEP, solution) ? AR_ATTEMPT_EXACT
                                                     : AR_ATTEMPT_CONFLICT;
    }
    if (try_all_unscales(a, solution)) {
        improve(a, solution);
        return AR_ATTEMPT_EXACT;
    }
    for (int i = 0; i < 2 && solution->failed->root_cells.count; i++) {
        prepare_buffers(a, solution->failed);
        if (solve_all(a, TRIAL_BUFFERS, solution))
            return AR_ATTEMPT_EXACT;
    }
    return AR_ATTEMPT_CONFLICT;
}
