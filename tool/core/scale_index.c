/* Views of the value graph, and where things happen. */
#include "core/scale_analysis.h"

/* ---- where --------------------------------------------------------------- */

bool ar_climb(const ar_interp *in, ar_where *w) {
    if (!w->context || !w->at)
        return false;
    const ar_context *c = in->contexts.data[w->context];
    if (w->at == c->function->body) {
        if (!c->parent)
            return false;
        w->at = c->call;
        w->context = c->parent;
        return true;
    }
    ar_node *parent = ar_interp_parent(in, c->unit, w->at);
    if (!parent)
        return false;
    w->at = parent;
    return true;
}

ar_node *ar_lift(const ar_interp *in, uint32_t from, ar_node *at,
                 uint32_t context) {
    while (from && from != context) {
        const ar_context *c = in->contexts.data[from];
        at = c->call;
        from = c->parent;
    }
    return from == context ? at : NULL;
}

bool ar_is_ancestor(const ar_interp *in, uint32_t context,
                    const ar_node *ancestor, const ar_node *node) {
    const ar_unit *unit = ar_context_unit(in, context);
    while (node && node != ancestor)
        node = ar_interp_parent(in, unit, node);
    return node == ancestor;
}

bool ar_inside_loop(const ar_interp *in, const ar_loop *loop, uint32_t context,
                    const ar_node *at) {
    const ar_node *here = ar_lift(in, context, (ar_node *)at, loop->context);
    return here && ar_is_ancestor(in, loop->context, loop->at, here) &&
           here != loop->at;
}

bool ar_where_in_loop(ar_analysis *a, uint32_t context, const ar_node *at) {
    if (!context)
        return false;
    if (context == a->loop->context)
        return ar_inside_loop(a->in, a->loop, context, at);
    if (!a->context_in_loop[context])
        a->context_in_loop[context] =
            ar_inside_loop(a->in, a->loop, context, at) ? 1 : -1;
    return a->context_in_loop[context] > 0;
}

bool ar_is_statement(const ar_node *node) {
    return node->kind >= AR_COMPOUND;
}

ar_node *ar_statement_around(const ar_interp *in, const ar_unit *unit,
                             ar_node *node) {
    while (node) {
        ar_node *parent = ar_interp_parent(in, unit, node);
        if (!parent)
            return node;
        if (parent->kind == AR_COMPOUND)
            return node;
        node = parent;
    }
    return NULL;
}

bool ar_is_called_from(const ar_analysis *a, uint32_t context,
                       uint32_t caller) {
    while (context && context != caller)
        context = a->in->contexts.data[context]->parent;
    return context == caller;
}

bool ar_in_region(const ar_analysis *a, const ar_step_region *region,
                  uint32_t context, ar_node *at) {
    ar_node *node = ar_lift(a->in, context, at, region->context);
    if (!node)
        return false;
    const ar_unit *unit = ar_context_unit(a->in, region->context);
    ar_node *compound = ar_interp_parent(a->in, unit, region->first);
    if (region->first == region->last || !compound)
        return ar_is_ancestor(a->in, region->context, region->first, node);
    ar_node *kid = node;
    while (kid && ar_interp_parent(a->in, unit, kid) != compound)
        kid = ar_interp_parent(a->in, unit, kid);
    if (!kid)
        return false;
    uint32_t i = ar_interp_position(a->in, unit, kid);
    return i >= ar_interp_position(a->in, unit, region->first) &&
           i <= ar_interp_position(a->in, unit, region->last);
}

/* ---- cells --------------------------------------------------------------- */

bool ar_is_array(const ar_analysis *a, uint32_t cell) {
    const ar_mem_cell *c = &a->in->m->cells.data[cell];
    return c->is_many || c->any_path;
}

/* Outlives an iteration. */
bool ar_is_memory(const ar_analysis *a, uint32_t cell) {
    const ar_mem_object *o = ar_object_of(a->in->m, cell);
    if (o->as.kind != AR_OBJECT_LOCAL)
        return true;
    for (uint32_t c = a->loop->context; c; c = a->in->contexts.data[c]->parent)
        if (c == o->context)
            return true;
    return false;
}

static const char *holder_name(ar_analysis *a, const ar_object *object) {
    for (uint32_t i = 0; i < a->in->stores.count; i++) {
        const ar_pointer_store *s = &a->in->stores.data[i];
        if (s->target != object || !s->at_start)
            continue;
        const char *path = s->holder_path;
        const char *dot = strrchr(path, '.');
        if (s->holder->decl && *path && s->holder->kind != AR_OBJECT_HEAP)
            return ar_sprintf(a->arena, "%s%s", s->holder->decl->name, path);
        if (dot)
            return dot + 1;
        if (s->holder->decl)
            return s->holder->decl->name;
    }
    return NULL;
}

const char *ar_cell_name(ar_analysis *a, uint32_t cell) {
    const ar_mem_object *o = ar_object_of(a->in->m, cell);
    const char *path = ar_memory_path(a->in->m, cell);
    if (o->as.decl)
        return ar_sprintf(a->arena, "%s%s", o->as.decl->name, path);
    const char *holder = holder_name(a, &o->as);
    if (*path == '+')
        return path + 1;
    return ar_sprintf(a->arena, "%s%s", holder ? holder : "buffer", path);
}

/* ---- searches ------------------------------------------------------------ */

void ar_marks_begin(ar_analysis *a) {
    if (a->mark_count < a->g.count) {
        a->mark_at = AR_NEW_ARRAY(a->arena, uint32_t, a->g.count);
        a->mark_count = a->g.count;
        a->mark_now = 0;
    }
    a->mark_now++;
}

/* ---- the graph ----------------------------------------------------------- */

void ar_index_graph(ar_analysis *a) {
    ar_interp *in = a->in;
    ar_graph_index *g = &a->g;
    uint32_t n = in->nodes.count;
    g->count = n;
    g->live = AR_NEW_ARRAY(a->arena, bool, n);
    g->use_start = AR_NEW_ARRAY(a->arena, uint32_t, n + 2);
    for (uint32_t i = 1; i < n; i++)
        g->live[i] =
            i <= AR_NODE_CONST || in->nodes.data[i].stamp >= in->run_start;
    for (uint32_t i = 1; i < n; i++)
        if (g->live[i])
            for (uint32_t k = 0; k < in->nodes.data[i].in_count; k++)
                g->use_start[in->nodes.data[i].in[k] + 1]++;
    for (uint32_t i = 1; i <= n; i++)
        g->use_start[i] += g->use_start[i - 1];
    g->uses = AR_NEW_ARRAY(a->arena, uint32_t, g->use_start[n] + 1);
    uint32_t *fill = AR_NEW_ARRAY(a->arena, uint32_t, n + 1);
    for (uint32_t i = 1; i < n; i++)
        if (g->live[i])
            for (uint32_t k = 0; k < in->nodes.data[i].in_count; k++) {
                uint32_t from = in->nodes.data[i].in[k];
                g->uses[g->use_start[from] + fill[from]++] = i;
            }
    a->cell_count = in->m->cells.count;
    g->store_of = AR_NEW_ARRAY(a->arena, uint32_t, a->cell_count);
    g->next_store = AR_NEW_ARRAY(a->arena, uint32_t, n);
    for (uint32_t i = n; i-- > 1;) {
        const ar_vnode *v = &in->nodes.data[i];
        if (!g->live[i] || v->kind != AR_V_STORE)
            continue;
        g->next_store[i] = g->store_of[v->cell];
        g->store_of[v->cell] = i;
    }
    ar_idtable_clear(&a->factors);
    a->factors.arena = a->arena;
    a->scaled_after = (ar_table){.arena = a->arena};
    a->context_in_loop = AR_NEW_ARRAY(a->arena, int8_t, in->contexts.count);
}
