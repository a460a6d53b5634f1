/* What ties classes together: a function has one text, so that what its
 * parameters stand for has one precision. */
#include "core/storage_solver.h"

static void add_link(ar_storage_solver *s, const ar_storage_call *call,
                     uint32_t generic, uint32_t actual) {
    ar_storage_link one = {call, NULL, NULL, generic, actual};
    if (generic != actual)
        AR_PUSH(s->arena, &s->links, one);
}

/* Scratch memory is kept apart by use, and each use could see it in its own
 * way; here all see it in the same. */
static void link_uses(ar_storage_solver *s) {
    const ar_storage_facts *facts = s->facts;
    for (uint32_t i = 0; i < facts->slots.count; i++) {
        const ar_slot *slot = &facts->slots.data[i];
        if (!slot->is_float || !slot->web || slot->object ||
            slot->entity->decl->kind != AR_DECL_FIELD)
            continue;
        uint32_t first = facts->first_slot[slot->entity->id];
        add_link(s, NULL, facts->slots.data[first - 1].class_id,
                 slot->class_id);
    }
}

/* One text that several units compile into declarations of their own: a source
 * that is included under several typedefs. Both have one precision. */
static void link_text(ar_storage_solver *s, const ar_site *one,
                      const ar_site *other) {
    if (!one->class_count || ar_entity_of(s->program, one->decl) ==
                                 ar_entity_of(s->program, other->decl))
        return;
    for (uint32_t k = 0; k < other->class_count; k++) {
        uint32_t last = one->class_count - 1;
        ar_storage_link link = {NULL, other, NULL,
                                one->classes[k < last ? k : last],
                                other->classes[k]};
        if (link.generic != link.actual)
            AR_PUSH(s->arena, &s->links, link);
    }
}

static void link_texts(ar_storage_solver *s) {
    const ar_storage_facts *facts = s->facts;
    ar_table first = {.arena = s->arena};
    for (uint32_t i = 0; i < facts->sites.count; i++) {
        const ar_site *site = &facts->sites.data[i];
        if (site->kind != AR_SITE_DECLARATION ||
            site->decl->name_range.in_macro_body ||
            site->decl->name_range.begin == site->decl->name_range.end)
            continue;
        ar_range name = site->decl->name_range;
        uint64_t key = ar_key2(name.file, name.begin);
        uint64_t before = ar_table_get(&first, key, name.end);
        if (before)
            link_text(s, &facts->sites.data[before - 1], site);
        else
            ar_table_put(&first, key, name.end, i + UINT64_C(1));
    }
}

/* An arena whose parts are not laid out apart has one element type. */
static void link_arenas(ar_storage_solver *s) {
    for (uint32_t i = 0; i < s->facts->arenas.count; i++) {
        const ar_storage_arena *arena = &s->facts->arenas.data[i];
        for (uint32_t k = 0; k < arena->part_count; k++) {
            ar_storage_link one = {NULL, NULL, arena, arena->whole,
                                   arena->parts[k].class_id};
            if (!s->plan->is_split[i] && one.generic != one.actual &&
                one.generic != AR_NO_ID && one.actual != AR_NO_ID)
                AR_PUSH(s->arena, &s->links, one);
        }
    }
}

static void index_links(ar_storage_solver *s) {
    ar_arena *arena = s->arena;
    uint32_t count = s->facts->classes.count;
    s->first = AR_NEW_ARRAY(arena, uint32_t, count + 2);
    for (uint32_t i = 0; i < s->links.count; i++) {
        s->first[s->links.data[i].generic + 1]++;
        s->first[s->links.data[i].actual + 1]++;
    }
    for (uint32_t i = 0; i < count; i++)
        s->first[i + 1] += s->first[i];
    uint32_t *next = AR_NEW_ARRAY(arena, uint32_t, count + 1);
    memcpy(next, s->first, count * sizeof *next);
    s->list = AR_NEW_ARRAY(arena, uint32_t, 2 * s->links.count + 1);
    for (uint32_t i = 0; i < s->links.count; i++) {
        s->list[next[s->links.data[i].generic]++] = i;
        s->list[next[s->links.data[i].actual]++] = i;
    }
}

/* The class at the other end. */
static uint32_t across(const ar_storage_link *l, uint32_t id) {
    return l->generic == id ? l->actual : l->generic;
}

static bool is_float_declaration(const ar_decl *decl) {
    const ar_type *type = decl->type;
    if (decl->kind == AR_DECL_FUNCTION)
        type = type->element;
    return ar_float_depth(type) >= 0;
}

/* Memory that only goes through a function as bytes: void *xmalloc(size_t). */
static bool is_seen_as_bytes(const ar_storage_solver *s,
                             const ar_storage_class *c) {
    const ar_storage_facts *facts = s->facts;
    if (!c->generic_of)
        return false;
    for (uint32_t i = 0; i < c->slot_count; i++)
        if (is_float_declaration(facts->slots.data[c->slots[i]].entity->decl))
            return false;
    for (uint32_t i = 0; i < c->site_count; i++) {
        ar_site_kind kind = facts->sites.data[c->sites[i]].kind;
        if (kind != AR_SITE_ALLOCATION && kind != AR_SITE_CLEAR)
            return false;
    }
    return true;
}

static void find_agnostic(ar_storage_solver *s) {
    const ar_storage_facts *facts = s->facts;
    uint32_t count = facts->classes.count;
    s->agnostic = AR_NEW_ARRAY(s->arena, bool, count + 1);
    for (uint32_t i = 0; i < count; i++)
        s->agnostic[i] = is_seen_as_bytes(s, &facts->classes.data[i]);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < s->links.count; i++) {
            const ar_storage_link *l = &s->links.data[i];
            if (!s->agnostic[l->actual] || s->agnostic[l->generic])
                continue;
            s->agnostic[l->actual] = false;
            changed = true;
        }
    }
}

void ar_storage_find_links(ar_storage_solver *s) {
    for (uint32_t i = 0; i < s->facts->calls.count; i++) {
        const ar_storage_call *call = &s->facts->calls.data[i];
        /* its operands may be of either precision */
        bool is_redirected = ar_storage_redirected(s, call->node);
        for (uint32_t k = 0; k < call->instance_count; k++)
            if (!is_redirected ||
                ar_storage_is_in_object(s->facts, call->instances[k].generic))
                add_link(s, call, call->instances[k].generic,
                         call->instances[k].actual);
    }
    link_uses(s);
    link_texts(s);
    ar_storage_link_objects(s);
    link_arenas(s);
    index_links(s);
    find_agnostic(s);
}

/* ---- FP32 spreads -------------------------------------------------------- */

static uint32_t root_of(const ar_storage_solver *s, uint32_t id) {
    while (s->because[id])
        id = across(s->because[id], id);
    return id;
}

/* What is passed on to a function that has one text is of one precision in
 * every version of the function that passes it. */
void ar_storage_find_one_values(ar_storage_solver *s) {
    const ar_storage_versions *versions = s->plan->versions;
    s->one_value =
        AR_NEW_ARRAY(s->arena, const char *, s->facts->classes.count + 1);
    for (uint32_t i = 0; i < versions->functions.count; i++) {
        const ar_function_versions *f = versions->functions.data[i];
        for (uint32_t k = 0; k < f->generic_count; k++)
            s->one_value[f->generics[k]] =
                f->one_text
                    ? ar_sprintf(s->arena, "has one text: %s", f->one_text)
                    : NULL;
    }
    uint32_t count = s->facts->classes.count, depth = 0;
    uint32_t *stack = AR_NEW_ARRAY(s->arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++)
        if (s->one_value[i])
            stack[depth++] = i;
    while (depth) {
        uint32_t id = stack[--depth];
        for (uint32_t k = s->first[id]; k < s->first[id + 1]; k++) {
            const ar_storage_link *l = &s->links.data[s->list[k]];
            if (!l->call || l->generic != id || s->one_value[l->actual] ||
                !s->facts->classes.data[l->actual].generic_of)
                continue;
            s->one_value[l->actual] =
                ar_sprintf(s->arena, "passes it on to '%s', which %s",
                           l->call->callee->decl->name, s->one_value[id]);
            stack[depth++] = l->actual;
        }
    }
}

/* Named after the neighbour that it comes from, with the reason at the root. */
static const char *call_reason(const ar_storage_solver *s,
                               const ar_storage_link *l, uint32_t id,
                               const char *reason) {
    uint32_t next = across(l, id);
    const char *function = l->call->callee->decl->name;
    if (l->generic == id)
        return ar_sprintf(s->arena,
                          "'%s' is called with '%s', which is FP32 (%s), and "
                          "%s",
                          function, s->facts->classes.data[next].name, reason,
                          s->one_value[id]);
    if (!s->because[next])
        return ar_sprintf(s->arena, "passed to '%s', where it is FP32 (%s)",
                          function, reason);
    uint32_t other = across(s->because[next], next);
    return ar_sprintf(s->arena,
                      "passed to '%s', and so is '%s', which is FP32 (%s)",
                      function, s->facts->classes.data[other].name, reason);
}

/* Parts touch by the whole, which has no say of its own. */
static void explain_arena(ar_storage_solver *s, uint32_t id,
                          const ar_storage_link *l) {
    uint32_t next = across(l, id);
    const ar_storage_link *before = s->because[next];
    bool is_by_part = id != l->generic && before && before->arena == l->arena;
    uint32_t other = is_by_part ? across(before, next) : next;
    ar_storage_decision *d = &s->at[id];
    d->reason = ar_sprintf(
        s->arena, "in one allocation with '%s', which is FP32 (%s)",
        s->facts->classes.data[other].name, s->at[root_of(s, id)].reason);
    d->reason_at = l->arena->where.range;
    const char *problem = s->arena_problem[l->arena - s->facts->arenas.data];
    d->unlock =
        ar_sprintf(s->arena, "parts with elements of their own size, but %s",
                   problem ? problem : "its other uses are FP32");
}

static void explain(ar_storage_solver *s, uint32_t id,
                    const ar_storage_link *l) {
    uint32_t root = root_of(s, id);
    const ar_storage_decision *cause = &s->at[root];
    ar_storage_decision *d = &s->at[id];
    d->unlock = cause->unlock;
    if (l->arena) {
        explain_arena(s, id, l);
        return;
    }
    if (l->site) {
        const char *how = l->site->kind == AR_SITE_DECLARATION
                              ? "declared by one text with"
                              : "named together with";
        d->reason = ar_sprintf(s->arena, "%s '%s', which is FP32 (%s)", how,
                               s->facts->classes.data[across(l, id)].name,
                               cause->reason);
        d->reason_at = l->site->where.range;
        return;
    }
    if (!l->call) {
        d->reason = ar_sprintf(
            s->arena, "another use of the field is FP32 (%s)", cause->reason);
        d->reason_at = cause->reason_at;
        return;
    }
    d->reason = call_reason(s, l, id, cause->reason);
    d->reason_at = l->call->where.range;
}

/* What is passed is FP32: need what the callee does with it be? */
static bool can_differ(const ar_storage_solver *s, const ar_storage_link *l,
                       uint32_t id) {
    return l->call && l->actual == id &&
           (s->agnostic[l->generic] || !s->one_value[l->generic]);
}

void ar_storage_spread(ar_storage_solver *s) {
    while (s->done < s->queued) {
        uint32_t id = s->queue[s->done++];
        for (uint32_t k = s->first[id]; k < s->first[id + 1]; k++) {
            const ar_storage_link *l = &s->links.data[s->list[k]];
            uint32_t other = across(l, id);
            if (!s->at[other].half || can_differ(s, l, id))
                continue;
            s->because[other] = l;
            ar_storage_keep(s, other, NULL, AR_NO_RANGE, NULL);
            explain(s, other, l);
        }
    }
}

/* ---- what follows -------------------------------------------------------- */

static void follow(ar_storage_solver *s) {
    uint32_t count = s->facts->classes.count, depth = 0;
    uint32_t *stack = AR_NEW_ARRAY(s->arena, uint32_t, count + 1);
    memcpy(s->followed, s->wanted, count * sizeof *s->followed);
    for (uint32_t i = 0; i < count; i++)
        if (s->at[i].half && s->wanted[i])
            stack[depth++] = i;
    while (depth) {
        uint32_t id = stack[--depth];
        for (uint32_t k = s->first[id]; k < s->first[id + 1]; k++) {
            uint32_t other = across(&s->links.data[s->list[k]], id);
            if (!s->at[other].half || s->followed[other] || s->agnostic[other])
                continue;
            s->followed[other] = true;
            stack[depth++] = other;
        }
    }
}

static const char *unwanted(const ar_storage_solver *s,
                            const ar_storage_class *c) {
    if (s->agnostic[c->id])
        return "seen as bytes: holds whatever the caller puts there";
    if (s->info[c->id].aside)
        return "the training loop does not use it";
    if (!c->generic_of)
        return "nothing uses it";
    return c->concrete_count ? "nothing that it is called with is half"
                             : "role unknown: nothing calls it";
}

/* A web that holds nothing has the type of the declaration. */
static bool is_half_by_declaration(const ar_storage_solver *s,
                                   const ar_storage_class *c) {
    bool any = false;
    for (uint32_t i = 0; i < c->site_count; i++) {
        const ar_site *site = &s->facts->sites.data[c->sites[i]];
        if (site->kind == AR_SITE_RECORD)
            continue;
        if (site->kind != AR_SITE_DECLARATION)
            return false;
        for (uint32_t k = 0; k < site->class_count; k++) {
            uint32_t id = site->classes[k];
            if (!s->at[id].half || (id != c->id && !s->followed[id]))
                return false;
            any |= id != c->id;
        }
    }
    return any;
}

void ar_storage_settle(ar_storage_solver *s) {
    follow(s);
    for (uint32_t i = 0; i < s->facts->classes.count; i++) {
        const ar_storage_class *c = &s->facts->classes.data[i];
        ar_storage_decision *d = &s->at[i];
        if (!d->half || s->followed[i])
            continue;
        if (is_half_by_declaration(s, c)) {
            d->reason = "declared together with memory that is half";
            continue;
        }
        d->half = false;
        d->reason = unwanted(s, c);
    }
}
