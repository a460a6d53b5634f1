#include "core/slots.h"

#include <time.h>

/* ---- functions and who names whom ---------------------------------------- */

static void find_functions(ar_graph *g) {
    ar_program *program = g->program;
    g->function_of =
        AR_NEW_ARRAY(g->arena, uint32_t, program->entities.count + 1);
    g->entity_cell =
        AR_NEW_ARRAY(g->arena, uint32_t, program->entities.count + 1);
    g->scratch_uses.arena = g->arena;
    g->arena_of.arena = g->arena;
    g->is_scratch = AR_NEW_ARRAY(g->arena, bool, program->entities.count + 1);
    for (uint32_t i = 0; i < program->entities.count; i++) {
        ar_entity *entity = &program->entities.data[i];
        if (entity->decl->kind != AR_DECL_FUNCTION || !entity->decl->body)
            continue;
        ar_function f = {
            .entity = entity, .decl = entity->decl, .unit = entity->unit};
        AR_PUSH(g->arena, &g->functions, f);
        g->function_of[i] = g->functions.count;
    }
}

static void note_callee(void *context, ar_unit *unit, ar_decl *function,
                        ar_node *node) {
    (void)unit;
    ar_graph *g = context;
    if (!function || node->kind != AR_REF || !node->decl ||
        node->decl->kind != AR_DECL_FUNCTION)
        return;
    uint32_t from = g->function_of[ar_entity_of(g->program, function)->id];
    uint32_t to = g->function_of[ar_entity_of(g->program, node->decl)->id];
    if (from && to)
        AR_PUSH(g->arena, &g->functions.data[from - 1].callees, to - 1);
}

/* Tarjan's components come out callees first. */
typedef struct component_search {
    ar_graph *g;
    uint32_t *index, *low;
    bool *on_stack;
    AR_VEC(uint32_t) stack;
    uint32_t next_index;
    AR_VEC(uint32_t) order; /* functions, component by component */
    uint32_t components;
} component_search;

static void search(component_search *s, uint32_t v) {
    s->index[v] = s->low[v] = ++s->next_index;
    AR_PUSH(s->g->arena, &s->stack, v);
    s->on_stack[v] = true;
    const ar_function *f = &s->g->functions.data[v];
    for (uint32_t i = 0; i < f->callees.count; i++) {
        uint32_t to = f->callees.data[i];
        if (!s->index[to])
            search(s, to);
        if (s->on_stack[to] && s->low[to] < s->low[v])
            s->low[v] = s->low[to];
    }
    if (s->low[v] != s->index[v])
        return;
    uint32_t member;
    s->components++;
    do {
        member = s->stack.data[--s->stack.count];
        s->on_stack[member] = false;
        s->g->functions.data[member].component = s->components;
        AR_PUSH(s->g->arena, &s->order, member);
    } while (member != v);
}

static component_search find_components(ar_graph *g) {
    uint32_t count = g->functions.count;
    component_search s = {.g = g,
                          .index = AR_NEW_ARRAY(g->arena, uint32_t, count + 1),
                          .low = AR_NEW_ARRAY(g->arena, uint32_t, count + 1),
                          .on_stack = AR_NEW_ARRAY(g->arena, bool, count + 1)};
    ar_program_visit(g->program, note_callee, g);
    for (uint32_t i = 0; i < count; i++)
        if (!s.index[i])
            search(&s, i);
    return s;
}

/* ---- the stages ---------------------------------------------------------- */

static void read_component(ar_graph *g, const uint32_t *members,
                           uint32_t count) {
    uint32_t first_edge = g->edges.count, first_sink = g->sinks.count,
             first_source = g->sources.count;
    for (uint32_t i = 0; i < count; i++) {
        ar_function *f = &g->functions.data[members[i]];
        f->cell = ar_cell_of(g, f->decl);
        g->cells.data[f->cell].has_body = true;
    }
    for (uint32_t i = 0; i < count; i++) {
        g->owner = members[i] + 1;
        ar_flows_of_function(g, &g->functions.data[members[i]]);
    }
    g->owner = 0;
    for (uint32_t i = 0; i < count; i++)
        ar_function_generalise(g, &g->functions.data[members[i]], first_edge,
                               first_sink, first_source);
}

static void read_functions(ar_graph *g) {
    component_search s = find_components(g);
    for (uint32_t i = 0; i < s.order.count;) {
        uint32_t end = i + 1;
        uint32_t component = g->functions.data[s.order.data[i]].component;
        while (end < s.order.count &&
               g->functions.data[s.order.data[end]].component == component)
            end++;
        read_component(g, &s.order.data[i], end - i);
        i = end;
    }
}

static void read_globals(ar_graph *g) {
    for (uint32_t i = 0; i < g->program->entities.count; i++) {
        const ar_entity *entity = &g->program->entities.data[i];
        for (uint32_t j = 0; j < entity->all_count; j++) {
            ar_decl *decl = entity->all[j];
            if (decl->kind != AR_DECL_VAR || !decl->is_file_scope ||
                !decl->init)
                continue;
            ar_flows_of_variable(g, entity->unit, decl);
            break; /* the others are the same text in other units */
        }
    }
}

/* Facts found after a summary was copied, the pins of byte counts, reach the
 * calls here. Calls were recorded callees first. */
static void propagate(ar_graph *g) {
    for (uint32_t i = 0; i < g->calls.count; i++) {
        const ar_raw_call *call = &g->calls.data[i];
        for (uint32_t j = 0; j < call->map_count; j++) {
            const ar_fact *fact =
                g->cells.data[ar_cell_find(g, call->map[j].from)].facts;
            for (; fact; fact = fact->next)
                ar_cell_fact(g, call->map[j].to, fact->kind, fact->where,
                             fact->text, fact->index);
        }
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static ar_graph collect(ar_arena *arena, ar_program *program,
                        const ar_rules *rules, bool *apart, ar_diags *diags) {
    ar_graph g = {.arena = arena,
                  .program = program,
                  .rules = rules,
                  .diags = diags,
                  .is_apart = apart,
                  .facts = AR_NEW(arena, ar_storage_facts)};
    g.mixed.arena = arena;
    if (apart)
        g.is_mixed = AR_NEW_ARRAY(arena, bool, program->entities.count + 1u);
    ar_cell_new(&g); /* so that no cell has the number 0 */
    find_functions(&g);
    ar_scratch_find(&g);
    ar_arenas_find(&g);
    read_functions(&g);
    read_globals(&g);
    ar_pins_of_declarations(&g);
    ar_pins_of_unseen(&g);
    ar_pins_of_unknown_calls(&g);
    ar_pins_of_objects(&g);
    ar_bytes_resolve(&g);
    propagate(&g);
    ar_pins_of_kinds(&g);
    ar_pins_of_mixtures(&g);
    ar_objects_check(&g);
    return g;
}

/* What turned out to be no plain struct is not told apart. */
static bool drop_mixed(const ar_graph *g) {
    bool any = false;
    for (uint32_t i = 0; g->is_apart && i < g->program->entities.count; i++) {
        any |= g->is_apart[i] && g->is_mixed[i];
        g->is_apart[i] = g->is_apart[i] && !g->is_mixed[i];
    }
    return any;
}

ar_storage_facts *ar_storage_collect(ar_arena *arena, ar_program *program,
                                     const ar_rules *rules, const bool *apart,
                                     ar_diags *diags) {
    double start = now();
    bool *left = NULL;
    if (apart) {
        left = AR_NEW_ARRAY(arena, bool, program->entities.count + 1u);
        memcpy(left, apart, program->entities.count * sizeof *left);
    }
    ar_graph g = collect(arena, program, rules, left, diags);
    while (drop_mixed(&g))
        g = collect(arena, program, rules, left, diags);
    ar_objects_find(&g);
    ar_sites_of_declarations(&g);
    ar_sites_of_records(&g);
    ar_sites_mark_macros(&g);
    ar_classes_make(&g);
    g.facts->cell_count = g.cells.count;
    g.facts->seconds = now() - start;
    return g.facts;
}
