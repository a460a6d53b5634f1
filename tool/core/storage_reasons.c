/* Why a class stays FP32, as far as it is its own doing: what rules, the level
 * and its role say, pins, calls that take float, sums. */
#include "core/layout.h"
#include "core/plan_storage.h"
#include "core/storage_solver.h"
#include "core/rule_at.h"

bool ar_storage_keep(ar_storage_solver *s, uint32_t id, const char *reason,
                     ar_range at, const char *unlock) {
    ar_storage_decision *d = &s->at[id];
    if (!d->half)
        return false;
    d->half = false;
    d->reason = reason;
    d->reason_at = at;
    d->unlock = unlock;
    s->queue[s->queued++] = id;
    return true;
}

/* ---- pins and calls ------------------------------------------------------ */

static const char *pin_unlock(ar_pin_kind kind) {
    switch (kind) {
    case AR_PIN_REINTERPRETED:
        return "give the other use memory of its own";
    case AR_PIN_UNION:
        return "take it out of the union";
    case AR_PIN_RECORD:
        return "copy and save the struct field by field";
    case AR_PIN_FOREIGN_CALL:
    case AR_PIN_FOREIGN_RESULT:
    case AR_PIN_CALLBACK:
    case AR_PIN_FOREIGN_OBJECT:
        return "exchange a copy";
    case AR_PIN_OUTSIDE:
        return "pass the file, or --root";
    case AR_PIN_FROM_INTEGER:
    case AR_PIN_TO_INTEGER:
        return "keep the address in a pointer";
    case AR_PIN_VARARGS:
        return "pass it as a parameter with a name";
    case AR_PIN_LITERAL_BYTES:
        return "count bytes with sizeof";
    case AR_PIN_SEVERAL_TYPES:
        return "give each type a source of its own";
    case AR_PIN_UNMODELLED:
        return "write the expression more plainly";
    case AR_PIN_KINDS:
        break;
    }
    AR_BUG("pin %d", (int)kind);
}

static bool pinned(ar_storage_solver *s, const ar_storage_class *c) {
    if (!c->pin_count)
        return false;
    const ar_pin *pin = &c->pins[0];
    return ar_storage_keep(s, c->id, pin->reason, pin->where.range,
                           pin_unlock(pin->kind));
}

/* The edits know the function; they are asked about each site. */
static bool has_form(const ar_storage_solver *s, const ar_site *site) {
    const ar_function_rule *rule =
        ar_rule_at(s->rules, s->program, site->decl, site->node->range);
    return ar_vector_form(site->decl) || ar_is_scan(rule) ||
           ar_compares_bytes(rule);
}

/* What this slice does not do to this kind of site whatever is in it. */
static bool site_keeps(ar_storage_solver *s, const ar_storage_class *c,
                       const ar_site *site) {
    if (site->where.unit && site->where.unit->language != AR_LANG_C)
        return ar_storage_keep(s, c->id, "half is stored in C only",
                               site->where.range, NULL);
    if (site->kind != AR_SITE_CALL)
        return false;
    uint32_t index = ar_solver_find(&s->ops_at, site->node);
    const ar_op_site *op = index ? &s->ops->list.data[index - 1] : NULL;
    if (op && op->half) {
        if (ar_mixed_target(s->arena, op->rule))
            return false;
        return ar_storage_keep(
            s, c->id,
            ar_sprintf(s->arena,
                       "'%s', which '%s' is redirected to, takes float",
                       op->rule->target, op->callee->decl->name),
            site->where.range, NULL);
    }
    const ar_decl *callee = site->decl;
    if (!callee || ar_definition_of(s->program, callee) ||
        (op && ar_mixed_call(s->arena, op->rule, callee->name)) ||
        has_form(s, site))
        return false;
    return ar_storage_keep(
        s, c->id, ar_sprintf(s->arena, "'%s' takes float", callee->name),
        site->where.range, "give it a copy");
}

static bool kept_by_sites(ar_storage_solver *s, const ar_storage_class *c) {
    for (uint32_t i = 0; i < c->site_count; i++)
        if (site_keeps(s, c, &s->facts->sites.data[c->sites[i]]))
            return true;
    return false;
}

/* The body of a redirected op is what a build without half runs. */
static bool is_redirected_body(const ar_storage_solver *s,
                               const ar_storage_class *c) {
    if (!c->generic_of)
        return false;
    const ar_function_rule *rule =
        ar_rule_at(s->rules, s->program, c->generic_of, c->generic_of->range);
    return rule && rule->kind == AR_RULE_OP && rule->target &&
           rule->category == AR_CAT_ALLOW;
}

/* ---- roles and levels ---------------------------------------------------- */

const char *ar_storage_role_words(ar_role role) {
    switch (role) {
    case AR_ROLE_NONE:
        return "memory of unknown role";
    case AR_ROLE_PARAM:
        return "parameters";
    case AR_ROLE_GRAD:
        return "parameter gradients";
    case AR_ROLE_STATE:
        return "optimizer state";
    case AR_ROLE_ACTIVATION:
        return "activations";
    case AR_ROLE_DATA:
        return "data";
    case AR_ROLE_NORM:
        return "parameters of norm layers";
    case AR_ROLE_LOSS:
        return "losses";
    }
    AR_BUG("role %d", (int)role);
}

/* An option about the role, or the level's table. */
static bool level_is_half(const ar_storage_solver *s, ar_role role,
                          const char **by) {
    const ar_storage_policy *policy = &s->policy;
    ar_choice fp32 = role == AR_ROLE_PARAM  ? policy->masters
                     : role == AR_ROLE_NORM ? policy->keep_norm
                                            : AR_AS_LEVEL;
    if (fp32 != AR_AS_LEVEL) {
        *by = ar_sprintf(s->arena, "%s=%s",
                         role == AR_ROLE_PARAM ? "--master-weights"
                                               : "--keep-batchnorm-fp32",
                         fp32 == AR_YES ? "yes" : "no");
        return fp32 == AR_NO;
    }
    const ar_level_rule *level =
        ar_rules_find_level(s->rules, (int)policy->level, role);
    *by = level ? ar_sprintf(s->arena, "level O%d (%s)", (int)policy->level,
                             level->origin)
                : "no rule for the role";
    if (level && level->half && role == AR_ROLE_GRAD && policy->unscales) {
        *by = "the loss scale is taken out of them in place, and half would "
              "flush what is left";
        return false;
    }
    return level && level->half;
}

bool ar_storage_role_is_half(const ar_storage_solver *s, ar_role role,
                             const char **by) {
    const ar_subject_rule *rule =
        ar_rules_find_precision(s->rules, AR_SUBJECT_ROLE, ar_role_name(role));
    if (rule && rule->sets_precision) {
        *by = ar_sprintf(s->arena, "rule keep %s role %s (%s)",
                         rule->half ? "half" : "fp32", rule->pattern,
                         rule->origin);
        return rule->half;
    }
    return level_is_half(s, role, by);
}

uint32_t ar_storage_trained_roles(const ar_storage_solver *s, uint32_t id) {
    const uint32_t trained = 1u << AR_ROLE_PARAM | 1u << AR_ROLE_GRAD |
                             1u << AR_ROLE_STATE | 1u << AR_ROLE_NORM;
    const ar_storage_class *c = &s->facts->classes.data[id];
    uint32_t roles = 0;
    for (uint32_t i = 0; i < c->concrete_count; i++)
        roles |= s->info[c->concrete[i]].roles;
    const char *by;
    for (uint32_t role = 1; role < AR_ROLE_COUNT; role++)
        if (roles & 1u << role &&
            !ar_storage_role_is_half(s, (ar_role)role, &by))
            return 0;
    return roles & ~trained ? 0 : roles;
}

static ar_role strictest(const ar_storage_solver *s, const ar_class_info *info,
                         const char **by, bool *half) {
    ar_role role = AR_ROLE_NONE;
    *half = true;
    for (uint32_t i = 1; i < AR_ROLE_COUNT; i++) {
        const char *says;
        if (!(info->roles & 1u << i))
            continue;
        bool is_half = ar_storage_role_is_half(s, (ar_role)i, &says);
        if (role != AR_ROLE_NONE && (is_half || !*half))
            continue;
        role = (ar_role)i;
        *half = is_half;
        *by = says;
    }
    return role;
}

/* A norm layer's parameter is a parameter. */
static bool has_several(uint32_t set) {
    set &= ~(1u << AR_ROLE_NORM);
    return (set & (set - 1)) != 0;
}

static bool is_rule_word(const char *text) {
    const char *at = text;
    while (ar_is_word(*at))
        at++;
    return at > text && !*at;
}

/* The rule that would override what is only a level's caution. */
static const char *unlock_by_rule(const ar_storage_solver *s,
                                  const ar_storage_class *c,
                                  const ar_decl *function) {
    ar_arena *arena = s->arena;
    if (c->generic_of)
        return function
                   ? ar_sprintf(arena, "keep half function %s;", function->name)
                   : NULL;
    for (uint32_t i = 0; i < c->slot_count; i++) {
        const ar_decl *decl = s->facts->slots.data[c->slots[i]].entity->decl;
        if (decl->kind == AR_DECL_FIELD && decl->parent) {
            const char *record = ar_record_name(decl->parent);
            if (!is_rule_word(record)) /* (unnamed at x.c:1:2), union both */
                continue;
            return ar_sprintf(arena, "keep half field %s.%s;", record,
                              decl->name);
        }
        if (decl->kind == AR_DECL_VAR || decl->kind == AR_DECL_PARAM)
            return ar_sprintf(arena, "keep half variable %s;", decl->name);
    }
    return NULL;
}

static const char *several_reason(const ar_storage_solver *s,
                                  const ar_storage_decision *d,
                                  const ar_cell *cell, const char *by) {
    return ar_sprintf(s->arena, "one memory with '%s', and %s stay FP32: %s",
                      cell->name, ar_storage_role_words(d->role), by);
}

static bool is_only_declared(const ar_storage_solver *s,
                             const ar_storage_class *c) {
    for (uint32_t i = 0; i < c->site_count; i++)
        if (s->facts->sites.data[c->sites[i]].kind != AR_SITE_DECLARATION &&
            s->facts->sites.data[c->sites[i]].kind != AR_SITE_RECORD)
            return false;
    return true;
}

/* What the role alone decides. Generic memory gets its precision by the calls,
 * memory that training does not use from what it shares code with. */
static ar_storage_decision by_role(const ar_storage_solver *s,
                                   const ar_storage_class *c) {
    const ar_class_info *info = &s->info[c->id];
    ar_storage_decision d = {.reason_at = AR_NO_RANGE, .roles = info->roles};
    const char *by;
    d.role = strictest(s, info, &by, &d.half);
    if (d.role == AR_ROLE_NONE &&
        (c->generic_of || info->aside || s->is_whole[c->id] ||
         is_only_declared(s, c))) {
        d.role = info->aside ? AR_ROLE_DATA : AR_ROLE_NONE;
        return d;
    }
    if (d.role == AR_ROLE_NONE) {
        d.half = false;
        d.reason = "role unknown: no training loop is seen to use it";
        d.unlock = unlock_by_rule(s, c, NULL);
        return d;
    }
    if (d.half)
        return d;
    const ar_cell *cell = info->cells[d.role];
    bool is_mixed = has_several(info->roles);
    d.reason_at = cell->reason_at;
    d.reason = is_mixed ? several_reason(s, &d, cell, by)
                        : ar_sprintf(s->arena, "%s stay FP32: %s",
                                     ar_storage_role_words(d.role), by);
    d.unlock = is_mixed ? "allocate memory of different roles apart"
               : d.role == AR_ROLE_DATA ? "keep half role data;"
                                        : NULL;
    return d;
}

/* ---- sums ---------------------------------------------------------------- */

/* What the training loop does not repeat is no sum of a step: an evaluation
 * that calls the layers in a loop of its own. */
static bool is_beside_training(const ar_storage_solver *s,
                               const ar_accumulator *sum) {
    const ar_scale *scale = s->scale;
    const ar_decl *function = sum->where.function;
    if (!scale || !scale->loop || sum->kind != AR_ACCUMULATE_CALL || !function)
        return false;
    if (function == scale->loop_function)
        return !ar_range_holds(scale->loop->range, sum->outer_loop->range);
    return !s->in_training[ar_entity_of(s->program, function)->id];
}

/* What repeats from one step to the next only is written anew in each. */
static bool is_step_to_step(const ar_storage_solver *s,
                            const ar_accumulator *sum) {
    const ar_scale *scale = s->scale;
    return scale && scale->loop && sum->inner_loop &&
           ar_range_holds(sum->inner_loop->range, scale->loop->range);
}

/* gemm with beta 0 writes; so does the redirected call of a body that adds up
 * element by element. */
static bool op_adds(const ar_op_site *op) {
    const ar_function_rule *rule = op->rule;
    for (uint32_t e = 0; e < rule->equation_count; e++) {
        const ar_equation *equation = &rule->algebra[e];
        for (uint32_t t = 0; t < equation->term_count; t++) {
            const ar_term *term = &equation->terms[t];
            bool has_target = false, has_zero = false;
            for (uint32_t f = 0; f < term->factor_count; f++) {
                uint32_t factor = term->factors[f];
                const ar_node *value =
                    factor + 1 < op->node->kid_count
                        ? ar_skip_casts(op->node->kids[factor + 1])
                        : NULL;
                has_target |= factor == equation->target;
                has_zero |=
                    value &&
                    ((value->kind == AR_INT_LIT && value->int_value == 0) ||
                     (value->kind == AR_FLOAT_LIT &&
                      !(value->float_value < 0) && !(value->float_value > 0)));
            }
            if (has_target && !has_zero)
                return true;
        }
    }
    return false;
}

enum { MAX_CALLS = 16 }; /* one in the other */

static bool adds_up(const ar_storage_solver *s, uint32_t id, int depth);

static bool call_adds_up(const ar_storage_solver *s, const ar_node *node,
                         uint32_t id, int depth) {
    const ar_storage_call *call = ar_storage_call_at(s->plan->index, node);
    bool is_known = false;
    for (uint32_t i = 0; call && i < call->instance_count; i++) {
        if (call->instances[i].actual != id)
            continue;
        is_known = true;
        if (adds_up(s, call->instances[i].generic, depth + 1))
            return true;
    }
    return !is_known;
}

static bool reads(const ar_node *node, const ar_node *target) {
    if (!node)
        return false;
    if (node->kind == target->kind && ar_storage_same(node, target))
        return true;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (reads(node->kids[i], target))
            return true;
    return false;
}

/* x = a * x + e, too. */
static bool adds_to(const ar_node *node, const ar_node *target) {
    if (!node)
        return false;
    if (node->kind == AR_BINARY &&
        (node->op == AR_OP_ADD || node->op == AR_OP_SUB) && reads(node, target))
        return true;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (adds_to(node->kids[i], target))
            return true;
    return false;
}

static bool store_adds(ar_node *store) {
    return ar_reads_its_target(store) ||
           (store->kind == AR_ASSIGN &&
            adds_to(store->kids[1], store->kids[0]));
}

/* To what was there before the function was called: not where each sum in it
 * has a start in it. */
static bool adds_up(const ar_storage_solver *s, uint32_t id, int depth) {
    const ar_storage_class *c = &s->facts->classes.data[id];
    for (uint32_t i = 0; i < c->site_count; i++) {
        const ar_site *site = &s->facts->sites.data[c->sites[i]];
        bool is_store =
            site->kind == AR_SITE_STORE || site->kind == AR_SITE_COMPOUND_STORE;
        if (is_store && store_adds(site->node)) {
            const ar_sum_scratch *scratch =
                ar_map_get(&s->plan->sums->at, ar_key(site->node->kids[0]));
            if (!scratch || !scratch->starts)
                return true;
        }
        if (site->kind == AR_SITE_VECTOR ||
            (site->kind == AR_SITE_CALL &&
             (depth == MAX_CALLS || call_adds_up(s, site->node, id, depth))))
            return true;
    }
    return false;
}

static bool is_sum(const ar_storage_solver *s, const ar_accumulator *sum,
                   uint32_t id) {
    if (sum->class_id != id || is_step_to_step(s, sum) ||
        is_beside_training(s, sum))
        return false; /* that of a callee comes by the call */
    const ar_op_site *op = ar_storage_redirected(s, sum->node);
    if (op)
        return op_adds(op);
    return sum->kind != AR_ACCUMULATE_CALL || call_adds_up(s, sum->node, id, 0);
}

static const char *sum_words(ar_accumulator_kind kind) {
    switch (kind) {
    case AR_ACCUMULATE_INVARIANT:
        return "a sum: a loop adds to the same element again and again";
    case AR_ACCUMULATE_SCATTER:
        return "a sum: the index that is added at comes from memory";
    case AR_ACCUMULATE_OVERLAP:
        return "a sum: iterations may add to the same element";
    case AR_ACCUMULATE_CALL:
        return "a sum: a call in a loop adds to it again and again";
    case AR_ACCUMULATE_KINDS:
        break;
    }
    AR_BUG("accumulator %d", (int)kind);
}

/* A scratch holds it while one call runs: what calls add to a variable of the
 * file is rounded once for each. */
static bool goes_on(const ar_storage_solver *s, uint32_t at) {
    const ar_accumulator *sum = &s->facts->accumulators.data[at];
    const ar_decl *function = sum->where.function;
    const ar_decl *root =
        sum->node->kid_count ? ar_root_decl(sum->node->kids[0]) : NULL;
    return !s->plan->sums->of[at]->starts && root && root->is_file_scope &&
           function && s->is_repeated[ar_entity_of(s->program, function)->id];
}

/* The first sum that no FP32 scratch holds, as a position in the facts. */
static uint32_t first_sum(const ar_storage_solver *s,
                          const ar_storage_class *c) {
    for (uint32_t i = 0; i < c->accumulator_count; i++) {
        uint32_t at = c->accumulators[i];
        if ((!s->plan->sums->of[at] || goes_on(s, at)) &&
            is_sum(s, &s->facts->accumulators.data[at], c->id))
            return at;
    }
    return AR_NO_ID;
}

static const char *sum_reason(const ar_storage_solver *s, uint32_t at) {
    const char *words =
        sum_words(s->plan->sums->of[at] ? AR_ACCUMULATE_CALL
                                        : s->facts->accumulators.data[at].kind);
    const ar_sum_problem *problem = &s->plan->sums->problems[at];
    return problem->why
               ? ar_sprintf(s->arena,
                            "%s, and no FP32 scratch can stand in for it (%s: "
                            "%s)",
                            words,
                            ar_place(s->arena, &s->program->files, problem->at),
                            problem->why)
               : words;
}

static bool kept_as_sum(ar_storage_solver *s, const ar_storage_class *c) {
    uint32_t at = first_sum(s, c);
    return at != AR_NO_ID &&
           ar_storage_keep(s, c->id, sum_reason(s, at),
                           s->facts->accumulators.data[at].where.range,
                           "add up in a local variable and store once");
}

/* ---- one class ----------------------------------------------------------- */

static bool kept_by_user(ar_storage_solver *s, const ar_storage_class *c) {
    const ar_class_info *info = &s->info[c->id];
    return info->fp32_by &&
           ar_storage_keep(s, c->id, info->fp32_by, info->fp32_at, "remove it");
}

/* It cannot be half, whatever the level and the user say. */
static bool is_ruled_out(ar_storage_solver *s, const ar_storage_class *c) {
    if (pinned(s, c) || kept_by_sites(s, c))
        return true;
    return is_redirected_body(s, c) &&
           ar_storage_keep(
               s, c->id,
               ar_sprintf(s->arena,
                          "'%s' is redirected; its body stays as it is",
                          c->generic_of->name),
               c->generic_of->name_range, NULL);
}

static bool kept_by(ar_storage_solver *s, uint32_t id,
                    const ar_storage_decision *role) {
    return !role->half &&
           ar_storage_keep(s, id, role->reason, role->reason_at, role->unlock);
}

static bool is_denied(ar_storage_solver *s, const ar_storage_class *c) {
    const ar_class_info *info = &s->info[c->id];
    return info->denied &&
           ar_storage_keep(s, c->id, info->denied, info->denied_at,
                           unlock_by_rule(s, c, info->denied_in));
}

/* Learning rates and what else the update takes from an array. */
static bool kept_as_rate(ar_storage_solver *s, const ar_storage_class *c) {
    const ar_cell *rate = s->info[c->id].rate;
    return rate &&
           ar_storage_keep(s, c->id, "the update reads it, as a learning rate",
                           rate->reason_at, NULL);
}

static bool kept_as_spoiled(ar_storage_solver *s, const ar_storage_class *c) {
    const ar_class_info *info = &s->info[c->id];
    return info->spoiled && !s->policy.strict &&
           ar_storage_keep(s, c->id, info->spoiled, info->spoiled_at,
                           "--strict-o3");
}

/* In half all the same: what is to be warned of. */
static void note_sum(ar_storage_solver *s, const ar_storage_class *c) {
    ar_class_info *info = &s->info[c->id];
    uint32_t at = first_sum(s, c);
    if (at == AR_NO_ID || info->denied)
        return;
    const ar_accumulator *sum = &s->facts->accumulators.data[at];
    info->denied = sum_reason(s, at);
    info->denied_at = sum->where.range;
}

void ar_storage_decide(ar_storage_solver *s, const ar_storage_class *c) {
    const ar_class_info *info = &s->info[c->id];
    ar_storage_decision role = by_role(s, c), *d = &s->at[c->id];
    *d = (ar_storage_decision){.half = true,
                               .reason_at = AR_NO_RANGE,
                               .role = role.role,
                               .roles = role.roles};
    if (ar_storage_is_scalar(s->facts, c->id)) {
        ar_storage_keep(s, c->id, "a single float, no buffer", AR_NO_RANGE,
                        NULL);
        return;
    }
    if (kept_by_user(s, c))
        return;
    if (!info->half_by && role.role != AR_ROLE_NONE && kept_by(s, c->id, &role))
        return;
    if (is_ruled_out(s, c))
        return;
    if (info->half_by) {
        note_sum(s, c);
        s->wanted[c->id] = true;
        d->reason = info->half_by;
        d->reason_at = info->half_at;
        return;
    }
    if (kept_by(s, c->id, &role) || kept_as_rate(s, c) ||
        kept_as_spoiled(s, c) || kept_as_sum(s, c) || is_denied(s, c))
        return;
    s->wanted[c->id] = role.roles != 0;
}
