#include "core/slots.h"

/* Pins of what attributes and the text of asm name: that code works on what
 * the types say. */

typedef struct unseen_names {
    ar_graph *g;
    ar_strmap at; /* name -> ar_unseen */
} unseen_names;

static void pin_all(ar_graph *g, uint32_t cell, ar_where where,
                    const char *reason) {
    for (int level = 0; cell && level < 5; level++) {
        ar_cell_pin(g, cell, AR_PIN_UNMODELLED, where, reason);
        cell = g->cells.data[ar_cell_find(g, cell)].pointee;
    }
}

static void pin_value(ar_graph *g, uint32_t cell, const ar_type *type,
                      ar_where where, const char *reason) {
    pin_all(g, cell, where, reason);
    type = ar_address_bottom(type);
    if (ar_is_kind(type, AR_TYPE_RECORD) && type->record)
        ar_pin_fields(g, type->record, where, reason);
}

static void pin_function(ar_graph *g, const ar_entity *entity, ar_where where,
                         const char *reason) {
    uint32_t index = g->function_of[entity->id];
    const ar_type *type = entity->decl->type;
    if (!index || !type)
        return;
    uint32_t function = g->functions.data[index - 1].cell;
    for (uint32_t i = 0; i < type->param_count; i++)
        pin_value(g, ar_cell_param(g, function, i), type->params[i], where,
                  reason);
    if (ar_is_address(type->element))
        pin_value(g, ar_cell_result(g, function), type->element, where, reason);
}

static void pin_named(unseen_names *names, const ar_entity *entity) {
    ar_graph *g = names->g;
    const ar_decl *decl = entity->decl;
    if (decl->is_system || !decl->is_file_scope)
        return;
    const ar_unseen *unseen = ar_strmap_get(&names->at, decl->name);
    if (!unseen)
        return;
    ar_where where = {entity->unit, NULL, unseen->range};
    const char *reason =
        ar_sprintf(g->arena, "an attribute or asm names '%s'", decl->name);
    if (decl->kind == AR_DECL_FUNCTION)
        pin_function(g, entity, where, reason);
    else if (decl->kind == AR_DECL_VAR)
        pin_value(g, ar_cell_of(g, decl), decl->type, where, reason);
}

static void pin_cleanup(ar_graph *g, const ar_entity *entity) {
    const ar_decl *decl = entity->decl;
    if (decl->kind != AR_DECL_VAR || !decl->has_cleanup)
        return;
    ar_where where = {entity->unit, NULL, decl->name_range};
    pin_value(g, ar_cell_of(g, decl), decl->type, where,
              "a cleanup function gets its address");
}

void ar_pins_of_unseen(ar_graph *g) {
    unseen_names names = {.g = g, .at = {.arena = g->arena}};
    for (uint32_t i = 0; i < g->program->unit_count; i++) {
        ar_unit *unit = g->program->units[i];
        for (uint32_t k = 0; k < unit->unseen.count; k++) {
            ar_unseen *unseen = &unit->unseen.data[k];
            if (!ar_strmap_get(&names.at, unseen->name))
                ar_strmap_put(&names.at, unseen->name, unseen);
        }
    }
    for (uint32_t i = 0; i < g->program->entities.count; i++) {
        pin_cleanup(g, &g->program->entities.data[i]);
        pin_named(&names, &g->program->entities.data[i]);
    }
}
