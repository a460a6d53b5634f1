/* Which structs are worth telling apart by object, and whether it paid. */
#include "core/storage_apart.h"

#include "core/storage_solver.h"

typedef struct chooser {
    ar_program *program;
    ar_storage_solver level; /* for what the level says of roles */
    bool *apart;             /* by entity */
    uint32_t count;
} chooser;

/* ---- structs ------------------------------------------------------------- */

enum { MAX_FIELDS = 64 };

static bool is_c_alone(const ar_program *program) {
    for (uint32_t u = 0; u < program->unit_count; u++)
        if (program->units[u]->language != AR_LANG_C)
            return false;
    return true;
}

static bool holds_record(const ar_decl *field, const ar_entity *record) {
    const ar_type *type = ar_address_bottom(field->type);
    return ar_is_kind(type, AR_TYPE_RECORD) && type->record->id == record->id;
}

/* The floats behind it are what it is about: pointers, and numbers beside
 * them. Floats inside would make the copies differ in size. */
static bool is_handle(const ar_entity *record) {
    const ar_decl *decl = record->decl;
    bool any = false;
    if (decl->kind != AR_DECL_RECORD || decl->is_union || decl->is_system ||
        !record->in_rewrite_set || decl->member_count > MAX_FIELDS)
        return false;
    for (uint32_t i = 0; i < decl->member_count; i++) {
        const ar_decl *field = decl->members[i];
        const ar_type *element = ar_array_bottom(field->type);
        bool is_array = element != field->type;
        if (holds_record(field, record) || (is_array && ar_is_float(element)) ||
            (ar_is_kind(element, AR_TYPE_RECORD) && element->record->is_union))
            return false;
        any |= ar_is_kind(element, AR_TYPE_POINTER) &&
               ar_float_depth(field->type) > 0;
    }
    return any;
}

/* One text, one type of each field, in all units. */
static bool has_one_shape(ar_program *program, const ar_entity *record) {
    for (uint32_t i = 0; i < record->decl->member_count; i++) {
        const ar_entity *field =
            ar_entity_of(program, record->decl->members[i]);
        for (uint32_t k = 1; k < field->all_count; k++)
            if (strcmp(field->all[k]->type->spelling,
                       field->all[0]->type->spelling) != 0)
                return false;
    }
    return true;
}

static void choose(chooser *c, const ar_decl *record) {
    const ar_entity *entity = ar_entity_of(c->program, record);
    if (c->apart[entity->id] || !is_handle(entity) ||
        !has_one_shape(c->program, entity))
        return;
    c->apart[entity->id] = true;
    c->count++;
}

/* Of a struct in a struct, the inner one: its copies would be named in those of
 * the outer. */
static void drop_outer(chooser *c) {
    for (uint32_t i = 0; i < c->program->entities.count; i++) {
        const ar_decl *decl = c->program->entities.data[i].decl;
        for (uint32_t k = 0; c->apart[i] && k < decl->member_count; k++) {
            const ar_type *type = ar_address_bottom(decl->members[k]->type);
            if (ar_is_kind(type, AR_TYPE_RECORD) && c->apart[type->record->id])
                c->apart[i] = false;
        }
    }
}

/* ---- the trigger --------------------------------------------------------- */

/* FP32 with a role in it that the level wants half. */
static bool disagrees(chooser *c, const ar_storage_decision *decision) {
    const char *by;
    for (uint32_t role = 1; role < AR_ROLE_COUNT && !decision->half; role++)
        if (decision->roles & 1u << role &&
            ar_storage_role_is_half(&c->level, (ar_role)role, &by))
            return true;
    return false;
}

static bool *choose_apart(ar_arena *arena, ar_program *program,
                          const ar_rules *rules, const ar_storage_plan *plan) {
    const ar_storage_facts *facts = plan->facts;
    chooser c = {
        .program = program,
        .level = {.arena = arena, .rules = rules, .policy = plan->policy},
        .apart = AR_NEW_ARRAY(arena, bool, program->entities.count + 1u)};
    if (plan->policy.level < AR_LEVEL_O2 || !is_c_alone(program))
        return NULL;
    for (uint32_t i = 0; i < facts->slots.count; i++) {
        const ar_slot *slot = &facts->slots.data[i];
        const ar_decl *decl = slot->entity->decl;
        if (slot->is_float && slot->level > 0 && decl->kind == AR_DECL_FIELD &&
            decl->parent && disagrees(&c, &plan->classes[slot->class_id]))
            choose(&c, decl->parent);
    }
    drop_outer(&c);
    return c.count ? c.apart : NULL;
}

/* Memory that the training uses is what counts; the cells of the analysis are
 * the same ones however structs are seen. */
static uint32_t half_cells(const ar_storage_plan *plan, const ar_scale *scale) {
    uint32_t count = 0;
    for (uint32_t i = 0; scale && i < scale->cells.count; i++) {
        const ar_cell *cell = scale->cells.data[i];
        uint32_t id = ar_storage_class_of_cell(plan, cell);
        count += !cell->is_aside && id != AR_NO_ID && plan->classes[id].half;
    }
    return count;
}

static bool leave_out(bool *apart, const ar_type *type) {
    type = ar_address_bottom(type);
    if (!ar_is_kind(type, AR_TYPE_RECORD) || !type->record ||
        !apart[type->record->id])
        return false;
    apart[type->record->id] = false;
    return true;
}

/* An object that goes through a pointer to functions is FP32 with all that its
 * fields point to, where the field of all objects need not be.
 * Leaves such structs out; false: there is none. */
static bool leave_out_called(const ar_storage_plan *plan,
                             const ar_program *program, bool *apart) {
    bool any = false;
    for (uint32_t i = 0; i < program->entities.count; i++) {
        const ar_entity *entity = &program->entities.data[i];
        const ar_type *type = entity->decl->type;
        if (entity->decl->kind != AR_DECL_FUNCTION || !type ||
            !ar_storage_is_function_value(plan->index, entity))
            continue;
        any |= leave_out(apart, type->element);
        for (uint32_t k = 0; k < type->param_count; k++)
            any |= leave_out(apart, type->params[k]);
    }
    return any;
}

static bool is_any(const ar_program *program, const bool *apart) {
    for (uint32_t i = 0; i < program->entities.count; i++)
        if (apart[i])
            return true;
    return false;
}

ar_storage_plan *
ar_solve_storage_apart(ar_arena *arena, ar_program *program,
                       const ar_rules *rules, ar_storage_policy policy,
                       const ar_storage_facts *facts, const ar_ops *ops,
                       const ar_scale *scale, ar_diags *diags) {
    ar_diags said = {.arena = arena};
    ar_storage_plan *plan = ar_solve_storage(arena, program, rules, policy,
                                             facts, ops, scale, &said);
    bool *apart = choose_apart(arena, program, rules, plan);
    for (bool again = apart != NULL; again;) {
        ar_diags said_apart = {.arena = arena};
        facts = ar_storage_collect(arena, program, rules, apart, diags);
        ar_storage_plan *other = ar_solve_storage(
            arena, program, rules, policy, facts, ops, scale, &said_apart);
        if (half_cells(other, scale) > half_cells(plan, scale)) {
            plan = other;
            said = said_apart;
        }
        again =
            leave_out_called(other, program, apart) && is_any(program, apart);
    }
    ar_diags_append(diags, &said);
    return plan;
}
