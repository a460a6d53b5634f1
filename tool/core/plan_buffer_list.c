/* Parameters and gradients made known to the runtime: which memory, and where
 * one registration serves all of it (core/plan_buffers.h). */
#include "core/plan_buffers.h"
#include "core/plan_storage.h"

bool ar_has_grads(const ar_buffers *b, const ar_object *object) {
    return ar_table_get(&b->with_grads, ar_key(object), 0) != 0;
}

/* A parameter that cannot be registered only loses its cached cast; a gradient
 * that cannot be registered would be stepped with its scale still in it, and
 * what lies behind one in the same memory would be unscaled with it. */
bool ar_buffer_is_vital(const ar_buffers *b, const ar_buffer *one) {
    return one->kind != AR_BUFFER_PARAM ||
           (one->cell->is_region && ar_has_grads(b, one->object));
}

bool ar_cell_is_half(const ar_buffers *b, const ar_cell *cell) {
    const ar_storage_plan *storage = b->plan->storage;
    if (!storage)
        return false;
    uint32_t id = ar_storage_class_of_cell(storage, cell);
    return id != AR_NO_ID
               ? storage->classes[id].half
               : ar_object_is_half(storage, b->plan->program,
                                   cell->object->site, cell->object->decl);
}

static void list_groups(ar_buffers *b) {
    ar_table known = {.arena = b->plan->arena};
    for (uint32_t g = 0; g < b->scale->group_count; g++) {
        const ar_group *group = &b->scale->groups[g];
        for (uint32_t i = 0; i < group->grad_count; i++) {
            const ar_cell *cell = group->grads[i];
            ar_buffer one = {cell, cell->object,
                             cell->also_state ? AR_BUFFER_CARRY
                                              : AR_BUFFER_GRAD,
                             group->index, false};
            AR_PUSH(b->plan->arena, &b->list, one);
            ar_table_add(&known, ar_key(one.object), 0);
            ar_table_add(&b->with_grads, ar_key(one.object), 0);
        }
        for (uint32_t i = 0; i < group->param_count; i++) {
            const ar_cell *cell = group->params[i];
            ar_buffer one = {cell, cell->object, AR_BUFFER_PARAM, group->index,
                             false};
            if (ar_cell_is_half(b, cell))
                continue; /* no copy of it is ever made */
            AR_PUSH(b->plan->arena, &b->list, one);
            ar_table_add(&known, ar_key(one.object), 0);
        }
        for (uint32_t i = 0; i < group->seed_count; i++) {
            const ar_seed *seed = &group->seeds[i];
            if (seed->form != AR_SEED_BUFFER)
                continue;
            ar_buffer one = {seed->cell, seed->cell->object, AR_BUFFER_TRACKED,
                             group->index, false};
            if (ar_table_add(&known, ar_key(one.object), 0))
                AR_PUSH(b->plan->arena, &b->list, one);
        }
    }
}

/* A gradient's mark ends where the next part is marked. */
static void list_others(ar_buffers *b) {
    for (uint32_t i = 0; i < b->list.count; i++)
        ar_table_add(&b->listed, ar_key(b->list.data[i].cell), 0);
    for (uint32_t i = 0; i < b->scale->cells.count; i++) {
        const ar_cell *cell = b->scale->cells.data[i];
        if (!cell->is_region || !cell->scalar ||
            !ar_has_grads(b, cell->object) ||
            !ar_table_add(&b->listed, ar_key(cell), 0))
            continue;
        ar_buffer one = {cell, cell->object, AR_BUFFER_OTHER, 0, false};
        AR_PUSH(b->plan->arena, &b->list, one);
    }
}

static void index_all(ar_buffers *b) {
    ar_arena *arena = b->plan->arena;
    const ar_scale *scale = b->scale;
    b->of_object = ar_chains_new(arena, b->list.count);
    for (uint32_t i = b->list.count; i-- > 0;)
        ar_chain_add(&b->of_object, ar_key(b->list.data[i].object), i);
    b->cells = ar_chains_new(arena, scale->cells.count);
    for (uint32_t i = scale->cells.count; i-- > 0;)
        ar_chain_add(&b->cells, ar_key(scale->cells.data[i]->object), i);
    b->sites = ar_chains_new(arena, scale->objects.count);
    for (uint32_t i = scale->objects.count; i-- > 0;)
        ar_chain_add(&b->sites, ar_key(scale->objects.data[i]->site), i);
    b->stores_at = ar_chains_new(arena, scale->stores.count);
    b->stores_of = ar_chains_new(arena, scale->stores.count);
    b->stores_in = ar_chains_new(arena, scale->stores.count);
    for (uint32_t i = scale->stores.count; i-- > 0;) {
        const ar_pointer_store *store = &scale->stores.data[i];
        ar_chain_add(&b->stores_at, ar_key(store->node), i);
        ar_chain_add(&b->stores_of, ar_key(store->target), i);
        ar_chain_add(&b->stores_in, ar_key(store->holder), i);
    }
    for (uint32_t i = 0; i < scale->loop_unit->decls.count; i++) {
        const ar_decl *decl = scale->loop_unit->decls.data[i];
        if (decl->kind == AR_DECL_VAR &&
            (decl->type->bytes || decl->type->count))
            ar_table_add(&b->visible,
                         ar_key(ar_entity_of(b->plan->program, decl)), 0);
    }
}

ar_buffers ar_buffers_new(ar_plan *plan, const ar_scale *scale) {
    ar_buffers b = {.plan = plan, .scale = scale};
    b.listed.arena = b.tracked.arena = b.sized.arena = b.visible.arena =
        b.arrays.arena = b.with_grads.arena = plan->arena;
    list_groups(&b);
    list_others(&b);
    index_all(&b);
    return b;
}

bool ar_same_registration(const ar_buffer *a, const ar_buffer *b) {
    return a->kind == b->kind && a->group == b->group;
}

/* All float memory of the object has this one registration, so that it can be
 * registered as a whole, however many parts the program sees in it. */
bool ar_buffer_is_whole(const ar_buffers *b, const ar_buffer *one) {
    uint64_t object = ar_key(one->object);
    for (uint32_t i = ar_chain(&b->of_object, object); i;
         i = b->of_object.next[i])
        if (!ar_same_registration(&b->list.data[i - 1], one))
            return false;
    for (uint32_t i = ar_chain(&b->cells, object); i; i = b->cells.next[i]) {
        const ar_cell *cell = b->scale->cells.data[i - 1];
        bool listed = !cell->scalar;
        /* what only updates touch does no harm among parameters: the start of
         * an arena through which an optimizer walks it all */
        listed |= one->kind == AR_BUFFER_PARAM && cell->role == AR_ROLE_STATE;
        if (!listed && !ar_table_get(&b->listed, ar_key(cell), 0))
            return false;
    }
    return true;
}

const ar_buffer *ar_registration_of(const ar_buffers *b,
                                    const ar_object *object) {
    uint32_t first = ar_chain(&b->of_object, ar_key(object));
    return first ? &b->list.data[first - 1] : NULL;
}

/* Does the store lead to this buffer, or to the whole that it is part of? */
bool ar_leads_to_buffer(const ar_buffers *b, const ar_pointer_store *store,
                        const ar_buffer *one) {
    if (store->target != one->object)
        return false;
    return ar_buffer_is_whole(b, one) || !one->cell->is_region
               ? store->at_start
               : strcmp(store->target_path, one->cell->path) == 0;
}

static const ar_buffer *registration_at(const ar_buffers *b,
                                        const ar_pointer_store *store) {
    for (uint32_t i = ar_chain(&b->of_object, ar_key(store->target)); i;
         i = b->of_object.next[i])
        if (ar_leads_to_buffer(b, store, &b->list.data[i - 1]))
            return &b->list.data[i - 1];
    return NULL;
}

/* What holds nothing but zero may be unscaled and checked with the rest. */
static bool is_zero(const ar_buffers *b, const ar_object *object) {
    for (uint32_t i = ar_chain(&b->cells, ar_key(object)); i;
         i = b->cells.next[i]) {
        const ar_cell *cell = b->scale->cells.data[i - 1];
        if (cell->scalar && !cell->is_zero)
            return false;
    }
    return true;
}

/* Every object made by this allocation call wants the same registration. */
bool ar_site_is_uniform(const ar_buffers *b, const ar_buffer *one) {
    if (!ar_buffer_is_whole(b, one))
        return false;
    for (uint32_t i = ar_chain(&b->sites, ar_key(one->object->site)); i;
         i = b->sites.next[i]) {
        const ar_object *other = b->scale->objects.data[i - 1];
        if (other == one->object)
            continue;
        const ar_buffer *theirs = ar_registration_of(b, other);
        if (!theirs && is_zero(b, other))
            continue;
        if (!theirs || !ar_buffer_is_whole(b, theirs) ||
            !ar_same_registration(theirs, one))
            return false;
    }
    return true;
}

/* In every context this store leads to buffers with the same registration. */
bool ar_store_is_uniform(const ar_buffers *b, const ar_pointer_store *store,
                         const ar_buffer *one, bool through_holder,
                         const char *path) {
    for (uint32_t i = ar_chain(&b->stores_at, ar_key(store->node)); i;
         i = b->stores_at.next[i]) {
        const ar_pointer_store *other = &b->scale->stores.data[i - 1];
        if (other->variable != store->variable)
            continue;
        if (!through_holder) {
            const ar_buffer *theirs = registration_at(b, other);
            if (!theirs || !ar_same_registration(theirs, one))
                return false;
            continue;
        }
        for (uint32_t k = ar_chain(&b->stores_in, ar_key(other->target)); k;
             k = b->stores_in.next[k]) {
            const ar_pointer_store *inner = &b->scale->stores.data[k - 1];
            if (strcmp(inner->holder_path, path) != 0)
                continue;
            const ar_buffer *theirs = ar_registration_of(b, inner->target);
            if (!theirs || !ar_same_registration(theirs, one))
                return false;
        }
    }
    return true;
}
