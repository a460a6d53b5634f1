/* Roles of storage classes: each cell of the loss-scale analysis belongs to the
 * class of the memory that it is in. */
#include "core/chains.h"
#include "core/storage_solver.h"

static void add_cell(ar_storage_solver *s, uint32_t id, const ar_cell *cell) {
    ar_class_info *info = &s->info[id];
    if (!ar_table_get(&s->plan->cells, ar_key(cell), 0))
        ar_table_put(&s->plan->cells, ar_key(cell), 0, id + UINT64_C(1));
    if (cell->is_aside) {
        if (!info->aside)
            info->aside = cell;
        return;
    }
    if (cell->is_rate && !info->rate)
        info->rate = cell;
    info->roles |= 1u << cell->role;
    if (!info->cells[cell->role])
        info->cells[cell->role] = cell;
}

/* The classes of the entity's memory: one for each of its webs. */
static bool add_to_entity(ar_storage_solver *s, const ar_decl *decl,
                          const ar_cell *cell) {
    const ar_storage_facts *facts = s->facts;
    uint32_t slot = facts->first_slot[ar_entity_of(s->program, decl)->id];
    bool any = slot != 0 && !facts->slots.data[slot - 1].object;
    for (; slot && any; slot = facts->next_slot[slot - 1])
        add_cell(s, facts->slots.data[slot - 1].class_id, cell);
    return any;
}

static const ar_storage_call *call_at(const ar_storage_solver *s,
                                      const ar_node *node) {
    uint32_t index = ar_solver_find(&s->calls, node);
    return index ? &s->facts->calls.data[index - 1] : NULL;
}

/* What the allocating call gives: itself an allocator of the language, or a
 * function of the program that a rule calls one. */
static uint32_t allocated(const ar_storage_solver *s, const ar_node *site) {
    uint32_t index = ar_solver_find(&s->allocations, site);
    if (index)
        return s->facts->sites.data[index - 1].classes[0];
    const ar_storage_call *call = call_at(s, site);
    uint32_t slot = call ? s->facts->first_slot[call->callee->id] : 0;
    return slot ? ar_storage_actual(call,
                                    s->facts->slots.data[slot - 1].class_id)
                : AR_NO_ID;
}

/* Up the calls that led to the allocation, to the class that it is for. */
static uint32_t at_caller(const ar_storage_solver *s, uint32_t id,
                          const ar_object *object, uint32_t depth) {
    while (depth && s->facts->classes.data[id].generic_of) {
        const ar_storage_call *call = call_at(s, object->context[--depth]);
        uint32_t actual = call ? ar_storage_actual(call, id) : AR_NO_ID;
        if (actual == AR_NO_ID)
            return id;
        id = actual;
    }
    return id;
}

/* To the class that the memory has in that many calls. */
static bool add_at_caller(ar_storage_solver *s, uint32_t id,
                          const ar_cell *cell, uint32_t depth) {
    if (id == AR_NO_ID)
        return false;
    id = at_caller(s, id, cell->object, depth);
    const ar_storage_class *c = &s->facts->classes.data[id];
    if (!c->generic_of) {
        add_cell(s, id, cell);
        return true;
    }
    /* through a function pointer, say: all that it may be */
    for (uint32_t i = 0; i < c->concrete_count; i++)
        add_cell(s, c->concrete[i], cell);
    return c->concrete_count > 0;
}

static bool add_to_allocation(ar_storage_solver *s, const ar_cell *cell) {
    return add_at_caller(s, allocated(s, cell->object->site), cell,
                         cell->object->context_depth);
}

/* ---- memory that goes through bytes on its way -------------------------- */

/* What the statement sets: `x` of x = malloc(n), `f` of p->f = malloc(n). */
static const ar_decl *set_by(const ar_pointer_store *store) {
    if (store->variable)
        return store->variable;
    const ar_node *node = store->node;
    if (node->kind != AR_ASSIGN)
        return *store->holder_path ? NULL : store->holder->decl;
    for (node = ar_skip_casts(node->kids[0]); node; node = node->kids[0]) {
        if (node->kind == AR_MEMBER || node->kind == AR_REF)
            return node->decl;
        if (node->kind != AR_INDEX && node->kind != AR_DEREF)
            return NULL;
    }
    return NULL;
}

/* How well a holder says which class the memory is in. */
typedef enum holder_worth {
    HOLDER_NONE,
    HOLDER_GENERIC, /* one of those that it stands for */
    HOLDER_WEBS,    /* one of its webs */
    HOLDER_SURE
} holder_worth;

static holder_worth worth_of(const ar_storage_solver *s, const ar_decl *decl) {
    uint32_t slot =
        decl ? s->facts->first_slot[ar_entity_of(s->program, decl)->id] : 0;
    if (!slot)
        return HOLDER_NONE;
    const ar_slot *first = &s->facts->slots.data[slot - 1];
    if (first->object)
        return HOLDER_NONE; /* of some object */
    if (s->facts->classes.data[first->class_id].generic_of)
        return HOLDER_GENERIC;
    return first->web_count > 1 && decl->kind != AR_DECL_FIELD ? HOLDER_WEBS
                                                               : HOLDER_SURE;
}

static void add_to_what(ar_storage_solver *s, const ar_decl *decl,
                        const ar_cell *cell) {
    uint32_t slot = s->facts->first_slot[ar_entity_of(s->program, decl)->id];
    for (; slot; slot = s->facts->next_slot[slot - 1]) {
        const ar_storage_class *c =
            &s->facts->classes.data[s->facts->slots.data[slot - 1].class_id];
        for (uint32_t i = 0; i < c->concrete_count; i++)
            add_cell(s, c->concrete[i], cell);
    }
}

/* One variable that is set to point there says which class it is, if it stands
 * for one class. */
static void add_to_holder(ar_storage_solver *s, const ar_cell *cell) {
    const ar_decl *best = NULL;
    holder_worth worth = HOLDER_NONE;
    for (uint32_t i = 0; i < s->scale->stores.count; i++) {
        const ar_pointer_store *store = &s->scale->stores.data[i];
        if (store->target != cell->object)
            continue;
        const ar_decl *decl = set_by(store);
        holder_worth is = worth_of(s, decl);
        if (is > worth) {
            worth = is;
            best = decl;
        }
    }
    if (best)
        add_to_what(s, best, cell);
}

/* Uses of a scratch field that are kept apart are one memory for all that. */
static void share_uses(ar_storage_solver *s, const ar_slot *use) {
    uint32_t slot = s->facts->first_slot[use->entity->id];
    uint32_t first = s->facts->slots.data[slot - 1].class_id;
    ar_class_info *a = &s->info[first], *b = &s->info[use->class_id];
    a->roles |= b->roles;
    b->roles = a->roles;
    for (uint32_t i = 0; i < AR_ROLE_COUNT; i++) {
        if (!a->cells[i])
            a->cells[i] = b->cells[i];
        b->cells[i] = a->cells[i];
    }
    if (!a->aside)
        a->aside = b->aside;
    b->aside = a->aside;
}

static void share_all_uses(ar_storage_solver *s) {
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < s->facts->slots.count; i++) {
            const ar_slot *slot = &s->facts->slots.data[i];
            if (slot->is_float && slot->web && !slot->object &&
                slot->entity->decl->kind == AR_DECL_FIELD)
                share_uses(s, slot);
        }
}

/* ---- parts of arenas ----------------------------------------------------- */

typedef struct parts {
    ar_storage_solver *s;
    ar_table arena_at; /* place of the store that hands out: 1 + arena */
    ar_chains stores;  /* of those: by object */
} parts;

static const ar_storage_arena *arena_of(const parts *p,
                                        const ar_pointer_store *store) {
    uint32_t index = ar_solver_find(&p->arena_at, store->node);
    return index ? &p->s->facts->arenas.data[index - 1] : NULL;
}

static parts index_parts(ar_storage_solver *s) {
    const ar_scale *scale = s->scale;
    parts p = {.s = s, .arena_at = {.arena = s->arena}};
    for (uint32_t i = 0; i < s->facts->arenas.count; i++) {
        uint64_t more,
            place = ar_place_key(s->facts->arenas.data[i].store, &more);
        ar_table_put(&p.arena_at, place, more, i + UINT64_C(1));
    }
    p.stores = ar_chains_new(s->arena, scale->stores.count);
    for (uint32_t i = scale->stores.count; i-- > 0 && p.arena_at.count;)
        if (arena_of(&p, &scale->stores.data[i]))
            ar_chain_add(&p.stores, ar_key(scale->stores.data[i].target), i);
    return p;
}

/* How many calls lead into the function; all, if it is none of theirs. */
static uint32_t depth_in(const parts *p, const ar_object *object,
                         const ar_decl *function) {
    for (uint32_t depth = object->context_depth; depth; depth--) {
        const ar_decl *callee =
            ar_direct_callee(object->context[depth - 1]->kids[0]);
        if (callee && ar_definition_of(p->s->program, callee) == function)
            return depth;
    }
    return object->context_depth;
}

/* A part is known by the pointer that it was handed to; what lies at the start
 * is both the first part and the whole. */
static bool add_to_part(const parts *p, const ar_cell *cell) {
    bool any = false;
    uint32_t i = ar_chain(&p->stores, ar_key(cell->object)), part;
    for (; i; i = p->stores.next[i]) {
        const ar_pointer_store *store = &p->s->scale->stores.data[i - 1];
        const ar_storage_arena *arena = arena_of(p, store);
        if (strcmp(store->target_path, cell->path) == 0 &&
            ar_storage_find_part(arena, store, &part))
            any = add_at_caller(
                      p->s, arena->parts[part].class_id, cell,
                      depth_in(p, cell->object, arena->where.function)) ||
                  any;
    }
    return any && cell->is_region;
}

static bool holds_floats(const ar_cell *cell) {
    return !cell->scalar || ar_is_float(cell->scalar);
}

void ar_storage_find_roles(ar_storage_solver *s) {
    parts p = {0};
    if (s->scale)
        p = index_parts(s);
    for (uint32_t i = 0; s->scale && i < s->scale->cells.count; i++) {
        const ar_cell *cell = s->scale->cells.data[i];
        if (!holds_floats(cell) || add_to_part(&p, cell))
            continue;
        const ar_decl *decl = cell->field ? cell->field : cell->object->decl;
        bool known =
            decl ? add_to_entity(s, decl, cell) : add_to_allocation(s, cell);
        if (!known)
            add_to_holder(s, cell);
    }
    share_all_uses(s);
}
