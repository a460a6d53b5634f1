/* Setting up, and running a program from its roots. */
#include "core/interp.h"

static void link_parents(ar_interp *in, uint32_t unit, ar_node *root) {
    AR_VEC(ar_node *) work = {0};
    AR_PUSH(in->arena, &work, root);
    while (work.count) {
        ar_node *node = work.data[--work.count];
        for (uint32_t i = 0; i < node->kid_count; i++) {
            if (!node->kids[i])
                continue;
            in->parents[unit][node->kids[i]->id] = node;
            in->positions[unit][node->kids[i]->id] = i;
            AR_PUSH(in->arena, &work, node->kids[i]);
        }
        for (uint32_t i = 0; i < node->decl_count; i++) {
            if (!node->decls[i]->init)
                continue;
            in->parents[unit][node->decls[i]->init->id] = node;
            AR_PUSH(in->arena, &work, node->decls[i]->init);
        }
    }
}

static uint32_t unit_index(const ar_interp *in, const ar_unit *unit) {
    uint32_t known = ar_idtable_get(&in->unit_ids, ar_key(unit), 0);
    if (!known)
        AR_BUG("unit '%s' is not of this program", unit->main_name);
    return known - 1;
}

ar_node *ar_interp_parent(const ar_interp *in, const ar_unit *unit,
                          const ar_node *node) {
    return in->parents[unit_index(in, unit)][node->id];
}

uint32_t ar_interp_position(const ar_interp *in, const ar_unit *unit,
                            const ar_node *node) {
    return in->positions[unit_index(in, unit)][node->id];
}

ar_unit *ar_context_unit(const ar_interp *in, uint32_t context) {
    return in->contexts.data[context]->unit;
}

static void note_set(ar_interp *in, const ar_decl *decl, bool is_plain) {
    if (!decl || decl->kind != AR_DECL_VAR || !decl->type ||
        decl->type->kind != AR_TYPE_POINTER)
        return;
    bool is_first = !ar_idtable_get(&in->sets, decl->id + 1ull, 0);
    ar_idtable_put(&in->sets, decl->id + 1ull, 0, is_first && is_plain ? 1 : 2);
}

static void find_sets(void *context, ar_unit *unit, ar_decl *function,
                      ar_node *node) {
    ar_interp *in = context;
    (void)unit;
    (void)function;
    for (uint32_t i = 0; node->kind == AR_DECL_STMT && i < node->decl_count;
         i++)
        if (node->decls[i]->init)
            note_set(in, node->decls[i], true);
    bool changes = node->kind == AR_ASSIGN || node->kind == AR_ADDRESS ||
                   node->kind == AR_COMPOUND_ASSIGN ||
                   (node->kind == AR_UNARY && node->op >= AR_OP_PRE_INC);
    if (!changes)
        return;
    const ar_node *left = ar_skip_casts(node->kids[0]);
    if (left && left->kind == AR_REF)
        note_set(in, left->decl, node->kind == AR_ASSIGN);
}

bool ar_is_set_once(const ar_interp *in, const ar_decl *variable) {
    return ar_idtable_get(&in->sets, variable->id + 1ull, 0) == 1;
}

ar_interp *ar_interp_new(ar_arena *arena, ar_program *program,
                         const ar_rules *rules) {
    ar_interp *in = AR_NEW(arena, ar_interp);
    in->arena = arena;
    in->program = program;
    in->rules = rules;
    in->m = ar_memory_new(arena);
    ar_idtable *tables[] = {
        &in->node_ids,  &in->sink_ids,       &in->context_ids,  &in->loop_ids,
        &in->prescans,  &in->boundary_index, &in->term_nodes,   &in->note_ids,
        &in->store_ids, &in->free_ids,       &in->scalar_ids,   &in->named_sets,
        &in->unit_ids,  &in->symbols,        &in->focus_ids,    &in->sets,
        &in->path_ids,  &in->kind_ids,       &in->named_symbols};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        tables[i]->arena = arena;
    for (uint32_t i = 0; i <= AR_NODE_CONST; i++)
        AR_PUSH(arena, &in->nodes,
                (ar_vnode){.kind = i == AR_NODE_ZERO        ? AR_V_ZERO
                                   : i == AR_NODE_UNDEFINED ? AR_V_UNDEFINED
                                                            : AR_V_CONST});
    AR_PUSH(arena, &in->contexts, NULL);
    AR_PUSH(arena, &in->loops, NULL);
    in->parents = AR_NEW_ARRAY(arena, ar_node **, program->unit_count + 1);
    in->positions = AR_NEW_ARRAY(arena, uint32_t *, program->unit_count + 1);
    for (uint32_t u = 0; u < program->unit_count; u++) {
        ar_unit *unit = program->units[u];
        ar_idtable_put(&in->unit_ids, ar_key(unit), 0, u + 1);
        in->parents[u] = AR_NEW_ARRAY(arena, ar_node *, unit->node_count + 2);
        in->positions[u] = AR_NEW_ARRAY(arena, uint32_t, unit->node_count + 2);
    }
    for (uint32_t i = 0; i < program->entities.count; i++) {
        const ar_entity *e = &program->entities.data[i];
        for (uint32_t k = 0; k < e->all_count; k++)
            if (e->all[k]->body && e->all[k] == e->decl)
                link_parents(in, unit_index(in, e->unit), e->decl->body);
    }
    ar_find_inert(in);
    ar_program_visit(program, find_sets, in);
    return in;
}

/* ---- roots --------------------------------------------------------------- */

static void mark_called(ar_node *node, bool *called) {
    if (node->kind == AR_REF && node->decl &&
        node->decl->kind == AR_DECL_FUNCTION)
        called[node->decl->id] = true;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (node->kids[i])
            mark_called(node->kids[i], called);
    for (uint32_t i = 0; i < node->decl_count; i++)
        if (node->decls[i]->init)
            mark_called(node->decls[i]->init, called);
}

static void add_root(ar_interp *in, ar_decl *function) {
    AR_PUSH(in->arena, &in->main_roots, function->id);
}

/* main; without one, every function that no other calls. */
static void find_roots(ar_interp *in) {
    const ar_program *program = in->program;
    for (uint32_t i = 0; i < program->entities.count; i++) {
        ar_decl *d = program->entities.data[i].decl;
        if (d->kind == AR_DECL_FUNCTION && d->body &&
            strcmp(d->name, "main") == 0)
            add_root(in, d);
    }
    if (in->main_roots.count)
        return;
    bool *called = AR_NEW_ARRAY(in->arena, bool, program->entities.count + 1);
    for (uint32_t i = 0; i < program->entities.count; i++) {
        ar_decl *d = program->entities.data[i].decl;
        if (d->kind == AR_DECL_FUNCTION && d->body)
            mark_called(d->body, called);
    }
    for (uint32_t i = 0; i < program->entities.count; i++) {
        ar_decl *d = program->entities.data[i].decl;
        if (d->kind == AR_DECL_FUNCTION && d->body && !called[i])
            add_root(in, d);
    }
}

/* A parameter of a root: memory from outside, one object each. */
static ar_value outside_value(ar_interp *in, ar_decl *param) {
    const ar_type *type = param->type;
    if (type->kind != AR_TYPE_POINTER && type->kind != AR_TYPE_ARRAY)
        return ar_is_floating(type) ? ar_from_node(AR_NODE_CONST)
                                    : ar_unknown();
    bool is_new;
    ar_mem_object *object = ar_memory_object(
        in->m, (uint64_t)param->id << 2 | 2, (uint64_t)1 << 62, &is_new);
    if (is_new) {
        object->as.kind = AR_OBJECT_GLOBAL;
        object->as.decl = param;
        object->as.unit = ar_entity_of(in->program, param)->unit;
        ar_memory_root(in->m, object, NULL);
    }
    return ar_value_pointer(in, object->root, 0);
}

static void run_root(ar_interp *in, ar_decl *function) {
    ar_value *args =
        AR_NEW_ARRAY(in->arena, ar_value, function->member_count + 1);
    bool is_main = strcmp(function->name, "main") == 0;
    for (uint32_t i = 0; i < function->member_count; i++)
        args[i] =
            is_main ? ar_unknown() : outside_value(in, function->members[i]);
    ar_run_function(in, function->body, function, args, NULL,
                    function->member_count);
}

static void init_globals(ar_interp *in) {
    for (uint32_t i = 0; i < in->program->entities.count; i++) {
        const ar_entity *e = &in->program->entities.data[i];
        ar_decl *d = e->decl;
        if (d->kind != AR_DECL_VAR || !d->init || !d->type ||
            d->storage == AR_STORAGE_AUTO || d->is_system)
            continue;
        uint32_t cell = ar_variable_cell(in, d);
        ar_value address = ar_value_pointer(in, cell, 0);
        ar_init_cell(in, d->init, &address, d->type, d->init);
    }
}

void ar_interp_run(ar_interp *in) {
    if (!in->main_roots.count)
        find_roots(in);
    in->run_start = ++in->clock;
    in->work = 0;
    in->frame = NULL;
    in->breaks = NULL;
    in->active.count = 0;
    in->path = in->fork_depth = 0;
    in->splits.count = in->forks.count = in->forked_tables.count = 0;
    ar_idtable_clear(&in->named_sets);
    ar_idtable_clear(&in->named_symbols);
    ar_context start = {0};
    start.unit = in->program->unit_count ? in->program->units[0] : NULL;
    ar_frame frame = {.context = &start};
    in->state = (ar_state){0};
    in->frame = &frame;
    init_globals(in);
    in->frame = NULL;
    for (uint32_t i = 0; i < in->main_roots.count && !in->gave_up; i++) {
        if (in->state.dead)
            in->state = (ar_state){0};
        run_root(in, in->program->entities.data[in->main_roots.data[i]].decl);
    }
    ar_state_drop(in->m, &in->state);
}
