#include "core/slots.h"

#include <stdlib.h>

typedef AR_VEC(uint32_t) id_list;

typedef struct maker {
    ar_graph *g;
    ar_storage_facts *facts;
    AR_VEC(ar_slot) slots; /* class_id holds the cell until it has a class */
    uint32_t object;       /* whose fields get slots, + 1 */
    uint32_t *first_slot, *next_slot; /* float slots of an entity, + 1 */
    id_list class_cells;              /* class -> root cell */
    id_list *actuals; /* class -> classes that calls put in its place */
    id_list *class_slots, *class_sites, *class_accumulators;
} maker;

static uint32_t root(maker *m, uint32_t cell) {
    return ar_cell_find(m->g, cell);
}

static bool has_floats(maker *m, uint32_t cell) {
    return ar_cell_has(m->g, cell, AR_FACT_SCALAR + AR_SCALAR_FLOAT) != NULL;
}

static uint32_t class_of_cell(maker *m, uint32_t cell) {
    return cell ? m->g->cells.data[root(m, cell)].class_id : AR_NO_ID;
}

static int compare_ids(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* ---- slots --------------------------------------------------------------- */

static const ar_type *slot_type(const ar_entity *entity) {
    const ar_decl *decl = entity->decl;
    switch (decl->kind) {
    case AR_DECL_FUNCTION:
        return decl->body && decl->type ? decl->type->element : NULL;
    case AR_DECL_VAR:
    case AR_DECL_PARAM:
    case AR_DECL_FIELD:
        return decl->type;
    case AR_DECL_RECORD:
    case AR_DECL_TYPEDEF:
    case AR_DECL_ENUMERATOR:
        return NULL;
    }
    return NULL;
}

static bool is_untyped_pointer(const ar_type *type) {
    return type->kind == AR_TYPE_POINTER && type->element &&
           (type->element->kind == AR_TYPE_VOID ||
            (type->element->kind == AR_TYPE_INT && type->element->bytes == 1));
}

static void add_slots(maker *m, ar_entity *entity, uint32_t cell, uint32_t web,
                      uint32_t web_count, ar_where where) {
    const ar_type *type = slot_type(entity);
    ar_slot slot = {
        .entity = entity, .web = web, .web_count = web_count, .where = where};
    slot.object = m->object;
    slot.holder = m->object ? m->g->objects.data[m->object - 1].name : NULL;
    bool is_void = is_untyped_pointer(type);
    for (;; slot.level++) {
        bool is_array = type->kind == AR_TYPE_ARRAY;
        bool is_pointer = type->kind == AR_TYPE_POINTER;
        if (!is_array && !is_pointer)
            break;
        slot.is_float = false;
        slot.class_id = cell;
        AR_PUSH(m->g->arena, &m->slots, slot);
        if (is_pointer && !m->g->cells.data[root(m, cell)].pointee)
            return;
        if (is_pointer)
            cell = ar_cell_pointee(m->g, cell);
        type = type->element;
    }
    if (is_void && !has_floats(m, cell))
        return;
    slot.class_id = cell;
    slot.is_float = true;
    slot.is_scalar = slot.level == 0;
    AR_PUSH(m->g->arena, &m->slots, slot);
}

static ar_where where_of(const ar_entity *entity) {
    const ar_decl *decl = entity->decl;
    bool is_local = decl->kind == AR_DECL_PARAM || decl->kind == AR_DECL_VAR;
    ar_range range =
        decl->name_range.file == AR_NO_FILE ? decl->range : decl->name_range;
    return (ar_where){entity->unit, is_local ? decl->parent : NULL, range};
}

static uint32_t memory_below(maker *m, uint32_t cell, const ar_type *type) {
    for (;
         type && (type->kind == AR_TYPE_POINTER || type->kind == AR_TYPE_ARRAY);
         type = type->element)
        if (type->kind == AR_TYPE_POINTER)
            cell = ar_cell_pointee(m->g, cell);
    return root(m, cell);
}

/* Versions that share their memory are one web. */
static void add_webs(maker *m, ar_entity *entity, const ar_web *webs,
                     uint32_t count) {
    const ar_type *type = slot_type(entity);
    id_list cells = {0}, chosen = {0};
    bool has_used = false;
    for (uint32_t i = 0; i < count; i++)
        has_used |= webs[i].is_used;
    for (uint32_t i = 0; i < count; i++) {
        if (!webs[i].is_used && has_used)
            continue;
        uint32_t memory = memory_below(m, webs[i].cell, type);
        bool is_known = false;
        for (uint32_t k = 0; k < cells.count; k++)
            is_known |= cells.data[k] == memory;
        if (is_known)
            continue;
        AR_PUSH(m->g->arena, &cells, memory);
        AR_PUSH(m->g->arena, &chosen, i);
    }
    for (uint32_t i = 0; i < chosen.count; i++) {
        const ar_web *web = &webs[chosen.data[i]];
        add_slots(m, entity, web->cell, i, chosen.count,
                  i ? web->where : where_of(entity));
    }
}

static int compare_webs(const void *a, const void *b) {
    const ar_web *x = a, *y = b;
    if (x->entity->id != y->entity->id)
        return (x->entity->id > y->entity->id) -
               (x->entity->id < y->entity->id);
    return ar_where_before(&y->where, &x->where) -
           ar_where_before(&x->where, &y->where);
}

static bool wants_slots(const maker *m, const ar_entity *entity) {
    const ar_type *type = slot_type(entity);
    if (!type || !m->g->entity_cell[entity->id] || entity->decl->is_system)
        return false;
    if (entity->decl->kind == AR_DECL_FUNCTION && type->kind != AR_TYPE_POINTER)
        return false;
    return ar_float_depth(type) >= 0 || is_untyped_pointer(type);
}

static void make_slots(maker *m) {
    ar_graph *g = m->g;
    if (g->webs.count)
        qsort(g->webs.data, g->webs.count, sizeof *g->webs.data, compare_webs);
    uint32_t next = 0;
    for (uint32_t i = 0; i < g->program->entities.count; i++) {
        ar_entity *entity = &g->program->entities.data[i];
        uint32_t first = next;
        while (next < g->webs.count && g->webs.data[next].entity == entity)
            next++;
        if (!wants_slots(m, entity))
            continue;
        uint32_t cell = g->entity_cell[i];
        if (entity->decl->kind == AR_DECL_FUNCTION)
            cell = ar_cell_result(g, cell);
        if (next > first && entity->decl->kind != AR_DECL_FIELD) {
            add_webs(m, entity, &g->webs.data[first], next - first);
            continue;
        }
        add_slots(m, entity, cell, 0, 1 + next - first, where_of(entity));
        for (uint32_t w = first; w < next; w++) /* uses of a scratch field */
            add_slots(m, entity, g->webs.data[w].cell, 1 + w - first,
                      1 + next - first, g->webs.data[w].where);
    }
}

/* The fields of structs told apart: a slot for each object. */
static void make_object_slots(maker *m) {
    ar_graph *g = m->g;
    for (uint32_t i = 0; i < g->objects.count; i++) {
        const ar_raw_object *object = &g->objects.data[i];
        const ar_decl *record = object->record->decl;
        m->object = i + 1;
        for (uint32_t k = 0; k < record->member_count; k++) {
            uint32_t cell = g->cells.data[object->cell].fields[k];
            ar_entity *field = ar_entity_of(g->program, record->members[k]);
            if (cell)
                add_slots(m, field, cell, i, g->objects.count, where_of(field));
        }
    }
    m->object = 0;
}

static int compare_slots(const void *a, const void *b) {
    const ar_slot *x = a, *y = b;
    if (ar_where_before(&x->where, &y->where))
        return -1;
    if (ar_where_before(&y->where, &x->where))
        return 1;
    if (x->entity->id != y->entity->id)
        return (x->entity->id > y->entity->id) -
               (x->entity->id < y->entity->id);
    if (x->web != y->web)
        return (x->web > y->web) - (x->web < y->web);
    return (x->level > y->level) - (x->level < y->level);
}

/* ---- classes ------------------------------------------------------------- */

static uint32_t class_for(maker *m, uint32_t cell) {
    cell = root(m, cell);
    ar_cell *c = &m->g->cells.data[cell];
    if (c->class_id == AR_NO_ID) {
        c->class_id = m->class_cells.count;
        AR_PUSH(m->g->arena, &m->class_cells, cell);
    }
    return c->class_id;
}

static int compare_sites(const void *a, const void *b) {
    const ar_raw_site *x = a, *y = b;
    if (ar_where_before(&x->site.where, &y->site.where))
        return -1;
    if (ar_where_before(&y->site.where, &x->site.where))
        return 1;
    if (x->site.kind != y->site.kind)
        return (x->site.kind > y->site.kind) - (x->site.kind < y->site.kind);
    uint32_t p = x->site.decl ? x->site.decl->id : 0;
    uint32_t q = y->site.decl ? y->site.decl->id : 0;
    return (p > q) - (p < q);
}

static void number_classes(maker *m) {
    ar_graph *g = m->g;
    ar_storage_facts *facts = m->facts;
    if (m->slots.count)
        qsort(m->slots.data, m->slots.count, sizeof *m->slots.data,
              compare_slots);
    for (uint32_t i = 0; i < m->slots.count; i++) {
        ar_slot slot = m->slots.data[i];
        slot.id = i;
        slot.class_id = slot.is_float ? class_for(m, slot.class_id)
                                      : root(m, slot.class_id);
        AR_PUSH(g->arena, &facts->slots, slot);
    }
    if (g->sites.count)
        qsort(g->sites.data, g->sites.count, sizeof *g->sites.data,
              compare_sites);
    for (uint32_t i = 0; i < g->sites.count; i++)
        if (g->sites.data[i].site.kind != AR_SITE_DECLARATION &&
            g->sites.data[i].site.kind != AR_SITE_RECORD &&
            g->sites.data[i].cell && has_floats(m, g->sites.data[i].cell))
            class_for(m, g->sites.data[i].cell);
    /* Levels above the floats are told apart by class as well, but their
     * memory has no entry of its own. */
    for (uint32_t i = 0; i < facts->slots.count; i++)
        if (!facts->slots.data[i].is_float)
            facts->slots.data[i].class_id = AR_NO_ID;
}

/* A declaration changes when any web of what it declares does. */
static bool declared_classes(maker *m, ar_site *site) {
    uint32_t entity = ar_entity_of(m->g->program, site->decl)->id;
    uint32_t slot = m->first_slot[entity];
    id_list classes = {0};
    for (; slot; slot = m->next_slot[slot - 1]) {
        uint32_t id = m->facts->slots.data[slot - 1].class_id;
        bool is_known = false;
        for (uint32_t i = 0; i < classes.count; i++)
            is_known |= classes.data[i] == id;
        if (!is_known)
            AR_PUSH(m->g->arena, &classes, id);
    }
    site->classes = classes.data;
    site->class_count = classes.count;
    return classes.count > 0;
}

static void index_slots(maker *m) {
    ar_arena *arena = m->g->arena;
    const ar_storage_facts *facts = m->facts;
    m->first_slot =
        AR_NEW_ARRAY(arena, uint32_t, m->g->program->entities.count + 1);
    m->next_slot = AR_NEW_ARRAY(arena, uint32_t, facts->slots.count + 1);
    for (uint32_t i = facts->slots.count; i-- > 0;) {
        const ar_slot *slot = &facts->slots.data[i];
        if (!slot->is_float)
            continue;
        m->next_slot[i] = m->first_slot[slot->entity->id];
        m->first_slot[slot->entity->id] = i + 1;
        AR_PUSH(arena, &m->class_slots[slot->class_id], i);
    }
}

static void make_sites(maker *m) {
    ar_graph *g = m->g;
    for (uint32_t i = 0; i < g->sites.count; i++) {
        ar_site site = g->sites.data[i].site;
        uint32_t cell = g->sites.data[i].cell;
        uint32_t count = 0;
        if (site.kind == AR_SITE_SIZEOF) {
            for (uint32_t k = 0; k < site.class_count; k++) {
                uint32_t id = class_of_cell(m, site.classes[k]);
                if (id != AR_NO_ID)
                    site.classes[count++] = id;
            }
        } else if (site.kind == AR_SITE_DECLARATION) {
            if (!declared_classes(m, &site))
                continue;
            count = site.class_count;
        } else if (site.kind == AR_SITE_RECORD) {
            ar_site_take_objects(m->g, &site);
            count = site.class_count;
        } else {
            if (class_of_cell(m, cell) == AR_NO_ID)
                continue;
            site.classes = AR_NEW_ARRAY(g->arena, uint32_t, 1);
            site.classes[count++] = class_of_cell(m, cell);
        }
        if (count > 1)
            qsort(site.classes, count, sizeof *site.classes, compare_ids);
        site.class_count = count;
        for (uint32_t k = 0; k < count; k++)
            AR_PUSH(g->arena, &m->class_sites[site.classes[k]],
                    m->facts->sites.count);
        AR_PUSH(g->arena, &m->facts->sites, site);
    }
}

static void make_calls(maker *m) {
    ar_graph *g = m->g;
    for (uint32_t i = 0; i < g->calls.count; i++) {
        const ar_raw_call *raw = &g->calls.data[i];
        AR_VEC(struct ar_instance) pairs = {0};
        for (uint32_t j = 0; j < raw->map_count; j++) {
            struct ar_instance pair = {class_of_cell(m, raw->map[j].from),
                                       class_of_cell(m, raw->map[j].to)};
            if (pair.generic == AR_NO_ID || pair.actual == AR_NO_ID)
                continue;
            AR_PUSH(g->arena, &pairs, pair);
            AR_PUSH(g->arena, &m->actuals[pair.generic], pair.actual);
        }
        if (!pairs.count)
            continue;
        ar_storage_call call = {raw->where, raw->node, raw->callee, pairs.data,
                                pairs.count};
        AR_PUSH(g->arena, &m->facts->calls, call);
    }
}

static void make_arenas(maker *m) {
    for (uint32_t i = 0; i < m->facts->arenas.count; i++) {
        ar_storage_arena *arena = &m->facts->arenas.data[i];
        arena->whole = class_of_cell(m, arena->whole);
        for (uint32_t k = 0; k < arena->part_count; k++)
            arena->parts[k].class_id =
                class_of_cell(m, arena->parts[k].class_id);
    }
}

static void make_flows(maker *m) {
    ar_graph *g = m->g;
    for (uint32_t i = 0; i < g->flows.count; i++) {
        const ar_raw_flow *raw = &g->flows.data[i];
        ar_flow flow = {raw->kind,
                        class_of_cell(m, raw->from),
                        class_of_cell(m, raw->to),
                        raw->from_decl,
                        raw->to_decl,
                        raw->where};
        if (flow.from != AR_NO_ID && flow.to != AR_NO_ID)
            AR_PUSH(g->arena, &m->facts->flows, flow);
    }
}

/* ---- what is known of a class -------------------------------------------- */

static void take_facts(maker *m, ar_storage_class *c, uint32_t cell) {
    ar_arena *arena = m->g->arena;
    AR_VEC(ar_kind_use) kinds = {0};
    AR_VEC(ar_pin) pins = {0};
    const ar_fact *fact = m->g->cells.data[cell].facts;
    for (; fact; fact = fact->next) {
        if (fact->kind < AR_FACT_PIN) {
            ar_kind_use use = {(ar_scalar_kind)fact->kind, fact->where};
            AR_PUSH(arena, &kinds, use);
        } else if (fact->kind < AR_FACT_ACCUMULATOR) {
            ar_pin pin = {(ar_pin_kind)(fact->kind - AR_FACT_PIN), fact->text,
                          fact->where};
            AR_PUSH(arena, &pins, pin);
        } else if (fact->kind < AR_FACT_UPDATED) {
            c->accumulates = true;
        }
    }
    c->kinds = kinds.data;
    c->kind_count = kinds.count;
    c->pins = pins.data;
    c->pin_count = pins.count;
}

/* Globals and fields name a buffer better than what passes it around. */
int ar_decl_rank(const ar_decl *decl) {
    switch (decl->kind) {
    case AR_DECL_FIELD:
        return 0;
    case AR_DECL_VAR:
        return decl->storage == AR_STORAGE_AUTO ? 2 : 1;
    case AR_DECL_FUNCTION:
        return 4;
    case AR_DECL_PARAM:
    case AR_DECL_RECORD:
    case AR_DECL_TYPEDEF:
    case AR_DECL_ENUMERATOR:
        return 3;
    }
    return 5;
}

static int name_rank(const maker *m, const ar_slot *slot) {
    if (slot->object)
        return slot->holder ? m->g->objects.data[slot->object - 1].rank : 6;
    return slot->entity->decl->kind == AR_DECL_FIELD && slot->web
               ? 3
               : ar_decl_rank(slot->entity->decl);
}

static const char *class_name(maker *m, uint32_t id) {
    const id_list *slots = &m->class_slots[id], *sites = &m->class_sites[id];
    const ar_slot *best = NULL;
    for (uint32_t i = 0; i < slots->count; i++) {
        const ar_slot *slot = &m->facts->slots.data[slots->data[i]];
        if (!best || name_rank(m, slot) < name_rank(m, best))
            best = slot;
    }
    if (best)
        return ar_slot_name(m->g->arena, best);
    if (!sites->count)
        return "(unnamed)";
    ar_range at = m->facts->sites.data[sites->data[0]].where.range;
    if (at.file == AR_NO_FILE)
        return "(unnamed)";
    ar_files *files = &m->g->program->files;
    const char *name = files->list.data[at.file].name;
    const char *slash = strrchr(name, '/');
    return ar_sprintf(m->g->arena, "(memory at %s:%u)",
                      slash ? slash + 1 : name,
                      ar_line_col_at(files, at.file, at.begin).line);
}

static void find_concrete(maker *m, ar_storage_class *c, uint32_t *marks,
                          uint32_t walk) {
    id_list work = {0}, found = {0};
    AR_PUSH(m->g->arena, &work, c->id);
    marks[c->id] = walk;
    while (work.count) {
        uint32_t id = work.data[--work.count];
        if (!m->facts->classes.data[id].generic_of)
            AR_PUSH(m->g->arena, &found, id);
        for (uint32_t i = 0; i < m->actuals[id].count; i++) {
            uint32_t next = m->actuals[id].data[i];
            if (marks[next] != walk) {
                marks[next] = walk;
                AR_PUSH(m->g->arena, &work, next);
            }
        }
    }
    c->concrete = found.data;
    c->concrete_count = found.count;
}

/* Only uses of scratch fields, and what points to them in passing. */
static bool is_scratch_class(maker *m, const ar_storage_class *c) {
    bool is_scratch = false;
    for (uint32_t i = 0; i < c->slot_count; i++) {
        const ar_slot *slot = &m->facts->slots.data[c->slots[i]];
        bool is_use = m->g->is_scratch[slot->entity->id] && slot->web > 0;
        if (!is_use && name_rank(m, slot) < 2)
            return false;
        is_scratch |= is_use;
    }
    return is_scratch;
}

static void fill_class(maker *m, uint32_t id) {
    uint32_t cell = m->class_cells.data[id];
    const ar_cell *raw = &m->g->cells.data[cell];
    if (m->class_slots[id].count)
        qsort(m->class_slots[id].data, m->class_slots[id].count,
              sizeof *m->class_slots[id].data, compare_ids);
    ar_storage_class c = {.id = id,
                          .slots = m->class_slots[id].data,
                          .slot_count = m->class_slots[id].count,
                          .is_global = raw->is_global,
                          .sites = m->class_sites[id].data,
                          .site_count = m->class_sites[id].count};
    if (raw->is_generic && raw->owner) {
        const ar_function *f = &m->g->functions.data[raw->owner - 1];
        c.generic_of = f->is_called ? f->decl : NULL;
    }
    for (uint32_t i = 0; i < c.site_count; i++)
        c.site_counts[m->facts->sites.data[c.sites[i]].kind]++;
    c.name = class_name(m, id);
    c.is_scratch = is_scratch_class(m, &c);
    take_facts(m, &c, cell);
    AR_PUSH(m->g->arena, &m->facts->classes, c);
}

static void fill_accumulators(maker *m) {
    for (uint32_t i = 0; i < m->facts->accumulators.count; i++) {
        ar_accumulator *a = &m->facts->accumulators.data[i];
        a->class_id = class_of_cell(m, m->g->accumulator_cells.data[i]);
    }
}

/* What accumulates in a generic class does so in what it stands for. */
static void share_accumulators(maker *m) {
    uint32_t count = m->facts->classes.count;
    for (uint32_t i = 0; i < m->facts->accumulators.count; i++) {
        uint32_t id = m->facts->accumulators.data[i].class_id;
        if (id == AR_NO_ID)
            continue;
        const ar_storage_class *c = &m->facts->classes.data[id];
        if (c->generic_of)
            AR_PUSH(m->g->arena, &m->class_accumulators[id], i);
        for (uint32_t k = 0; k < c->concrete_count; k++)
            AR_PUSH(m->g->arena, &m->class_accumulators[c->concrete[k]], i);
    }
    for (uint32_t i = 0; i < count; i++) {
        m->facts->classes.data[i].accumulators = m->class_accumulators[i].data;
        m->facts->classes.data[i].accumulator_count =
            m->class_accumulators[i].count;
    }
}

void ar_classes_make(ar_graph *g) {
    maker m = {.g = g, .facts = g->facts};
    make_slots(&m);
    make_object_slots(&m);
    number_classes(&m);
    uint32_t count = m.class_cells.count;
    m.actuals = AR_NEW_ARRAY(g->arena, id_list, count + 1);
    m.class_slots = AR_NEW_ARRAY(g->arena, id_list, count + 1);
    m.class_sites = AR_NEW_ARRAY(g->arena, id_list, count + 1);
    m.class_accumulators = AR_NEW_ARRAY(g->arena, id_list, count + 1);
    index_slots(&m);
    ar_objects_make(g);
    make_sites(&m);
    make_calls(&m);
    make_arenas(&m);
    make_flows(&m);
    fill_accumulators(&m);
    for (uint32_t i = 0; i < count; i++)
        fill_class(&m, i);
    uint32_t *marks = AR_NEW_ARRAY(g->arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        ar_storage_class *c = &g->facts->classes.data[i];
        find_concrete(&m, c, marks, i + 1);
        if (c->concrete_count)
            qsort((uint32_t *)c->concrete, c->concrete_count,
                  sizeof *c->concrete, compare_ids);
    }
    share_accumulators(&m);
    g->facts->first_slot = m.first_slot;
    g->facts->next_slot = m.next_slot;
}

const ar_storage_class *ar_storage_of(const ar_storage_facts *facts,
                                      ar_program *program,
                                      const ar_decl *decl) {
    uint32_t slot = facts->first_slot[ar_entity_of(program, decl)->id];
    if (!slot)
        return NULL;
    return &facts->classes.data[facts->slots.data[slot - 1].class_id];
}
