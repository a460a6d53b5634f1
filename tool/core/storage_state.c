/* Optimizer state that half would spoil, told from its update alone: what adds
 * squares (fp16 flushes the square of a small gradient) and what decays so
 * slowly that a step changes it by less than half an ulp of bf16. One source
 * serves both types, so that either keeps it in FP32. */
#include "core/constant.h"
#include "core/storage_solver.h"

enum { MAX_FACTORS = 16, MAX_DEPTH = 16, MAX_TERMS = 1000 };

/* Half an ulp of bf16 is 2^-9 of numbers just below a power of two: what decays
 * by no more stays as it is. */
static const double slowest = 1 - 1.0 / 512;

/* What one update of the state says. */
typedef struct update {
    ar_storage_solver *s;
    uint32_t id; /* the class that is updated */
    uint32_t depth, terms;
    bool reads_itself, squares;
    bool has_decay; /* all factors of the old value are known */
    double decay;   /* their sum */
} update;

typedef struct term {
    const ar_node *factors[MAX_FACTORS];
    uint32_t count;
    double sign;
} term;

/* ---- constants ----------------------------------------------------------- */

static bool of_name(const void *context, const ar_decl *decl, uint32_t depth,
                    double *value);

static bool constant(const ar_storage_solver *s, const ar_node *node,
                     uint32_t depth, double *value) {
    return ar_constant_with(node, of_name, s, depth, value);
}

/* What all calls pass for a parameter. */
static bool passed(const ar_storage_solver *s, const ar_decl *param,
                   uint32_t depth, double *value) {
    if (!param->parent || param->parent->kind != AR_DECL_FUNCTION)
        return false;
    const ar_entity *function = ar_entity_of(s->program, param->parent);
    if (ar_storage_is_function_value(s->plan->index, function))
        return false;
    const ar_local_value *call =
        ar_map_get(&s->calls_to, function->id + UINT64_C(1));
    bool any = false;
    for (; call; call = call->next) {
        double one;
        if (param->index + 1 >= call->value->kid_count ||
            !constant(s, call->value->kids[param->index + 1], depth, &one) ||
            (any && (one < *value || one > *value)))
            return false;
        *value = one;
        any = true;
    }
    return any;
}

static bool of_name(const void *context, const ar_decl *decl, uint32_t depth,
                    double *value) {
    const ar_storage_solver *s = context;
    if (decl->kind == AR_DECL_PARAM)
        return passed(s, decl, depth, value);
    const ar_node *set =
        ar_is_local_float(decl) ? ar_storage_single_value(s, decl) : NULL;
    return set && constant(s, set, depth, value);
}

/* ---- terms --------------------------------------------------------------- */

static void expand(update *u, term t, uint32_t from);

static void replace(update *u, term t, uint32_t at, const ar_node *by) {
    t.factors[at] = by;
    expand(u, t, at);
}

static bool is_self(const update *u, const ar_node *factor) {
    return ar_storage_loaded(u->s, factor) == u->id;
}

/* Stands for a number that was read from memory, or computed from one. */
static bool is_variable(const update *u, const ar_node *factor) {
    double value;
    return !constant(u->s, factor, 0, &value);
}

static bool is_square_call(const update *u, const ar_node *factor) {
    uint32_t index =
        factor->kind == AR_CALL ? ar_solver_find(&u->s->ops_at, factor) : 0;
    double power;
    return index && strcmp(u->s->ops->list.data[index - 1].name, "pow") == 0 &&
           factor->kid_count == 3 &&
           constant(u->s, factor->kids[2], 0, &power) && power >= 2 &&
           power <= 2;
}

static bool has_square(const update *u, const term *t) {
    for (uint32_t i = 0; i < t->count; i++) {
        if (is_square_call(u, t->factors[i]))
            return true;
        for (uint32_t k = i + 1; k < t->count; k++)
            if (ar_storage_same(t->factors[i], t->factors[k]) &&
                is_variable(u, t->factors[i]))
                return true;
    }
    return false;
}

/* A product whose factors are no products and no sums. */
static void finish(update *u, const term *t) {
    u->terms++;
    double factor = t->sign;
    bool self = false, known = true;
    for (uint32_t i = 0; i < t->count; i++) {
        double value;
        if (!self && is_self(u, t->factors[i]))
            self = true;
        else if (constant(u->s, t->factors[i], 0, &value))
            factor *= value;
        else
            known = false;
    }
    if (!self) {
        u->squares |= has_square(u, t);
        return;
    }
    u->reads_itself = true;
    u->has_decay &= known;
    u->decay += factor;
}

/* Products and sums are multiplied out from factor `from` on. */
static void expand(update *u, term t, uint32_t from) {
    for (uint32_t i = from; i < t.count; i++) {
        const ar_node *node = t.factors[i] = ar_skip_casts(t.factors[i]);
        if (u->depth >= MAX_DEPTH || u->terms >= MAX_TERMS ||
            !is_variable(u, node))
            continue;
        const ar_node *local =
            node->kind == AR_REF && ar_is_local_float(node->decl)
                ? ar_storage_single_value(u->s, node->decl)
                : NULL;
        bool is_sum = node->kind == AR_BINARY &&
                      (node->op == AR_OP_ADD || node->op == AR_OP_SUB);
        bool is_product = node->kind == AR_BINARY && node->op == AR_OP_MUL &&
                          t.count < MAX_FACTORS;
        bool is_minus = node->kind == AR_UNARY && node->op == AR_OP_MINUS;
        if (!local && !is_sum && !is_product && !is_minus)
            continue;
        u->depth++;
        if (is_product)
            t.factors[t.count++] = node->kids[1];
        term other = t;
        if (is_minus || (is_sum && node->op == AR_OP_SUB))
            other.sign = -t.sign;
        if (is_sum)
            replace(u, other, i, node->kids[1]);
        if (is_minus)
            t.sign = -t.sign;
        replace(u, t, i, local ? local : node->kids[0]);
        u->depth--;
        return;
    }
    finish(u, &t);
}

static void add_term(update *u, const ar_node *value, double sign) {
    expand(u, (term){{value}, 1, sign}, 0);
}

static update update_of(ar_storage_solver *s, const ar_site *site) {
    const ar_node *store = site->node;
    update u = {.s = s, .id = site->classes[0], .has_decay = true};
    if (store->kind == AR_ASSIGN) {
        add_term(&u, store->kids[1], 1);
        return u;
    }
    if (store->kind != AR_COMPOUND_ASSIGN)
        return u;
    u.reads_itself = true;
    if (store->op == AR_OP_ADD || store->op == AR_OP_SUB) {
        u.decay = 1;
        add_term(&u, store->kids[1], store->op == AR_OP_ADD ? 1 : -1);
    } else if (store->op == AR_OP_MUL) {
        u.has_decay = constant(s, store->kids[1], 0, &u.decay);
    } else {
        u.has_decay = false;
    }
    return u;
}

/* ---- classes ------------------------------------------------------------- */

static void spoil(ar_storage_solver *s, uint32_t id, const char *why,
                  ar_range at) {
    ar_class_info *info = &s->info[id];
    if (info->spoiled)
        return;
    info->spoiled = why;
    info->spoiled_at = at;
}

/* Optimizer state, or a gradient that is kept as momentum. */
static bool is_state(const ar_storage_solver *s, uint32_t id) {
    const ar_class_info *info = &s->info[id];
    const ar_cell *grad = info->cells[AR_ROLE_GRAD];
    return info->roles & 1u << AR_ROLE_STATE || (grad && grad->also_state);
}

static bool is_for_state(const ar_storage_solver *s, uint32_t id) {
    const ar_storage_class *c = &s->facts->classes.data[id];
    for (uint32_t i = 0; i < c->concrete_count; i++)
        if (is_state(s, c->concrete[i]))
            return ar_storage_trained_roles(s, id) != 0;
    return false;
}

static void note_store(ar_storage_solver *s, const ar_site *site) {
    uint32_t id = site->classes[0];
    if (!is_for_state(s, id))
        return;
    update u = update_of(s, site);
    const char *why = NULL;
    if (u.reads_itself && u.squares)
        why = "a sum of squares: in fp16 those of numbers below 2^-12 are 0, "
              "in bf16 a decay of 0.999 changes nothing";
    else if (u.reads_itself && u.has_decay && u.decay >= slowest && u.decay < 1)
        why = ar_sprintf(s->arena,
                         "decays by %.3g a step, less than half an ulp of bf16 "
                         "(2^-9)",
                         1 - u.decay);
    if (!why)
        return;
    const ar_storage_class *c = &s->facts->classes.data[id];
    spoil(s, id, why, site->node->range);
    for (uint32_t i = 0; i < c->concrete_count; i++)
        if (is_state(s, c->concrete[i]))
            spoil(s, c->concrete[i], why, site->node->range);
}

void ar_storage_find_state(ar_storage_solver *s) {
    for (uint32_t i = 0; i < s->facts->sites.count; i++) {
        const ar_site *site = &s->facts->sites.data[i];
        if (site->class_count && (site->kind == AR_SITE_STORE ||
                                  site->kind == AR_SITE_COMPOUND_STORE))
            note_store(s, site);
    }
}
