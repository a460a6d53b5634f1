/* solve, storage: a precision and one reason for every class of memory. */
#include "core/solve_storage.h"

#include "core/plan_storage.h"
#include "core/storage_solver.h"

/* ---- nodes by place ------------------------------------------------------ */

uint32_t ar_solver_find(const ar_table *table, const ar_node *node) {
    uint64_t more, place = ar_place_key(node, &more);
    return (uint32_t)ar_table_get(table, place, more);
}

static void index_node(ar_table *table, const ar_node *node, uint32_t index) {
    uint64_t more, place = ar_place_key(node, &more);
    if (!ar_table_get(table, place, more))
        ar_table_put(table, place, more, index + UINT64_C(1));
}

static void index_program(ar_storage_solver *s) {
    s->sites.arena = s->allocations.arena = s->arena;
    s->calls.arena = s->ops_at.arena = s->arena;
    for (uint32_t i = 0; i < s->facts->sites.count; i++) {
        const ar_site *site = &s->facts->sites.data[i];
        if (site->kind == AR_SITE_LOAD || site->kind == AR_SITE_STORE ||
            site->kind == AR_SITE_COMPOUND_STORE)
            index_node(&s->sites, site->node, i);
        if (site->kind == AR_SITE_ALLOCATION && site->class_count)
            index_node(&s->allocations, site->node, i);
    }
    for (uint32_t i = 0; i < s->facts->calls.count; i++)
        index_node(&s->calls, s->facts->calls.data[i].node, i);
    for (uint32_t i = 0; i < s->ops->list.count; i++)
        if (s->ops->list.data[i].form != AR_OP_LOOP)
            index_node(&s->ops_at, s->ops->list.data[i].node, i);
}

const ar_op_site *ar_storage_redirected(const ar_storage_solver *s,
                                        const ar_node *call) {
    uint32_t index = ar_solver_find(&s->ops_at, call);
    const ar_op_site *op = index ? &s->ops->list.data[index - 1] : NULL;
    return op && op->half ? op : NULL;
}

uint32_t ar_storage_class_of_cell(const ar_storage_plan *plan,
                                  const ar_cell *cell) {
    uint64_t id = ar_table_get(&plan->cells, ar_key(cell), 0);
    return id ? (uint32_t)(id - 1) : AR_NO_ID;
}

bool ar_storage_is_scalar(const ar_storage_facts *facts, uint32_t id) {
    const ar_storage_class *c = &facts->classes.data[id];
    for (uint32_t i = 0; i < c->slot_count; i++)
        if (!facts->slots.data[c->slots[i]].is_scalar)
            return false;
    return c->slot_count > 0;
}

/* ---- what the edits cannot do -------------------------------------------- */

/* Everything that is asked about in one round sees one view, in which what
 * turns out to be FP32 is so at once. */
typedef struct refusal {
    ar_storage_solver *s;
    ar_storage_plan *view;
    uint32_t round, shown; /* how far into the queue the view has followed */
} refusal;

static void follow_queue(refusal *r) {
    for (; r->shown < r->s->queued; r->shown++)
        r->view->classes[r->s->queue[r->shown]].half = false;
}

static bool refuse_sites(refusal *r, const ar_storage_class *c) {
    ar_storage_solver *s = r->s;
    for (uint32_t i = 0; i < c->site_count; i++) {
        const ar_site *site = &s->facts->sites.data[c->sites[i]];
        if (!ar_storage_has_version(s->plan, s->program,
                                    ar_storage_function_of(site), r->round))
            continue;
        const char *why = ar_storage_site_refusal(
            s->arena, s->program, s->rules, s->ops, r->view, site);
        if (why)
            return ar_storage_keep(s, c->id, why, site->where.range, NULL);
    }
    return false;
}

static bool refuse_round(ar_storage_solver *s, uint32_t round) {
    refusal r = {s, ar_storage_view(s->arena, s->plan, round), round,
                 s->queued};
    bool any = false;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < s->facts->classes.count; i++)
            if (r.view->classes[i].half && !s->agnostic[i] &&
                refuse_sites(&r, &s->facts->classes.data[i])) {
                changed = any = true;
                ar_storage_spread(s);
                follow_queue(&r);
            }
    }
    return any;
}

/* It may depend on what is half by now, and so may the versions. */
static void refuse(ar_storage_solver *s) {
    for (bool changed = true; changed;) {
        changed = false;
        ar_storage_settle(s);
        ar_storage_find_versions(s);
        for (uint32_t round = 0; round < s->plan->versions->rounds; round++)
            changed = refuse_round(s, round) || changed;
    }
    ar_storage_settle_versions(s);
}

/* ---- words --------------------------------------------------------------- */

static void explain_half(ar_storage_solver *s, const ar_storage_class *c) {
    ar_storage_decision *d = &s->at[c->id];
    const char *by;
    s->plan->half_count++;
    if (d->reason)
        return;
    if (d->role != AR_ROLE_NONE && ar_storage_role_is_half(s, d->role, &by)) {
        const ar_cell *cell = s->info[c->id].cells[d->role];
        d->reason = ar_sprintf(s->arena, "%s%s: %s",
                               cell->degree ? "gradients of " : "",
                               ar_storage_role_words(d->role), by);
        d->reason_at = cell->reason_at;
        return;
    }
    d->reason =
        c->generic_of
            ? ar_sprintf(s->arena, "all that '%s' is called with is half",
                         c->generic_of->name)
            : "shares code with memory that is half";
}

static bool is_broken(const ar_storage_solver *s, uint32_t id) {
    return s->info[id].half_by && !s->info[id].fp32_by && !s->at[id].half;
}

/* A rule that cannot be followed is said to be so, once: at the first buffer
 * that stays FP32 for a reason of its own. */
static void report_broken_rule(ar_storage_solver *s, const char *rule) {
    const ar_storage_facts *facts = s->facts;
    uint32_t first = AR_NO_ID, count = 0, best = 0;
    for (uint32_t i = 0; i < facts->classes.count; i++) {
        if (!is_broken(s, i) || strcmp(s->info[i].half_by, rule) != 0)
            continue;
        uint32_t worth = ar_storage_is_scalar(facts, i) ? 1
                         : s->because[i]                ? 2
                                                        : 3;
        count += worth > 1;
        if (worth > best) {
            best = worth;
            first = i;
        }
    }
    const ar_storage_decision *d = &s->at[first];
    const char *more =
        count > 1 ? ar_sprintf(s->arena, " (and %u more)", count - 1) : "";
    ar_report(s->diags, AR_DIAG_STAYS_FP32,
              d->reason_at.file != AR_NO_FILE ? d->reason_at
                                              : s->info[first].half_at,
              facts->classes.data[first].name, more, rule, d->reason);
}

static void report_broken_rules(ar_storage_solver *s) {
    ar_strmap said = {.arena = s->arena};
    for (uint32_t i = 0; i < s->facts->classes.count; i++) {
        if (!is_broken(s, i) || ar_strmap_get(&said, s->info[i].half_by))
            continue;
        ar_strmap_put(&said, s->info[i].half_by, s);
        report_broken_rule(s, s->info[i].half_by);
    }
}

/* ---- the whole ----------------------------------------------------------- */

static void keep_all(ar_storage_plan *plan, ar_arena *arena) {
    const char *reason = plan->policy.level == AR_LEVEL_O0
                             ? "-O0 changes nothing"
                             : ar_sprintf(arena, "%s keeps all storage FP32",
                                          ar_level_name(plan->policy.level));
    for (uint32_t i = 0; i < plan->facts->classes.count; i++)
        plan->classes[i] =
            (ar_storage_decision){.reason = reason, .reason_at = AR_NO_RANGE};
}

static void solve(ar_storage_solver *s) {
    const ar_storage_facts *facts = s->facts;
    uint32_t count = facts->classes.count;
    s->info = AR_NEW_ARRAY(s->arena, ar_class_info, count + 1);
    s->wanted = AR_NEW_ARRAY(s->arena, bool, count + 1);
    s->followed = AR_NEW_ARRAY(s->arena, bool, count + 1);
    s->because = AR_NEW_ARRAY(s->arena, const ar_storage_link *, count + 1);
    s->queue = AR_NEW_ARRAY(s->arena, uint32_t, count + 1);
    index_program(s);
    ar_storage_find_roles(s);
    ar_storage_find_training(s);
    ar_storage_find_rules(s);
    ar_storage_find_locals(s);
    ar_storage_find_norms(s);
    ar_storage_find_numbers(s);
    ar_storage_find_denied(s);
    ar_storage_find_state(s);
    ar_storage_find_wholes(s);
    ar_storage_find_links(s);
    ar_storage_find_splits(s);
    ar_storage_find_one_values(s);
    ar_storage_find_copies(s);
    for (uint32_t i = 0; i < facts->classes.count; i++)
        ar_storage_decide(s, &facts->classes.data[i]);
    ar_storage_keep_wholes(s);
    ar_storage_spread(s);
    refuse(s);
}

static void finish(ar_storage_solver *s) {
    const ar_storage_facts *facts = s->facts;
    for (uint32_t i = 0; i < facts->classes.count; i++) {
        const ar_storage_class *c = &facts->classes.data[i];
        if (s->at[i].half)
            explain_half(s, c);
    }
    report_broken_rules(s);
    ar_storage_warn(s);
}

ar_storage_plan *
ar_solve_storage(ar_arena *arena, ar_program *program, const ar_rules *rules,
                 ar_storage_policy policy, const ar_storage_facts *facts,
                 const ar_ops *ops, const ar_scale *scale, ar_diags *diags) {
    uint32_t count = facts->classes.count;
    ar_storage_plan *plan = AR_NEW(arena, ar_storage_plan);
    plan->facts = facts;
    plan->policy = policy;
    plan->scale = scale;
    plan->cells.arena = arena;
    plan->classes = AR_NEW_ARRAY(arena, ar_storage_decision, count + 1);
    if (policy.level < AR_LEVEL_O2) {
        keep_all(plan, arena);
        return plan;
    }
    plan->index = ar_storage_index_make(arena, program, facts, ops);
    plan->sums =
        ar_storage_find_sums(arena, program, facts, plan->index, scale);
    plan->is_split = AR_NEW_ARRAY(arena, bool, facts->arenas.count + 1);
    ar_storage_solver start = {.arena = arena,
                               .program = program,
                               .rules = rules,
                               .facts = facts,
                               .ops = ops,
                               .scale = scale,
                               .diags = diags,
                               .policy = policy,
                               .plan = plan,
                               .at = plan->classes};
    ar_storage_solver s = start;
    solve(&s);
    while (ar_storage_split_arenas(&s)) {
        start.arena_problem = s.arena_problem;
        s = start;
        solve(&s);
    }
    finish(&s);
    return plan;
}
