/* What rules can have wrong between them: disagreement and rules that never
 * apply. Rules of different files override each other on purpose, so only
 * rules of one file are compared. */
#include "rules/parse.h"

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool params_agree(const ar_rule_param *a, const ar_rule_param *b) {
    if (strcmp(a->name, b->name) != 0 || a->direction != b->direction ||
        a->role != b->role || a->shape_rank != b->shape_rank)
        return false;
    for (uint32_t i = 0; i < a->shape_rank; i++)
        if (strcmp(a->shape[i], b->shape[i]) != 0)
            return false;
    return true;
}

static bool lists_agree(const uint32_t *a, uint32_t n, const uint32_t *b,
                        uint32_t m) {
    return n == m && (n == 0 || memcmp(a, b, n * sizeof *a) == 0);
}

static bool equations_agree(const ar_equation *a, const ar_equation *b) {
    if (a->target != b->target || a->term_count != b->term_count)
        return false;
    for (uint32_t i = 0; i < a->term_count; i++) {
        const ar_term *x = &a->terms[i], *y = &b->terms[i];
        if (x->is_nonlinear != y->is_nonlinear ||
            x->coefficient != y->coefficient ||
            !lists_agree(x->factors, x->factor_count, y->factors,
                         y->factor_count) ||
            !lists_agree(x->nonlinear, x->nonlinear_count, y->nonlinear,
                         y->nonlinear_count))
            return false;
    }
    return true;
}

static bool targets_agree(const ar_function_rule *a,
                          const ar_function_rule *b) {
    if (!same_text(a->target, b->target) || !same_text(a->header, b->header) ||
        !a->arguments != !b->arguments ||
        a->argument_count != b->argument_count)
        return false;
    for (uint32_t i = 0; i < a->argument_count; i++)
        if (strcmp(a->arguments[i], b->arguments[i]) != 0)
            return false;
    return true;
}

static bool details_agree(const ar_function_rule *a,
                          const ar_function_rule *b) {
    for (uint32_t i = 0; i < a->param_count; i++)
        if (!params_agree(&a->params[i], &b->params[i]) ||
            (a->uses && a->uses[i] != b->uses[i]))
            return false;
    for (uint32_t i = 0; i < a->condition_count; i++) {
        const ar_condition *x = &a->conditions[i], *y = &b->conditions[i];
        if (x->category != y->category || x->param != y->param ||
            x->comparison != y->comparison || x->value != y->value)
            return false;
    }
    for (uint32_t i = 0; i < a->equation_count; i++)
        if (!equations_agree(&a->algebra[i], &b->algebra[i]))
            return false;
    return true;
}

/* All that a rule says about the functions it is about. */
static bool contents_agree(const ar_function_rule *a,
                           const ar_function_rule *b) {
    return a->kind == b->kind && same_text(a->op, b->op) &&
           a->is_variadic == b->is_variadic &&
           a->param_count == b->param_count && a->zeroed == b->zeroed &&
           a->has_category == b->has_category &&
           (!a->has_category || a->category == b->category) &&
           a->condition_count == b->condition_count &&
           a->equation_count == b->equation_count && details_agree(a, b) &&
           targets_agree(a, b);
}

bool ar_function_rules_agree(const ar_function_rule *a,
                             const ar_function_rule *b) {
    return strcmp(a->function, b->function) == 0 &&
           a->is_pattern == b->is_pattern &&
           same_text(a->for_files, b->for_files) && contents_agree(a, b);
}

bool ar_function_rule_shadowed(const ar_rules *rules, uint32_t a, uint32_t b) {
    const ar_function_rule *x = &rules->functions.data[a];
    const ar_function_rule *y = &rules->functions.data[b];
    if (ar_is_part(x->kind) != ar_is_part(y->kind) ||
        ar_function_rule_compare(rules, a, b) >= 0)
        return false;
    if (y->for_files && !same_text(x->for_files, y->for_files))
        return false;
    if (strcmp(x->function, y->function) == 0)
        return true;
    return y->is_pattern && !x->is_pattern &&
           ar_glob_match(y->function, x->function);
}

static void note(ar_diags *diags, ar_range range, const char *text) {
    ar_report(diags, AR_DIAG_RULE_HERE, range, text);
}

static bool may_meet(bool a_pattern, const char *a, bool b_pattern,
                     const char *b) {
    return a_pattern && b_pattern ? ar_globs_meet(a, b) : strcmp(a, b) == 0;
}

/* a before b, of one file and equal rank. */
static bool check_functions(const ar_rules *rules, uint32_t a, uint32_t b,
                            ar_diags *diags) {
    const ar_function_rule *x = &rules->functions.data[a];
    const ar_function_rule *y = &rules->functions.data[b];
    if (ar_is_part(x->kind) != ar_is_part(y->kind) ||
        !may_meet(x->is_pattern, x->function, y->is_pattern, y->function))
        return true;
    if (x->for_files && !same_text(x->for_files, y->for_files))
        return true;
    bool same_name = strcmp(x->function, y->function) == 0;
    if (contents_agree(x, y)) {
        if (!same_name)
            return true;
        ar_report(diags, AR_DIAG_RULE_UNREACHABLE, y->range,
                  ar_sprintf(diags->arena,
                             "this repeats an earlier rule for '%s'",
                             y->function));
        note(diags, x->range, "the earlier rule is here");
        return false;
    }
    ar_report(diags, AR_DIAG_RULE_DUPLICATE, y->range,
              same_name
                  ? ar_sprintf(diags->arena,
                               "two rules for '%s' disagree; remove one, or "
                               "give one of them 'for \"file\"'",
                               y->function)
                  : ar_sprintf(diags->arena,
                               "'%s' and '%s' can match the same function, "
                               "are equally specific and disagree; make one "
                               "longer",
                               y->function, x->function));
    note(diags, x->range, "the other rule is here");
    return false;
}

static bool subject_disagrees(const ar_subject_rule *a,
                              const ar_subject_rule *b) {
    return (a->sets_precision && b->sets_precision && a->half != b->half) ||
           (a->sets_role != AR_ROLE_NONE && b->sets_role != AR_ROLE_NONE &&
            a->sets_role != b->sets_role);
}

static bool subject_repeats(const ar_subject_rule *a,
                            const ar_subject_rule *b) {
    return strcmp(a->pattern, b->pattern) == 0 &&
           a->sets_precision == b->sets_precision &&
           a->sets_role == b->sets_role;
}

static bool check_subjects(const ar_subject_rule *a, const ar_subject_rule *b,
                           ar_diags *diags) {
    if (a->kind != b->kind ||
        !may_meet(a->is_pattern, a->pattern, b->is_pattern, b->pattern))
        return true;
    if (subject_disagrees(a, b)) {
        ar_report(diags, AR_DIAG_RULE_DUPLICATE, b->range,
                  ar_sprintf(diags->arena, "two rules for %s '%s' disagree",
                             ar_subject_kind_name(b->kind), b->pattern));
        note(diags, a->range, "the other rule is here");
        return false;
    }
    if (!subject_repeats(a, b))
        return true;
    ar_report(diags, AR_DIAG_RULE_UNREACHABLE, b->range,
              ar_sprintf(diags->arena,
                         "this repeats an earlier rule for %s "
                         "'%s'",
                         ar_subject_kind_name(b->kind), b->pattern));
    note(diags, a->range, "the earlier rule is here");
    return false;
}

static bool check_levels(const ar_level_rule *a, const ar_level_rule *b,
                         ar_diags *diags) {
    if (a->level != b->level || a->role != b->role)
        return true;
    ar_report(diags, AR_DIAG_RULE_DUPLICATE, b->range,
              ar_sprintf(diags->arena, "two entries for %s in level O%d",
                         ar_role_name(b->role), b->level));
    note(diags, a->range, "the other entry is here");
    return false;
}

/* Against the earlier ones of its file, the last first. Only two exact names
 * or two patterns have equal rank. */
static bool check_function(const ar_rules *rules, uint32_t b, ar_diags *diags) {
    const ar_function_rule *rule = &rules->functions.data[b];
    ar_rule_list peers = rule->is_pattern
                             ? ar_rules_of_patterns(rules)
                             : ar_rules_named(rules, rule->function);
    bool ok = true;
    for (uint32_t i = peers.count; i-- > 0;) {
        uint32_t a = peers.data[i];
        if (a >= b)
            continue;
        if (rules->functions.data[a].range.file != rule->range.file)
            break;
        if (ar_function_rule_rank(rules, a, b) == 0)
            ok &= check_functions(rules, a, b, diags);
    }
    return ok;
}

bool ar_rules_check(ar_rules *rules, ar_diags *diags) {
    bool ok = true;
    for (uint32_t b = 0; b < rules->functions.count; b++)
        ok &= check_function(rules, b, diags);
    for (uint32_t b = 0; b < rules->subjects.count; b++)
        for (uint32_t a = b; a-- > 0;) {
            if (rules->subjects.data[a].range.file !=
                rules->subjects.data[b].range.file)
                break;
            if (ar_subject_rule_rank(rules, a, b) == 0)
                ok &= check_subjects(&rules->subjects.data[a],
                                     &rules->subjects.data[b], diags);
        }
    for (uint32_t b = 0; b < rules->levels.count; b++)
        for (uint32_t a = b; a-- > 0;)
            if (rules->levels.data[a].range.file ==
                rules->levels.data[b].range.file)
                ok &= check_levels(&rules->levels.data[a],
                                   &rules->levels.data[b], diags);
    return ok;
}
