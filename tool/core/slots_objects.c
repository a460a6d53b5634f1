#include "core/slots.h"

/* Structs told apart by object. A field is one cell for all objects of its
 * struct, unless the struct is chosen to be told apart: then every piece of
 * memory of that struct has cells of its own for the fields that lead to
 * floats. They are made with the piece, read or not, so that whatever a
 * pointer to the struct goes through has them as well. */

static ar_cell *at(ar_graph *g, uint32_t cell) {
    return &g->cells.data[ar_cell_find(g, cell)];
}

static bool is_apart(const ar_graph *g, const ar_decl *record) {
    return g->is_apart && record && g->is_apart[record->id];
}

const ar_decl *ar_apart_record(ar_graph *g, const ar_type *type) {
    type = g->is_apart ? ar_address_bottom(type) : NULL;
    if (!ar_is_kind(type, AR_TYPE_RECORD) || !is_apart(g, type->record))
        return NULL;
    return ar_entity_of(g->program, type->record)->decl;
}

uint32_t ar_object_below(ar_graph *g, uint32_t cell, const ar_type *type) {
    for (; cell && ar_is_address(type); type = type->element)
        if (type->kind == AR_TYPE_POINTER)
            cell = ar_cell_pointee(g, cell);
    return cell;
}

/* Does the field lead to floats of this object alone? */
static bool is_own(const ar_decl *field) {
    return ar_float_depth(field->type) > 0;
}

bool ar_field_is_apart(ar_graph *g, const ar_decl *field) {
    return field->kind == AR_DECL_FIELD && is_apart(g, field->parent) &&
           is_own(field);
}

static void make_fields(ar_graph *g, uint32_t cell, const ar_decl *record) {
    if (!is_apart(g, record) || at(g, cell)->fields)
        return;
    record = ar_entity_of(g->program, record)->decl;
    uint32_t *fields =
        AR_NEW_ARRAY(g->arena, uint32_t, record->member_count + 1u);
    at(g, cell)->fields = fields;
    at(g, cell)->field_count = record->member_count;
    for (uint32_t i = 0; i < record->member_count; i++) {
        const ar_decl *field = record->members[i];
        if (!is_own(field))
            continue;
        uint32_t fresh = ar_cell_new(g);
        g->cells.data[fresh].is_global = at(g, cell)->is_global;
        fields[i] = fresh;
        ar_cell_declare(g, fresh, ar_entity_of(g->program, field));
    }
}

/* A struct may be viewed as its first member. */
static bool starts_with(ar_graph *g, const ar_decl *record,
                        const ar_decl *first) {
    uint32_t wanted = ar_entity_of(g->program, first)->id;
    for (int depth = 0; record && depth < 8; depth++) {
        const ar_entity *entity = ar_entity_of(g->program, record);
        if (entity->id == wanted)
            return true;
        const ar_decl *whole = entity->decl;
        const ar_type *type =
            whole->member_count ? whole->members[0]->type : NULL;
        record = ar_is_kind(type, AR_TYPE_RECORD) ? type->record : NULL;
    }
    return false;
}

/* No floats are behind it, whichever struct it is read from. */
static bool is_harmless(const ar_type *type) {
    if (!ar_is_address(type))
        return !ar_is_kind(type, AR_TYPE_RECORD);
    const ar_type *bottom = ar_address_bottom(type);
    return ar_is_kind(bottom, AR_TYPE_RECORD)
               ? bottom->record && bottom->record->is_system
               : ar_is_kind(bottom, AR_TYPE_INT) ||
                     ar_is_kind(bottom, AR_TYPE_ENUM);
}

/* The other begins as this one, which has nothing in it that holds floats: the
 * head that structs of a library have in common. */
static bool is_plain_head(ar_graph *g, const ar_decl *head,
                          const ar_decl *whole) {
    head = ar_entity_of(g->program, head)->decl;
    whole = ar_entity_of(g->program, whole)->decl;
    if (head->is_union || whole->is_union || !head->member_count ||
        head->member_count > whole->member_count)
        return false;
    for (uint32_t i = 0; i < head->member_count; i++) {
        const ar_type *type = head->members[i]->type;
        const ar_type *same = whole->members[i]->type;
        if (!type || !same || type->kind != same->kind ||
            strcmp(type->spelling, same->spelling) != 0 || !is_harmless(type))
            return false;
    }
    return true;
}

bool ar_can_be_viewed_as(ar_graph *g, const ar_decl *a, const ar_decl *b) {
    return starts_with(g, a, b) || starts_with(g, b, a) ||
           is_plain_head(g, a, b) || is_plain_head(g, b, a);
}

void ar_seen_as_both(ar_graph *g, const ar_decl *a, const ar_decl *b,
                     ar_where where) {
    ar_mixture mixture = {a, b, where};
    if (!ar_can_be_viewed_as(g, a, b) && ar_table_add(&g->mixed, a->id, b->id))
        AR_PUSH(g->arena, &g->mixtures, mixture);
}

static void mix(ar_graph *g, uint32_t cell, const ar_decl *a,
                const ar_decl *b) {
    if (a->id == b->id || is_plain_head(g, a, b) || is_plain_head(g, b, a))
        return;
    if (g->is_mixed)
        g->is_mixed[a->id] = g->is_mixed[b->id] = true;
    const ar_fact *seen =
        ar_cell_has(g, cell, AR_FACT_SCALAR + AR_SCALAR_RECORD);
    ar_seen_as_both(g, a, b, seen ? seen->where : (ar_where){0});
}

void ar_cell_is_record(ar_graph *g, uint32_t cell, const ar_decl *record) {
    ar_cell *c = at(g, cell);
    if (record && (!c->record || is_plain_head(g, c->record, record)))
        c->record = record;
    else if (record)
        mix(g, cell, c->record, record);
    make_fields(g, cell, record);
}

void ar_join_records(ar_graph *g, uint32_t root, uint32_t other) {
    ar_cell *r = &g->cells.data[root], *o = &g->cells.data[other];
    if (r->record && o->record)
        mix(g, root, r->record, o->record);
    bool is_head = r->record && o->record && r->record != o->record;
    if (is_head && is_plain_head(g, r->record, o->record))
        r->record = o->record;
    else if (is_head && is_plain_head(g, o->record, r->record))
        return;
    else if (!r->record || (o->record && o->record->id < r->record->id))
        r->record = o->record ? o->record : r->record;
}

uint32_t ar_cell_field(ar_graph *g, uint32_t object, const ar_decl *field) {
    if (!ar_field_is_apart(g, field))
        return ar_cell_of(g, field);
    ar_cell_is_record(g, object, field->parent);
    const ar_cell *c = at(g, object);
    uint32_t cell = c->fields && field->index < c->field_count
                        ? c->fields[field->index]
                        : 0;
    return cell ? cell : ar_cell_new(g); /* mixed: found out at the end */
}

/* ---- when all text is read ----------------------------------------------- */

static bool is_object(const ar_graph *g, uint32_t cell) {
    return g->cells.data[cell].parent == cell && g->cells.data[cell].fields;
}

static void pin_fields_below(ar_graph *g, uint32_t cell) {
    const ar_cell object = g->cells.data[cell];
    const ar_decl *record = ar_entity_of(g->program, object.record)->decl;
    for (uint32_t i = 0; i < object.field_count; i++) {
        if (!object.fields[i] || i >= record->member_count)
            continue;
        uint32_t below =
            ar_object_below(g, object.fields[i], record->members[i]->type);
        for (const ar_fact *fact = object.facts; fact; fact = fact->next)
            if (fact->kind >= AR_FACT_PIN && fact->kind < AR_FACT_ACCUMULATOR)
                ar_cell_fact(g, below, fact->kind, fact->where, fact->text, 0);
    }
}

void ar_pins_of_objects(ar_graph *g) {
    for (uint32_t i = 1; g->is_apart && i < g->cells.count; i++)
        if (is_object(g, i))
            pin_fields_below(g, i);
}

void ar_objects_check(ar_graph *g) {
    for (uint32_t i = 1; g->is_apart && i < g->cells.count; i++) {
        if (!is_object(g, i))
            continue;
        const ar_fact *fact = g->cells.data[i].facts;
        for (; fact && fact->kind < AR_FACT_PIN; fact = fact->next)
            if (fact->kind != AR_FACT_SCALAR + AR_SCALAR_RECORD)
                g->is_mixed[g->cells.data[i].record->id] = true;
    }
}

/* ---- what holds an object ------------------------------------------------ */

static ar_raw_object *object_at(ar_graph *g, uint32_t cell) {
    uintptr_t id = (uintptr_t)ar_map_get(&g->object_at, ar_cell_find(g, cell));
    return id ? &g->objects.data[id - 1] : NULL;
}

static const ar_type *held_type(const ar_entity *entity) {
    const ar_decl *decl = entity->decl;
    if (decl->kind == AR_DECL_FUNCTION)
        return decl->body && decl->type ? decl->type->element : NULL;
    return decl->kind == AR_DECL_VAR || decl->kind == AR_DECL_PARAM ||
                   decl->kind == AR_DECL_FIELD
               ? decl->type
               : NULL;
}

static void name_object(ar_graph *g, const ar_entity *entity, uint32_t cell) {
    ar_raw_object *object =
        object_at(g, ar_object_below(g, cell, held_type(entity)));
    int rank = ar_decl_rank(entity->decl);
    if (!object || (object->name && object->rank <= rank))
        return;
    object->name = ar_decl_words(g->arena, entity->decl);
    object->rank = rank;
}

/* The cells that a declaration's versions name the struct of. */
typedef AR_VEC(uint32_t) cell_list;

static cell_list held_by(ar_graph *g, const ar_entity *entity,
                         const ar_map *webs) {
    cell_list found = {0};
    uintptr_t web = (uintptr_t)ar_map_get(webs, entity->id + 1u);
    bool any_used = false;
    for (uintptr_t i = web; i && i <= g->webs.count; i++)
        if (g->webs.data[i - 1].entity == entity)
            any_used |= g->webs.data[i - 1].is_used;
    for (uintptr_t i = web; i && i <= g->webs.count; i++)
        if (g->webs.data[i - 1].entity == entity &&
            (g->webs.data[i - 1].is_used || !any_used))
            AR_PUSH(g->arena, &found, g->webs.data[i - 1].cell);
    uint32_t cell = g->entity_cell[entity->id];
    if (!found.count && cell && entity->decl->kind == AR_DECL_FUNCTION)
        cell = ar_cell_result(g, cell);
    if (!found.count && cell)
        AR_PUSH(g->arena, &found, cell);
    return found;
}

/* First web of an entity, + 1. */
static ar_map index_webs(ar_graph *g) {
    ar_map first = {.arena = g->arena};
    for (uint32_t i = g->webs.count; i-- > 0;)
        ar_map_put(&first, g->webs.data[i].entity->id + 1u,
                   (void *)(uintptr_t)(i + 1));
    return first;
}

void ar_objects_find(ar_graph *g) {
    if (!g->is_apart)
        return;
    g->object_at.arena = g->arena;
    for (uint32_t i = 1; i < g->cells.count; i++) {
        if (!is_object(g, i))
            continue;
        ar_raw_object object = {
            .cell = i,
            .record = ar_entity_of(g->program, g->cells.data[i].record)};
        AR_PUSH(g->arena, &g->objects, object);
        ar_map_put(&g->object_at, i, (void *)(uintptr_t)g->objects.count);
    }
    ar_map webs = index_webs(g);
    for (uint32_t i = 0; i < g->program->entities.count; i++) {
        const ar_entity *entity = &g->program->entities.data[i];
        const ar_type *type = held_type(entity);
        if (!type || !ar_apart_record(g, type))
            continue;
        cell_list cells = held_by(g, entity, &webs);
        for (uint32_t k = 0; k < cells.count; k++)
            name_object(g, entity, cells.data[k]);
    }
}

/* ---- where a struct is named --------------------------------------------- */

/* The cells of objects stand in site.classes until classes are numbered. */
static void declaration_site(ar_graph *g, const ar_entity *entity,
                             ar_decl *decl, cell_list objects) {
    ar_range range = decl->record_token;
    if (range.file == AR_NO_FILE)
        range = decl->name_range.file == AR_NO_FILE ? decl->range
                                                    : decl->name_range;
    uint32_t site =
        ar_site_add(g, AR_SITE_RECORD, (ar_where){entity->unit, NULL, range},
                    NULL, decl, objects.data[0]);
    g->sites.data[site].site.classes = objects.data;
    g->sites.data[site].site.class_count = objects.count;
}

static bool is_repeated(const ar_entity *entity, uint32_t index) {
    const ar_range *one = &entity->all[index]->range;
    for (uint32_t i = 0; i < index; i++) {
        const ar_range *other = &entity->all[i]->range;
        if (one->file == other->file && one->begin == other->begin &&
            one->end == other->end)
            return true; /* one header read by many units */
    }
    return false;
}

void ar_site_of_record(ar_graph *g, ar_where where, ar_node *node,
                       uint32_t object) {
    uint32_t site = ar_site_add(g, AR_SITE_RECORD, where, node, NULL, object);
    uint32_t *cells = AR_NEW_ARRAY(g->arena, uint32_t, 1);
    cells[0] = object;
    g->sites.data[site].site.classes = cells;
    g->sites.data[site].site.class_count = 1;
}

void ar_sites_of_records(ar_graph *g) {
    if (!g->is_apart)
        return;
    ar_map webs = index_webs(g);
    for (uint32_t i = 0; i < g->program->entities.count; i++) {
        const ar_entity *entity = &g->program->entities.data[i];
        const ar_type *type = held_type(entity);
        if (!type || !ar_apart_record(g, type) || entity->decl->is_system)
            continue;
        cell_list cells = held_by(g, entity, &webs);
        for (uint32_t k = 0; k < cells.count; k++)
            cells.data[k] = ar_object_below(g, cells.data[k], type);
        for (uint32_t j = 0; j < entity->all_count && cells.count; j++)
            if (!is_repeated(entity, j))
                declaration_site(g, entity, entity->all[j], cells);
    }
}

/* ---- when classes are numbered ------------------------------------------- */

static uint32_t class_behind(ar_graph *g, uint32_t cell, const ar_type *type) {
    return cell ? at(g, ar_object_below(g, cell, type))->class_id : AR_NO_ID;
}

void ar_objects_make(ar_graph *g) {
    for (uint32_t i = 0; i < g->objects.count; i++) {
        const ar_raw_object *raw = &g->objects.data[i];
        const ar_decl *record = raw->record->decl;
        uint32_t *classes =
            AR_NEW_ARRAY(g->arena, uint32_t, record->member_count + 1u);
        for (uint32_t k = 0; k < record->member_count; k++)
            classes[k] = class_behind(g, g->cells.data[raw->cell].fields[k],
                                      record->members[k]->type);
        ar_storage_object object = {raw->record, raw->name, classes};
        AR_PUSH(g->arena, &g->facts->objects, object);
    }
    g->facts->members.arena = g->arena;
    for (uint32_t i = 0; i < g->members.count; i++) {
        const ar_raw_member *raw = &g->members.data[i];
        uint32_t id = class_behind(g, raw->cell, raw->node->type);
        uint64_t before =
            ar_table_get(&g->facts->members, ar_key(raw->node), 0);
        if (before && before != id + UINT64_C(1))
            id = AR_NO_ID; /* one text that is read in several states */
        else if (id == AR_NO_ID)
            continue;
        ar_table_put(&g->facts->members, ar_key(raw->node), 0,
                     id + UINT64_C(1));
    }
}

static void add_once(ar_arena *arena, cell_list *list, uint32_t id) {
    for (uint32_t i = 0; i < list->count; i++)
        if (list->data[i] == id)
            return;
    AR_PUSH(arena, list, id);
}

void ar_site_take_objects(ar_graph *g, ar_site *site) {
    cell_list objects = {0}, classes = {0};
    for (uint32_t i = 0; i < site->class_count; i++) {
        const ar_raw_object *object = object_at(g, site->classes[i]);
        if (object)
            add_once(g->arena, &objects, (uint32_t)(object - g->objects.data));
    }
    for (uint32_t i = 0; i < objects.count; i++) {
        const ar_storage_object *object =
            &g->facts->objects.data[objects.data[i]];
        for (uint32_t k = 0; k < object->record->decl->member_count; k++)
            if (object->classes[k] != AR_NO_ID)
                add_once(g->arena, &classes, object->classes[k]);
    }
    site->objects = objects.data;
    site->object_count = objects.count;
    site->classes = classes.data;
    site->class_count = classes.count;
}
