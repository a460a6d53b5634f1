/* From the solution to the result that the plan and the audit read. */
#include "core/scale_analysis.h"

/* ---- cells --------------------------------------------------------------- */

typedef struct cell_map {
    ar_cell **of; /* internal cell -> result */
} cell_map;

static bool is_shown(const ar_analysis *a, uint32_t cell) {
    const ar_mem_object *o = ar_object_of(a->in->m, cell);
    if (o->is_function)
        return false;
    if (a->cells[cell].role == AR_ROLE_NONE)
        return false;
    return ar_is_array(a, cell) || ar_is_memory(a, cell);
}

static const ar_type *scalar_of(const ar_mem_cell *c) {
    const ar_type *type = c->scalar ? c->scalar : c->type;
    type = ar_array_bottom(type);
    return type;
}

static int degree_of_cell(const ar_analysis *a, const ar_solution *solution,
                          uint32_t cell) {
    if (!solution || !solution->placements || solution->failed)
        return 0;
    for (uint32_t i = 0; i < a->regions.count; i++) {
        const uint8_t *degree = solution->placements[i].degree;
        for (uint32_t s = a->g.store_of[cell]; s; s = a->g.next_store[s])
            if (degree[s] & 2)
                return 1;
        if (a->cells[cell].carries && a->cells[cell].group == (int)i)
            return 1;
    }
    return 0;
}

static const ar_decl *field_of(const ar_memory *m, uint32_t cell) {
    for (; cell; cell = m->cells.data[cell].parent)
        if (m->cells.data[cell].step == AR_STEP_FIELD)
            return m->cells.data[cell].field;
    return NULL;
}

static void find_read(ar_analysis *a) {
    a->is_read = AR_NEW_ARRAY(a->arena, bool, a->cell_count);
    for (uint32_t i = 0; i < a->loop->read.count; i++)
        a->is_read[a->loop->read.data[i]] = true;
}

/* Zero has any degree, so that no bit of it is set. */
static bool is_zero_cell(const ar_analysis *a, const ar_solution *solution,
                         uint32_t cell) {
    if (!solution || !solution->placements || solution->failed ||
        !a->regions.count)
        return false;
    const uint8_t *degree = solution->placements[0].degree;
    for (uint32_t s = a->g.store_of[cell]; s; s = a->g.next_store[s])
        if (a->g.live[s] && degree[s])
            return false;
    return true;
}

/* From what is stored in the step back to what it finds when it starts. */
static void find_rates_of(ar_analysis *a, const ar_step_region *r) {
    ar_ids work = {0};
    ar_marks_begin(a);
    for (uint32_t i = 0; i < r->stores.count; i++)
        AR_PUSH(a->arena, &work, r->stores.data[i]);
    while (work.count) {
        uint32_t id = work.data[--work.count];
        const ar_vnode *v = AR_VN(a->in, id);
        if (id <= AR_NODE_CONST || !v->context || !ar_mark(a, id))
            continue;
        if (v->cell && !ar_in_region(a, r, v->context, v->at)) {
            ar_role role = a->cells[v->cell].role;
            a->is_rate[v->cell] |= role != AR_ROLE_GRAD &&
                                   role != AR_ROLE_PARAM &&
                                   role != AR_ROLE_STATE;
            continue;
        }
        for (uint32_t i = 0; i < v->in_count; i++)
            AR_PUSH(a->arena, &work, v->in[i]);
    }
}

static void find_rates(ar_analysis *a) {
    a->is_rate = AR_NEW_ARRAY(a->arena, bool, a->cell_count);
    for (uint32_t i = 0; i < a->regions.count; i++)
        if (!a->regions.data[i].is_fused)
            find_rates_of(a, &a->regions.data[i]);
}

static ar_cell *make_cell(ar_analysis *a, const ar_solution *solution,
                          uint32_t id) {
    const ar_cell_info *info = &a->cells[id];
    ar_cell *cell = AR_NEW(a->arena, ar_cell);
    cell->object = &ar_object_of(a->in->m, id)->as;
    cell->path = ar_memory_path(a->in->m, id);
    cell->field = field_of(a->in->m, id);
    cell->name = ar_cell_name(a, id);
    cell->scalar = scalar_of(&a->in->m->cells.data[id]);
    cell->role = info->role;
    cell->also_state = info->carries;
    cell->is_aside =
        info->role == AR_ROLE_DATA && !a->is_read[id] && !a->is_trained[id];
    cell->is_region = a->in->m->cells.data[id].step == AR_STEP_REGION;
    cell->degree = degree_of_cell(a, solution, id);
    cell->is_zero = is_zero_cell(a, solution, id);
    cell->is_rate = a->is_rate[id];
    cell->group = info->group;
    cell->reason = info->reason ? info->reason : "";
    cell->reason_at = AR_NO_RANGE;
    if (info->reason_node > AR_NODE_CONST) {
        const ar_vnode *v = AR_VN(a->in, info->reason_node);
        if (v->context && v->at)
            cell->reason_at = v->at->range;
    }
    return cell;
}

static ar_cell *result_cell(ar_analysis *a, uint32_t id) {
    return a->result_cells[id];
}

void ar_fill_cells(ar_analysis *a, const ar_solution *solution) {
    a->result_cells = AR_NEW_ARRAY(a->arena, ar_cell *, a->cell_count);
    find_read(a);
    find_rates(a);
    for (uint32_t id = 1; id < a->cell_count; id++) {
        if (!is_shown(a, id))
            continue;
        a->result_cells[id] = make_cell(a, solution, id);
        AR_PUSH(a->arena, &a->out->cells, a->result_cells[id]);
    }
    for (uint32_t i = 1; i < a->in->m->objects.count; i++)
        if (!a->in->m->objects.data[i]->is_function)
            AR_PUSH(a->arena, &a->out->objects, &a->in->m->objects.data[i]->as);
}

/* ---- an expression that names a buffer ----------------------------------- */

static bool names_simply(const ar_node *node) {
    for (;; node = node->kids[0]) {
        if (node->kind == AR_INDEX) {
            const ar_node *index = ar_skip_casts(node->kids[1]);
            if (index->kind != AR_REF && index->kind != AR_INT_LIT)
                return false;
        } else if (node->kind != AR_MEMBER && node->kind != AR_IMPLICIT) {
            return node->kind == AR_REF;
        }
    }
}

static const ar_decl *root_of(const ar_node *node) {
    while (node->kind == AR_MEMBER || node->kind == AR_IMPLICIT ||
           node->kind == AR_INDEX)
        node = node->kids[0];
    return node->decl;
}

/* Declared in a block around the statement, before it. */
static bool in_scope(const ar_analysis *a, const ar_unit *unit,
                     const ar_decl *decl, ar_node *statement) {
    if (decl->kind == AR_DECL_PARAM || decl->is_file_scope)
        return true;
    for (ar_node *node = statement; node;) {
        ar_node *parent = ar_interp_parent(a->in, unit, node);
        if (parent && parent->kind == AR_COMPOUND)
            for (uint32_t i = 0;
                 i < parent->kid_count && parent->kids[i] != node; i++)
                for (uint32_t k = 0; k < parent->kids[i]->decl_count; k++)
                    if (parent->kids[i]->decls[k] == decl)
                        return true;
        if (parent && parent->kind == AR_FOR && parent->kids[0])
            for (uint32_t k = 0; k < parent->kids[0]->decl_count; k++)
                if (parent->kids[0]->decls[k] == decl)
                    return true;
        node = parent;
    }
    return false;
}

/* The start of the buffer of the boundary; of one element of a table, that
 * element and no other. */
static bool is_name(const ar_analysis *a, const ar_vnode *v,
                    const ar_node *node) {
    const ar_interp *in = a->in;
    uint32_t set = ar_idtable_get(&in->named_sets, ar_key(node), v->context);
    if (!set || !names_simply(node) || node->range.in_macro_body)
        return false;
    const ar_targets *t = ar_memory_targets(in->m, set);
    uint32_t symbol =
        ar_idtable_get(&in->named_symbols, ar_key(node), v->context);
    return t->count == 1 && t->data[0].cell == v->cell && !t->data[0].index &&
           (v->part != AR_PART_FRESH || symbol == v->address + 1) &&
           in_scope(a, ar_context_unit(a->in, v->context), root_of(node),
                    v->at);
}

static ar_node *find_name(const ar_analysis *a, const ar_vnode *v,
                          ar_node *node) {
    if (!node)
        return NULL;
    if (is_name(a, v, node))
        return node;
    for (uint32_t i = 0; i < node->kid_count; i++) {
        ar_node *found = find_name(a, v, node->kids[i]);
        if (found)
            return found;
    }
    for (uint32_t i = 0; i < node->decl_count; i++) {
        ar_node *found = find_name(a, v, node->decls[i]->init);
        if (found)
            return found;
    }
    return NULL;
}

ar_node *ar_buffer_name(ar_analysis *a, const ar_vnode *v) {
    ar_node *body = a->in->contexts.data[v->context]->function->body;
    ar_node *found = find_name(a, v, v->at);
    if (!found)
        found = find_name(a, v, body);
    return found;
}

/* ---- groups -------------------------------------------------------------- */

static ar_region_of_code region_of_code(const ar_analysis *a,
                                        const ar_step_region *r) {
    return (ar_region_of_code){ar_context_unit(a->in, r->context),
                               a->in->contexts.data[r->context]->function,
                               r->first, r->last};
}

static bool fill_seeds(ar_analysis *a, ar_group *group, const ar_placement *p) {
    group->seeds = AR_NEW_ARRAY(a->arena, ar_seed, p->seeds.count + 1);
    for (uint32_t i = 0; i < p->seeds.count; i++) {
        uint32_t id = p->seeds.data[i];
        const ar_vnode *v = AR_VN(a->in, id);
        ar_seed *seed = &group->seeds[group->seed_count];
        seed->unit = ar_context_unit(a->in, v->context);
        seed->function = a->in->contexts.data[v->context]->function;
        seed->cell = v->cell ? result_cell(a, v->cell) : NULL;
        seed->node =
            v->kind == AR_V_BOUNDARY ? v->at : ar_seed_expression(a, id);
        seed->form = v->kind == AR_V_BOUNDARY ? AR_SEED_BUFFER
                     : v->kind == AR_V_STORE && seed->node == v->at
                         ? AR_SEED_AFTER
                         : AR_SEED_EXPRESSION;
        if (seed->form == AR_SEED_BUFFER) {
            seed->buffer = ar_buffer_name(a, v);
            if (!seed->buffer)
                return false;
        }
        group->seed_count++;
    }
    return true;
}

static ar_node *last_in_loop(const ar_analysis *a) {
    const ar_node *at = a->loop->at;
    ar_node *body = at->kind == AR_FOR     ? at->kids[3]
                    : at->kind == AR_WHILE ? at->kids[1]
                                           : at->kids[0];
    if (body && body->kind == AR_COMPOUND)
        return body->kid_count ? body->kids[body->kid_count - 1] : NULL;
    return body;
}

static void fill_group(ar_analysis *a, ar_group *group, uint32_t index,
                       const ar_placement *p) {
    ar_step_region *r = &a->regions.data[index];
    group->index = (int)index;
    group->params = AR_NEW_ARRAY(a->arena, ar_cell *, r->params.count + 1);
    for (uint32_t i = 0; i < r->params.count; i++)
        group->params[group->param_count++] = result_cell(a, r->params.data[i]);
    group->grads = AR_NEW_ARRAY(a->arena, ar_cell *, r->grads.count + 1);
    bool carries = false;
    for (uint32_t i = 0; i < r->grads.count; i++) {
        ar_cell *cell = result_cell(a, r->grads.data[i]);
        carries |= cell && cell->also_state;
        if (cell)
            group->grads[group->grad_count++] = cell;
    }
    group->step = region_of_code(a, r);
    if (!p)
        return;
    group->degree1_writes = p->scaled_writes;
    if (r->is_fused) {
        group->fused =
            AR_NEW_ARRAY(a->arena, ar_fused_update, r->terms.count + 1);
        for (uint32_t i = 0; i < r->terms.count; i++)
            group->fused[group->fused_count++] = (ar_fused_update){
                ar_context_unit(
                    a->in, AR_VN(a->in, a->g.store_of[r->term_cells.data[i]])
                               ->context),
                r->terms.data[i], result_cell(a, r->term_cells.data[i])};
        group->fused_end_after = last_in_loop(a);
        group->step.unit = ar_context_unit(a->in, a->loop->context);
    } else if (p->unscale_at[0] != r->first) {
        group->unscale_before = p->unscale_at[0];
    }
    if (carries) {
        group->carry_before = p->carry_at;
        group->carry_unit = ar_context_unit(a->in, a->loop->context);
    }
}

void ar_fill_groups(ar_analysis *a, const ar_solution *solution) {
    ar_scale *out = a->out;
    out->groups = AR_NEW_ARRAY(a->arena, ar_group, a->regions.count + 1);
    for (uint32_t i = 0; i < a->regions.count; i++) {
        const ar_placement *p =
            solution && solution->placements && !solution->failed
                ? &solution->placements[i]
                : NULL;
        fill_group(a, &out->groups[i], i, p);
        if (p && !fill_seeds(a, &out->groups[i], p)) {
            const ar_vnode *v = AR_VN(a->in, p->seeds.data[0]);
            out->outcome = AR_SCALE_NO_SEED;
            ar_report(a->diags, AR_DIAG_NO_SEED, v->at->range,
                      "a buffer must be scaled here, but no expression here "
                      "names it");
        }
        out->group_count++;
    }
}

/* ---- parameters written outside the steps -------------------------------- */

static bool calls_out(const ar_node *node) {
    if (node->kind == AR_CALL)
        for (uint32_t i = 1; i < node->kid_count; i++)
            if (node->kids[i]->type &&
                (node->kids[i]->type->kind == AR_TYPE_POINTER ||
                 node->kids[i]->type->kind == AR_TYPE_ARRAY))
                return true;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (node->kids[i] && calls_out(node->kids[i]))
            return true;
    return false;
}

/* The largest loop around the write that runs no op in between. */
static ar_node *widest_write(const ar_analysis *a, const ar_unit *unit,
                             ar_node *at) {
    ar_node *best = at;
    for (ar_node *node = at; node; node = ar_interp_parent(a->in, unit, node)) {
        if (node == a->loop->at)
            break;
        if (node->kind == AR_FOR || node->kind == AR_WHILE ||
            node->kind == AR_DO) {
            if (calls_out(node))
                break;
            best = node;
        }
    }
    return best;
}

static bool in_a_step(const ar_analysis *a, const ar_vnode *v) {
    for (uint32_t i = 0; i < a->regions.count; i++)
        if (!a->regions.data[i].is_fused &&
            ar_in_region(a, &a->regions.data[i], v->context, v->at))
            return true;
    return false;
}

static void fill_param_writes(ar_analysis *a) {
    ar_scale *out = a->out;
    AR_VEC(ar_node *) nodes = {0};
    AR_VEC(ar_unit *) units = {0};
    ar_table known = {.arena = a->arena};
    for (uint32_t i = 1; i < a->g.count; i++) {
        const ar_vnode *v = AR_VN(a->in, i);
        if (!a->g.live[i] || v->kind != AR_V_STORE || !v->context ||
            a->cells[v->cell].role != AR_ROLE_PARAM ||
            v->stamp < a->loop->stamp || in_a_step(a, v))
            continue;
        ar_unit *unit = ar_context_unit(a->in, v->context);
        ar_node *at = widest_write(a, unit, v->at);
        if (!ar_table_add(&known, ar_key(at), 0))
            continue;
        AR_PUSH(a->arena, &nodes, at);
        AR_PUSH(a->arena, &units, unit);
    }
    out->param_writes = nodes.data;
    out->param_write_units = units.data;
    out->param_write_count = nodes.count;
}

void ar_fill_rest(ar_analysis *a) {
    ar_scale *out = a->out;
    out->frees = a->in->frees.data;
    out->free_count = a->in->frees.count;
    for (uint32_t i = 0; i < a->in->stores.count; i++)
        AR_PUSH(a->arena, &out->stores, a->in->stores.data[i]);
    if (!a->loop)
        return;
    out->loop = a->loop->at;
    out->loop_unit = ar_context_unit(a->in, a->loop->context);
    out->loop_function = a->in->contexts.data[a->loop->context]->function;
    fill_param_writes(a);
}
