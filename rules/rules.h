/* Rules: what the rule language says, as plain data.
 *
 * The language is described in docs/rules.md. Rule files are parsed in order
 * (built-in packs first, then the user's); what comes later wins over what came
 * earlier, in one file two rules that disagree are an error. Everything lives
 * in the arena the set was made with. */
#ifndef AR_RULES_H
#define AR_RULES_H

#include "base/diag.h"

typedef enum ar_category {
    AR_CAT_ALLOW,   /* half pays and is safe */
    AR_CAT_DENY,    /* FP32 */
    AR_CAT_INFER,   /* either, as its neighbours */
    AR_CAT_CLEAR,   /* moves data */
    AR_CAT_PROMOTE, /* widest input */
    AR_CAT_OPAQUE   /* leave it alone */
} ar_category;

typedef enum ar_direction {
    AR_DIR_VALUE, /* a scalar or handle */
    AR_DIR_IN,
    AR_DIR_OUT,
    AR_DIR_INOUT
} ar_direction;

typedef enum ar_role {
    AR_ROLE_NONE,
    AR_ROLE_PARAM,
    AR_ROLE_GRAD,
    AR_ROLE_STATE,
    AR_ROLE_ACTIVATION,
    AR_ROLE_DATA,
    AR_ROLE_NORM,
    AR_ROLE_LOSS
} ar_role;

/* One term of an algebra, a product: indices into the parameters. A nonlinear
 * term f(x, ...) has is_nonlinear: its value has degree 0 in the loss scale and
 * wants degree 0 of every factor. In `dy * f(x)` the term is linear in its
 * factor dy, and x is in `nonlinear`: it must have degree 0. No factors: a
 * constant. */
typedef struct ar_term {
    uint32_t *factors;
    uint32_t factor_count;
    bool is_nonlinear;
    uint32_t *nonlinear;
    uint32_t nonlinear_count;
    double coefficient; /* product of the numbers in it, the sign included */
} ar_term;

/* target = term + term + ... ; target AR_TARGET_RESULT: the function's value.
 * No terms: zero. */
#define AR_TARGET_RESULT UINT32_MAX
typedef struct ar_equation {
    uint32_t target;
    ar_term *terms;
    uint32_t term_count;
} ar_equation;

typedef struct ar_rule_param {
    const char *name;
    ar_direction direction;
    ar_role role;
    const char **shape; /* extents as expressions over parameter names */
    uint32_t shape_rank;
    ar_range range;
} ar_rule_param;

typedef enum ar_rule_kind {
    AR_RULE_OP,
    AR_RULE_ALLOC, /* returns or stores memory: bytes or count*size */
    AR_RULE_REALLOC,
    AR_RULE_FREE,
    AR_RULE_COPY,  /* dst, src, bytes */
    AR_RULE_CLEAR, /* memset: dst, value, bytes */
    AR_RULE_SAVE,  /* data leaves to a file or stream */
    AR_RULE_LOAD,  /* data comes from a file, stream or generator */
    AR_RULE_OPTIMIZER,
    AR_RULE_SEED,
    AR_RULE_CLIP,
    AR_RULE_ALLREDUCE,
    AR_RULE_PURE, /* leaves float memory alone, value nonlinear */
    AR_RULE_EXIT  /* does not return */
} ar_rule_kind;

/* What a parameter of a memory rule is for. The length of a memory rule is
 * the product of all its BYTES, COUNT and SIZE parameters. */
typedef enum ar_slot_use {
    AR_USE_NONE,
    AR_USE_BYTES,
    AR_USE_COUNT,
    AR_USE_SIZE,
    AR_USE_POINTER,  /* ALLOC: where the pointer is stored (cudaMalloc) */
    AR_USE_VALUE,    /* CLEAR: the byte (memset) */
    AR_USE_FUNCTION, /* a function that the call runs (pthread_create) */
    AR_USE_ARGUMENT  /* what that function is called with */
} ar_slot_use;

/* `fp32 when slope < 1e-4` */
typedef struct ar_condition {
    ar_category category;
    uint32_t param;
    int comparison; /* '<', '>', '=', '!' (for !=), 'l' (<=), 'g' (>=) */
    double value;
} ar_condition;

/* A rule about one function. */
typedef struct ar_function_rule {
    ar_rule_kind kind;
    const char *op;       /* gemm, exp, axpy, ...; NULL unless an op */
    const char *function; /* name, or a glob pattern */
    bool is_pattern;
    bool is_variadic; /* and no params: any arguments */
    ar_rule_param *params;
    uint32_t param_count;
    ar_slot_use *uses; /* per parameter, memory rules and PURE; else NULL */
    bool zeroed;       /* ALLOC: the memory is zero (calloc) */
    bool has_category;
    ar_category category;
    ar_condition *conditions;
    uint32_t condition_count;
    ar_equation *algebra; /* NULL: interpret the body if there is one */
    uint32_t equation_count;
    /* -> target(arguments): the libamp entry. arguments NULL: the target takes
     * the same arguments and the call is redirected to it directly; else the
     * tool writes a wrapper <function>_amp around the target. Each argument is
     * C text over the parameter names. */
    const char *target;
    const char **arguments;
    uint32_t argument_count;
    const char *header;    /* to include for the target, or NULL: amp/amp.h */
    const char *for_files; /* glob over file names, or NULL */
    ar_range range;
    const char *origin; /* pack or file name */
} ar_function_rule;

typedef enum ar_subject_kind {
    AR_SUBJECT_ROLE,     /* half param; */
    AR_SUBJECT_FUNCTION, /* keep fp32 function "ln_*"; */
    AR_SUBJECT_STRUCT,
    AR_SUBJECT_FIELD, /* struct.field or a variable path */
    AR_SUBJECT_VARIABLE
} ar_subject_kind;

/* keep fp32 ...; half ...; and role statements: param|grad|state ... name; */
typedef struct ar_subject_rule {
    ar_subject_kind kind;
    const char *pattern;
    bool is_pattern;
    ar_role subject_role; /* AR_SUBJECT_ROLE */
    bool sets_precision, half;
    ar_role sets_role; /* AR_ROLE_NONE: none */
    ar_range range;
    const char *origin;
} ar_subject_rule;

typedef struct ar_level_rule {
    int level; /* 0..3 */
    ar_role role;
    bool half;
    ar_range range;
    const char *origin;
} ar_level_rule;

typedef struct ar_rules {
    ar_arena *arena;
    AR_VEC(ar_function_rule) functions;
    AR_VEC(ar_subject_rule) subjects;
    AR_VEC(ar_level_rule) levels;
    uint32_t builtin_count;    /* functions[0..) that come from packs */
    uint32_t builtin_subjects; /* likewise */
    AR_VEC(ar_file_id) loaded;
    struct ar_rule_index *index; /* internal, of find */
} ar_rules;

/* An empty set. Packs are loaded first, then the user's files. */
ar_rules *ar_rules_new(ar_arena *arena);
/* Adds every *.amp of a folder as built in, in name order. */
bool ar_rules_load_packs(ar_rules *rules, ar_files *files, const char *pack_dir,
                         ar_diags *diags);
/* Adds one file. Errors go to diags (located in `files`); false if any. A
 * statement with an error adds no rules. */
bool ar_rules_load(ar_rules *rules, ar_files *files, const char *path,
                   bool is_builtin, ar_diags *diags);
/* The same for a file that is already in the table. */
bool ar_rules_parse(ar_rules *rules, ar_files *files, ar_file_id id,
                    bool is_builtin, ar_diags *diags);
/* After all files: conflicts and unreachable rules. */
bool ar_rules_check(ar_rules *rules, ar_diags *diags);
/* Reports AR_DIAG_RULE_ARITY, located at the rule, unless the rule can be
 * about a function with this prototype. */
bool ar_rule_check_arity(const ar_function_rule *rule, const char *function,
                         uint32_t param_count, bool is_variadic,
                         ar_diags *diags);

/* The rule that wins for a function called `name` in `file_name`, or NULL.
 * User files before packs, exact before pattern, longer pattern before
 * shorter, `for` before everywhere, later before earlier. A function may have
 * one rule about what it does (op, memory, pure, exit) and one about its part
 * in training (optimizer, seed, clip, allreduce): ar_rules_find gives the
 * first, or the second when there is no first. */
const ar_function_rule *ar_rules_find(const ar_rules *rules, const char *name,
                                      const char *file_name);
const ar_function_rule *ar_rules_find_part(const ar_rules *rules,
                                           const char *name,
                                           const char *file_name);
/* The rule that wins among those that set the subject's precision, and among
 * those that set its role. For AR_SUBJECT_ROLE `name` is the role's. */
const ar_subject_rule *ar_rules_find_precision(const ar_rules *rules,
                                               ar_subject_kind kind,
                                               const char *name);
const ar_subject_rule *ar_rules_find_role(const ar_rules *rules,
                                          ar_subject_kind kind,
                                          const char *name);
/* The last entry for a role in the tables of a level, or NULL. */
const ar_level_rule *ar_rules_find_level(const ar_rules *rules, int level,
                                         ar_role role);
/* --print-rules: the effective set in the language itself, with the origin of
 * each rule as a comment. Parsing the output gives an equal set. */
void ar_rules_print(FILE *out, const ar_rules *rules, ar_files *files);
/* Whether two rules say the same; places and origins do not count. */
bool ar_function_rules_agree(const ar_function_rule *a,
                             const ar_function_rule *b);

const char *ar_category_name(ar_category category);
const char *ar_role_name(ar_role role);
const char *ar_rule_kind_name(ar_rule_kind kind);
const char *ar_subject_kind_name(ar_subject_kind kind);

#endif
