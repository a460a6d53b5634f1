/* Facts: what one translation unit says, free of libclang.
 *
 * collect (front/) fills an ar_unit from one parse; everything after it works
 * on facts alone. The unit holds the whole program text that matters to the
 * analyses as a small typed tree, because roles and loss-scale degrees are
 * found by interpreting it; slots, flows and pins are derived from the same
 * tree by later stages, so nothing is parsed or visited twice.
 *
 * All memory belongs to the arena of the unit (shared between worker and
 * parent, see base/arena.h). Pointers between decls, types and nodes stay
 * inside one unit until link, which maps decls of several units to one program
 * by USR.
 *
 * Ranges are file bytes (base/source.h). A node that comes from a macro body
 * has in_macro_body set and the range of the outermost macro use; a node
 * written in a macro argument has its own true range. */
#ifndef AR_FACTS_H
#define AR_FACTS_H

#include "base/diag.h"
#include "base/source.h"

typedef struct ar_type ar_type;
typedef struct ar_decl ar_decl;
typedef struct ar_node ar_node;

/* ---- types: canonical, interned per unit (pointer equality) ------------- */

typedef enum ar_type_kind {
    AR_TYPE_VOID,
    AR_TYPE_BOOL,
    AR_TYPE_INT, /* any integer or char type: bytes, is_signed */
    AR_TYPE_ENUM,
    AR_TYPE_FLOAT,  /* float */
    AR_TYPE_DOUBLE, /* double, long double: bytes */
    AR_TYPE_HALF,   /* _Float16, __bf16, __half, __nv_bfloat16: mixed already */
    AR_TYPE_POINTER,
    AR_TYPE_ARRAY,    /* count 0: incomplete or variable length */
    AR_TYPE_RECORD,   /* struct or union (or C++ class): decl */
    AR_TYPE_FUNCTION, /* element: result; params */
    AR_TYPE_VECTOR,   /* __m128, float4 as a builtin vector: element, count */
    AR_TYPE_OTHER     /* complex, dependent, ... */
} ar_type_kind;

struct ar_type {
    ar_type_kind kind;
    uint32_t bytes; /* sizeof; 0 when unknown */
    bool is_signed;
    bool is_variadic;             /* function */
    bool is_reference;            /* C++: a POINTER written T& */
    const ar_type *element;       /* pointee, array/vector element, result */
    uint64_t count;               /* array, vector */
    ar_decl *record;              /* RECORD */
    const ar_type *const *params; /* FUNCTION; arrays already decayed */
    uint32_t param_count;
    /* canonical; qualifiers are dropped at every level, so `const float *`
     * and `float *` are one type */
    const char *spelling;
};

/* ---- declarations ------------------------------------------------------ */

typedef enum ar_decl_kind {
    AR_DECL_VAR,
    AR_DECL_PARAM,
    AR_DECL_FIELD,
    AR_DECL_FUNCTION,
    AR_DECL_RECORD,
    AR_DECL_TYPEDEF,
    AR_DECL_ENUMERATOR
} ar_decl_kind;

typedef enum ar_storage {
    AR_STORAGE_NONE,   /* fields, records, typedefs, enumerators */
    AR_STORAGE_AUTO,   /* locals, parameters */
    AR_STORAGE_STATIC, /* file-scope static or static local */
    AR_STORAGE_EXTERN  /* external linkage */
} ar_storage;

struct ar_decl {
    ar_decl_kind kind;
    ar_storage storage;
    const char *usr;  /* key across units; locals: unique inside the unit */
    const char *name; /* "" when unnamed */
    const ar_type *type;
    ar_range range;      /* the whole declaration as the parser sees it */
    ar_range name_range; /* empty (begin == end) when unnamed */
    /* Where the float at the bottom of the type is spelled in this
     * declaration: the token `float`, or the typedef/macro name that stands
     * for it (is_alias). file AR_NO_FILE: no float in it. Declarators of one
     * group (`float a, *b;`) share the same range. */
    ar_range float_token;
    bool float_is_alias;
    /* The same for a struct at the bottom: its tag or a typedef name. NO_FILE
     * where the struct is defined in the declaration itself. */
    ar_range record_token;
    bool record_is_alias;
    bool is_definition;
    bool is_system; /* declared in a system header */
    bool is_union;  /* RECORD */
    bool is_const;  /* VAR, PARAM, TYPEDEF: the top-level object is const */
    bool is_volatile;
    bool is_file_scope; /* VAR, FUNCTION */
    bool is_inline;
    bool has_cleanup; /* VAR: an attribute hands its address to a function */
    bool has_errors;  /* FUNCTION: body contains a parse error; body is NULL */
    bool is_cuda_global, is_cuda_device, is_cuda_host, is_cuda_shared,
        is_cuda_constant;
    ar_decl *parent;     /* FIELD: record; PARAM, local VAR: function or NULL */
    ar_decl *definition; /* FUNCTION: the definition in this unit, or NULL */
    /* RECORD: fields. FUNCTION: parameters (of this declaration). */
    ar_decl **members;
    uint32_t member_count;
    uint32_t index;         /* PARAM, FIELD: position in members */
    ar_node *init;          /* VAR */
    ar_node *body;          /* FUNCTION definition: AR_COMPOUND */
    int64_t value;          /* ENUMERATOR */
    const ar_type *aliased; /* TYPEDEF: the canonical type */
    uint32_t id;            /* position in unit->decls; link renumbers */
};

/* ---- statements and expressions ---------------------------------------- */

#define AR_NODE_KINDS(X)                                                       \
    /* expressions */                                                          \
    X(INT_LIT)    /* also char literals: int_value */                          \
    X(FLOAT_LIT)  /* float_value; type tells float from double */              \
    X(STRING_LIT) /* text, without quotes, as spelled */                       \
    X(REF)        /* decl: VAR, PARAM, FUNCTION, ENUMERATOR */                 \
    X(MEMBER)     /* kids[0] . or -> decl (FIELD); is_arrow */                 \
    X(INDEX)      /* kids[0][kids[1]]; kids[0] is the pointer side */          \
    X(CALL)       /* kids[0] callee, kids[1..] arguments */                    \
    X(LAUNCH)     /* kids[0] kernel, [1] grid, [2] block, [3..] arguments */   \
    X(UNARY)      /* op: + - ~ ! ++ -- (pre and post) */                       \
    X(DEREF)      /* *kids[0] */                                               \
    X(ADDRESS)    /* &kids[0] */                                               \
    X(BINARY)     /* op */                                                     \
    X(ASSIGN)     /* kids[0] = kids[1] */                                      \
    X(COMPOUND_ASSIGN) /* op; kids[0] op= kids[1]; kids[0] is not marked as    \
                          a read, here and in ++ and -- */                     \
    X(CONDITIONAL)     /* kids[0] ? kids[1] : kids[2]; GNU ?: has 2 kids */    \
    X(COMMA)                                                                   \
    X(CAST)     /* explicit cast to type; kids[0] */                           \
    X(IMPLICIT) /* implicit conversion that changes the type; kids[0]. The     \
                   decay of an array or function to a pointer makes no node:   \
                   the kid keeps its array type and is not a read */           \
    X(SIZEOF)   /* of type_operand, or of the expression kids[0] */            \
    X(INIT_LIST)                                                               \
    X(DESIGNATED)       /* decl (FIELD) or, without, the index in int_value;   \
                           kids[0] value; .a[2] = x: one in the other */       \
    X(COMPOUND_LITERAL) /* kids[0] INIT_LIST */                                \
    X(STATEMENT_EXPR)   /* kids[0] COMPOUND */                                 \
    X(VA_ARG)                                                                  \
    X(UNKNOWN_EXPR) /* not modelled; kids kept; analyses must be careful.      \
                       text: what the parser calls it */                       \
    /* statements: the range includes the semicolon */                         \
    X(COMPOUND)                                                                \
    X(DECL_STMT) /* decls; their init hangs on the decl */                     \
    X(EXPR_STMT) /* kids[0] */                                                 \
    X(IF)        /* kids: cond, then, else (or NULL) */                        \
    X(FOR)       /* kids: init, cond, step, body; absent ones are NULL */      \
    X(WHILE)     /* cond, body */                                              \
    X(DO)        /* body, cond */                                              \
    X(SWITCH)    /* value, body */                                             \
    X(CASE)      /* value, statement; GNU ranges: the upper end is kids[2] */  \
    X(DEFAULT)   /* statement */                                               \
    X(BREAK)                                                                   \
    X(CONTINUE)                                                                \
    X(RETURN) /* value or NULL */                                              \
    X(GOTO)   /* text: the label; NULL when computed */                        \
    X(LABEL)  /* text: the label; statement */                                 \
    X(NULL_STMT)                                                               \
    X(ASM)                                                                     \
    X(UNKNOWN_STMT)

typedef enum ar_node_kind {
#define X(name) AR_##name,
    AR_NODE_KINDS(X)
#undef X
        AR_NODE_KIND_COUNT
} ar_node_kind;

typedef enum ar_op {
    AR_OP_NONE,
    AR_OP_ADD,
    AR_OP_SUB,
    AR_OP_MUL,
    AR_OP_DIV,
    AR_OP_REM,
    AR_OP_SHL,
    AR_OP_SHR,
    AR_OP_AND,
    AR_OP_OR,
    AR_OP_XOR,
    AR_OP_LT,
    AR_OP_GT,
    AR_OP_LE,
    AR_OP_GE,
    AR_OP_EQ,
    AR_OP_NE,
    AR_OP_LOGICAL_AND,
    AR_OP_LOGICAL_OR,
    AR_OP_PLUS, /* unary */
    AR_OP_MINUS,
    AR_OP_BIT_NOT,
    AR_OP_NOT,
    AR_OP_PRE_INC,
    AR_OP_PRE_DEC,
    AR_OP_POST_INC,
    AR_OP_POST_DEC
} ar_op;

struct ar_node {
    ar_node_kind kind;
    ar_op op;
    bool is_arrow;
    bool is_lvalue_read; /* an lvalue whose value is loaded here */
    const ar_type *type; /* expressions: canonical */
    ar_range range;
    ar_range op_range; /* the operator token of BINARY/ASSIGN/COMPOUND_ASSIGN,
                          the callee name of CALL; else empty */
    ar_decl *decl;
    ar_decl **decls; /* DECL_STMT */
    uint32_t decl_count;
    const ar_type *type_operand; /* SIZEOF(type), CAST, VA_ARG */
    ar_range float_token; /* CAST, SIZEOF, COMPOUND_LITERAL: as in ar_decl */
    bool float_is_alias;
    ar_range record_token;
    bool record_is_alias;
    int64_t int_value;
    double float_value;
    const char *text;
    ar_node **kids;
    uint32_t kid_count;
    uint32_t id; /* unique in the unit, in source order */
};

/* ---- the preprocessor's side ------------------------------------------- */

typedef enum ar_pragma_kind {
    AR_PRAGMA_AMP,  /* #pragma amp ... */
    AR_PRAGMA_OMP,  /* #pragma omp ... */
    AR_PRAGMA_LOOP, /* of a compiler, for the loop that follows */
    AR_PRAGMA_ONCE
} ar_pragma_kind;

typedef struct ar_pragma {
    ar_pragma_kind kind;
    ar_range range;     /* from # to the end of the directive */
    const char *text;   /* what follows the first word, single spaces */
    ar_node *next_stmt; /* the statement it precedes, or NULL */
    ar_decl *next_decl; /* the declaration it precedes, or NULL */
} ar_pragma;

typedef struct ar_include {
    ar_range range;      /* the whole directive, from # */
    ar_file_id target;   /* the file it reads, AR_NO_FILE when unknown */
    bool in_conditional; /* inside #if ... #endif other than an include guard */
} ar_include;

typedef struct ar_macro {
    const char *name;
    ar_range range; /* the definition */
    bool is_function_like;
} ar_macro;

/* A name that an attribute or the text of asm uses. */
typedef struct ar_unseen {
    ar_range range; /* of the declared name, or of the asm */
    const char *name;
} ar_unseen;

/* ---- the unit ---------------------------------------------------------- */

typedef enum ar_language {
    AR_LANG_C,
    AR_LANG_CUDA_HOST,
    AR_LANG_CUDA_DEVICE
} ar_language;

typedef struct ar_unit {
    ar_arena *arena;
    const char *main_name; /* as given */
    ar_file_id main_file;
    ar_language language;
    const char *directory; /* the compile command ran here */
    ar_files files;
    ar_diags diags;
    bool parsed;       /* false: nothing below is filled in */
    bool is_generated; /* has #line: must not be edited (diags say so) */
    /* Every declaration outside system headers, and those of system headers
     * that are referred to. */
    AR_VEC(ar_decl *) decls;
    AR_VEC(ar_pragma) pragmas;
    AR_VEC(ar_include) includes;
    AR_VEC(ar_macro) macros;  /* outside system headers */
    AR_VEC(ar_unseen) unseen; /* outside system headers */
    AR_VEC(ar_range) skipped; /* switched off by #if, outside system headers */
    uint32_t node_count;
    uint32_t error_count; /* parser errors in this unit */
} ar_unit;

/* ---- small questions --------------------------------------------------- */

/* NULL is no type and has no property. */
static inline bool ar_is_kind(const ar_type *type, ar_type_kind kind) {
    return type && type->kind == kind;
}
static inline bool ar_is_float(const ar_type *type) {
    return ar_is_kind(type, AR_TYPE_FLOAT);
}
static inline bool ar_is_address(const ar_type *type) {
    return ar_is_kind(type, AR_TYPE_POINTER) || ar_is_kind(type, AR_TYPE_ARRAY);
}
/* float2, float3, float4 of CUDA: structs, but each is one value. */
bool ar_is_float_vector(const ar_type *type);
/* A struct or union other than those. */
bool ar_is_record(const ar_type *type);
/* A number that may carry a fraction: of any width, or a vector of them. */
bool ar_is_floating(const ar_type *type);
/* What an array of arrays is made of. */
const ar_type *ar_array_bottom(const ar_type *type);
/* What is left below all pointers and arrays. */
const ar_type *ar_address_bottom(const ar_type *type);
/* Pointers and arrays above the float at the bottom; -1: no float there. */
int ar_float_depth(const ar_type *type);

/* The expression below casts and implicit conversions. */
ar_node *ar_skip_casts(const ar_node *node);
/* The variable or field an expression is about, or NULL; the node names it. */
ar_decl *ar_root_decl(const ar_node *node);
const ar_node *ar_root_node(const ar_node *node);
/* The function that a callee expression (kids[0] of CALL and LAUNCH) names,
 * also as *f or &f; NULL: it is called through a pointer. */
ar_decl *ar_direct_callee(const ar_node *callee);

/* Names for dumps; never NULL. */
const char *ar_node_kind_name(ar_node_kind kind);
const char *ar_op_spelling(ar_op op);

/* --dump-after=collect: the unit as indented text, one decl or node a line. */
void ar_facts_dump(FILE *out, ar_unit *unit);

#endif
