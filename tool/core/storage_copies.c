/* Memory that holds nothing but copies of what stays FP32: the best weights so
 * far, say. In the training loop it is written before it is read, as an
 * activation is, but it is none. */
#include "core/storage_solver.h"

/* Something is written to `to`: a copy from another class, or what is none. */
typedef struct class_write {
    uint32_t to, from; /* from AR_NO_ID: no copy */
    const ar_range *at;
} class_write;

typedef struct copies {
    ar_storage_solver *s;
    AR_VEC(class_write) writes;
    ar_table known;
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

static void note_write(copies *c, uint32_t to, uint32_t from,
                       const ar_range *at) {
    class_write one = {to, from, at};
    if (ar_table_add(&c->known, ar_key2(to, from), 1))
        AR_PUSH(c->s->arena, &c->writes, one);
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
        note_write(c, to, AR_NO_ID, &site->node->range);
    if (site->kind != AR_SITE_CALL)
        return;
    uint32_t index = ar_solver_find(&s->ops_at, site->node);
    if (index && op_writes(s, &s->ops->list.data[index - 1], site, &from))
        note_write(c, to, from, &site->node->range);
}

/* What is generic stands for what the call gives it; what is not, and what the
 * call leaves out, for itself. */
static uint32_t actual_of(const ar_storage_call *call, uint32_t id) {
    uint32_t actual = ar_storage_actual(call, id);
    return actual == AR_NO_ID ? id : actual;
}

/* The function whose calls say what the write is about, or NULL. */
static const ar_decl *generic_in(const copies *c, class_write w) {
    const ar_storage_facts *facts = c->s->facts;
    const ar_decl *function = facts->classes.data[w.to].generic_of;
    return !function && w.from != AR_NO_ID
               ? facts->classes.data[w.from].generic_of
               : function;
}

/* A callee's writes are writes to what each of its calls gives it. */
static void pass_on(copies *c, class_write w) {
    const ar_decl *function = generic_in(c, w);
    if (!function)
        return;
    const ar_storage_index *index = c->s->plan->index;
    const ar_entity *callee = ar_entity_of(c->s->program, function);
    for (uint32_t i = ar_storage_call_of(index, callee); i;
         i = ar_storage_call_after(index, i)) {
        const ar_storage_call *call = &c->s->facts->calls.data[i - 1];
        if (!ar_storage_redirected(c->s, call->node))
            note_write(c, actual_of(call, w.to), actual_of(call, w.from), w.at);
    }
}

static copies all_writes(ar_storage_solver *s) {
    const ar_storage_facts *facts = s->facts;
    copies c = {.s = s, .known = {.arena = s->arena}};
    for (uint32_t i = 0; i < facts->sites.count; i++)
        note_site(&c, &facts->sites.data[i]);
    for (uint32_t i = 0; i < facts->flows.count; i++) {
        const ar_flow *flow = &facts->flows.data[i];
        if (flow->kind == AR_FLOW_BYTES)
            note_write(&c, flow->to, flow->from, &flow->where.range);
    }
    for (uint32_t i = 0; i < c.writes.count; i++)
        pass_on(&c, c.writes.data[i]);
    return c;
}

void ar_storage_find_copies(ar_storage_solver *s) {
    uint32_t count = s->facts->classes.count;
    bool *other = AR_NEW_ARRAY(s->arena, bool, count + 1);
    const class_write **first =
        AR_NEW_ARRAY(s->arena, const class_write *, count + 1);
    copies c = all_writes(s);
    for (uint32_t i = 0; i < c.writes.count; i++) {
        const class_write *w = &c.writes.data[i];
        if (generic_in(&c, *w))
            continue; /* the calls decide */
        if (w->from == AR_NO_ID || guarded_role(s, w->from) == AR_ROLE_NONE)
            other[w->to] = true;
        else if (!first[w->to])
            first[w->to] = w;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!first[i] || other[i])
            continue;
        ar_role role = guarded_role(s, first[i]->from);
        ar_storage_deny(s, i,
                        ar_sprintf(s->arena, "holds nothing but copies of %s",
                                   ar_storage_role_words(role)),
                        *first[i]->at, NULL);
    }
}
