/* What a store stores, as far as FP32 matters: results of exp, log and the
 * like, and sums. A value that carries data of its own as well (a normalised
 * activation, a gated one) may be half, and so may a sum of products, which is
 * what a layer computes. */
#include "core/storage_solver.h"

/* What a value is made of; of a product the larger counts. */
typedef enum worth {
    NEUTRAL, /* numbers, integers, scalars that were given */
    COPY,    /* from memory that holds such results */
    SUM,     /* of terms that are no products */
    DENIED,  /* from an op that needs FP32 */
    DATA     /* from memory otherwise: may be half */
} worth;

typedef struct value {
    worth worth;
    const ar_node *from; /* COPY, SUM, DENIED */
    const char *what;    /* DENIED: "rule exp expf (libm.amp)" */
} value;

typedef struct evaluator {
    ar_storage_solver *s;
    ar_map known; /* local: decl, function: entity id + 1 -> its value */
    /* what an update adds to counts for nothing, or AR_NO_ID */
    uint32_t updated;
    uint32_t depth, call_depth;
} evaluator;

enum { MAX_DEPTH = 24 };

static value evaluate(evaluator *e, const ar_node *node);

static value larger(value a, value b) {
    return a.worth >= b.worth ? a : b;
}

/* ---- sums ---------------------------------------------------------------- */

static bool comes_from_memory(evaluator *e, const ar_node *node) {
    worth w = evaluate(e, node).worth;
    return w == DATA || w == COPY;
}

/* a[i] * b[j], whatever else is multiplied in: two different things that are
 * data. */
static bool is_product_of_data(evaluator *e, const ar_node *node) {
    node = ar_skip_casts(node);
    if (node->kind == AR_UNARY && node->op == AR_OP_MINUS)
        return is_product_of_data(e, node->kids[0]);
    if (node->kind == AR_REF && ar_is_local_float(node->decl)) {
        const ar_node *set = ar_storage_single_value(e->s, node->decl);
        return set && e->depth < MAX_DEPTH && is_product_of_data(e, set);
    }
    if (node->kind != AR_BINARY || node->op != AR_OP_MUL)
        return false;
    const ar_node *a = node->kids[0], *b = node->kids[1];
    if (is_product_of_data(e, a) || is_product_of_data(e, b))
        return true;
    return !ar_storage_same(a, b) && comes_from_memory(e, a) &&
           comes_from_memory(e, b);
}

/* s = s + term */
static const ar_node *added_to(const ar_decl *local, const ar_node *set) {
    set = ar_skip_casts(set);
    if (set->kind != AR_BINARY ||
        (set->op != AR_OP_ADD && set->op != AR_OP_SUB))
        return NULL;
    for (int i = 0; i < 2; i++) {
        const ar_node *kid = ar_skip_casts(set->kids[i]);
        if (kid->kind == AR_REF && kid->decl == local)
            return set->kids[1 - i];
    }
    return NULL;
}

static value sum_of(evaluator *e, const ar_node *term) {
    value v = evaluate(e, term);
    if (v.worth == DENIED || v.worth == NEUTRAL)
        return v;
    if (is_product_of_data(e, term))
        return (value){DATA, NULL, NULL};
    return (value){SUM, term, NULL};
}

/* A local that once holds data and then a sum is what it is at last; which that
 * is does not matter: the statistic wins only where nothing else is in it. */
static value value_of_local(evaluator *e, const ar_decl *local) {
    const ar_local_value *set = ar_map_get(&e->s->assigned, ar_key(local));
    value sum = {0}, plain = {0};
    for (; set; set = set->next) {
        const ar_node *term =
            set->adds ? set->value : added_to(local, set->value);
        if (term)
            sum = larger(sum, sum_of(e, term));
        else
            plain = larger(plain, evaluate(e, set->value));
    }
    if (sum.worth == NEUTRAL)
        return plain;
    return sum.worth == DATA || plain.worth == DATA ? (value){DATA, NULL, NULL}
                                                    : larger(sum, plain);
}

/* Once for each; what depends on itself adds nothing on the way round. */
static value *known(evaluator *e, uint64_t key, bool *is_new) {
    value *v = ar_map_get(&e->known, key);
    *is_new = !v;
    if (!v) {
        v = AR_NEW(e->s->arena, value);
        ar_map_put(&e->known, key, v);
    }
    return v;
}

static value evaluate_local(evaluator *e, const ar_decl *local) {
    bool is_new;
    value *v = known(e, ar_key(local), &is_new);
    if (is_new)
        *v = value_of_local(e, local);
    return *v;
}

/* ---- calls --------------------------------------------------------------- */

static value evaluate_arguments(evaluator *e, const ar_node *call) {
    value all = {0};
    for (uint32_t i = 1; i < call->kid_count; i++)
        if (ar_is_floating(call->kids[i]->type))
            all = larger(all, evaluate(e, call->kids[i]));
    return all;
}

static value evaluate_result(evaluator *e, const ar_decl *callee) {
    uint64_t key = ar_entity_of(e->s->program, callee)->id + UINT64_C(1);
    const ar_local_value *result = ar_map_get(&e->s->returned, key);
    if (!result)
        return (value){DATA, NULL, NULL};
    bool is_new;
    value *v = known(e, key, &is_new), all = {0};
    if (!is_new)
        return *v;
    e->call_depth++;
    for (; result; result = result->next)
        all = larger(all, evaluate(e, result->value));
    e->call_depth--;
    *v = all;
    return all;
}

static value evaluate_call(evaluator *e, const ar_node *call) {
    uint32_t index = ar_solver_find(&e->s->ops_at, call);
    const ar_op_site *op = index ? &e->s->ops->list.data[index - 1] : NULL;
    if (op && op->category == AR_CAT_DENY)
        return (value){DENIED, call,
                       ar_sprintf(e->s->arena, "rule %s %s (%s)", op->name,
                                  op->rule->function, op->rule->origin)};
    if (op && op->category == AR_CAT_CLEAR)
        return evaluate_arguments(e, call);
    const ar_decl *callee = ar_direct_callee(call->kids[0]);
    return !op && callee ? evaluate_result(e, callee)
                         : (value){DATA, NULL, NULL};
}

/* ---- expressions --------------------------------------------------------- */

static value in_memory(const ar_storage_solver *s, const ar_site *site,
                       const ar_node *node) {
    if (!site->class_count || ar_storage_is_scalar(s->facts, site->classes[0]))
        return (value){0};
    return s->info[site->classes[0]].denied ? (value){COPY, node, NULL}
                                            : (value){DATA, NULL, NULL};
}

static value evaluate_load(evaluator *e, const ar_node *node) {
    uint32_t index = ar_solver_find(&e->s->sites, node);
    if (!index) /* a global, a field: a number that was given */
        return (value){0};
    const ar_site *site = &e->s->facts->sites.data[index - 1];
    if (site->class_count && site->classes[0] == e->updated)
        return (value){0};
    return in_memory(e->s, site, node);
}

static bool is_one_plus(evaluator *e, const ar_node *node) {
    node = ar_skip_casts(node);
    return node->kind == AR_BINARY && node->op == AR_OP_ADD &&
           ((evaluate(e, node->kids[0]).worth == NEUTRAL) !=
            (evaluate(e, node->kids[1]).worth == NEUTRAL));
}

static value evaluate_binary(evaluator *e, ar_op op, value a, value b,
                             const ar_node *divisor) {
    value all = larger(a, b);
    switch (op) {
    case AR_OP_MUL:
        return all;
    case AR_OP_DIV:
        /* 1 / (1 + exp(-x)) lies between 0 and 1 */
        if (b.worth == DENIED && divisor && is_one_plus(e, divisor))
            return (value){DATA, NULL, NULL};
        return all;
    case AR_OP_ADD:
    case AR_OP_SUB:
        /* log(sum) - x is a loss, x - mean is data, p - y an error */
        if (a.worth == DENIED || b.worth == DENIED)
            return a.worth == DENIED ? a : b;
        return all.worth == COPY ? (value){DATA, NULL, NULL} : all;
    default:
        return (value){0}; /* comparisons and integer operators */
    }
}

static value evaluate_kind(evaluator *e, const ar_node *node) {
    switch (node->kind) {
    case AR_CAST:
    case AR_IMPLICIT:
    case AR_UNARY:
        return node->kid_count ? evaluate(e, node->kids[0]) : (value){0};
    case AR_REF:
        if (ar_is_local_float(node->decl))
            return evaluate_local(e, node->decl);
        /* a factor that the function is told; seen from a call, anything */
        return e->call_depth && node->decl && node->decl->kind == AR_DECL_PARAM
                   ? (value){DATA, NULL, NULL}
                   : (value){0};
    case AR_INDEX:
    case AR_DEREF:
    case AR_MEMBER:
        return evaluate_load(e, node);
    case AR_CALL:
        return evaluate_call(e, node);
    case AR_BINARY:
        return evaluate_binary(e, node->op, evaluate(e, node->kids[0]),
                               evaluate(e, node->kids[1]), node->kids[1]);
    case AR_CONDITIONAL:
    case AR_COMMA:
        if (node->kid_count < 2)
            return (value){0};
        if (node->kind == AR_COMMA || node->kid_count == 2)
            return evaluate(e, node->kids[1]);
        return larger(evaluate(e, node->kids[1]), evaluate(e, node->kids[2]));
    case AR_ASSIGN:
        return evaluate(e, node->kids[1]);
    default:
        return (value){0};
    }
}

static value evaluate(evaluator *e, const ar_node *node) {
    if (!ar_is_floating(node->type))
        return (value){0};
    if (e->depth >= MAX_DEPTH)
        return (value){DATA, NULL, NULL};
    e->depth++;
    value v = evaluate_kind(e, node);
    e->depth--;
    return v;
}

/* ---- stores -------------------------------------------------------------- */

/* What a loop adds to an element that an FP32 scratch stands in for, as to a
 * local; NULL: nothing. */
static const ar_node *summed(const ar_storage_solver *s, const ar_node *store) {
    const ar_node *target = store->kids[0];
    if (!ar_map_get(&s->plan->sums->at, ar_key(target)))
        return NULL;
    if (store->kind == AR_COMPOUND_ASSIGN)
        return store->op == AR_OP_ADD || store->op == AR_OP_SUB ? store->kids[1]
                                                                : NULL;
    const ar_node *sum = ar_skip_casts(store->kids[1]);
    if (sum->kind != AR_BINARY ||
        (sum->op != AR_OP_ADD && sum->op != AR_OP_SUB))
        return NULL;
    for (int i = 0; i < 2; i++)
        if (ar_storage_same(sum->kids[i], target))
            return sum->kids[1 - i];
    return NULL;
}

static value stored(evaluator *e, const ar_site *site) {
    const ar_node *store = site->node;
    const ar_node *term =
        store->kind == AR_ASSIGN || store->kind == AR_COMPOUND_ASSIGN
            ? summed(e->s, store)
            : NULL;
    if (term)
        return sum_of(e, term);
    if (store->kind == AR_ASSIGN)
        return evaluate(e, store->kids[1]);
    if (store->kind != AR_COMPOUND_ASSIGN)
        return (value){DATA, NULL, NULL};
    value before = e->updated == AR_NO_ID
                       ? in_memory(e->s, site, store->kids[0])
                       : (value){0};
    return evaluate_binary(e, store->op, before, evaluate(e, store->kids[1]),
                           store->kids[1]);
}

void ar_storage_deny(ar_storage_solver *s, uint32_t id, const char *reason,
                     ar_range at, const ar_decl *function) {
    ar_class_info *info = &s->info[id];
    if (info->denied || ar_storage_function_is_half(s, function))
        return;
    info->denied = reason;
    info->denied_at = at;
    info->denied_in = function;
}

static const char *reason_of(ar_storage_solver *s, value v) {
    switch (v.worth) {
    case DENIED:
        return ar_sprintf(s->arena, "holds what needs FP32: %s", v.what);
    case SUM:
        return "holds a statistic: a sum that is not one of products";
    case COPY:
        return "holds a copy of what needs FP32";
    case NEUTRAL:
    case DATA:
        break;
    }
    AR_BUG("nothing to deny");
}

/* A running average of a statistic is one. */
static value stored_in_state(evaluator *e, const ar_site *site) {
    evaluator own = {.s = e->s,
                     .known = {.arena = e->s->arena},
                     .updated = site->classes[0]};
    value v = stored(&own, site);
    return v.worth == SUM || v.worth == COPY ? v : (value){0};
}

/* Parameters and their gradients are half for what they are, whatever they are
 * made from. */
static value stored_by_role(evaluator *e, const ar_site *site) {
    uint32_t roles = ar_storage_trained_roles(e->s, site->classes[0]);
    if (!roles)
        return stored(e, site);
    return roles & 1u << AR_ROLE_STATE ? stored_in_state(e, site) : (value){0};
}

static bool deny_store(evaluator *e, const ar_site *site) {
    ar_storage_solver *s = e->s;
    if (!site->class_count || s->info[site->classes[0]].denied ||
        ar_storage_function_is_half(s, site->where.function))
        return false;
    value v = stored_by_role(e, site);
    if (v.worth == NEUTRAL || v.worth == DATA)
        return false;
    ar_storage_deny(s, site->classes[0], reason_of(s, v), site->node->range,
                    site->where.function);
    return true;
}

/* What a call that a rule denies writes through its arguments. */
static void deny_results(ar_storage_solver *s, const ar_site *site) {
    uint32_t index =
        site->kind == AR_SITE_CALL ? ar_solver_find(&s->ops_at, site->node) : 0;
    const ar_op_site *op = index ? &s->ops->list.data[index - 1] : NULL;
    if (!op || op->category != AR_CAT_DENY || !site->class_count ||
        ar_storage_trained_roles(s, site->classes[0]))
        return;
    for (uint32_t i = 1; i < site->node->kid_count; i++) {
        ar_range at = site->node->kids[i]->range;
        if (i > op->rule->param_count || at.begin != site->where.range.begin ||
            at.end != site->where.range.end ||
            (op->rule->params[i - 1].direction != AR_DIR_OUT &&
             op->rule->params[i - 1].direction != AR_DIR_INOUT) ||
            s->info[site->classes[0]].denied)
            continue;
        ar_storage_deny(
            s, site->classes[0],
            ar_sprintf(s->arena, "written by what needs FP32: rule %s %s (%s)",
                       op->name, op->rule->function, op->rule->origin),
            at, NULL);
    }
}

/* ---- through parameters -------------------------------------------------- */

/* void set(Matrix *m, int i, float v) { m->data[i] = v; }: what is stored is
 * what each call passes, in the memory that it passes. */
typedef struct handed_on {
    uint32_t to; /* class */
    const ar_decl *parameter;
} handed_on;

typedef struct hand_over {
    evaluator *e;
    AR_VEC(handed_on) list;
    ar_table known;
} hand_over;

static void note_handed_on(hand_over *h, uint32_t to, const ar_node *node) {
    node = ar_skip_casts(node);
    if (node->kind != AR_REF || !node->decl ||
        node->decl->kind != AR_DECL_PARAM || !ar_is_floating(node->type) ||
        !ar_table_add(&h->known, ar_key(node->decl), to + UINT64_C(1)))
        return;
    handed_on one = {to, node->decl};
    AR_PUSH(h->e->s->arena, &h->list, one);
}

static bool deny_at_call(hand_over *h, const handed_on *one,
                         const ar_storage_call *call) {
    ar_storage_solver *s = h->e->s;
    uint32_t index = one->parameter->index + 1;
    if (call->node->kind != AR_CALL || index >= call->node->kid_count)
        return false;
    const ar_node *argument = call->node->kids[index];
    uint32_t to = ar_storage_actual(call, one->to);
    if (to == AR_NO_ID)
        to = one->to; /* the same memory at every call */
    note_handed_on(h, to, argument);
    if (s->info[to].denied || ar_storage_trained_roles(s, to) ||
        ar_storage_function_is_half(s, call->where.function))
        return false;
    value v = evaluate(h->e, argument);
    if (v.worth == NEUTRAL || v.worth == DATA)
        return false;
    ar_storage_deny(s, to, reason_of(s, v), call->node->range,
                    call->where.function);
    return true;
}

static hand_over start_hand_over(evaluator *e) {
    const ar_storage_facts *facts = e->s->facts;
    hand_over h = {.e = e, .known = {.arena = e->s->arena}};
    for (uint32_t i = 0; i < facts->sites.count; i++) {
        const ar_site *site = &facts->sites.data[i];
        if (site->kind == AR_SITE_STORE && site->class_count &&
            site->node->kind == AR_ASSIGN)
            note_handed_on(&h, site->classes[0], site->node->kids[1]);
    }
    return h;
}

static bool deny_calls(hand_over *h) {
    bool changed = false;
    for (uint32_t i = 0; i < h->list.count; i++) {
        handed_on one = h->list.data[i];
        ar_storage_solver *s = h->e->s;
        const ar_storage_index *index = s->plan->index;
        const ar_entity *function =
            ar_entity_of(s->program, one.parameter->parent);
        for (uint32_t k = ar_storage_call_of(index, function); k;
             k = ar_storage_call_after(index, k))
            changed =
                deny_at_call(h, &one, &s->facts->calls.data[k - 1]) || changed;
    }
    return changed;
}

/* ---- all ----------------------------------------------------------------- */

void ar_storage_find_denied(ar_storage_solver *s) {
    evaluator e = {.s = s, .updated = AR_NO_ID};
    const ar_storage_facts *facts = s->facts;
    hand_over h = start_hand_over(&e);
    for (uint32_t i = 0; i < facts->sites.count; i++)
        deny_results(s, &facts->sites.data[i]);
    for (bool changed = true; changed;) {
        e.known = (ar_map){.arena = s->arena};
        changed = deny_calls(&h);
        for (uint32_t i = 0; i < facts->sites.count; i++) {
            const ar_site *site = &facts->sites.data[i];
            if (site->kind == AR_SITE_STORE ||
                site->kind == AR_SITE_COMPOUND_STORE)
                changed = deny_store(&e, site) || changed;
        }
    }
}
