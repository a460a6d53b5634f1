/* Builder: collects the statement that the grammar is reading, and words the
 * errors that the grammar and the scanner find. */
#include "rules/parse.h"

ar_range ar_rule_range(const ar_rule_parser *p, ar_span span) {
    return (ar_range){p->file, span.begin, span.end, false};
}

void ar_rule_error(ar_rule_parser *p, ar_diag_id id, ar_span span,
                   const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = ar_vsprintf(p->diags->arena, format, args);
    va_end(args);
    ar_report(p->diags, id, ar_rule_range(p, span), text);
    p->errors++;
    p->draft_errors++;
}

void ar_rule_note(ar_rule_parser *p, ar_span span, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = ar_vsprintf(p->diags->arena, format, args);
    va_end(args);
    ar_report(p->diags, AR_DIAG_RULE_HERE, ar_rule_range(p, span), text);
}

const char *ar_rule_join(ar_rule_parser *p, const char *a, const char *b,
                         const char *c) {
    return ar_sprintf(p->rules->arena, "%s%s%s", a, b, c);
}

const char *ar_rule_number(ar_rule_parser *p, double number) {
    return ar_number_text(p->rules->arena, number);
}

static bool is_old_algebra(const char *word) {
    return strcmp(word, "linear") == 0 || strcmp(word, "bilinear") == 0 ||
           strcmp(word, "adds") == 0 || strcmp(word, "nonlinear") == 0;
}

/* `deny` misspelt looks like the left side of an equation, and so does a
 * second function after a missing comma. */
static void unknown_clause(ar_rule_parser *p) {
    const char *word = p->previous_word;
    if (p->token == '(') {
        ar_rule_error(p, AR_DIAG_RULE_SYNTAX, p->previous_span,
                      "missing ',' before '%s'", word);
        return;
    }
    const char *near = ar_nearest(word, ar_clause_names);
    if (is_old_algebra(word))
        ar_rule_error(p, AR_DIAG_RULE_SYNTAX, p->previous_span,
                      "unknown word '%s'; an op states its algebra as an "
                      "equation, such as 'C = alpha * A * B + beta * C'",
                      word);
    else if (near)
        ar_rule_error(p, AR_DIAG_RULE_SYNTAX, p->previous_span,
                      "unknown word '%s'; did you mean '%s'?", word, near);
    else
        ar_rule_error(p, AR_DIAG_RULE_SYNTAX, p->previous_span,
                      "unknown word '%s'; expected a category, an equation "
                      "'%s = ...' or '->'",
                      word, word);
}

void ar_rule_unexpected(ar_rule_parser *p, const ar_unexpected *what) {
    if (p->is_unknown)
        return;
    if (what->wants_equals && p->previous_word) {
        unknown_clause(p);
        return;
    }
    if (what->wants_semicolon && what->is_statement && !what->nearest) {
        uint32_t end = p->previous_span.end;
        ar_rule_error(p, AR_DIAG_RULE_SYNTAX, (ar_span){end, end},
                      "missing ';' at the end of the statement");
        return;
    }
    const char *name = what->name;
    if (p->token_word)
        name = ar_sprintf(p->diags->arena, "'%s'", p->token_word);
    if (what->wants_statement)
        ar_rule_error(p, AR_DIAG_RULE_SYNTAX, what->at,
                      "no statement starts with %s; they start with op, alloc, "
                      "copy, pure, ..., keep, role or level",
                      name);
    else if (what->wants_function && p->token == '(')
        ar_rule_error(p, AR_DIAG_RULE_SYNTAX, what->at,
                      "the function is missing: an op has a name of its own "
                      "first, such as 'op exp expf(x)'");
    else if (what->nearest)
        ar_rule_error(p, AR_DIAG_RULE_SYNTAX, what->at,
                      "unexpected %s; did you mean '%s'?", name, what->nearest);
    else if (what->after_operator && p->token == '(')
        ar_rule_error(p, AR_DIAG_RULE_SYNTAX, what->at,
                      "an algebra is a sum of products without brackets; "
                      "write a * (b + c) as a * b + a * c");
    else
        ar_rule_error(p, AR_DIAG_RULE_SYNTAX, what->at, "unexpected %s%s", name,
                      what->expected);
}

void ar_draft_unknown(ar_rule_parser *p, ar_word word) {
    const char *near = ar_nearest(word.text, ar_statement_names);
    if (near)
        ar_rule_error(p, AR_DIAG_RULE_SYNTAX, word.span,
                      "unknown statement '%s'; did you mean '%s'?", word.text,
                      near);
    else
        ar_rule_error(p, AR_DIAG_RULE_SYNTAX, word.span,
                      "unknown statement '%s'; to describe a function, start "
                      "with what it is: op, alloc, copy, save, load, pure, ...",
                      word.text);
    p->is_unknown = true;
}

void ar_draft_drop(ar_rule_parser *p) {
    p->draft = (ar_draft){0};
    p->draft_errors = 0;
    p->is_unknown = false;
}

/* ---- functions ---------------------------------------------------------- */

void ar_draft_begin(ar_rule_parser *p, ar_rule_kind kind, ar_word op) {
    p->draft.kind = kind;
    p->draft.op = op;
}

void ar_draft_signature_begin(ar_rule_parser *p, ar_word function) {
    ar_draft_signature s = {.function = function, .span = function.span};
    AR_PUSH(p->rules->arena, &p->draft.signatures, s);
}

static ar_draft_signature *last_signature(ar_rule_parser *p) {
    return &p->draft.signatures.data[p->draft.signatures.count - 1];
}

void ar_draft_signature_end(ar_rule_parser *p, ar_span span, bool has_list) {
    ar_draft_signature *s = last_signature(p);
    s->span = span;
    if (!has_list)
        s->is_variadic = true;
}

void ar_draft_variadic(ar_rule_parser *p) {
    last_signature(p)->is_variadic = true;
}

void ar_draft_extent_name(ar_rule_parser *p, ar_word name) {
    AR_PUSH(p->rules->arena, &last_signature(p)->shape_names, name);
}

void ar_draft_extent(ar_rule_parser *p, const char *text) {
    AR_PUSH(p->rules->arena, &p->draft.extents, text);
}

void ar_draft_param_add(ar_rule_parser *p, ar_direction direction, ar_word name,
                        ar_word use, ar_span span) {
    ar_draft_param param = {.name = name,
                            .direction = direction,
                            .use = use,
                            .shape = p->draft.extents.data,
                            .shape_rank = p->draft.extents.count,
                            .span = span};
    AR_PUSH(p->rules->arena, &last_signature(p)->params, param);
    memset(&p->draft.extents, 0, sizeof p->draft.extents);
}

/* ---- clauses ------------------------------------------------------------ */

void ar_draft_category(ar_rule_parser *p, ar_category category, ar_span span) {
    ar_draft *d = &p->draft;
    if (d->has_category) {
        ar_rule_error(p, AR_DIAG_RULE_DUPLICATE, span,
                      "a rule has one category");
        ar_rule_note(p, d->category_span, "the first one is here");
        return;
    }
    d->has_category = true;
    d->category = category;
    d->category_span = span;
}

void ar_draft_when(ar_rule_parser *p, bool half, ar_word param, int comparison,
                   double value) {
    ar_draft_condition c = {.category = half ? AR_CAT_ALLOW : AR_CAT_DENY,
                            .param = param,
                            .comparison = comparison,
                            .value = value};
    AR_PUSH(p->rules->arena, &p->draft.conditions, c);
}

void ar_draft_zeroed(ar_rule_parser *p, ar_span span) {
    p->draft.zeroed = span;
}

static bool given_once(ar_rule_parser *p, const ar_word *old, ar_word now,
                       const char *what) {
    if (!old->text)
        return true;
    ar_rule_error(p, AR_DIAG_RULE_DUPLICATE, now.span, "a rule has one %s",
                  what);
    ar_rule_note(p, old->span, "the first one is here");
    return false;
}

void ar_draft_for(ar_rule_parser *p, ar_word glob) {
    if (given_once(p, &p->draft.for_files, glob, "'for'"))
        p->draft.for_files = glob;
}

void ar_draft_target(ar_rule_parser *p, ar_word target, bool has_arguments,
                     ar_word header) {
    if (!given_once(p, &p->draft.target, target, "target"))
        return;
    p->draft.target = target;
    p->draft.has_arguments = has_arguments;
    p->draft.header = header;
}

void ar_draft_argument(ar_rule_parser *p, ar_word text) {
    AR_PUSH(p->rules->arena, &p->draft.arguments, text);
}

/* ---- algebra ------------------------------------------------------------ */

void ar_draft_equation_begin(ar_rule_parser *p, ar_word target,
                             bool is_return) {
    ar_draft_equation e = {.target = target, .is_return = is_return};
    AR_PUSH(p->rules->arena, &p->draft.equations, e);
}

static ar_draft_equation *last_equation(ar_rule_parser *p) {
    return &p->draft.equations.data[p->draft.equations.count - 1];
}

static ar_draft_term *last_term(ar_rule_parser *p) {
    ar_draft_equation *e = last_equation(p);
    return &e->terms.data[e->terms.count - 1];
}

void ar_draft_call_argument(ar_rule_parser *p, ar_word name) {
    AR_PUSH(p->rules->arena, &p->draft.call, name);
}

void ar_draft_call_name(ar_rule_parser *p, ar_word name) {
    if (strcmp(name.text, "f") != 0)
        ar_rule_error(p, AR_DIAG_RULE_UNKNOWN_NAME, name.span,
                      "unknown function '%s' in an algebra; f(...) stands for "
                      "every nonlinear function",
                      name.text);
}

static void add_nonlinear(ar_rule_parser *p, ar_draft_term *term) {
    for (uint32_t i = 0; i < p->draft.call.count; i++)
        AR_PUSH(p->rules->arena, &term->nonlinear, p->draft.call.data[i]);
    memset(&p->draft.call, 0, sizeof p->draft.call);
}

void ar_draft_term_begin(ar_rule_parser *p, ar_factor factor) {
    ar_draft_term term = {.coefficient = 1};
    AR_PUSH(p->rules->arena, &last_equation(p)->terms, term);
    ar_draft_term_multiply(p, factor);
}

void ar_draft_term_multiply(ar_rule_parser *p, ar_factor factor) {
    ar_draft_term *term = last_term(p);
    switch (factor.kind) {
    case AR_FACTOR_NAME:
        AR_PUSH(p->rules->arena, &term->factors, factor.name);
        return;
    case AR_FACTOR_NUMBER:
        term->coefficient *= factor.number;
        return;
    case AR_FACTOR_CALL:
        add_nonlinear(p, term);
        return;
    }
    AR_BUG("factor kind %d", (int)factor.kind);
}

void ar_draft_term_divide(ar_rule_parser *p, ar_factor factor, ar_span span) {
    ar_draft_term *term = last_term(p);
    switch (factor.kind) {
    case AR_FACTOR_NAME:
        AR_PUSH(p->rules->arena, &term->nonlinear, factor.name);
        return;
    case AR_FACTOR_NUMBER:
        if (factor.number == 0)
            ar_rule_error(p, AR_DIAG_RULE_SYNTAX, span, "division by zero");
        else
            term->coefficient /= factor.number;
        return;
    case AR_FACTOR_CALL:
        add_nonlinear(p, term);
        return;
    }
    AR_BUG("factor kind %d", (int)factor.kind);
}

void ar_draft_term_negate(ar_rule_parser *p) {
    last_term(p)->coefficient *= -1;
}

/* Terms that are zero say nothing; without any the equation says "zero". */
void ar_draft_equation_end(ar_rule_parser *p) {
    ar_draft_equation *e = last_equation(p);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < e->terms.count; i++)
        if (e->terms.data[i].coefficient != 0)
            e->terms.data[kept++] = e->terms.data[i];
    e->terms.count = kept;
}

/* ---- keep, role, level -------------------------------------------------- */

void ar_draft_pattern(ar_rule_parser *p, ar_word pattern) {
    AR_PUSH(p->rules->arena, &p->draft.patterns, pattern);
}

void ar_draft_level_entry(ar_rule_parser *p, ar_word role, bool half) {
    ar_level_rule entry = {.half = half,
                           .range = ar_rule_range(p, role.span),
                           .origin = p->origin};
    if (ar_role_of_name(role.text, &entry.role))
        AR_PUSH(p->rules->arena, &p->draft.entries, entry);
    else
        ar_rule_unknown_role(p, role);
}
