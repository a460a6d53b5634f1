#include "core/flows.h"

#include <stdlib.h>

/* ---- edges while the text is read ---------------------------------------- */

static void edge(ar_walk *w, uint32_t from, uint32_t to) {
    if (from && from != to)
        AR_PUSH(w->g->arena, &w->g->edges, (ar_edge){from, to});
}

static uint32_t known_cell(ar_walk *w, ar_node *node) {
    return (uint32_t)(uintptr_t)ar_map_get(&w->cells, ar_key(node));
}

void ar_size_flow(ar_walk *w, ar_node *node, uint32_t to) {
    if (!node || w->is_quiet)
        return;
    switch (node->kind) {
    case AR_REF:
        if (node->decl && (node->decl->kind == AR_DECL_VAR ||
                           node->decl->kind == AR_DECL_PARAM))
            edge(w, ar_cell_of(w->g, node->decl), to);
        return;
    case AR_MEMBER:
    case AR_INDEX:
    case AR_DEREF:
    case AR_CALL:
        edge(w, known_cell(w, node), to);
        return;
    case AR_SIZEOF: {
        void *known = ar_map_get(&w->size_sites, ar_key(node));
        if (known) {
            uint32_t site = (uint32_t)(uintptr_t)known - 1;
            AR_PUSH(w->g->arena, &w->g->sources, (ar_size_source){to, site});
        }
        return;
    }
    case AR_CONDITIONAL:
        for (uint32_t i = node->kid_count == 3; i < node->kid_count; i++)
            ar_size_flow(w, node->kids[i], to);
        return;
    case AR_ASSIGN:
    case AR_COMPOUND_ASSIGN:
        ar_size_flow(w, node->kids[0], to);
        return;
    case AR_UNARY:
    case AR_BINARY:
    case AR_COMMA:
    case AR_CAST:
    case AR_IMPLICIT:
        for (uint32_t i = 0; i < node->kid_count; i++)
            ar_size_flow(w, node->kids[i], to);
        return;
    default:
        return;
    }
}

void ar_size_sink(ar_walk *w, ar_node *count, uint32_t memory, ar_node *at,
                  const char *what) {
    if (!memory || !count || w->is_quiet || ar_is_zero(count))
        return;
    uint32_t cell = ar_cell_new(w->g);
    ar_size_flow(w, count, cell);
    ar_sink sink = {cell, memory, ar_here(w, at), what, 0};
    AR_PUSH(w->g->arena, &w->g->sinks, sink);
}

/* ---- resolving, when all text is read ------------------------------------ */

typedef AR_VEC(uint32_t) id_list;

typedef struct bytes {
    ar_graph *g;
    ar_arena *scratch;
    uint32_t *first_out; /* cell -> first edge + 1 */
    uint32_t *next_out;
    uint32_t *first_sink;
    uint32_t *next_sink;
    uint32_t *mark; /* cell -> the walk that met it */
    uint32_t walk;
    id_list work;
    bool *has_count; /* sink: a sizeof reaches it */
    bool *is_open;   /* sink: the count comes from outside */
} bytes;

static void index_graph(bytes *b) {
    ar_graph *g = b->g;
    uint32_t cells = g->cells.count + 1;
    b->first_out = AR_NEW_ARRAY(b->scratch, uint32_t, cells);
    b->first_sink = AR_NEW_ARRAY(b->scratch, uint32_t, cells);
    b->mark = AR_NEW_ARRAY(b->scratch, uint32_t, cells);
    b->next_out = AR_NEW_ARRAY(b->scratch, uint32_t, g->edges.count + 1);
    b->next_sink = AR_NEW_ARRAY(b->scratch, uint32_t, g->sinks.count + 1);
    b->has_count = AR_NEW_ARRAY(b->scratch, bool, g->sinks.count + 1);
    b->is_open = AR_NEW_ARRAY(b->scratch, bool, g->sinks.count + 1);
    for (uint32_t i = 0; i < g->edges.count; i++) {
        uint32_t from = ar_cell_find(g, g->edges.data[i].from);
        b->next_out[i] = b->first_out[from];
        b->first_out[from] = i + 1;
    }
    for (uint32_t i = 0; i < g->sinks.count; i++) {
        uint32_t count = ar_cell_find(g, g->sinks.data[i].count);
        b->next_sink[i] = b->first_sink[count];
        b->first_sink[count] = i + 1;
    }
}

static void meet(bytes *b, uint32_t cell) {
    cell = ar_cell_find(b->g, cell);
    if (b->mark[cell] == b->walk)
        return;
    b->mark[cell] = b->walk;
    AR_PUSH(b->scratch, &b->work, cell);
}

/* Walks on from what is in b->work; true sinks are appended to `met`. */
static void spread(bytes *b, id_list *met) {
    while (b->work.count) {
        uint32_t cell = b->work.data[--b->work.count];
        for (uint32_t s = b->first_sink[cell]; s; s = b->next_sink[s - 1])
            AR_PUSH(b->scratch, met, s - 1);
        for (uint32_t e = b->first_out[cell]; e; e = b->next_out[e - 1])
            meet(b, b->g->edges.data[e - 1].to);
    }
}

static bool holds_floats(ar_graph *g, uint32_t cell) {
    return ar_cell_has(g, cell, AR_FACT_SCALAR + AR_SCALAR_FLOAT) != NULL;
}

static int compare_ids(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Cells stand in site.classes until classes are numbered. */
static void give_classes(bytes *b, ar_raw_site *site, const id_list *sinks) {
    id_list cells = {0};
    if (site->cell)
        AR_PUSH(b->g->arena, &cells, ar_cell_find(b->g, site->cell));
    for (uint32_t i = 0; i < sinks->count; i++) {
        uint32_t memory =
            ar_cell_find(b->g, b->g->sinks.data[sinks->data[i]].memory);
        if (holds_floats(b->g, memory))
            AR_PUSH(b->g->arena, &cells, memory);
    }
    if (cells.count)
        qsort(cells.data, cells.count, sizeof *cells.data, compare_ids);
    uint32_t unique = 0;
    for (uint32_t i = 0; i < cells.count; i++)
        if (!i || cells.data[i] != cells.data[i - 1])
            cells.data[unique++] = cells.data[i];
    site->site.classes = cells.data;
    site->site.class_count = unique;
}

static int compare_sources(const void *a, const void *b) {
    const ar_size_source *x = a, *y = b;
    if (x->site != y->site)
        return (x->site > y->site) - (x->site < y->site);
    return (x->cell > y->cell) - (x->cell < y->cell);
}

static void follow_sizeofs(bytes *b) {
    ar_graph *g = b->g;
    if (g->sources.count)
        qsort(g->sources.data, g->sources.count, sizeof *g->sources.data,
              compare_sources);
    for (uint32_t i = 0; i < g->sources.count;) {
        uint32_t site = g->sources.data[i].site;
        b->walk++;
        for (; i < g->sources.count && g->sources.data[i].site == site; i++)
            meet(b, g->sources.data[i].cell);
        id_list met = {0};
        spread(b, &met);
        for (uint32_t s = 0; s < met.count; s++)
            b->has_count[met.data[s]] = true;
        if (site < g->sites.count)
            give_classes(b, &g->sites.data[site], &met);
    }
}

/* A count that comes in through a parameter is judged at the calls. */
static void find_open(bytes *b) {
    ar_graph *g = b->g;
    b->walk++;
    for (uint32_t i = 1; i < g->cells.count; i++)
        if (g->cells.data[i].parent == i && g->cells.data[i].is_generic)
            meet(b, i);
    id_list met = {0};
    spread(b, &met);
    for (uint32_t s = 0; s < met.count; s++)
        b->is_open[met.data[s]] = true;
}

void ar_bytes_resolve(ar_graph *g) {
    bytes b = {.g = g, .scratch = ar_arena_new()};
    if (g->cells.count) {
        index_graph(&b);
        follow_sizeofs(&b);
        find_open(&b);
    }
    for (uint32_t i = 0; i < g->sinks.count; i++) {
        const ar_sink *sink = &g->sinks.data[i];
        if (sink->origin && b.has_count[sink->origin - 1])
            b.has_count[i] = true; /* the callee's text has the sizeof */
        if (b.has_count[i] || b.is_open[i] || !holds_floats(g, sink->memory))
            continue;
        ar_cell_pin(
            g, sink->memory, AR_PIN_LITERAL_BYTES, sink->where,
            ar_sprintf(g->arena,
                       "the byte count of %s does not come from a sizeof",
                       sink->what));
    }
    for (uint32_t i = 0; i < g->sites.count; i++) {
        ar_raw_site *site = &g->sites.data[i];
        if (site->site.kind == AR_SITE_SIZEOF && !site->site.class_count)
            give_classes(&b, site, &(id_list){0});
    }
    ar_arena_free(b.scratch);
}
