#include "core/slots.h"

/* The cell that holds the floats of an entity: down its pointer levels. */
static uint32_t memory_of(ar_graph *g, const ar_decl *decl) {
    uint32_t cell = ar_cell_of(g, decl);
    for (const ar_type *type = decl->type; type; type = type->element) {
        if (type->kind == AR_TYPE_POINTER)
            cell = ar_cell_pointee(g, cell);
        else if (type->kind != AR_TYPE_ARRAY)
            break;
    }
    return cell;
}

static ar_where at_decl(ar_unit *unit, const ar_decl *decl) {
    ar_range range =
        decl->name_range.file == AR_NO_FILE ? decl->range : decl->name_range;
    return (ar_where){unit, NULL, range};
}

static bool is_defined(const ar_entity *entity) {
    for (uint32_t i = 0; i < entity->all_count; i++)
        if (entity->all[i]->is_definition || entity->all[i]->init)
            return true;
    return false;
}

static void pin_outside(ar_graph *g, const ar_entity *entity) {
    for (uint32_t i = 0; i < entity->all_count; i++) {
        const ar_decl *decl = entity->all[i];
        ar_file_id file = decl->range.file;
        if (file == AR_NO_FILE ||
            (g->program->editable[file] && !decl->is_system))
            continue;
        const ar_file *header = &g->program->files.list.data[file];
        ar_cell_pin(g, memory_of(g, entity->decl), AR_PIN_OUTSIDE,
                    at_decl(entity->unit, decl),
                    ar_sprintf(g->arena,
                               "declared in '%s', outside the rewrite set",
                               header->name));
        return;
    }
}

static void pin_union(ar_graph *g, const ar_entity *entity) {
    const ar_decl *field = entity->decl, *record = field->parent;
    if (!record || !record->is_union)
        return;
    for (uint32_t i = 0; i < record->member_count; i++) {
        const ar_decl *other = record->members[i];
        if (other->type == field->type ||
            ar_float_depth(other->type) == ar_float_depth(field->type))
            continue;
        ar_cell_pin(g, memory_of(g, field), AR_PIN_UNION,
                    at_decl(entity->unit, field),
                    ar_sprintf(g->arena, "shares a union with '%s' of type %s",
                               other->name, other->type->spelling));
        return;
    }
}

/* One text compiled by several units with another typedef or macro each. */
static void pin_several_types(ar_graph *g, const ar_entity *entity) {
    for (uint32_t i = 0; i < entity->all_count; i++) {
        const ar_type *type = ar_address_bottom(entity->all[i]->type);
        if (!type || type->kind == AR_TYPE_FLOAT)
            continue;
        ar_cell_pin(g, memory_of(g, entity->decl), AR_PIN_SEVERAL_TYPES,
                    at_decl(entity->unit, entity->all[i]),
                    ar_sprintf(g->arena, "its source is compiled as %s as well",
                               type->spelling));
        return;
    }
}

static bool has_slots(ar_graph *g, const ar_entity *entity) {
    const ar_decl *decl = entity->decl;
    if (decl->is_system || ar_float_depth(decl->type) < 0)
        return false;
    switch (decl->kind) {
    case AR_DECL_FIELD:
        return !ar_field_is_apart(g, decl);
    case AR_DECL_VAR:
        return decl->storage != AR_STORAGE_AUTO ||
               g->entity_cell[entity->id] != 0;
    case AR_DECL_PARAM:
        return g->entity_cell[entity->id] != 0;
    case AR_DECL_FUNCTION:
    case AR_DECL_RECORD:
    case AR_DECL_TYPEDEF:
    case AR_DECL_ENUMERATOR:
        return false;
    }
    return false;
}

static void pin_targets(ar_graph *g, const ar_decl *record, ar_pin_kind kind,
                        ar_where where, const char *reason) {
    record = ar_entity_of(g->program, record)->decl;
    for (uint32_t i = 0; i < record->member_count && !record->is_system; i++)
        if (ar_float_depth(record->members[i]->type) > 0 &&
            !ar_field_is_apart(g, record->members[i]))
            ar_cell_pin(g, memory_of(g, record->members[i]), kind, where,
                        reason);
}

/* extern struct matrix m; that others define */
static void pin_foreign_struct(ar_graph *g, const ar_entity *entity) {
    const ar_decl *decl = entity->decl;
    const ar_type *type = ar_address_bottom(decl->type);
    if (decl->kind != AR_DECL_VAR || decl->storage != AR_STORAGE_EXTERN ||
        decl->is_system || decl->is_cuda_shared ||
        !ar_is_kind(type, AR_TYPE_RECORD) || is_defined(entity))
        return;
    const char *reason = "defined outside the program";
    ar_where where = at_decl(entity->unit, decl);
    if (ar_apart_record(g, decl->type))
        ar_cell_pin(g, memory_of(g, decl), AR_PIN_FOREIGN_OBJECT, where,
                    reason);
    else
        pin_targets(g, type->record, AR_PIN_FOREIGN_OBJECT, where, reason);
}

void ar_pins_of_declarations(ar_graph *g) {
    for (uint32_t i = 0; i < g->program->entities.count; i++) {
        const ar_entity *entity = &g->program->entities.data[i];
        pin_foreign_struct(g, entity);
        if (!has_slots(g, entity))
            continue;
        memory_of(g, entity->decl);
        if (!entity->in_rewrite_set)
            pin_outside(g, entity);
        pin_several_types(g, entity);
        if (entity->decl->kind == AR_DECL_FIELD)
            pin_union(g, entity);
        if (entity->decl->kind == AR_DECL_VAR &&
            entity->decl->storage == AR_STORAGE_EXTERN &&
            !entity->decl->is_cuda_shared && !is_defined(entity))
            ar_cell_pin(g, memory_of(g, entity->decl), AR_PIN_FOREIGN_OBJECT,
                        at_decl(entity->unit, entity->decl),
                        "defined outside the program");
    }
}

/* ---- calls of nobody knows whom --------------------------------------------
 */

/* A function pointer that nothing in the program sets is set by strangers. In a
 * function that is called, the calls say what it is set to. */
void ar_pins_of_unknown_calls(ar_graph *g) {
    for (uint32_t i = 1; i < g->cells.count; i++) {
        const ar_cell cell = g->cells.data[i];
        bool is_open = cell.is_generic && cell.owner &&
                       g->functions.data[cell.owner - 1].is_called;
        if (cell.parent != i || cell.has_body || is_open)
            continue;
        const ar_fact *call = ar_cell_has(g, i, AR_FACT_CALLED);
        for (uint32_t p = 0; call && p < cell.param_count; p++) {
            uint32_t param =
                cell.params[p] ? ar_cell_find(g, cell.params[p]) : 0;
            if (param && g->cells.data[param].pointee)
                ar_cell_pin(g, g->cells.data[param].pointee,
                            AR_PIN_FOREIGN_CALL, call->where,
                            "its address is passed through a function pointer "
                            "that nothing here sets");
        }
    }
}

/* ---- from what memory was used as ---------------------------------------- */

void ar_pin_fields(ar_graph *g, const ar_decl *record, ar_where where,
                   const char *reason) {
    record = ar_entity_of(g->program, record)->decl;
    for (uint32_t i = 0; i < record->member_count; i++) {
        const ar_decl *field = record->members[i];
        const ar_type *type = field->type;
        type = ar_array_bottom(type);
        if (ar_is_float(type))
            ar_cell_pin(g, ar_cell_of(g, field), AR_PIN_RECORD, where, reason);
    }
}

static void pin_by_kinds(ar_graph *g, uint32_t cell) {
    for (uint32_t kind = AR_SCALAR_DOUBLE; kind < AR_SCALAR_KINDS; kind++) {
        const ar_fact *use = ar_cell_has(g, cell, AR_FACT_SCALAR + kind);
        if (!use || kind == AR_SCALAR_VECTOR)
            continue;
        const char *type = use->text ? use->text : "something else";
        if (kind != AR_SCALAR_RECORD) {
            ar_cell_pin(g, cell, AR_PIN_REINTERPRETED, use->where,
                        ar_sprintf(g->arena, "reinterpreted as %s", type));
            continue;
        }
        const ar_decl *record = g->cells.data[cell].record;
        ar_cell_pin(g, cell, AR_PIN_RECORD, use->where,
                    ar_sprintf(g->arena, "also used as %s", type));
        if (record && !record->is_system)
            ar_pin_fields(g, record, use->where,
                          "its struct is also used as plain memory");
    }
}

void ar_pins_of_kinds(ar_graph *g) {
    for (uint32_t i = 1; i < g->cells.count; i++)
        if (g->cells.data[i].parent == i &&
            ar_cell_has(g, i, AR_FACT_SCALAR + AR_SCALAR_FLOAT))
            pin_by_kinds(g, i);
}

/* ---- structs seen as others ---------------------------------------------- */

void ar_pins_of_mixtures(ar_graph *g) {
    const char *reason = "its struct is also viewed as another";
    for (uint32_t i = 0; i < g->mixtures.count; i++) {
        const ar_mixture *mixture = &g->mixtures.data[i];
        pin_targets(g, mixture->one, AR_PIN_RECORD, mixture->where, reason);
        pin_targets(g, mixture->other, AR_PIN_RECORD, mixture->where, reason);
    }
    for (uint32_t i = 1; i < g->cells.count; i++) {
        const ar_cell *cell = &g->cells.data[i];
        const ar_fact *use =
            cell->parent == i && cell->record
                ? ar_cell_has(g, i, AR_FACT_SCALAR + AR_SCALAR_POINTER)
                : NULL;
        if (!use)
            continue;
        const ar_decl *record = cell->record;
        uint32_t pointee = cell->pointee;
        reason = "its struct is also used as an array of pointers";
        pin_targets(g, record, AR_PIN_RECORD, use->where, reason);
        if (pointee)
            ar_cell_pin(g, pointee, AR_PIN_RECORD, use->where, reason);
    }
}
