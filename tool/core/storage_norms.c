/* Parameters of norm layers: what scales and shifts a value that was divided by
 * the root of a statistic, `(x - mean) / sqrt(var + eps) * gain + bias`. Found
 * in expressions, through locals that are set once and through one buffer that
 * keeps the normalised value, or the root. */
#include "core/storage_solver.h"

enum { MAX_DEPTH = 24 };

typedef struct norms {
    ar_storage_solver *s;
    bool *is_normal; /* class: holds a root, or what was divided by one */
    uint32_t depth;
} norms;

typedef bool visit_leaf(norms *n, const ar_node *leaf, void *context);

/* Leaves of an expression, locals followed: true if one says so. */
static bool any_leaf(norms *n, const ar_node *node, visit_leaf *visit,
                     void *context) {
    node = ar_skip_casts(node);
    if (!ar_is_floating(node->type) || n->depth >= MAX_DEPTH)
        return false;
    n->depth++;
    bool found = visit(n, node, context);
    const ar_node *local = node->kind == AR_REF && ar_is_local_float(node->decl)
                               ? ar_storage_single_value(n->s, node->decl)
                               : NULL;
    if (local)
        found = found || any_leaf(n, local, visit, context);
    else if (node->kind != AR_INDEX && node->kind != AR_MEMBER)
        for (uint32_t i = 0; i < node->kid_count && !found; i++)
            found = any_leaf(n, node->kids[i], visit, context);
    n->depth--;
    return found;
}

static bool is_memory(const ar_storage_solver *s, uint32_t id) {
    return id != AR_NO_ID && !ar_storage_is_scalar(s->facts, id);
}

/* A statistic is made from memory: 1 / sqrt(width) is none. */
static bool comes_from_memory(norms *n, const ar_node *node, uint32_t depth) {
    node = ar_skip_casts(node);
    if (depth >= MAX_DEPTH)
        return false;
    if (is_memory(n->s, ar_storage_loaded(n->s, node)))
        return true;
    if (node->kind == AR_REF && ar_is_local_float(node->decl)) {
        const ar_local_value *set =
            ar_map_get(&n->s->assigned, ar_key(node->decl));
        for (; set; set = set->next)
            if (comes_from_memory(n, set->value, depth + 1))
                return true;
    }
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (node->kids[i] && comes_from_memory(n, node->kids[i], depth + 1))
            return true;
    return false;
}

static bool is_root(norms *n, const ar_node *node, void *context) {
    (void)context;
    if (node->kind == AR_CALL) {
        uint32_t index = ar_solver_find(&n->s->ops_at, node);
        const char *op = index ? n->s->ops->list.data[index - 1].name : "";
        return (strcmp(op, "sqrt") == 0 || strcmp(op, "rsqrt") == 0) &&
               node->kid_count > 1 && comes_from_memory(n, node->kids[1], 0);
    }
    uint32_t id = ar_storage_loaded(n->s, node);
    return id != AR_NO_ID && n->is_normal[id];
}

static bool has_role(const ar_storage_solver *s, uint32_t id, uint32_t roles) {
    const ar_storage_class *c = &s->facts->classes.data[id];
    for (uint32_t i = 0; i < c->concrete_count; i++)
        if (s->info[c->concrete[i]].roles & roles)
            return true;
    return (s->info[id].roles & roles) != 0;
}

static bool is_parameter(norms *n, const ar_node *node, void *context) {
    (void)context;
    uint32_t id = ar_storage_loaded(n->s, node);
    return is_memory(n->s, id) && has_role(n->s, id, 1u << AR_ROLE_PARAM);
}

static void mark(ar_storage_solver *s, uint32_t id, ar_range at) {
    ar_class_info *info = &s->info[id];
    const ar_cell *param = info->cells[AR_ROLE_PARAM];
    if (!param || info->roles & 1u << AR_ROLE_NORM)
        return;
    ar_cell *cell = AR_NEW(s->arena, ar_cell);
    *cell = *param;
    cell->reason_at = at;
    info->cells[AR_ROLE_NORM] = cell;
    info->roles |= 1u << AR_ROLE_NORM;
}

static bool mark_parameter(norms *n, const ar_node *node, void *context) {
    if (!is_parameter(n, node, context))
        return false;
    const ar_storage_class *c =
        &n->s->facts->classes.data[ar_storage_loaded(n->s, node)];
    for (uint32_t i = 0; i < c->concrete_count; i++)
        mark(n->s, c->concrete[i], node->range);
    mark(n->s, c->id, node->range);
    return false;
}

static bool keep_normal(norms *n, uint32_t id) {
    const ar_storage_class *c = &n->s->facts->classes.data[id];
    bool changed = !n->is_normal[id];
    n->is_normal[id] = true;
    for (uint32_t i = 0; i < c->concrete_count; i++) {
        changed |= !n->is_normal[c->concrete[i]];
        n->is_normal[c->concrete[i]] = true;
    }
    return changed;
}

/* What is stored, with what a compound store adds to or multiplies. */
static bool any_stored(norms *n, const ar_site *site, visit_leaf *visit) {
    const ar_node *store = site->node;
    bool reads = store->kind == AR_COMPOUND_ASSIGN;
    return (reads && visit(n, store->kids[0], NULL)) ||
           any_leaf(n, store->kids[1], visit, NULL);
}

static bool note_store(norms *n, const ar_site *site) {
    const uint32_t updated =
        1u << AR_ROLE_PARAM | 1u << AR_ROLE_STATE | 1u << AR_ROLE_GRAD;
    const ar_node *store = site->node;
    if ((store->kind != AR_ASSIGN && store->kind != AR_COMPOUND_ASSIGN) ||
        !site->class_count || has_role(n->s, site->classes[0], updated) ||
        !any_stored(n, site, is_root))
        return false;
    if (!any_leaf(n, store->kids[1], is_parameter, NULL))
        return keep_normal(n, site->classes[0]);
    any_leaf(n, store->kids[1], mark_parameter, NULL);
    return false;
}

/* A rule says `role norm` of the parameter. */
static bool is_called_norm(const ar_storage_solver *s, const ar_cell *cell) {
    const char *path = ar_storage_rule_path(s->arena, cell->name);
    const ar_subject_rule *rule = ar_rules_find_role(
        s->rules, strchr(path, '.') ? AR_SUBJECT_FIELD : AR_SUBJECT_VARIABLE,
        path);
    return rule && rule->sets_role == AR_ROLE_NORM;
}

void ar_storage_find_norms(ar_storage_solver *s) {
    const ar_storage_facts *facts = s->facts;
    norms n = {.s = s,
               .is_normal =
                   AR_NEW_ARRAY(s->arena, bool, facts->classes.count + 1)};
    for (uint32_t i = 0; i < facts->classes.count; i++) {
        const ar_cell *cell = s->info[i].cells[AR_ROLE_PARAM];
        if (cell && is_called_norm(s, cell))
            mark(s, i, cell->reason_at);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < facts->sites.count; i++) {
            const ar_site *site = &facts->sites.data[i];
            if (site->kind == AR_SITE_STORE ||
                site->kind == AR_SITE_COMPOUND_STORE)
                changed = note_store(&n, site) || changed;
        }
    }
}
