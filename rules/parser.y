/* The grammar of the rule language. Actions hand over to build.c. */
%define api.pure full
%define api.prefix {ar_rule_yy}
%define api.token.prefix {T_}
%define api.location.type {ar_span}
%define parse.error custom
%define parse.lac full
%locations
%expect 0
%param { ar_rule_parser *p } { void *scanner }

%code requires {
#include "rules/parse.h"
#define YYLLOC_DEFAULT(now, rhs, n)                                            \
    do {                                                                       \
        (now).begin = (n) ? YYRHSLOC(rhs, 1).begin : YYRHSLOC(rhs, 0).end;     \
        (now).end = YYRHSLOC(rhs, n).end;                                      \
    } while (0)
}

%code provides {
int ar_rule_yylex(AR_RULE_YYSTYPE *value, AR_RULE_YYLTYPE *place, void *scanner);
}

%code {
static int next_token(AR_RULE_YYSTYPE *value, AR_RULE_YYLTYPE *place,
                      ar_rule_parser *p, void *scanner);
static void yyerror(const ar_span *place, ar_rule_parser *p, void *scanner,
                    const char *text);
#undef yylex
#define yylex next_token
}

%union {
    ar_word word;
    ar_factor factor;
    double number;
    const char *text;
    ar_category category;
    ar_direction direction;
    ar_rule_kind kind;
    ar_subject_kind subject;
    int comparison;
    bool flag;
}

%token YYEOF 0 "end of file"
%token <word> NAME "a name" STRING "a quoted text" C_TEXT "C text"
%token <number> NUMBER "a number"
%token ARROW "'->'" DOTS "'...'" LE "'<='" GE "'>='" EQ "'=='" NE "'!='"
%token ';' "';'" ',' "','" '(' "'('" ')' "')'" '[' "'['" ']' "']'" '{' "'{'"
%token '}' "'}'" '=' "'='" '+' "'+'" '-' "'-'" '*' "'*'" '/' "'/'" ':' "':'"
%token '.' "'.'" '<' "'<'" '>' "'>'"
%token <word> OP "'op'" ALLOC "'alloc'" REALLOC "'realloc'" FREE "'free'"
%token <word> COPY "'copy'" CLEAR "'clear'" SAVE "'save'" LOAD "'load'"
%token <word> OPTIMIZER "'optimizer'" SEED "'seed'" CLIP "'clip'"
%token <word> ALLREDUCE "'allreduce'" PURE "'pure'" EXIT "'exit'"
%token <word> KEEP "'keep'" ROLE "'role'" LEVEL "'level'"
%token <word> ALLOW "'allow'" DENY "'deny'" INFER "'infer'"
%token <word> PROMOTE "'promote'" OPAQUE "'opaque'" FP32 "'fp32'" HALF "'half'"
%token <word> IN "'in'" OUT "'out'" INOUT "'inout'" RETURN "'return'"
%token <word> WHEN "'when'" FOR "'for'" ZEROED "'zeroed'" INCLUDE "'include'"
%token <word> FUNCTION "'function'" STRUCT "'struct'" FIELD "'field'"
%token <word> VARIABLE "'variable'"

%type <kind> kind
%type <word> word param_name function_name use header pattern path
%type <direction> direction
%type <category> category
%type <flag> precision arguments
%type <subject> subject
%type <comparison> comparison
%type <number> signed_number
%type <factor> factor
%type <text> extent

%left '+' '-'
%left '*' '/'

%%

file
    : %empty
    | file statement
    ;

statement
    : rule ';'                              { ar_draft_finish(p); }
    | KEEP precision subject patterns ';'   { ar_draft_keep(p, $2, $3); }
    | ROLE word patterns ';'
        { ar_draft_role(p, $2, false, AR_SUBJECT_VARIABLE, @2); }
    | ROLE word subject patterns ';'
        { ar_draft_role(p, $2, true, $3, @3); }
    | LEVEL word '{' level_entries '}'      { ar_draft_level(p, $2); }
    | NAME { ar_draft_unknown(p, $1); } error ';'
        { ar_draft_drop(p); yyerrok; }
    | error ';'                             { ar_draft_drop(p); yyerrok; }
    ;

rule
    : head signatures clauses
    ;

head
    : OP word       { ar_draft_begin(p, AR_RULE_OP, $2); }
    | kind          { ar_draft_begin(p, $1, (ar_word){0}); }
    ;

kind
    : ALLOC         { $$ = AR_RULE_ALLOC; }
    | REALLOC       { $$ = AR_RULE_REALLOC; }
    | FREE          { $$ = AR_RULE_FREE; }
    | COPY          { $$ = AR_RULE_COPY; }
    | CLEAR         { $$ = AR_RULE_CLEAR; }
    | SAVE          { $$ = AR_RULE_SAVE; }
    | LOAD          { $$ = AR_RULE_LOAD; }
    | OPTIMIZER     { $$ = AR_RULE_OPTIMIZER; }
    | SEED          { $$ = AR_RULE_SEED; }
    | CLIP          { $$ = AR_RULE_CLIP; }
    | ALLREDUCE     { $$ = AR_RULE_ALLREDUCE; }
    | PURE          { $$ = AR_RULE_PURE; }
    | EXIT          { $$ = AR_RULE_EXIT; }
    ;

signatures
    : signature
    | signatures ',' signature
    ;

signature
    : signature_name                { ar_draft_signature_end(p, @$, false); }
    | signature_name '(' params ')' { ar_draft_signature_end(p, @$, true); }
    ;

signature_name
    : function_name                 { ar_draft_signature_begin(p, $1); }
    ;

function_name
    : word
    | STRING
    ;

params
    : %empty
    | DOTS                          { ar_draft_variadic(p); }
    | param_list
    | param_list ',' DOTS           { ar_draft_variadic(p); }
    ;

param_list
    : param
    | param_list ',' param
    ;

param
    : word shape use
        { ar_draft_param_add(p, AR_DIR_VALUE, $1, $3, @$); }
    | direction param_name shape use
        { ar_draft_param_add(p, $1, $2, $4, @$); }
    ;

direction
    : IN        { $$ = AR_DIR_IN; }
    | OUT       { $$ = AR_DIR_OUT; }
    | INOUT     { $$ = AR_DIR_INOUT; }
    ;

shape
    : %empty
    | '[' extents ']'
    ;

extents
    : extent                { ar_draft_extent(p, $1); }
    | extents ',' extent    { ar_draft_extent(p, $3); }
    ;

extent
    : param_name            { ar_draft_extent_name(p, $1); $$ = $1.text; }
    | NUMBER                { $$ = ar_rule_number(p, $1); }
    | '(' extent ')'        { $$ = ar_rule_join(p, "(", $2, ")"); }
    | extent '+' extent     { $$ = ar_rule_join(p, $1, " + ", $3); }
    | extent '-' extent     { $$ = ar_rule_join(p, $1, " - ", $3); }
    | extent '*' extent     { $$ = ar_rule_join(p, $1, "*", $3); }
    | extent '/' extent     { $$ = ar_rule_join(p, $1, "/", $3); }
    ;

use
    : %empty                { $$ = (ar_word){0}; }
    | ':' word              { $$ = $2; }
    ;

clauses
    : %empty
    | clauses clause
    ;

clause
    : category                  { ar_draft_category(p, $1, @1); }
    | precision WHEN param_name comparison signed_number
        { ar_draft_when(p, $1, $3, $4, $5); }
    | equations
    | ZEROED                    { ar_draft_zeroed(p, @1); }
    | FOR STRING                { ar_draft_for(p, $2); }
    | ARROW NAME arguments header
        { ar_draft_target(p, $2, $3, $4); }
    ;

category
    : ALLOW                     { $$ = AR_CAT_ALLOW; }
    | DENY                      { $$ = AR_CAT_DENY; }
    | INFER                     { $$ = AR_CAT_INFER; }
    | CLEAR                     { $$ = AR_CAT_CLEAR; }
    | PROMOTE                   { $$ = AR_CAT_PROMOTE; }
    | OPAQUE                    { $$ = AR_CAT_OPAQUE; }
    ;

precision
    : FP32                      { $$ = false; }
    | HALF                      { $$ = true; }
    ;

comparison
    : '<'                       { $$ = '<'; }
    | '>'                       { $$ = '>'; }
    | LE                        { $$ = 'l'; }
    | GE                        { $$ = 'g'; }
    | EQ                        { $$ = '='; }
    | NE                        { $$ = '!'; }
    ;

signed_number
    : NUMBER
    | '-' NUMBER                { $$ = -$2; }
    ;

equations
    : equation
    | equations ',' equation
    ;

equation
    : target '=' sum            { ar_draft_equation_end(p); }
    ;

target
    : NAME      { ar_draft_equation_begin(p, $1, false); }
    | IN        { ar_draft_equation_begin(p, $1, false); }
    | OUT       { ar_draft_equation_begin(p, $1, false); }
    | INOUT     { ar_draft_equation_begin(p, $1, false); }
    | RETURN    { ar_draft_equation_begin(p, $1, true); }
    ;

sum
    : term
    | '-' term                  { ar_draft_term_negate(p); }
    | sum '+' term
    | sum '-' term              { ar_draft_term_negate(p); }
    ;

term
    : factor                    { ar_draft_term_begin(p, $1); }
    | term '*' factor           { ar_draft_term_multiply(p, $3); }
    | term '/' factor           { ar_draft_term_divide(p, $3, @3); }
    ;

factor
    : param_name
        { $$ = (ar_factor){.kind = AR_FACTOR_NAME, .name = $1}; }
    | NUMBER
        { $$ = (ar_factor){.kind = AR_FACTOR_NUMBER, .number = $1}; }
    | word '(' call ')'
        {
            ar_draft_call_name(p, $1);
            $$ = (ar_factor){.kind = AR_FACTOR_CALL, .name = $1};
        }
    ;

call
    : param_name                { ar_draft_call_argument(p, $1); }
    | call ',' param_name       { ar_draft_call_argument(p, $3); }
    ;

arguments
    : %empty                    { $$ = false; }
    | '(' ')'                   { $$ = true; }
    | '(' argument_list ')'     { $$ = true; }
    ;

argument_list
    : C_TEXT                    { ar_draft_argument(p, $1); }
    | argument_list ',' C_TEXT  { ar_draft_argument(p, $3); }
    ;

header
    : %empty                    { $$ = (ar_word){0}; }
    | INCLUDE STRING            { $$ = $2; }
    ;

subject
    : ROLE                      { $$ = AR_SUBJECT_ROLE; }
    | FUNCTION                  { $$ = AR_SUBJECT_FUNCTION; }
    | STRUCT                    { $$ = AR_SUBJECT_STRUCT; }
    | FIELD                     { $$ = AR_SUBJECT_FIELD; }
    | VARIABLE                  { $$ = AR_SUBJECT_VARIABLE; }
    ;

patterns
    : pattern                   { ar_draft_pattern(p, $1); }
    | patterns ',' pattern      { ar_draft_pattern(p, $3); }
    ;

pattern
    : path
    | STRING
    ;

path
    : NAME
    | path '.' word
        {
            $$ = (ar_word){ar_rule_join(p, $1.text, ".", $3.text), @$, false};
        }
    ;

level_entries
    : %empty
    | level_entries word precision ';'  { ar_draft_level_entry(p, $2, $3); }
    | level_entries error ';'           { p->draft_errors++; yyerrok; }
    ;

word
    : NAME | OP | ALLOC | REALLOC | FREE | COPY | CLEAR | SAVE | LOAD
    | OPTIMIZER | SEED | CLIP | ALLREDUCE | PURE | EXIT | KEEP | ROLE | LEVEL
    | ALLOW | DENY | INFER | PROMOTE | OPAQUE | FP32 | HALF | WHEN | FOR
    | ZEROED | INCLUDE | FUNCTION | STRUCT | FIELD | VARIABLE
    ;

/* C programs like to call a buffer `in` or `out`. */
param_name
    : word | IN | OUT | INOUT
    ;

%%

#undef yylex

static int next_token(AR_RULE_YYSTYPE *value, AR_RULE_YYLTYPE *place,
                      ar_rule_parser *p, void *scanner) {
    p->previous = p->token;
    p->previous_word = p->token_word;
    p->previous_span = p->token_span;
    p->token = ar_rule_yylex(value, place, scanner);
    p->token_span = *place;
    p->token_word = p->token == T_NAME ? value->word.text : NULL;
    return p->token;
}

/* Only for a full parser stack: syntax errors go to yyreport_syntax_error. */
static void yyerror(const ar_span *place, ar_rule_parser *p, void *scanner,
                    const char *text) {
    (void)scanner;
    (void)text;
    ar_rule_error(p, AR_DIAG_RULE_SYNTAX, *place,
                  "brackets are nested too deeply; the rest of the file was "
                  "not read");
}

enum { MAX_EXPECTED = 64, MAX_SHOWN = 6 };

static bool expects(const yysymbol_kind_t *list, int count,
                    const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(yysymbol_name(list[i]), name) == 0)
            return true;
    return false;
}

/* Where a name may stand, every word may: the words are then not listed. */
static bool is_shown(yysymbol_kind_t kind, bool names_fit) {
    return !(names_fit && kind >= YYSYMBOL_OP && kind <= YYSYMBOL_VARIABLE &&
             kind != YYSYMBOL_IN && kind != YYSYMBOL_OUT &&
             kind != YYSYMBOL_INOUT);
}

static const char *expected_text(ar_rule_parser *p,
                                 const yysymbol_kind_t *list, int count) {
    bool names_fit = expects(list, count, "a name") &&
                     expects(list, count, "'level'");
    int shown = 0;
    for (int i = 0; i < count; i++)
        shown += is_shown(list[i], names_fit);
    if (!shown || shown > MAX_SHOWN)
        return "";
    ar_str text = {.arena = p->rules->arena};
    int n = 0;
    for (int i = 0; i < count; i++) {
        if (!is_shown(list[i], names_fit))
            continue;
        ar_str_add(&text, n == 0           ? ", expected "
                          : n == shown - 1 ? " or "
                                           : ", ");
        ar_str_add(&text, yysymbol_name(list[i]));
        n++;
    }
    return ar_str_text(&text);
}

/* A misspelt keyword, as far as the expected tokens tell. */
static const char *nearest_expected(ar_rule_parser *p, const char *word,
                                    const yysymbol_kind_t *list, int count) {
    const char *names[MAX_EXPECTED];
    uint32_t n = 0;
    for (int i = 0; i < count; i++)
        if (list[i] >= YYSYMBOL_OP && list[i] <= YYSYMBOL_VARIABLE) {
            const char *quoted = yysymbol_name(list[i]);
            names[n++] = ar_strndup(p->rules->arena, quoted + 1,
                                    strlen(quoted) - 2);
        }
    return ar_nearest(word, (ar_name_list){names, n});
}

static int yyreport_syntax_error(const yypcontext_t *context,
                                 ar_rule_parser *p, void *scanner) {
    (void)scanner;
    yysymbol_kind_t list[MAX_EXPECTED];
    int count = yypcontext_expected_tokens(context, list, MAX_EXPECTED);
    yysymbol_kind_t got = yypcontext_token(context);
    ar_span at = *yypcontext_location(context);
    if (count < 0 || got == YYSYMBOL_YYEMPTY)
        return count;
    const char *nearest = NULL;
    if (p->token_word)
        nearest = nearest_expected(p, p->token_word, list, count);
    ar_unexpected what = {
        .at = at,
        .name = yysymbol_name(got),
        .expected = expected_text(p, list, count),
        .nearest = nearest,
        .wants_equals = count == 1 && expects(list, count, "'='"),
        .wants_semicolon = expects(list, count, "';'"),
        .wants_statement = expects(list, count, "end of file"),
        .wants_function = expects(list, count, "a name") &&
                          expects(list, count, "a quoted text"),
        .after_operator = p->previous == '*' || p->previous == '=' ||
                          p->previous == '+' || p->previous == '-',
        .is_statement = got == YYSYMBOL_YYEOF ||
                        (got >= YYSYMBOL_OP && got <= YYSYMBOL_LEVEL)};
    ar_rule_unexpected(p, &what);
    return 0;
}
