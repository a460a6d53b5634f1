/* Turns a finished draft into rules: names become indices, and what one
 * statement alone can have wrong is reported. */
#include "rules/parse.h"

#include <ctype.h>

void ar_rule_unknown_role(ar_rule_parser *p, ar_word role) {
    const char *near = ar_nearest(role.text, ar_role_names);
    if (near)
        ar_rule_error(p, AR_DIAG_RULE_UNKNOWN_NAME, role.span,
                      "unknown role '%s'; did you mean '%s'?", role.text, near);
    else
        ar_rule_error(p, AR_DIAG_RULE_UNKNOWN_NAME, role.span,
                      "unknown role '%s'; roles are param, grad, state, norm, "
                      "activation, data and loss",
                      role.text);
}

/* Index of the parameter, or UINT32_MAX and a located error. */
static uint32_t find_param(ar_rule_parser *p, const ar_draft_signature *s,
                           ar_word name, const char *where) {
    for (uint32_t i = 0; i < s->params.count; i++)
        if (strcmp(s->params.data[i].name.text, name.text) == 0)
            return i;
    AR_VEC(const char *) names = {0};
    for (uint32_t i = 0; i < s->params.count; i++)
        AR_PUSH(p->rules->arena, &names, s->params.data[i].name.text);
    const char *near =
        ar_nearest(name.text, (ar_name_list){names.data, names.count});
    ar_rule_error(p, AR_DIAG_RULE_UNKNOWN_NAME, name.span,
                  "%s names '%s', which is no parameter of '%s'%s%s%s", where,
                  name.text, s->function.text, near ? "; did you mean '" : "",
                  near ? near : "", near ? "'?" : "");
    return UINT32_MAX;
}

/* ---- parameters --------------------------------------------------------- */

static bool has_uses(ar_rule_kind kind) {
    switch (kind) {
    case AR_RULE_ALLOC:
    case AR_RULE_REALLOC:
    case AR_RULE_FREE:
    case AR_RULE_COPY:
    case AR_RULE_CLEAR:
    case AR_RULE_SAVE:
    case AR_RULE_LOAD:
    case AR_RULE_PURE:
        return true;
    case AR_RULE_OP:
    case AR_RULE_OPTIMIZER:
    case AR_RULE_SEED:
    case AR_RULE_CLIP:
    case AR_RULE_ALLREDUCE:
    case AR_RULE_EXIT:
        return false;
    }
    AR_BUG("rule kind %d", (int)kind);
}

static void check_duplicate_param(ar_rule_parser *p,
                                  const ar_draft_signature *s, uint32_t i) {
    const ar_draft_param *param = &s->params.data[i];
    for (uint32_t j = 0; j < i; j++)
        if (strcmp(s->params.data[j].name.text, param->name.text) == 0) {
            ar_rule_error(p, AR_DIAG_RULE_DUPLICATE, param->name.span,
                          "two parameters are called '%s'", param->name.text);
            ar_rule_note(p, s->params.data[j].name.span,
                         "the other one is here");
            return;
        }
}

/* The word after ':' is a role, or in memory rules a use. A parameter of a
 * memory rule that is called like a use has that use. */
static void read_use(ar_rule_parser *p, const ar_draft_param *from,
                     ar_rule_param *param, ar_slot_use *use) {
    if (!from->use.text) {
        if (use)
            ar_use_of_name(from->name.text, use);
        return;
    }
    if (ar_role_of_name(from->use.text, &param->role))
        return;
    ar_slot_use named;
    if (!ar_use_of_name(from->use.text, &named)) {
        const char *near = ar_nearest(from->use.text, ar_role_names);
        if (!near && use)
            near = ar_nearest(from->use.text, ar_use_names);
        ar_rule_error(p, AR_DIAG_RULE_UNKNOWN_NAME, from->use.span,
                      "unknown role%s '%s'%s%s%s", use ? " or use" : "",
                      from->use.text, near ? "; did you mean '" : "",
                      near ? near : "", near ? "'?" : "");
    } else if (use) {
        *use = named;
    } else {
        ar_rule_error(p, AR_DIAG_RULE_UNKNOWN_NAME, from->use.span,
                      "'%s' is for memory rules; a parameter of '%s' can have "
                      "a role",
                      from->use.text, ar_rule_kind_name(p->draft.kind));
    }
}

static void resolve_params(ar_rule_parser *p, const ar_draft_signature *s,
                           ar_function_rule *rule) {
    rule->param_count = s->params.count;
    rule->params =
        AR_NEW_ARRAY(p->rules->arena, ar_rule_param, s->params.count);
    if (has_uses(rule->kind))
        rule->uses =
            AR_NEW_ARRAY(p->rules->arena, ar_slot_use, s->params.count);
    for (uint32_t i = 0; i < s->params.count; i++) {
        const ar_draft_param *from = &s->params.data[i];
        ar_rule_param *param = &rule->params[i];
        *param = (ar_rule_param){.name = from->name.text,
                                 .direction = from->direction,
                                 .shape = from->shape,
                                 .shape_rank = from->shape_rank,
                                 .range = ar_rule_range(p, from->span)};
        check_duplicate_param(p, s, i);
        read_use(p, from, param, rule->uses ? &rule->uses[i] : NULL);
        if (from->shape_rank && from->direction == AR_DIR_VALUE)
            ar_rule_error(p, AR_DIAG_RULE_SYNTAX, from->span,
                          "'%s' has a shape but no direction; write 'in', "
                          "'out' or 'inout' before it",
                          from->name.text);
    }
    for (uint32_t i = 0; i < s->shape_names.count; i++)
        find_param(p, s, s->shape_names.data[i], "shape");
}

/* ---- algebra ------------------------------------------------------------ */

static bool is_written(ar_direction direction) {
    return direction == AR_DIR_OUT || direction == AR_DIR_INOUT;
}

static uint32_t *resolve_factors(ar_rule_parser *p, const ar_draft_signature *s,
                                 const ar_words *names) {
    if (!names->count)
        return NULL;
    uint32_t *list = AR_NEW_ARRAY(p->rules->arena, uint32_t, names->count);
    for (uint32_t i = 0; i < names->count; i++) {
        list[i] = find_param(p, s, names->data[i], "algebra");
        if (list[i] != UINT32_MAX &&
            s->params.data[list[i]].direction == AR_DIR_OUT) {
            ar_rule_error(p, AR_DIAG_RULE_UNKNOWN_NAME, names->data[i].span,
                          "algebra reads '%s', which is only written; make it "
                          "'inout'",
                          names->data[i].text);
            ar_rule_note(p, s->params.data[list[i]].span,
                         "the parameter is here");
        }
    }
    return list;
}

static ar_term resolve_term(ar_rule_parser *p, const ar_draft_signature *s,
                            const ar_draft_term *from) {
    ar_term term = {.coefficient = from->coefficient,
                    .factors = resolve_factors(p, s, &from->factors),
                    .factor_count = from->factors.count,
                    .nonlinear = resolve_factors(p, s, &from->nonlinear),
                    .nonlinear_count = from->nonlinear.count};
    if (!term.factor_count && term.nonlinear_count) {
        term.is_nonlinear = true;
        term.factors = term.nonlinear;
        term.factor_count = term.nonlinear_count;
        term.nonlinear = NULL;
        term.nonlinear_count = 0;
    }
    return term;
}

static uint32_t resolve_target(ar_rule_parser *p, const ar_draft_signature *s,
                               const ar_draft_equation *e) {
    if (e->is_return)
        return AR_TARGET_RESULT;
    uint32_t i = find_param(p, s, e->target, "algebra");
    if (i == UINT32_MAX || is_written(s->params.data[i].direction))
        return i;
    ar_rule_error(p, AR_DIAG_RULE_UNKNOWN_NAME, e->target.span,
                  "algebra assigns '%s', which is %s; make it 'out' or "
                  "'inout'",
                  e->target.text,
                  s->params.data[i].direction == AR_DIR_IN ? "only read"
                                                           : "passed by value");
    ar_rule_note(p, s->params.data[i].span, "the parameter is here");
    return i;
}

static void resolve_algebra(ar_rule_parser *p, const ar_draft_signature *s,
                            ar_function_rule *rule) {
    uint32_t n = p->draft.equations.count;
    if (!n)
        return;
    rule->equation_count = n;
    rule->algebra = AR_NEW_ARRAY(p->rules->arena, ar_equation, n);
    for (uint32_t i = 0; i < n; i++) {
        const ar_draft_equation *from = &p->draft.equations.data[i];
        ar_equation *e = &rule->algebra[i];
        e->target = resolve_target(p, s, from);
        e->term_count = from->terms.count;
        if (e->term_count)
            e->terms = AR_NEW_ARRAY(p->rules->arena, ar_term, e->term_count);
        for (uint32_t t = 0; t < e->term_count; t++)
            e->terms[t] = resolve_term(p, s, &from->terms.data[t]);
        for (uint32_t j = 0; j < i; j++)
            if (rule->algebra[j].target == e->target) {
                ar_rule_error(p, AR_DIAG_RULE_DUPLICATE, from->target.span,
                              "two equations for '%s'", from->target.text);
                ar_rule_note(p, p->draft.equations.data[j].target.span,
                             "the other one is here");
            }
    }
}

/* ---- conditions and target ---------------------------------------------- */

static void resolve_conditions(ar_rule_parser *p, const ar_draft_signature *s,
                               ar_function_rule *rule) {
    uint32_t n = p->draft.conditions.count;
    if (!n)
        return;
    rule->condition_count = n;
    rule->conditions = AR_NEW_ARRAY(p->rules->arena, ar_condition, n);
    for (uint32_t i = 0; i < n; i++) {
        const ar_draft_condition *from = &p->draft.conditions.data[i];
        rule->conditions[i] =
            (ar_condition){.category = from->category,
                           .param = find_param(p, s, from->param, "condition"),
                           .comparison = from->comparison,
                           .value = from->value};
        uint32_t param = rule->conditions[i].param;
        if (param != UINT32_MAX &&
            s->params.data[param].direction != AR_DIR_VALUE)
            ar_rule_error(p, AR_DIAG_RULE_SYNTAX, from->param.span,
                          "a condition compares a scalar, '%s' is a buffer",
                          from->param.text);
    }
}

/* Words of C that may stand in an argument beside the parameters. */
static bool is_c_word(const char *word) {
    static const char *const words[] = {
        "int",       "long",     "short",     "char",     "float",   "double",
        "unsigned",  "signed",   "const",     "volatile", "void",    "struct",
        "union",     "enum",     "sizeof",    "_Bool",    "bool",    "true",
        "false",     "NULL",     "int8_t",    "int16_t",  "int32_t", "int64_t",
        "uint8_t",   "uint16_t", "uint32_t",  "uint64_t", "size_t",  "ssize_t",
        "ptrdiff_t", "intptr_t", "uintptr_t", "restrict"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return strncmp(word, "amp_", 4) == 0 || strncmp(word, "AMP_", 4) == 0;
}

static bool is_name_byte(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static void check_c_name(ar_rule_parser *p, const ar_draft_signature *s,
                         const char *bytes, ar_span span) {
    const char *name =
        ar_strndup(p->rules->arena, bytes + span.begin, span.end - span.begin);
    if (!is_c_word(name))
        find_param(p, s, (ar_word){name, span, false}, "argument");
}

static uint32_t skip_quoted(const char *bytes, uint32_t i, uint32_t end) {
    char quote = bytes[i++];
    while (i < end && bytes[i] != quote)
        i += bytes[i] == '\\' ? 2 : 1;
    return i + 1;
}

/* Reads the bytes of the file, not the text that was cleaned of comments, so
 * that an error points at the very name. */
static void check_argument(ar_rule_parser *p, const ar_draft_signature *s,
                           ar_span span) {
    const char *bytes = p->files->list.data[p->file].bytes;
    bool is_member = false;
    for (uint32_t i = span.begin; i < span.end;) {
        char c = bytes[i];
        uint32_t begin = i;
        if (c == '"' || c == '\'') {
            i = skip_quoted(bytes, i, span.end);
        } else if (c == '#') {
            while (i < span.end && bytes[i] != '\n')
                i++;
        } else if (is_name_byte(c)) {
            while (i < span.end &&
                   (is_name_byte(bytes[i]) ||
                    (bytes[i] == '.' && isdigit((unsigned char)bytes[begin]))))
                i++;
            if (!isdigit((unsigned char)c) && !is_member)
                check_c_name(p, s, bytes, (ar_span){begin, i});
        } else {
            i++;
        }
        if (!isspace((unsigned char)c))
            is_member =
                (c == '.' && begin + 1 < span.end &&
                 !isdigit((unsigned char)bytes[begin + 1])) ||
                (c == '>' && begin > span.begin && bytes[begin - 1] == '-');
    }
}

static void resolve_call(ar_rule_parser *p, const ar_draft_signature *s,
                         ar_function_rule *rule) {
    const ar_draft *d = &p->draft;
    rule->target = d->target.text;
    rule->header = d->header.text;
    if (!d->has_arguments)
        return;
    rule->argument_count = d->arguments.count;
    /* Not NULL even when empty: NULL means the same arguments. */
    rule->arguments =
        AR_NEW_ARRAY(p->rules->arena, const char *, d->arguments.count + 1);
    for (uint32_t i = 0; i < d->arguments.count; i++) {
        rule->arguments[i] = d->arguments.data[i].text;
        check_argument(p, s, d->arguments.data[i].span);
    }
}

/* ---- what each kind of rule needs --------------------------------------- */

static uint32_t count_direction(const ar_function_rule *rule, bool written) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < rule->param_count; i++)
        n += written ? is_written(rule->params[i].direction)
                     : rule->params[i].direction == AR_DIR_IN ||
                           rule->params[i].direction == AR_DIR_INOUT;
    return n;
}

static bool has_use(const ar_function_rule *rule, ar_slot_use use) {
    for (uint32_t i = 0; i < rule->param_count; i++)
        if (rule->uses[i] == use)
            return true;
    return false;
}

static bool has_param_role(const ar_function_rule *rule) {
    for (uint32_t i = 0; i < rule->param_count; i++)
        if (rule->params[i].role == AR_ROLE_PARAM &&
            is_written(rule->params[i].direction))
            return true;
    return false;
}

/* What is missing, as the end of a sentence; NULL when nothing is. */
static const char *missing(const ar_function_rule *rule) {
    switch (rule->kind) {
    case AR_RULE_REALLOC:
    case AR_RULE_FREE:
        return has_use(rule, AR_USE_POINTER)
                   ? NULL
                   : "a parameter called 'ptr' (or marked ': ptr')";
    case AR_RULE_COPY:
        if (!count_direction(rule, true))
            return "an 'out' parameter";
        return count_direction(rule, false) ? NULL : "an 'in' parameter";
    case AR_RULE_CLEAR:
    case AR_RULE_SEED:
        return count_direction(rule, true) ? NULL : "an 'out' parameter";
    case AR_RULE_CLIP:
    case AR_RULE_ALLREDUCE:
        return count_direction(rule, true) ? NULL
                                           : "an 'inout' or 'out' parameter";
    case AR_RULE_OPTIMIZER:
        return has_param_role(rule)
                   ? NULL
                   : "an 'inout' parameter with the role param, such as "
                     "'inout w: param'";
    case AR_RULE_OP:
    case AR_RULE_ALLOC:
    case AR_RULE_SAVE:
    case AR_RULE_LOAD:
    case AR_RULE_PURE:
    case AR_RULE_EXIT:
        return NULL;
    }
    AR_BUG("rule kind %d", (int)rule->kind);
}

static bool has_half_condition(const ar_draft *d) {
    for (uint32_t i = 0; i < d->conditions.count; i++)
        if (d->conditions.data[i].category == AR_CAT_ALLOW)
            return true;
    return false;
}

static void check_op_clauses(ar_rule_parser *p) {
    const ar_draft *d = &p->draft;
    if (d->target.text && d->has_category &&
        (d->category == AR_CAT_DENY || d->category == AR_CAT_OPAQUE) &&
        !has_half_condition(d)) {
        ar_rule_error(p, AR_DIAG_RULE_UNREACHABLE, d->target.span,
                      "target '%s' is never used: the op is '%s'",
                      d->target.text, ar_category_name(d->category));
        ar_rule_note(p, d->category_span, "the category is here");
    }
}

static void only_for(ar_rule_parser *p, ar_span span, const char *what,
                     const char *who) {
    ar_rule_error(p, AR_DIAG_RULE_SYNTAX, span, "%s is for %s, not for '%s'",
                  what, who, ar_rule_kind_name(p->draft.kind));
}

/* Clauses that this kind of statement does not have. */
static void check_clauses(ar_rule_parser *p) {
    const ar_draft *d = &p->draft;
    if (d->zeroed.end && d->kind != AR_RULE_ALLOC && d->kind != AR_RULE_REALLOC)
        only_for(p, d->zeroed, "'zeroed'", "alloc and realloc");
    if (d->kind == AR_RULE_OP) {
        check_op_clauses(p);
        return;
    }
    if (d->has_category)
        only_for(p, d->category_span, "a category", "ops");
    if (d->target.text && (!has_uses(d->kind) || d->kind == AR_RULE_PURE))
        only_for(p, d->target.span, "a target", "ops and memory rules");
    if (d->conditions.count)
        only_for(p, d->conditions.data[0].param.span, "a condition", "ops");
    if (d->equations.count && has_uses(d->kind))
        only_for(p, d->equations.data[0].target.span, "an algebra",
                 "ops and parts of training");
}

static bool has_wildcard(const char *text) {
    return strpbrk(text, "*?") != NULL;
}

static void resolve_signature(ar_rule_parser *p, const ar_draft_signature *s) {
    const ar_draft *d = &p->draft;
    ar_function_rule rule = {.kind = d->kind,
                             .op = d->op.text,
                             .function = s->function.text,
                             .is_pattern = s->function.is_quoted &&
                                           has_wildcard(s->function.text),
                             .is_variadic = s->is_variadic,
                             .zeroed = d->zeroed.end != 0,
                             .has_category = d->has_category,
                             .category = d->category,
                             .for_files = d->for_files.text,
                             .range = ar_rule_range(p, s->span),
                             .origin = p->origin};
    if (!*s->function.text)
        ar_rule_error(p, AR_DIAG_RULE_SYNTAX, s->function.span,
                      "an empty pattern matches nothing");
    resolve_params(p, s, &rule);
    resolve_algebra(p, s, &rule);
    resolve_conditions(p, s, &rule);
    resolve_call(p, s, &rule);
    const char *lack = missing(&rule);
    if (lack)
        ar_rule_error(p, AR_DIAG_RULE_SYNTAX, s->span, "'%s' needs %s",
                      ar_rule_kind_name(rule.kind), lack);
    if (p->draft_errors)
        return;
    AR_PUSH(p->rules->arena, &p->rules->functions, rule);
    ar_rule_index_add(p->rules, p->rules->functions.count - 1);
}

void ar_draft_finish(ar_rule_parser *p) {
    check_clauses(p);
    for (uint32_t i = 0; i < p->draft.signatures.count; i++)
        resolve_signature(p, &p->draft.signatures.data[i]);
    ar_draft_drop(p);
}

/* ---- keep, role, level -------------------------------------------------- */

static void add_subject(ar_rule_parser *p, ar_subject_rule rule,
                        ar_word pattern) {
    rule.pattern = pattern.text;
    rule.is_pattern = pattern.is_quoted && has_wildcard(pattern.text);
    rule.range = ar_rule_range(p, pattern.span);
    rule.origin = p->origin;
    if (!*pattern.text)
        ar_rule_error(p, AR_DIAG_RULE_SYNTAX, pattern.span,
                      "an empty pattern matches nothing");
    else if (!p->draft_errors)
        AR_PUSH(p->rules->arena, &p->rules->subjects, rule);
}

void ar_draft_keep(ar_rule_parser *p, bool half, ar_subject_kind kind) {
    for (uint32_t i = 0; i < p->draft.patterns.count; i++) {
        ar_word pattern = p->draft.patterns.data[i];
        ar_subject_rule rule = {
            .kind = kind, .sets_precision = true, .half = half};
        if (kind == AR_SUBJECT_ROLE &&
            !ar_role_of_name(pattern.text, &rule.subject_role)) {
            ar_rule_unknown_role(p, pattern);
            continue;
        }
        add_subject(p, rule, pattern);
    }
    ar_draft_drop(p);
}

void ar_draft_role(ar_rule_parser *p, ar_word role, bool has_kind,
                   ar_subject_kind kind, ar_span kind_span) {
    ar_role sets;
    if (!ar_role_of_name(role.text, &sets))
        ar_rule_unknown_role(p, role);
    if (has_kind && kind != AR_SUBJECT_FIELD && kind != AR_SUBJECT_VARIABLE)
        ar_rule_error(p, AR_DIAG_RULE_SYNTAX, kind_span,
                      "a %s has no role; write 'variable' or 'field'",
                      ar_subject_kind_name(kind));
    for (uint32_t i = 0; i < p->draft.patterns.count && !p->draft_errors; i++) {
        ar_word pattern = p->draft.patterns.data[i];
        bool is_path = strchr(pattern.text, '.') != NULL;
        ar_subject_rule rule = {.kind = has_kind  ? kind
                                        : is_path ? AR_SUBJECT_FIELD
                                                  : AR_SUBJECT_VARIABLE,
                                .sets_role = sets};
        add_subject(p, rule, pattern);
    }
    ar_draft_drop(p);
}

void ar_draft_level(ar_rule_parser *p, ar_word level) {
    const char *text = level.text;
    bool known = text[0] == 'O' && text[1] >= '0' && text[1] <= '3' && !text[2];
    if (!known)
        ar_rule_error(p, AR_DIAG_RULE_UNKNOWN_NAME, level.span,
                      "unknown level '%s'; levels are O0, O1, O2 and O3", text);
    for (uint32_t i = 0; i < p->draft.entries.count && !p->draft_errors; i++) {
        ar_level_rule entry = p->draft.entries.data[i];
        entry.level = text[1] - '0';
        AR_PUSH(p->rules->arena, &p->rules->levels, entry);
    }
    ar_draft_drop(p);
}
