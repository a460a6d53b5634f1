#include "report/audit.h"

#include "core/chains.h"
#include "core/naming.h"

#include <ctype.h>
#include <stdlib.h>

typedef struct builder {
    ar_run *run;
    ar_arena *arena;
    ar_audit *audit;
    /* entity id -> what is stored in it, from the pointer stores */
    const ar_cell **points_to;
    bool *points_to_both; /* what carries the loss scale and what does not */
} builder;

static const char *place(builder *b, ar_range range) {
    return ar_place(b->arena, &b->run->program->files, range);
}

/* ---- ops ---------------------------------------------------------------- */

static const char *reason_place(builder *b, const ar_op_site *site) {
    if (site->reason_at.file != AR_NO_FILE)
        return place(b, site->reason_at);
    if (site->rule && site->rule->range.file != AR_NO_FILE)
        return ar_place(b->arena, &b->run->rule_files, site->rule->range);
    return NULL;
}

static void add_ops(builder *b) {
    const ar_ops *ops = b->run->ops;
    for (uint32_t i = 0; i < ops->list.count; i++) {
        const ar_op_site *site = &ops->list.data[i];
        ar_audit_op row = {
            .site = site,
            .function = site->function ? site->function->name : NULL,
            .callee = site->callee ? site->callee->decl->name : NULL,
            .place = place(b, site->node->range),
            .reason_place = reason_place(b, site)};
        AR_PUSH(b->arena, &b->audit->ops, row);
        b->audit->half_ops += site->half;
        if (site->half)
            b->audit->casts += ar_half_operands(site->rule);
        bool known = !site->unlock;
        for (uint32_t k = 0; !known && k < b->audit->unlocks.count; k++)
            known = strcmp(b->audit->unlocks.data[k], site->unlock) == 0;
        if (!known)
            AR_PUSH(b->arena, &b->audit->unlocks, site->unlock);
    }
}

/* ---- buffers ------------------------------------------------------------ */

/* Of several parts of one buffer, or several buffers behind one pointer, the
 * one whose role tells most: in the order of ar_role, none last. */
static bool tells_more(const ar_cell *a, const ar_cell *b) {
    if (!b || (a->role == AR_ROLE_NONE) != (b->role == AR_ROLE_NONE))
        return !b || a->role != AR_ROLE_NONE;
    return a->degree != b->degree ? a->degree > b->degree : a->role < b->role;
}

static const ar_cell *cell_of(const ar_scale *scale, const ar_chains *cells,
                              const ar_object *object, bool at_start) {
    const ar_cell *found = NULL;
    for (uint32_t i = ar_chain(cells, ar_key(object)); i; i = cells->next[i]) {
        const ar_cell *cell = scale->cells.data[i - 1];
        /* a pointer to the start may reach everything behind it */
        if (cell->scalar && (at_start || cell->is_region) &&
            tells_more(cell, found))
            found = cell;
    }
    return found;
}

/* The variable or field that an assignment, or a call through an argument,
 * stores a pointer in. */
static const ar_decl *stored_in(const ar_pointer_store *store) {
    if (store->variable)
        return store->variable;
    if (store->node->kind != AR_ASSIGN && store->node->kind != AR_CALL)
        return NULL;
    const ar_node *target = store->node->kind == AR_CALL
                                ? ar_stored_through(store->node)
                                : store->node->kids[0];
    while (target && (target->kind == AR_INDEX || target->kind == AR_DEREF ||
                      target->kind == AR_IMPLICIT || target->kind == AR_CAST))
        target = target->kids[0];
    return target ? target->decl : NULL;
}

static void note_pointers(builder *b) {
    const ar_scale *scale = b->run->scale;
    b->points_to = AR_NEW_ARRAY(b->arena, const ar_cell *,
                                b->run->program->entities.count + 1u);
    ar_chains cells = ar_chains_new(b->arena, scale->cells.count);
    for (uint32_t i = scale->cells.count; i-- > 0;)
        ar_chain_add(&cells, ar_key(scale->cells.data[i]->object), i);
    b->points_to_both =
        AR_NEW_ARRAY(b->arena, bool, b->run->program->entities.count + 1u);
    for (uint32_t i = 0; i < scale->stores.count; i++) {
        const ar_pointer_store *store = &scale->stores.data[i];
        const ar_decl *decl = stored_in(store);
        const ar_cell *cell =
            cell_of(scale, &cells, store->target, store->at_start);
        if (!decl || !cell || decl->kind == AR_DECL_FUNCTION)
            continue;
        const ar_entity *entity = ar_entity_of(b->run->program, decl);
        const ar_cell **slot = &b->points_to[entity->id];
        if (*slot && (*slot)->degree != cell->degree)
            b->points_to_both[entity->id] = true;
        if (tells_more(cell, *slot))
            *slot = cell;
    }
    for (uint32_t i = 0; i < scale->cells.count; i++) {
        const ar_cell *cell = scale->cells.data[i];
        if (cell->object->decl && cell->scalar && !*cell->path)
            b->points_to[ar_entity_of(b->run->program, cell->object->decl)
                             ->id] = cell;
    }
}

static bool is_registered(const builder *b, const ar_object *object) {
    return ar_table_get(&b->run->plan.registered, ar_key(object), 0) != 0;
}

/* A buffer that is scaled in place at the seed carries the scale from there. */
static bool is_scaled_in_place(const ar_scale *scale, const ar_cell *cell) {
    for (uint32_t i = 0; i < scale->group_count; i++)
        for (uint32_t k = 0; k < scale->groups[i].seed_count; k++) {
            const ar_seed *seed = &scale->groups[i].seeds[k];
            if (seed->form == AR_SEED_BUFFER && seed->cell == cell)
                return true;
        }
    return false;
}

/* The loops whose sums in it an FP32 scratch holds. */
static const char *scratch_places(builder *b, const ar_storage_class *memory) {
    const ar_storage_sums *sums = b->run->storage_plan->sums;
    const ar_sum_scratch *last = NULL;
    ar_str out = {.arena = b->arena};
    for (uint32_t i = 0; i < memory->accumulator_count; i++) {
        const ar_sum_scratch *s = sums->of[memory->accumulators[i]];
        if (s && s != last)
            ar_str_addf(&out, "%s%s", last ? ", " : "",
                        place(b, s->loop->range));
        last = s ? s : last;
    }
    return last ? ar_str_text(&out) : NULL;
}

/* From the decision about the class; its role is that of all the class. */
static void describe_decision(builder *b, ar_audit_buffer *row, uint32_t id) {
    if (b->run->options->level < AR_LEVEL_O2 || id == AR_NO_ID)
        return;
    const ar_storage_decision *d = &b->run->storage_plan->classes[id];
    row->half = d->half;
    row->reason = d->reason;
    row->reason_place = d->reason_at.file != AR_NO_FILE && d->reason_at.end
                            ? place(b, d->reason_at)
                            : NULL;
    row->unlock = d->unlock;
    row->scratch_places =
        d->half
            ? scratch_places(b, &b->run->storage_plan->facts->classes.data[id])
            : NULL;
    if (row->role == AR_ROLE_NONE)
        row->role = d->role;
    b->audit->half_buffers += d->half;
}

static void describe(builder *b, ar_audit_buffer *row, const ar_cell *cell) {
    row->reason = b->run->options->level == AR_LEVEL_O0
                      ? "-O0 changes nothing"
                      : ar_sprintf(b->arena, "%s keeps all storage FP32",
                                   ar_level_name(b->run->options->level));
    row->degree = -1;
    row->group = -1;
    if (!cell)
        return;
    row->role = cell->role;
    row->also_state = cell->also_state;
    row->group = cell->group;
    if (b->run->scale->outcome == AR_SCALE_FOUND)
        row->degree =
            is_scaled_in_place(b->run->scale, cell) ? 1 : cell->degree;
    row->cast_cached = cell->role == AR_ROLE_PARAM && b->run->ops->half_count &&
                       is_registered(b, cell->object);
    if (cell->reason)
        row->reason =
            ar_sprintf(b->arena, "%s (%s)", row->reason, cell->reason);
    if (cell->reason_at.file != AR_NO_FILE && cell->reason_at.end)
        row->reason_place = place(b, cell->reason_at);
}

/* What only the training loop repeats is an update from step to step. */
static const ar_accumulator *first_sum(const builder *b,
                                       const ar_storage_class *memory) {
    const ar_node *training = b->run->scale->loop;
    for (uint32_t i = 0; i < memory->accumulator_count; i++) {
        const ar_accumulator *sum =
            &b->run->storage->accumulators.data[memory->accumulators[i]];
        if (!training || sum->inner_loop != training ||
            sum->outer_loop != training)
            return sum;
    }
    return NULL;
}

static void describe_class(builder *b, ar_audit_buffer *row,
                           const ar_storage_class *memory) {
    if (memory->pin_count) {
        row->pin = memory->pins[0].reason;
        row->pin_place = place(b, memory->pins[0].where.range);
    }
    const ar_accumulator *sum = first_sum(b, memory);
    if (sum) {
        row->accumulates = ar_accumulator_name(sum->kind);
        row->accumulates_place = place(b, sum->where.range);
    }
    describe_decision(b, row, memory->id);
}

static void describe_storage(builder *b, ar_audit_buffer *row,
                             const ar_decl *decl) {
    const ar_storage_class *memory =
        ar_storage_of(b->run->storage, b->run->program, decl);
    if (memory)
        describe_class(b, row, memory);
}

static const ar_cell *cell_in(const builder *b, uint32_t class_id) {
    const ar_scale *scale = b->run->scale;
    for (uint32_t i = 0; i < scale->cells.count; i++)
        if (ar_storage_class_of_cell(b->run->storage_plan,
                                     scale->cells.data[i]) == class_id)
            return scale->cells.data[i];
    return NULL;
}

/* A field of a struct that is told apart by object: a row for each object that
 * something holds, and that is no function's parameter. */
static bool add_objects(builder *b, const ar_entity *field) {
    const ar_storage_facts *facts = b->run->storage;
    uint32_t slot = facts->first_slot[field->id];
    if (!slot || !facts->slots.data[slot - 1].object)
        return false;
    for (; slot; slot = facts->next_slot[slot - 1]) {
        const ar_slot *one = &facts->slots.data[slot - 1];
        const ar_storage_class *memory = &facts->classes.data[one->class_id];
        if (!one->holder || memory->generic_of)
            continue;
        ar_audit_buffer row = {
            .name =
                ar_sprintf(b->arena, "%s.%s", one->holder, field->decl->name),
            .kind = "field",
            .type = field->decl->type->spelling,
            .place = place(b, field->decl->name_range)};
        describe(b, &row, cell_in(b, one->class_id));
        describe_class(b, &row, memory);
        AR_PUSH(b->arena, &b->audit->buffers, row);
    }
    return true;
}

static const char *entity_name(builder *b, const ar_decl *decl) {
    if (decl->kind == AR_DECL_FIELD && decl->parent && *decl->parent->name)
        return ar_sprintf(b->arena, "%s.%s", decl->parent->name, decl->name);
    if (decl->parent && decl->parent->kind == AR_DECL_FUNCTION)
        return ar_sprintf(b->arena, "%s:%s", decl->parent->name, decl->name);
    return decl->name;
}

static void add_entities(builder *b) {
    ar_program *program = b->run->program;
    for (uint32_t i = 0; i < program->entities.count; i++) {
        const ar_entity *entity = &program->entities.data[i];
        const ar_decl *decl = entity->decl;
        if ((decl->kind != AR_DECL_VAR && decl->kind != AR_DECL_FIELD &&
             decl->kind != AR_DECL_PARAM) ||
            decl->is_system || !*decl->name || ar_float_depth(decl->type) < 1)
            continue;
        /* parameters of prototypes and of function types name no memory */
        if (decl->kind == AR_DECL_PARAM &&
            !(decl->parent && decl->parent->body))
            continue;
        if (decl->kind == AR_DECL_FIELD && add_objects(b, entity))
            continue;
        ar_audit_buffer row = {.name = entity_name(b, decl),
                               .kind = decl->kind == AR_DECL_FIELD ? "field"
                                       : decl->kind == AR_DECL_PARAM
                                           ? "parameter"
                                           : "variable",
                               .type = decl->type->spelling,
                               .place = place(b, decl->name_range)};
        describe(b, &row, b->points_to[entity->id]);
        row.degree_in_part = row.degree >= 0 && b->points_to_both[entity->id];
        describe_storage(b, &row, decl);
        AR_PUSH(b->arena, &b->audit->buffers, row);
    }
}

static ar_root_rank any_root(void *context, const ar_object *variable) {
    const builder *b = context;
    const ar_decl *loop = b->run->scale->loop_function;
    bool good = variable->kind == AR_OBJECT_GLOBAL ||
                (variable->decl->parent && variable->decl->parent == loop);
    return good ? AR_ROOT_GOOD : AR_ROOT_POOR;
}

static const char *heap_name(builder *b, const ar_object_name *names,
                             const ar_cell *cell) {
    const char *base = names[cell->object->id].text;
    if (!base || cell->is_region)
        return cell->name ? cell->name : cell->path;
    if (*cell->path == '.')
        return ar_sprintf(b->arena, "%s->%s", base, cell->path + 1);
    return ar_sprintf(b->arena, "%s%s", base, cell->path);
}

/* One allocation in many contexts, or a field of each kind of record in a
 * table: rows that say the same are one. */
static bool is_new_row(builder *b, ar_strmap *seen,
                       const ar_audit_buffer *row) {
    const char *key = ar_sprintf(
        b->arena, "%s|%s|%d|%d|%d|%d|%d|%d|%s|%s|%s|%s", row->place, row->name,
        (int)row->role, row->also_state, row->degree, row->group,
        row->cast_cached, row->half, row->reason ? row->reason : "",
        row->reason_place ? row->reason_place : "", row->pin ? row->pin : "",
        row->accumulates ? row->accumulates : "");
    if (ar_strmap_get(seen, key))
        return false;
    ar_strmap_put(seen, key, b);
    return true;
}

static void add_heap(builder *b) {
    const ar_scale *scale = b->run->scale;
    ar_strmap seen = {.arena = b->arena};
    const ar_object_name *names = ar_name_objects(b->arena, scale, any_root, b);
    ar_table in_parts = {.arena = b->arena};
    for (uint32_t i = 0; i < scale->cells.count; i++)
        if (scale->cells.data[i]->is_region)
            ar_table_put(&in_parts, scale->cells.data[i]->object->id, 0, 1);
    for (uint32_t i = 0; i < scale->cells.count; i++) {
        const ar_cell *cell = scale->cells.data[i];
        if (cell->object->kind != AR_OBJECT_HEAP || !cell->scalar)
            continue;
        ar_audit_buffer row = {.name = heap_name(b, names, cell),
                               .kind = "heap",
                               .type = ar_is_float(cell->scalar)
                                           ? "float"
                                           : cell->scalar->spelling,
                               .place = place(b, cell->object->site->range)};
        uint32_t id = ar_storage_class_of_cell(b->run->storage_plan, cell);
        describe(b, &row, cell);
        if (id == AR_NO_ID && b->run->options->level >= AR_LEVEL_O2)
            row.reason = ar_is_float(cell->scalar)
                             ? "no pointer to float is seen to name it"
                             : ar_sprintf(b->arena, "it is stored as %s",
                                          cell->scalar->spelling);
        if (!cell->is_region && ar_table_get(&in_parts, cell->object->id, 0))
            row.reason = ar_sprintf(
                b->arena, "%s; what lies outside its named parts", row.reason);
        describe_decision(b, &row, id);
        if (is_new_row(b, &seen, &row))
            AR_PUSH(b->arena, &b->audit->buffers, row);
    }
}

static void add_versions(builder *b) {
    const ar_storage_versions *versions =
        b->run->storage_plan ? b->run->storage_plan->versions : NULL;
    for (uint32_t i = 0; versions && i < versions->functions.count; i++) {
        const ar_function_versions *f = versions->functions.data[i];
        const ar_decl *decl = f->function->decl;
        for (uint32_t k = 1; k < f->list.count; k++) {
            ar_audit_version row = {decl->name, place(b, decl->name_range),
                                    f->list.data[k].name,
                                    f->list.data[k].about};
            AR_PUSH(b->arena, &b->audit->versions, row);
        }
    }
}

/* ---- loss scale --------------------------------------------------------- */

static const char *line_text(builder *b, ar_range range) {
    ar_range line =
        ar_line_range(&b->run->program->files, range.file, range.begin);
    const char *text = ar_text(b->arena, &b->run->program->files, line);
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

static void add_place(builder *b, const char *what, int group,
                      const ar_node *node) {
    if (!node)
        return;
    ar_audit_place row = {.what = what,
                          .place = place(b, node->range),
                          .text = line_text(b, node->range),
                          .group = group};
    AR_PUSH(b->arena, &b->audit->places, row);
}

static void add_scale(builder *b) {
    const ar_scale *scale = b->run->scale;
    for (uint32_t i = 0; i < scale->assumptions.count; i++)
        AR_PUSH(b->arena, &b->audit->assumptions, scale->assumptions.data[i]);
    if (scale->loop)
        add_place(b, "training loop", -1, scale->loop);
    for (uint32_t i = 0; i < scale->group_count; i++) {
        const ar_group *group = &scale->groups[i];
        for (uint32_t k = 0; k < group->seed_count; k++)
            add_place(b, "seed", group->index, group->seeds[k].node);
        add_place(b, "carry", group->index, group->carry_before);
        add_place(b, "unscale", group->index, group->unscale_before);
        for (uint32_t k = 0; k < group->fused_count; k++)
            add_place(b, "fused update", group->index, group->fused[k].term);
        if (!group->fused_count)
            add_place(b, "step", group->index, group->step.first);
    }
    switch (scale->outcome) {
    case AR_SCALE_NO_LOOP:
        b->audit->scale_text = "no training loop found; no loss scaling";
        break;
    case AR_SCALE_FOUND:
        b->audit->scale_text =
            b->run->plan.scaled
                ? "an exact place was found"
                : "an exact place was found, but nothing needs it";
        break;
    case AR_SCALE_NO_SEED:
        b->audit->scale_text =
            "no exact place exists; use bf16 or a loss scale of 1";
        break;
    case AR_SCALE_GAVE_UP:
        b->audit->scale_text = "the analysis could not finish";
        break;
    }
}

static void add_skipped(builder *b) {
    ar_program *program = b->run->program;
    for (uint32_t u = 0; u < program->unit_count; u++) {
        const ar_unit *unit = program->units[u];
        for (uint32_t i = 0; i < unit->skipped.count; i++) {
            const ar_range *range = &unit->skipped.data[i];
            ar_audit_skipped row = {
                program->files.list.data[range->file].name,
                ar_line_col_at(&program->files, range->file, range->begin).line,
                ar_line_col_at(&program->files, range->file, range->end).line};
            bool known = false;
            for (uint32_t k = 0; k < b->audit->skipped.count; k++)
                known |=
                    strcmp(b->audit->skipped.data[k].file, row.file) == 0 &&
                    b->audit->skipped.data[k].first_line == row.first_line;
            if (!known)
                AR_PUSH(b->arena, &b->audit->skipped, row);
        }
    }
}

ar_audit *ar_audit_make(ar_run *run) {
    builder b = {
        .run = run, .arena = run->arena, .audit = AR_NEW(run->arena, ar_audit)};
    add_ops(&b);
    note_pointers(&b);
    add_entities(&b);
    add_heap(&b);
    add_versions(&b);
    ar_audit_add_memory(run, b.audit);
    add_scale(&b);
    add_skipped(&b);
    return b.audit;
}
