#include "core/slots.h"

#include <stdlib.h>

/* ---- generalise ---------------------------------------------------------- */

static void mark_generic(ar_graph *g, uint32_t cell, uint32_t owner) {
    if (!cell)
        return;
    cell = ar_cell_find(g, cell);
    ar_cell *c = &g->cells.data[cell];
    if (c->is_global || c->is_generic)
        return;
    c->is_generic = true;
    c->owner = owner;
    mark_generic(g, c->pointee, owner);
    mark_generic(g, c->result, owner);
    for (uint32_t i = 0; i < c->param_count; i++)
        mark_generic(g, c->params[i], owner);
    for (uint32_t i = 0; i < c->field_count; i++)
        mark_generic(g, c->fields[i], owner);
}

/* Byte counts inside one function: edges by their source cell, so that a walk
 * from one cell costs what it reaches. */
typedef struct reach {
    ar_graph *g;
    ar_map by_from; /* cell -> first edge + 1 in the chain */
    uint32_t *next; /* edge -> next edge + 1 of the same source */
    uint32_t first_edge, first_sink;
    ar_map sinks_of; /* cell -> first sink + 1 */
    uint32_t *next_sink;
    uint32_t *seen; /* cell -> walk that met it */
    uint32_t walk;
    AR_VEC(uint32_t) work;
    AR_VEC(ar_edge) edges;
    AR_VEC(ar_sink) sinks;
    AR_VEC(ar_size_source) sources;
} reach;

static void *boxed(uint32_t value) {
    return (void *)(uintptr_t)value;
}

static uint32_t unboxed(const void *box) {
    return (uint32_t)(uintptr_t)box;
}

static void index_edges(reach *r) {
    ar_graph *g = r->g;
    r->next = AR_NEW_ARRAY(r->by_from.arena, uint32_t,
                           g->edges.count - r->first_edge + 1);
    for (uint32_t i = r->first_edge; i < g->edges.count; i++) {
        uint32_t from = ar_cell_find(g, g->edges.data[i].from);
        r->next[i - r->first_edge] = unboxed(ar_map_get(&r->by_from, from));
        ar_map_put(&r->by_from, from, boxed(i + 1));
    }
    r->next_sink = AR_NEW_ARRAY(r->by_from.arena, uint32_t,
                                g->sinks.count - r->first_sink + 1);
    for (uint32_t i = r->first_sink; i < g->sinks.count; i++) {
        uint32_t count = ar_cell_find(g, g->sinks.data[i].count);
        r->next_sink[i - r->first_sink] =
            unboxed(ar_map_get(&r->sinks_of, count));
        ar_map_put(&r->sinks_of, count, boxed(i + 1));
    }
}

static void step(reach *r, uint32_t cell) {
    cell = ar_cell_find(r->g, cell);
    if (r->seen[cell] == r->walk)
        return;
    r->seen[cell] = r->walk;
    AR_PUSH(r->by_from.arena, &r->work, cell);
}

typedef enum walk_from { FROM_INTERFACE, FROM_SIZEOF } walk_from;

/* Follows a count from `start` through cells that only this function sees. */
static void follow(reach *r, uint32_t start, walk_from from, uint32_t site) {
    ar_graph *g = r->g;
    r->walk = ++g->walk;
    r->work.count = 0;
    start = ar_cell_find(g, start);
    step(r, start);
    while (r->work.count) {
        uint32_t cell = r->work.data[--r->work.count];
        const ar_cell *c = &g->cells.data[cell];
        if (from == FROM_SIZEOF && c->is_generic)
            AR_PUSH(g->arena, &r->sources, (ar_size_source){cell, site});
        if (from == FROM_INTERFACE && cell != start &&
            (c->is_generic || c->is_global))
            AR_PUSH(g->arena, &r->edges, (ar_edge){start, cell});
        if (cell != start && (c->is_generic || c->is_global))
            continue;
        uint32_t s = unboxed(ar_map_get(&r->sinks_of, cell));
        for (; s && from == FROM_INTERFACE;
             s = r->next_sink[s - 1 - r->first_sink]) {
            ar_sink sink = g->sinks.data[s - 1];
            sink.origin = s;
            sink.count = start;
            AR_PUSH(g->arena, &r->sinks, sink);
        }
        uint32_t e = unboxed(ar_map_get(&r->by_from, cell));
        for (; e; e = r->next[e - 1 - r->first_edge])
            step(r, g->edges.data[e - 1].to);
    }
}

static void collect_interface(ar_graph *g, uint32_t cell, ar_map *seen,
                              reach *r) {
    if (!cell)
        return;
    cell = ar_cell_find(g, cell);
    const ar_cell c = g->cells.data[cell];
    if (!c.is_generic || ar_map_get(seen, cell))
        return;
    ar_map_put(seen, cell, g);
    follow(r, cell, FROM_INTERFACE, 0);
    collect_interface(g, c.pointee, seen, r);
    collect_interface(g, c.result, seen, r);
    for (uint32_t i = 0; i < c.param_count; i++)
        collect_interface(g, c.params[i], seen, r);
    for (uint32_t i = 0; i < c.field_count; i++)
        collect_interface(g, c.fields[i], seen, r);
}

/* One sink may take its count from several parameters: n * size. */
static int compare_sinks(const void *a, const void *b) {
    const ar_sink *x = a, *y = b;
    if (x->origin != y->origin)
        return (x->origin > y->origin) - (x->origin < y->origin);
    if (x->memory != y->memory)
        return (x->memory > y->memory) - (x->memory < y->memory);
    return (x->count > y->count) - (x->count < y->count);
}

void ar_function_generalise(ar_graph *g, ar_function *f, uint32_t first_edge,
                            uint32_t first_sink, uint32_t first_source) {
    mark_generic(g, f->cell, (uint32_t)(f - g->functions.data) + 1);
    ar_arena *scratch = ar_arena_new();
    reach r = {.g = g,
               .by_from = {.arena = scratch},
               .sinks_of = {.arena = scratch},
               .first_edge = first_edge,
               .first_sink = first_sink,
               .seen = ar_marks(g)};
    index_edges(&r);
    ar_map seen = {.arena = scratch};
    collect_interface(g, f->cell, &seen, &r);
    for (uint32_t i = first_source; i < g->sources.count; i++)
        follow(&r, g->sources.data[i].cell, FROM_SIZEOF,
               g->sources.data[i].site);
    f->size_edges = r.edges.data;
    f->size_edge_count = r.edges.count;
    if (r.sinks.count)
        qsort(r.sinks.data, r.sinks.count, sizeof *r.sinks.data, compare_sinks);
    f->sinks = r.sinks.data;
    f->sink_count = r.sinks.count;
    f->sources = r.sources.data;
    f->source_count = r.sources.count;
    f->is_done = true;
    ar_arena_free(scratch);
}

/* ---- instantiate --------------------------------------------------------- */

typedef AR_VEC(ar_edge) cell_map;

static uint32_t copy_cell(ar_graph *g, uint32_t cell, cell_map *map) {
    if (!cell)
        return 0;
    cell = ar_cell_find(g, cell);
    const ar_cell old = g->cells.data[cell];
    if (old.is_global)
        return cell;
    if (old.copy_of_epoch == g->epoch)
        return old.copy;
    uint32_t fresh = ar_cell_new(g);
    g->cells.data[cell].copy_of_epoch = g->epoch;
    g->cells.data[cell].copy = fresh;
    AR_PUSH(g->arena, map, (ar_edge){cell, fresh});
    g->cells.data[fresh].facts = old.facts;
    g->cells.data[fresh].record = old.record;
    g->cells.data[fresh].has_body = old.has_body;
    uint32_t pointee = copy_cell(g, old.pointee, map);
    uint32_t result = copy_cell(g, old.result, map);
    uint32_t *params = NULL;
    if (old.param_count)
        params = AR_NEW_ARRAY(g->arena, uint32_t, old.param_count);
    for (uint32_t i = 0; i < old.param_count; i++)
        params[i] = copy_cell(g, old.params[i], map);
    uint32_t *fields = NULL;
    if (old.field_count)
        fields = AR_NEW_ARRAY(g->arena, uint32_t, old.field_count);
    for (uint32_t i = 0; i < old.field_count; i++)
        fields[i] = copy_cell(g, old.fields[i], map);
    ar_cell *c = &g->cells.data[fresh];
    c->pointee = pointee;
    c->result = result;
    c->params = params;
    c->param_count = old.param_count;
    c->fields = fields;
    c->field_count = old.field_count;
    return fresh;
}

static uint32_t mapped(ar_graph *g, uint32_t cell) {
    const ar_cell *c = &g->cells.data[ar_cell_find(g, cell)];
    return c->copy_of_epoch == g->epoch ? c->copy : cell;
}

static void copy_sizes(ar_graph *g, const ar_function *f) {
    for (uint32_t i = 0; i < f->size_edge_count; i++) {
        ar_edge edge = {mapped(g, f->size_edges[i].from),
                        mapped(g, f->size_edges[i].to)};
        AR_PUSH(g->arena, &g->edges, edge);
    }
    for (uint32_t i = 0; i < f->sink_count;) {
        ar_sink sink = f->sinks[i];
        sink.count = ar_cell_new(g);
        sink.memory = mapped(g, sink.memory);
        uint32_t end = i;
        for (; end < f->sink_count && f->sinks[end].origin == sink.origin &&
               f->sinks[end].memory == f->sinks[i].memory;
             end++) {
            ar_edge edge = {mapped(g, f->sinks[end].count), sink.count};
            AR_PUSH(g->arena, &g->edges, edge);
        }
        AR_PUSH(g->arena, &g->sinks, sink);
        i = end;
    }
    for (uint32_t i = 0; i < f->source_count; i++) {
        ar_size_source source = {mapped(g, f->sources[i].cell),
                                 f->sources[i].site};
        AR_PUSH(g->arena, &g->sources, source);
    }
}

uint32_t ar_function_instance(ar_graph *g, ar_function *f, ar_node *node,
                              ar_where where) {
    f->is_called = true;
    if (!f->is_done)
        return f->cell; /* recursion: one context */
    g->epoch++;
    cell_map map = {0};
    uint32_t fresh = copy_cell(g, f->cell, &map);
    copy_sizes(g, f);
    ar_raw_call call = {where, node, f->entity, map.data, map.count};
    AR_PUSH(g->arena, &g->calls, call);
    return fresh;
}
