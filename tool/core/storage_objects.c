/* Structs told apart by object: what one text names is one kind of struct. */
#include "core/storage_solver.h"

bool ar_storage_is_in_object(const ar_storage_facts *facts, uint32_t id) {
    const ar_storage_class *c = &facts->classes.data[id];
    for (uint32_t i = 0; i < c->slot_count; i++)
        if (facts->slots.data[c->slots[i]].object)
            return true;
    return false;
}

static void link_two(ar_storage_solver *s, const ar_site *site, uint32_t a,
                     uint32_t b) {
    const ar_storage_object *one = &s->facts->objects.data[a];
    const ar_storage_object *other = &s->facts->objects.data[b];
    if (one->record != other->record)
        return;
    for (uint32_t i = 0; i < one->record->decl->member_count; i++) {
        ar_storage_link link = {NULL, site, NULL, one->classes[i],
                                other->classes[i]};
        if (link.generic != link.actual)
            AR_PUSH(s->arena, &s->links, link);
    }
}

void ar_storage_link_objects(ar_storage_solver *s) {
    const ar_storage_facts *facts = s->facts;
    for (uint32_t i = 0; i < facts->sites.count; i++) {
        const ar_site *site = &facts->sites.data[i];
        if (site->kind != AR_SITE_RECORD || !site->object_count)
            continue;
        for (uint32_t k = 1; k < site->object_count; k++)
            link_two(s, site, site->objects[0], site->objects[k]);
    }
}
