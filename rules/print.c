/* --print-rules: the effective set in the language itself. Rules that can
 * never win are left out, so that the output holds no conflicts. */
#include "rules/parse.h"

enum { MAX_WIDTH = 80 };

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

static void print_name(ar_str *out, const char *name) {
    ar_str_addf(out, is_word(name) ? "%s" : "\"%s\"", name);
}

/* ", ", or "," and a new line when `length` more bytes would not fit. */
static void print_gap(ar_str *out, size_t length) {
    size_t column = 0;
    while (column < out->length && out->data[out->length - 1 - column] != '\n')
        column++;
    ar_str_add(out, column + 2 + length > MAX_WIDTH ? ",\n        " : ", ");
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

static void print_use(ar_str *out, const char *name, ar_slot_use use) {
    ar_slot_use by_name = AR_USE_NONE;
    ar_use_of_name(name, &by_name);
    if (use != AR_USE_NONE && use != by_name)
        ar_str_addf(out, ": %s", ar_use_name(use));
}

static void print_param(ar_str *out, const ar_function_rule *rule, uint32_t i) {
    const ar_rule_param *param = &rule->params[i];
    ar_str_addf(out, "%s%s", direction_text(param->direction), param->name);
    for (uint32_t k = 0; k < param->shape_rank; k++)
        ar_str_addf(out, "%s%s", k ? ", " : "[", param->shape[k]);
    if (param->shape_rank)
        ar_str_add(out, "]");
    if (param->role != AR_ROLE_NONE)
        ar_str_addf(out, ": %s", ar_role_name(param->role));
    else if (rule->uses)
        print_use(out, param->name, rule->uses[i]);
}

static void print_signature(ar_str *out, const ar_function_rule *rule) {
    if (rule->is_pattern)
        ar_str_addf(out, "\"%s\"", rule->function);
    else
        print_name(out, rule->function);
    if (rule->is_variadic && !rule->param_count)
        return;
    ar_str_add(out, "(");
    for (uint32_t i = 0; i < rule->param_count; i++) {
        ar_str param = {.arena = out->arena};
        print_param(&param, rule, i);
        if (i)
            print_gap(out, param.length + 2);
        ar_str_add(out, ar_str_text(&param));
    }
    ar_str_addf(out, "%s)", rule->is_variadic ? ", ..." : "");
}

static void print_call(ar_str *out, const ar_function_rule *rule,
                       const uint32_t *list, uint32_t count) {
    ar_str_add(out, "f(");
    for (uint32_t i = 0; i < count; i++)
        ar_str_addf(out, "%s%s", i ? ", " : "", rule->params[list[i]].name);
    ar_str_add(out, ")");
}

static void print_term(ar_str *out, const ar_function_rule *rule,
                       const ar_term *term, bool is_first) {
    double c = term->coefficient;
    bool minus = c < 0;
    ar_str_add(out, is_first ? (minus ? "-" : "") : (minus ? " - " : " + "));
    c = minus ? -c : c;
    const char *between = "";
    if (c != 1 || (!term->factor_count && !term->nonlinear_count)) {
        ar_str_add(out, ar_number_text(out->arena, c));
        between = " * ";
    }
    if (term->is_nonlinear) {
        ar_str_add(out, between);
        print_call(out, rule, term->factors, term->factor_count);
        return;
    }
    for (uint32_t i = 0; i < term->factor_count; i++, between = " * ")
        ar_str_addf(out, "%s%s", between, rule->params[term->factors[i]].name);
    if (term->nonlinear_count) {
        ar_str_add(out, between);
        print_call(out, rule, term->nonlinear, term->nonlinear_count);
    }
}

static void print_algebra(ar_str *out, const ar_function_rule *rule) {
    for (uint32_t i = 0; i < rule->equation_count; i++) {
        const ar_equation *e = &rule->algebra[i];
        const char *target = e->target == AR_TARGET_RESULT
                                 ? "return"
                                 : rule->params[e->target].name;
        ar_str_addf(out, "%s%s = ", i ? ", " : "\n    ", target);
        for (uint32_t t = 0; t < e->term_count; t++)
            print_term(out, rule, &e->terms[t], t == 0);
        ar_str_add(out, e->term_count ? "" : "0");
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

static void print_target(ar_str *out, const ar_function_rule *rule) {
    if (!rule->target)
        return;
    ar_str_addf(out, "\n    -> %s", rule->target);
    if (rule->arguments) {
        ar_str_add(out, "(");
        for (uint32_t i = 0; i < rule->argument_count; i++)
            ar_str_addf(out, "%s%s", i ? ", " : "", rule->arguments[i]);
        ar_str_add(out, ")");
    }
    if (rule->header)
        ar_str_addf(out, " include \"%s\"", rule->header);
}

static void print_function(ar_str *out, const ar_function_rule *rule) {
    ar_str_addf(out, "%s ", ar_rule_kind_name(rule->kind));
    if (rule->op)
        ar_str_addf(out, "%s ", rule->op);
    print_signature(out, rule);
    if (rule->has_category)
        ar_str_addf(out, " %s", ar_category_name(rule->category));
    for (uint32_t i = 0; i < rule->condition_count; i++) {
        const ar_condition *c = &rule->conditions[i];
        ar_str_addf(out, "\n    %s when %s %s %s",
                    c->category == AR_CAT_ALLOW ? "half" : "fp32",
                    rule->params[c->param].name, comparison_text(c->comparison),
                    ar_number_text(out->arena, c->value));
    }
    print_algebra(out, rule);
    print_target(out, rule);
    if (rule->zeroed)
        ar_str_add(out, " zeroed");
    if (rule->for_files)
        ar_str_addf(out, " for \"%s\"", rule->for_files);
    ar_str_add(out, ";");
}

static void print_origin(ar_str *out, ar_files *files, const char *origin,
                         ar_range range) {
    ar_line_col at = {0, 0};
    if (range.file != AR_NO_FILE)
        at = ar_line_col_at(files, range.file, range.begin);
    ar_str_addf(out, "  # %s:%u\n", origin, at.line);
}

static bool is_shadowed_by(const ar_rules *rules, uint32_t function,
                           ar_rule_list others) {
    for (uint32_t i = 0; i < others.count; i++)
        if (others.data[i] != function &&
            ar_function_rule_shadowed(rules, function, others.data[i]))
            return true;
    return false;
}

static bool is_effective(const ar_rules *rules, uint32_t function) {
    const char *name = rules->functions.data[function].function;
    return !is_shadowed_by(rules, function, ar_rules_named(rules, name)) &&
           !is_shadowed_by(rules, function, ar_rules_of_patterns(rules));
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

static void print_subject(ar_str *out, const ar_subject_rule *rule) {
    if (rule->sets_precision)
        ar_str_addf(out, "keep %s %s ", rule->half ? "half" : "fp32",
                    ar_subject_kind_name(rule->kind));
    else
        ar_str_addf(out, "role %s %s ", ar_role_name(rule->sets_role),
                    ar_subject_kind_name(rule->kind));
    ar_str_addf(out, "\"%s\";", rule->pattern);
}

void ar_rules_print(FILE *out, const ar_rules *rules, ar_files *files) {
    ar_arena *arena = ar_arena_new();
    ar_str text = {.arena = arena};
    for (uint32_t i = 0; i < rules->functions.count; i++) {
        const ar_function_rule *rule = &rules->functions.data[i];
        if (!is_effective(rules, i))
            continue;
        print_function(&text, rule);
        print_origin(&text, files, rule->origin, rule->range);
    }
    for (uint32_t i = 0; i < rules->subjects.count; i++) {
        const ar_subject_rule *rule = &rules->subjects.data[i];
        if (!is_effective_subject(rules, i))
            continue;
        print_subject(&text, rule);
        print_origin(&text, files, rule->origin, rule->range);
    }
    for (uint32_t i = 0; i < rules->levels.count; i++) {
        const ar_level_rule *rule = &rules->levels.data[i];
        if (ar_rules_find_level(rules, rule->level, rule->role) != rule)
            continue;
        ar_str_addf(&text, "level O%d { %s %s; }", rule->level,
                    ar_role_name(rule->role), rule->half ? "half" : "fp32");
        print_origin(&text, files, rule->origin, rule->range);
    }
    fputs(ar_str_text(&text), out);
    ar_arena_free(arena);
}
