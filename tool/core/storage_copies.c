/* Memory that holds nothing but copies of what stays FP32: the best weights so
 * far, say. In the training loop it is written before it is read, as an
 * activation is, but it is none. */
#include "core/storage_solver.h"

typedef struct copies {
    ar_storage_solver *s;
    bool *other;         /* class: something else is written to it */
    ar_role *copied;     /* class: of what role it has copies; NONE */
    const ar_range **at; /* class: the first copy */
} copies;

/* A role of the memory that the level keeps in FP32 and that is no data. */
static ar_role guarded_role(const ar_storage_solver *s, uint32_t id) {
    static const ar_role guarded[] = {AR_ROLE_PARAM, AR_ROLE_STATE,
                                      AR_ROLE_GRAD};
    for (size_t i = 0; i < sizeof guarded / sizeof *guarded; i++) {
        const char *by;
        if (s->info[id].roles & 1u << guarded[i] &&
            !ar_storage_role_is_half(s, guarded[i], &by))
            return guarded[i];
    }
    return AR_ROLE_NONE;
}

static ar_role source_role(const ar_storage_solver *s, uint32_t id) {
    const ar_storage_class *c = &s->facts->classes.data[id];
    ar_role role = guarded_role(s, id);
    for (uint32_t i = 0; i < c->concrete_count && role == AR_ROLE_NONE; i++)
        role = guarded_role(s, c->concrete[i]);
    return role;
}

/* Something is written to the class; from: a class that is only copied, or
 * AR_NO_ID. */
static void note_write(copies *c, uint32_t to, uint32_t from,
                       const ar_range *at) {
    ar_role role = from == AR_NO_ID ? AR_ROLE_NONE : source_role(c->s, from);
    if (role == AR_ROLE_NONE) {
        c->other[to] = true;
    } else if (c->copied[to] == AR_ROLE_NONE) {
        c->copied[to] = role;
        c->at[to] = at;
    }
}

/* What the op of the call does to the argument at this place: the class that
 * it copies there, or AR_NO_ID; false: it writes nothing there. */
static bool op_writes(const ar_storage_solver *s, const ar_op_site *op,
                      const ar_site *site, uint32_t *from) {
    const ar_function_rule *rule = op->rule;
    bool writes = false;
    *from = AR_NO_ID;
    for (uint32_t i = 0; i < rule->param_count && i + 1 < op->node->kid_count;
         i++) {
        ar_range at = op->node->kids[i + 1]->range;
        bool here = at.begin == site->where.range.begin &&
                    at.end == site->where.range.end;
        writes |= here && (rule->params[i].direction == AR_DIR_OUT ||
                           rule->params[i].direction == AR_DIR_INOUT);
    }
    if (!writes || op->category != AR_CAT_CLEAR)
        return writes;
    for (uint32_t i = ar_storage_site_at(s->plan->index, site->node); i;
         i = ar_storage_site_after(s->plan->index, i)) {
        const ar_site *other = &s->facts->sites.data[i - 1];
        if (other->kind == AR_SITE_CALL && other != site && other->class_count)
            *from = other->classes[0];
    }
    return true;
}

static void note_site(copies *c, const ar_site *site) {
    const ar_storage_solver *s = c->s;
    if (!site->class_count)
        return;
    uint32_t to = site->classes[0], from = AR_NO_ID;
    if (site->kind == AR_SITE_STORE && site->node->kind == AR_ASSIGN)
        note_write(c, to, ar_storage_loaded(s, site->node->kids[1]),
                   &site->node->range);
    else if (site->kind == AR_SITE_STORE ||
             site->kind == AR_SITE_COMPOUND_STORE ||
             site->kind == AR_SITE_VECTOR ||
             site->kind == AR_SITE_VARARGS_ADDRESS)
        c->other[to] = true;
    if (site->kind != AR_SITE_CALL)
        return;
    uint32_t index = ar_solver_find(&s->ops_at, site->node);
    if (index && op_writes(s, &s->ops->list.data[index - 1], site, &from))
        note_write(c, to, from, &site->node->range);
}

/* A callee's writes are writes to what it is given. */
static bool pass_on(copies *c, const ar_storage_link *l) {
    bool changed = c->other[l->generic] && !c->other[l->actual];
    c->other[l->actual] |= c->other[l->generic];
    if (c->copied[l->generic] != AR_ROLE_NONE &&
        c->copied[l->actual] == AR_ROLE_NONE) {
        c->copied[l->actual] = c->copied[l->generic];
        c->at[l->actual] = c->at[l->generic];
        changed = true;
    }
    return changed;
}

void ar_storage_find_copies(ar_storage_solver *s) {
    const ar_storage_facts *facts = s->facts;
    uint32_t count = facts->classes.count;
    copies c = {s, AR_NEW_ARRAY(s->arena, bool, count + 1),
                AR_NEW_ARRAY(s->arena, ar_role, count + 1),
                AR_NEW_ARRAY(s->arena, const ar_range *, count + 1)};
    for (uint32_t i = 0; i < facts->sites.count; i++)
        note_site(&c, &facts->sites.data[i]);
    for (uint32_t i = 0; i < facts->flows.count; i++) {
        const ar_flow *flow = &facts->flows.data[i];
        if (flow->kind == AR_FLOW_BYTES)
            note_write(&c, flow->to, flow->from, &flow->where.range);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < s->links.count; i++)
            changed = pass_on(&c, &s->links.data[i]) || changed;
    }
    for (uint32_t i = 0; i < count; i++)
        if (c.copied[i] != AR_ROLE_NONE && !c.other[i])
            ar_storage_deny(s, i,
                            ar_sprintf(s->arena,
                                       "holds nothing but copies of %s",
                                       ar_storage_role_words(c.copied[i])),
                            *c.at[i], NULL);
}
