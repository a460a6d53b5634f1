/* --print-rules: the effective set in the language itself. Rules that can
 * never win are left out, so that the output holds no conflicts. */
#include "rules/parse.h"

static bool is_word(const char *text) {
    for (const char *c = text; *c; c++) {
        bool letter =
            (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
        bool digit = *c >= '0' && *c <= '9';
        if (!letter && !(digit && c > text))
            return false;
    }
    return *text && strcmp(text, "in") != 0 && strcmp(text, "out") != 0 &&
           strcmp(text, "inout") != 0 && strcmp(text, "return") != 0;
}

static void print_name(FILE *out, const char *name) {
    fprintf(out, is_word(name) ? "%s" : "\"%s\"", name);
}

static const char *direction_text(ar_direction direction) {
    switch (direction) {
    case AR_DIR_VALUE:
        return "";
    case AR_DIR_IN:
        return "in ";
    case AR_DIR_OUT:
        return "out ";
    case AR_DIR_INOUT:
        return "inout ";
    }
    AR_BUG("direction %d", (int)direction);
}

static void print_use(FILE *out, const char *name, ar_slot_use use) {
    ar_slot_use by_name = AR_USE_NONE;
    ar_use_of_name(name, &by_name);
    if (use != AR_USE_NONE && use != by_name)
        fprintf(out, ": %s", ar_use_name(use));
}

static void print_param(FILE *out, const ar_function_rule *rule, uint32_t i) {
    const ar_rule_param *param = &rule->params[i];
    fprintf(out, "%s%s", direction_text(param->direction), param->name);
    for (uint32_t k = 0; k < param->shape_rank; k++)
        fprintf(out, "%s%s", k ? ", " : "[", param->shape[k]);
    if (param->shape_rank)
        fputc(']', out);
    if (param->role != AR_ROLE_NONE)
        fprintf(out, ": %s", ar_role_name(param->role));
    else if (rule->uses)
        print_use(out, param->name, rule->uses[i]);
}

static void print_signature(FILE *out, const ar_function_rule *rule) {
    if (rule->is_pattern)
        fprintf(out, "\"%s\"", rule->function);
    else
        print_name(out, rule->function);
    if (rule->is_variadic && !rule->param_count)
        return;
    fputc('(', out);
    for (uint32_t i = 0; i < rule->param_count; i++) {
        fputs(i ? ", " : "", out);
        print_param(out, rule, i);
    }
    fprintf(out, "%s)", rule->is_variadic ? ", ..." : "");
}

static void print_call(FILE *out, const ar_function_rule *rule,
                       const uint32_t *list, uint32_t count) {
    fputs("f(", out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "%s%s", i ? ", " : "", rule->params[list[i]].name);
    fputc(')', out);
}

static void print_term(FILE *out, ar_arena *arena, const ar_function_rule *rule,
                       const ar_term *term, bool is_first) {
    double c = term->coefficient;
    bool minus = c < 0;
    fputs(is_first ? (minus ? "-" : "") : (minus ? " - " : " + "), out);
    c = minus ? -c : c;
    const char *between = "";
    if (c != 1 || (!term->factor_count && !term->nonlinear_count)) {
        fputs(ar_number_text(arena, c), out);
        between = " * ";
    }
    if (term->is_nonlinear) {
        fputs(between, out);
        print_call(out, rule, term->factors, term->factor_count);
        return;
    }
    for (uint32_t i = 0; i < term->factor_count; i++, between = " * ")
        fprintf(out, "%s%s", between, rule->params[term->factors[i]].name);
    if (term->nonlinear_count) {
        fputs(between, out);
        print_call(out, rule, term->nonlinear, term->nonlinear_count);
    }
}

static void print_algebra(FILE *out, ar_arena *arena,
                          const ar_function_rule *rule) {
    for (uint32_t i = 0; i < rule->equation_count; i++) {
        const ar_equation *e = &rule->algebra[i];
        const char *target =
            e->target == AR_TARGET_RESULT ? "return" : rule->params[e->target].name;
        fprintf(out, "%s%s = ", i ? ", " : "\n    ", target);
        for (uint32_t t = 0; t < e->term_count; t++)
            print_term(out, arena, rule, &e->terms[t], t == 0);
        fputs(e->term_count ? "" : "0", out);
    }
}

static const char *comparison_text(int comparison) {
    switch (comparison) {
    case '<':
        return "<";
    case '>':
        return ">";
    case 'l':
        return "<=";
    case 'g':
        return ">=";
    case '=':
        return "==";
    case '!':
        return "!=";
    default:
        AR_BUG("comparison %d", comparison);
    }
}

static void print_target(FILE *out, const ar_function_rule *rule) {
    if (!rule->target)
        return;
    fprintf(out, "\n    -> %s", rule->target);
    if (rule->arguments) {
        fputc('(', out);
        for (uint32_t i = 0; i < rule->argument_count; i++)
            fprintf(out, "%s%s", i ? ", " : "", rule->arguments[i]);
        fputc(')', out);
    }
    if (rule->header)
        fprintf(out, " include \"%s\"", rule->header);
}

static void print_function(FILE *out, ar_arena *arena,
                           const ar_function_rule *rule) {
    fprintf(out, "%s ", ar_rule_kind_name(rule->kind));
    if (rule->op)
        fprintf(out, "%s ", rule->op);
    print_signature(out, rule);
    if (rule->has_category)
        fprintf(out, " %s", ar_category_name(rule->category));
    for (uint32_t i = 0; i < rule->condition_count; i++) {
        const ar_condition *c = &rule->conditions[i];
        fprintf(out, "\n    %s when %s %s %s",
                c->category == AR_CAT_ALLOW ? "half" : "fp32",
                rule->params[c->param].name, comparison_text(c->comparison),
                ar_number_text(arena, c->value));
    }
    print_algebra(out, arena, rule);
    print_target(out, rule);
    if (rule->zeroed)
        fputs(" zeroed", out);
    if (rule->for_files)
        fprintf(out, " for \"%s\"", rule->for_files);
    fputc(';', out);
}

static void print_origin(FILE *out, ar_files *files, const char *origin,
                         ar_range range) {
    ar_line_col at = {0, 0};
    if (range.file != AR_NO_FILE)
        at = ar_line_col_at(files, range.file, range.begin);
    fprintf(out, "  # %s:%u\n", origin, at.line);
}

static bool is_effective(const ar_rules *rules, uint32_t function) {
    for (uint32_t i = 0; i < rules->functions.count; i++)
        if (i != function && ar_function_rule_shadowed(rules, function, i))
            return false;
    return true;
}

static bool same_subject(const ar_subject_rule *a, const ar_subject_rule *b) {
    return a->kind == b->kind && strcmp(a->pattern, b->pattern) == 0 &&
           a->is_pattern == b->is_pattern &&
           a->sets_precision == b->sets_precision;
}

static bool is_effective_subject(const ar_rules *rules, uint32_t subject) {
    const ar_subject_rule *all = rules->subjects.data;
    for (uint32_t i = subject + 1; i < rules->subjects.count; i++)
        if (same_subject(&all[i], &all[subject]))
            return false;
    return true;
}

static void print_subject(FILE *out, const ar_subject_rule *rule) {
    if (rule->sets_precision)
        fprintf(out, "keep %s %s ", rule->half ? "half" : "fp32",
                ar_subject_kind_name(rule->kind));
    else
        fprintf(out, "role %s %s ", ar_role_name(rule->sets_role),
                ar_subject_kind_name(rule->kind));
    fprintf(out, "\"%s\";", rule->pattern);
}

void ar_rules_print(FILE *out, const ar_rules *rules, ar_files *files) {
    ar_arena *arena = ar_arena_new();
    for (uint32_t i = 0; i < rules->functions.count; i++) {
        const ar_function_rule *rule = &rules->functions.data[i];
        if (!is_effective(rules, i))
            continue;
        print_function(out, arena, rule);
        print_origin(out, files, rule->origin, rule->range);
    }
    for (uint32_t i = 0; i < rules->subjects.count; i++) {
        if (!is_effective_subject(rules, i))
            continue;
        print_subject(out, &rules->subjects.data[i]);
        print_origin(out, files, rules->subjects.data[i].origin,
                     rules->subjects.data[i].range);
    }
    for (uint32_t i = 0; i < rules->levels.count; i++) {
        const ar_level_rule *rule = &rules->levels.data[i];
        if (ar_rules_find_level(rules, rule->level, rule->role) != rule)
            continue;
        fprintf(out, "level O%d { %s %s; }", rule->level,
                ar_role_name(rule->role), rule->half ? "half" : "fp32");
        print_origin(out, files, rule->origin, rule->range);
    }
    ar_arena_free(arena);
}
