/* What is added to memory that keeps its old value times factors: `beta * C` of
 * a product. A factor of zero drops the old value, and a parameter may be zero
 * at one call and not at another. */
#include "core/constant.h"
#include "core/flows.h"

static bool is_scalar(const ar_type *type) {
    return ar_is_float(type) || ar_is_kind(type, AR_TYPE_INT);
}

static bool of_local(const void *context, const ar_decl *decl, uint32_t depth,
                     double *value) {
    const ar_walk *w = context;
    if (decl->kind != AR_DECL_VAR || decl->storage != AR_STORAGE_AUTO ||
        !is_scalar(decl->type) || !w->accumulation)
        return false;
    const ar_node *set = ar_only_value(w->accumulation, decl);
    return set && ar_constant_with(set, of_local, w, depth, value);
}

static bool is_zero(const ar_walk *w, const ar_node *node) {
    double value;
    return ar_constant_with(node, of_local, w, 0, &value) && !(value < 0) &&
           !(value > 0);
}

/* A function that reaches itself is judged once for all that it is called
 * with. */
static bool is_recursive(const ar_walk *w) {
    const ar_graph *g = w->g;
    uint32_t id = ar_entity_of(g->program, w->function)->id;
    const ar_function *f = &g->functions.data[g->function_of[id] - 1];
    for (uint32_t i = 0; i < f->callees.count; i++)
        if (g->functions.data[f->callees.data[i]].component == f->component)
            return true;
    return false;
}

/* A parameter that has the value that the call passed. */
static const ar_decl *as_passed(const ar_walk *w, const ar_node *node) {
    const ar_decl *decl = node->kind == AR_REF ? node->decl : NULL;
    return decl && decl->kind == AR_DECL_PARAM && is_scalar(decl->type) &&
                   decl->parent == w->function && w->accumulation &&
                   !ar_is_assigned(w->accumulation, decl) && !is_recursive(w)
               ? decl
               : NULL;
}

/* What a product says of the old value it keeps. */
typedef struct kept {
    bool nothing;         /* a factor is zero */
    const ar_decl *param; /* a factor that only calls know; NULL: none */
} kept;

static void look_at_factors(const ar_walk *w, ar_node *node, kept *k) {
    node = ar_skip_casts(node);
    if (!node)
        return;
    if (node->kind == AR_BINARY && node->op == AR_OP_MUL) {
        look_at_factors(w, node->kids[0], k);
        look_at_factors(w, node->kids[1], k);
        return;
    }
    if (node->kind == AR_UNARY && node->op == AR_OP_MINUS) {
        look_at_factors(w, node->kids[0], k);
        return;
    }
    k->nothing |= is_zero(w, node);
    if (!k->param)
        k->param = as_passed(w, node);
}

bool ar_note_updated(ar_walk *w, uint32_t cell, ar_node *at, ar_node **factors,
                     uint32_t count) {
    kept k = {0};
    for (uint32_t i = 0; i < count; i++)
        look_at_factors(w, factors[i], &k);
    if (k.nothing)
        return false;
    uint32_t kind =
        k.param ? AR_FACT_SCALED + ar_entity_of(w->g->program, k.param)->id
                : (uint32_t)AR_FACT_UPDATED;
    ar_cell_fact(w->g, cell, kind, ar_here(w, at), NULL, 0);
    return true;
}

/* The factors of the target in a sum of products; 0: it is in none. */
static uint32_t factors_in(ar_node *target, ar_node *value, ar_node **factors,
                           uint32_t room) {
    value = ar_skip_casts(value);
    if (!value || value->kind != AR_BINARY || value->op != AR_OP_MUL || !room)
        return 0;
    for (uint32_t side = 0; side < 2; side++) {
        factors[0] = value->kids[!side];
        if (ar_is_same_place(target, value->kids[side]))
            return 1;
        uint32_t count =
            factors_in(target, value->kids[side], factors + 1, room - 1);
        if (count)
            return count + 1;
    }
    return 0;
}

static void note_terms(ar_walk *w, uint32_t cell, ar_node *store,
                       ar_node *value, bool is_term) {
    value = ar_skip_casts(value);
    if (!value)
        return;
    if (value->kind == AR_CONDITIONAL && value->kid_count == 3) {
        note_terms(w, cell, store, value->kids[1], is_term);
        note_terms(w, cell, store, value->kids[2], is_term);
        return;
    }
    if (value->kind == AR_BINARY &&
        (value->op == AR_OP_ADD || value->op == AR_OP_SUB)) {
        note_terms(w, cell, store, value->kids[0], true);
        note_terms(w, cell, store, value->kids[1], true);
        return;
    }
    ar_node *factors[AR_MAX_FACTORS];
    uint32_t count =
        is_term ? factors_in(store->kids[0], value, factors, AR_MAX_FACTORS)
                : 0;
    if (count)
        ar_note_updated(w, cell, store, factors, count);
}

void ar_note_scaled_store(ar_walk *w, uint32_t cell, ar_node *store) {
    if (store->kind == AR_ASSIGN)
        note_terms(w, cell, store, store->kids[1], false);
}
