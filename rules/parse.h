/* Inside the rule language: what scanner, grammar and builder share.
 *
 * The grammar calls the ar_draft_* functions as it reads a statement; they
 * collect it in the parser's draft, and ar_draft_finish turns the draft into
 * one rule per signature. A draft with an error adds no rules. Everything
 * lives in the arena of the rule set. */
#ifndef AR_RULES_PARSE_H
#define AR_RULES_PARSE_H

#include "rules/rules.h"

typedef struct ar_span {
    uint32_t begin, end; /* bytes */
} ar_span;

typedef struct ar_word {
    const char *text; /* NULL: not given */
    ar_span span;
    bool is_quoted;
} ar_word;

typedef AR_VEC(ar_word) ar_words;

typedef struct ar_draft_param {
    ar_word name;
    ar_direction direction;
    ar_word use; /* the word after ':' */
    const char **shape;
    uint32_t shape_rank;
    ar_span span;
} ar_draft_param;

typedef struct ar_draft_signature {
    ar_word function;
    AR_VEC(ar_draft_param) params;
    ar_words shape_names;
    bool is_variadic;
    ar_span span;
} ar_draft_signature;

typedef enum ar_factor_kind {
    AR_FACTOR_NAME,
    AR_FACTOR_NUMBER,
    AR_FACTOR_CALL
} ar_factor_kind;

/* A factor as the grammar hands it over: x, 0.5 or f(x, y). The arguments of
 * a call are in the draft's `call`. */
typedef struct ar_factor {
    ar_factor_kind kind;
    ar_word name;
    double number;
} ar_factor;

typedef struct ar_draft_term {
    ar_words factors, nonlinear;
    double coefficient;
} ar_draft_term;

typedef struct ar_draft_equation {
    ar_word target;
    bool is_return;
    AR_VEC(ar_draft_term) terms;
} ar_draft_equation;

typedef struct ar_draft_condition {
    ar_category category;
    ar_word param;
    int comparison;
    double value;
} ar_draft_condition;

typedef struct ar_draft {
    ar_rule_kind kind;
    ar_word op;
    AR_VEC(ar_draft_signature) signatures;
    AR_VEC(const char *) extents; /* of the parameter being read */
    AR_VEC(ar_draft_equation) equations;
    AR_VEC(ar_draft_term) terms; /* of the equation being read */
    ar_words call;
    AR_VEC(ar_draft_condition) conditions;
    bool has_category;
    ar_category category;
    ar_span category_span;
    ar_span zeroed; /* empty: not given */
    ar_word for_files, target, header;
    bool has_arguments;
    ar_words arguments;
    ar_words patterns;             /* of keep and role */
    AR_VEC(ar_level_rule) entries; /* of a level table */
} ar_draft;

enum { AR_MAX_BRACKETS = 32 };

typedef struct ar_rule_parser {
    ar_rules *rules;
    ar_files *files;
    ar_diags *diags;
    ar_file_id file;
    const char *origin;
    unsigned errors;
    ar_draft draft;
    unsigned draft_errors;

    /* scanner */
    uint32_t offset;
    ar_str c_text; /* the target's argument being read */
    ar_span c_span;
    char brackets[AR_MAX_BRACKETS];
    unsigned bracket_count;
    ar_span open; /* the '(' of the target's arguments */

    /* for messages: the last two tokens, their texts if plain names */
    int token, previous;
    const char *token_word, *previous_word;
    ar_span token_span, previous_span;
    bool is_unknown; /* the statement's first word was reported */
} ar_rule_parser;

/* A syntax error as Bison sees it. */
typedef struct ar_unexpected {
    ar_span at;
    const char *name;     /* of the token */
    const char *expected; /* ", expected 'a' or 'b'", or "" */
    const char *nearest;  /* the expected word that it may have meant */
    bool wants_equals;    /* nothing but '=' would fit */
    bool wants_semicolon; /* ';' would fit */
    bool wants_statement; /* a new statement would fit */
    bool wants_function;  /* a function's name or pattern would fit */
    bool after_operator;
    bool is_statement; /* the token starts a statement, or ends the file */
} ar_unexpected;

/* lexer.l: scans `bytes` and parses them. */
void ar_rule_scan(ar_rule_parser *p, const char *bytes, uint32_t size);

/* build.c. Texts of errors end with a hint where there is one. */
void ar_rule_error(ar_rule_parser *p, ar_diag_id id, ar_span span,
                   const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void ar_rule_note(ar_rule_parser *p, ar_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void ar_rule_unexpected(ar_rule_parser *p, const ar_unexpected *what);
/* Texts in the arena: a concatenation; a number that reads back the same. */
const char *ar_rule_join(ar_rule_parser *p, const char *a, const char *b,
                         const char *c);
const char *ar_rule_number(ar_rule_parser *p, double number);
const char *ar_number_text(ar_arena *arena, double number);

void ar_draft_begin(ar_rule_parser *p, ar_rule_kind kind, ar_word op);
void ar_draft_signature_begin(ar_rule_parser *p, ar_word function);
void ar_draft_signature_end(ar_rule_parser *p, ar_span span, bool has_list);
void ar_draft_extent_name(ar_rule_parser *p, ar_word name);
void ar_draft_extent(ar_rule_parser *p, const char *text);
void ar_draft_param_add(ar_rule_parser *p, ar_direction direction, ar_word name,
                        ar_word use, ar_span span);
void ar_draft_variadic(ar_rule_parser *p);
void ar_draft_category(ar_rule_parser *p, ar_category category, ar_span span);
void ar_draft_when(ar_rule_parser *p, bool half, ar_word param, int comparison,
                   double value);
void ar_draft_equation_begin(ar_rule_parser *p, ar_word target, bool is_return);
void ar_draft_call_argument(ar_rule_parser *p, ar_word name);
void ar_draft_call_name(ar_rule_parser *p, ar_word name);
void ar_draft_term_begin(ar_rule_parser *p, ar_factor factor);
void ar_draft_term_multiply(ar_rule_parser *p, ar_factor factor);
void ar_draft_term_divide(ar_rule_parser *p, ar_factor factor, ar_span span);
void ar_draft_term_negate(ar_rule_parser *p);
void ar_draft_equation_end(ar_rule_parser *p);
void ar_draft_zeroed(ar_rule_parser *p, ar_span span);
void ar_draft_for(ar_rule_parser *p, ar_word glob);
void ar_draft_target(ar_rule_parser *p, ar_word target, bool has_arguments,
                     ar_word header);
void ar_draft_argument(ar_rule_parser *p, ar_word text);
void ar_draft_pattern(ar_rule_parser *p, ar_word pattern);
void ar_draft_level_entry(ar_rule_parser *p, ar_word role, bool half);

/* What a finished statement adds. resolve.c */
void ar_draft_finish(ar_rule_parser *p);
void ar_draft_keep(ar_rule_parser *p, bool half, ar_subject_kind kind);
/* Without a kind, a path with a '.' is a field, anything else a variable. */
void ar_draft_role(ar_rule_parser *p, ar_word role, bool has_kind,
                   ar_subject_kind kind, ar_span kind_span);
void ar_draft_level(ar_rule_parser *p, ar_word level);
void ar_draft_unknown(ar_rule_parser *p, ar_word word);
void ar_draft_drop(ar_rule_parser *p);

void ar_rule_unknown_role(ar_rule_parser *p, ar_word role);

ar_range ar_rule_range(const ar_rule_parser *p, ar_span span);

/* names.c: word lists, and the nearest word for a hint. */
typedef struct ar_name_list {
    const char *const *names;
    uint32_t count;
} ar_name_list;
/* NULL when none is near enough. */
const char *ar_nearest(const char *word, ar_name_list list);
bool ar_role_of_name(const char *name, ar_role *role);
bool ar_use_of_name(const char *name, ar_slot_use *use);
const char *ar_use_name(ar_slot_use use);
extern const ar_name_list ar_role_names, ar_use_names, ar_statement_names,
    ar_clause_names;

/* find.c */
bool ar_glob_match(const char *glob, const char *text);
/* Some text matches both. */
bool ar_globs_meet(const char *a, const char *b);
void ar_rule_index_add(ar_rules *rules, uint32_t function);
/* Functions' rules in the order they were added. */
typedef struct ar_rule_list {
    const uint32_t *data;
    uint32_t count;
} ar_rule_list;
/* Those of exact names among which all rules for `name` are; all patterns. */
ar_rule_list ar_rules_named(const ar_rules *rules, const char *name);
ar_rule_list ar_rules_of_patterns(const ar_rules *rules);
/* Whether the rule is about a part in training. */
bool ar_is_part(ar_rule_kind kind);
/* > 0 when a is more specific than b, 0 when they are equally so. */
int ar_function_rule_rank(const ar_rules *rules, uint32_t a, uint32_t b);
int ar_subject_rule_rank(const ar_rules *rules, uint32_t a, uint32_t b);
/* The same, and then the later one: never 0 for a != b. */
int ar_function_rule_compare(const ar_rules *rules, uint32_t a, uint32_t b);
/* b wins wherever a applies, so a never does. */
bool ar_function_rule_shadowed(const ar_rules *rules, uint32_t a, uint32_t b);

#endif
