/* What the files of collect share; nobody else includes this.
 *
 * Nothing here survives the unit: cursors, CXFiles and the scratch arena go
 * with the worker, only unit->arena stays. */
#ifndef AR_FRONT_INTERNAL_H
#define AR_FRONT_INTERNAL_H

#include "front/collect.h"
#include "front/tokens.h"

#include <clang-c/Index.h>

/* Index after the closing parenthesis of the group that opens at `at`. */
uint32_t ar_skip_group(const ar_tokens *tokens, uint32_t at);

/* A use of a macro in a file; uses nest, `parent` is the index of the one
 * around it, UINT32_MAX for none. Sorted by begin, outer ones first. */
typedef struct ar_macro_use {
    uint32_t begin, end, parent;
} ar_macro_use;

/* Beside unit->files, by file id. */
typedef struct ar_file_facts {
    AR_VEC(ar_macro_use) uses;
    /* one bit a byte: is it within a use? Most ranges are not, and need no
     * search. */
    uint64_t *covered;
    uint32_t covered_size; /* in bits */
    ar_tokens *tokens;     /* NULL until asked for */
    bool no_tokens;        /* unreadable */
} ar_file_facts;

typedef struct ar_cursor_map {
    struct ar_cursor_slot {
        CXCursor cursor;
        void *value; /* NULL: free */
    } *slots;
    uint32_t count, capacity;
} ar_cursor_map;

typedef struct ar_type_slot {
    CXType key;
    const ar_type *value;
} ar_type_slot;

typedef struct ar_start {
    ar_file_id file;
    uint32_t begin;
    ar_node *node;
    ar_decl *decl;
} ar_start;

typedef struct ar_collector {
    ar_unit *unit;
    ar_arena *arena;   /* the unit's */
    ar_arena *scratch; /* ends with the collector */
    const ar_job *job;
    CXTranslationUnit tu;
    /* CXFile handles are good while the parser's unit lives, no longer. */
    AR_VEC(CXFile) handles;
    AR_VEC(ar_file_id) handle_ids;
    CXFile last_handle;
    ar_file_id last_id;
    AR_VEC(ar_file_facts) file_facts;
    ar_cursor_map decls;
    /* types: by libclang type, and by structure */
    ar_type_slot *type_slots;
    uint32_t type_count, type_capacity;
    const ar_type **interned;
    uint32_t interned_count, interned_capacity;
    /* the children of the cursors being worked on: a stack */
    CXCursor *kids;
    uint32_t kid_count, kid_capacity;
    /* statements and declarations by place, for pragmas */
    AR_VEC(ar_start) starts;
    bool starts_sorted;
    AR_VEC(ar_range) pragma_uses; /* of macros that are all pragmas */
    /* parse errors inside function bodies: their places */
    AR_VEC(ar_range) errors;
    bool spells_bodies;  /* libclang knows where a body's text is written */
    uint32_t next_local; /* makes colliding local names unique */
    struct ar_name_slot {
        const char *name;
    } *local_names;
    uint32_t local_count, local_capacity;
} ar_collector;

typedef struct ar_kids {
    uint32_t base, count;
} ar_kids;

/* ---- locate.c: files, points, ranges ----------------------------------- */

typedef struct ar_point {
    ar_file_id file;
    uint32_t offset;
    bool in_body; /* stands for text of a macro body */
} ar_point;

ar_file_id ar_file_of(ar_collector *c, CXFile file, CXSourceLocation where);
ar_point ar_point_of(ar_collector *c, CXSourceLocation where);
/* The end of a range. */
ar_point ar_end_of(ar_collector *c, CXSourceLocation where);
ar_range ar_extent(ar_collector *c, CXCursor cursor);
/* The same for what is one word or number, without libclang's slow way to a
 * token's end where no macro is near. */
ar_range ar_word_extent(ar_collector *c, CXCursor cursor);
/* Is the range written in the file itself, with no macro use at its ends? Of
 * C only. */
bool ar_is_plain(ar_collector *c, ar_range range);
ar_range ar_between(ar_collector *c, ar_point begin, ar_point end);
ar_range ar_range_of(ar_collector *c, CXSourceRange range);
/* The innermost macro use that strictly holds the range, or NULL. */
const ar_macro_use *ar_use_around(ar_collector *c, ar_range range);
/* Does `inner` take only a part of a macro use that does not hold all of
 * `outer`? So it is with c * x of `c * ADD(x, y)`. */
bool ar_cuts_use(ar_collector *c, ar_range outer, ar_range inner);
/* Marks a range whose operator is written in a macro body: the range becomes
 * the outermost macro use around it. */
ar_range ar_widen_to_use(ar_collector *c, ar_range range);
/* NULL when the file cannot be read. */
ar_tokens *ar_tokens_of(ar_collector *c, ar_file_id file);
ar_file_facts *ar_facts_of(ar_collector *c, ar_file_id file);
bool ar_is_macro_use(ar_collector *c, ar_file_id file, uint32_t offset);
const char *ar_take(ar_collector *c, CXString text);

/* ---- types.c ----------------------------------------------------------- */

const ar_type *ar_type_of(ar_collector *c, CXType type);
/* Arrays and functions become pointers. */
const ar_type *ar_decay(ar_collector *c, const ar_type *type);
const ar_type *ar_pointer_to(ar_collector *c, const ar_type *element);
const ar_type *ar_array_of(ar_collector *c, const ar_type *element,
                           uint64_t count);
/* A builtin type by its spelling, for types that only tokens show. */
const ar_type *ar_builtin(ar_collector *c, const char *spelling);
/* What lies below pointers, arrays and function results. */
const ar_type *ar_bottom(const ar_type *type);

/* ---- decls.c ----------------------------------------------------------- */

ar_decl *ar_decl_of(ar_collector *c, CXCursor cursor);
/* Collects a declaration and what belongs to it (body, initialiser). group:
 * where its declaration specifiers start, AR_NO_RANGE: at its own extent. */
ar_decl *ar_collect_decl(ar_collector *c, CXCursor cursor, ar_range group);
void ar_collect_top(ar_collector *c, CXCursor cursor);

/* ---- floats.c: where a float is spelled -------------------------------- */

typedef struct ar_float_place {
    ar_range range; /* file AR_NO_FILE: none */
    bool is_alias;
} ar_float_place;

/* Looks among the tokens of [begin, end) for the one that spells the struct at
 * the bottom of `type`. */
ar_float_place ar_find_record(ar_collector *c, ar_file_id file, uint32_t begin,
                              uint32_t end, const ar_type *type);
/* Looks among the tokens of [begin, end) for the one that spells the float at
 * the bottom of `type`. */
ar_float_place ar_find_float(ar_collector *c, ar_file_id file, uint32_t begin,
                             uint32_t end, const ar_type *type);
/* The type that sizeof(...) or a cast names, from tokens: [begin, end) is
 * between the parentheses. type_ref: the named type, or a null cursor. NULL
 * when it is not understood. */
const ar_type *ar_parse_type_name(ar_collector *c, ar_file_id file,
                                  uint32_t begin, uint32_t end,
                                  CXCursor type_ref);

/* ---- exprs.c, stmts.c -------------------------------------------------- */

ar_node *ar_new_node(ar_collector *c, ar_node_kind kind, ar_range range);
/* The same, of one word or number. */
ar_node *ar_new_word(ar_collector *c, ar_node_kind kind, CXCursor cursor);
/* With the cursor's extent and type. */
ar_node *ar_new_expr(ar_collector *c, ar_node_kind kind, CXCursor cursor);
ar_node *ar_int_literal(ar_collector *c, CXCursor cursor); /* literals.c */
ar_node *ar_float_literal(ar_collector *c, CXCursor cursor);
ar_node *ar_string_literal(ar_collector *c, CXCursor cursor);
void ar_set_kids(ar_collector *c, ar_node *node, uint32_t count);
ar_node *ar_expr(ar_collector *c, CXCursor cursor);
bool ar_evaluate(CXCursor cursor, int64_t *value);
/* Where the text of a macro body or argument is written; file AR_NO_FILE when
 * it was pasted together, or when libclang is too old to know (bodies only). */
ar_point ar_spelling_of(ar_collector *c, CXSourceLocation where);
/* The operator between two kids, closing parentheses skipped; empty range
 * (file AR_NO_FILE) when it is not written there. */
ar_range ar_find_operator(ar_collector *c, ar_range left, ar_range right,
                          const char *spelling);
/* What stands between two operands, and around both in parentheses: where
 * this is all plain text, the extent of the whole follows from theirs. */
typedef struct ar_infix {
    ar_range whole, op;
    uint32_t next; /* the token after the whole */
} ar_infix;
/* False where it is not all plain text: ask libclang. infix.c */
bool ar_find_infix(ar_collector *c, ar_range left, ar_range right,
                   const char *spelling, ar_infix *out);
/* casts.c: kind: AR_CAST or AR_COMPOUND_LITERAL */
ar_node *ar_cast(ar_collector *c, CXCursor cursor, ar_node_kind kind);
ar_node *ar_size_of(ar_collector *c, CXCursor cursor);
ar_node *ar_unexposed(ar_collector *c, CXCursor cursor); /* unexposed.c */
ar_node *ar_generic(ar_collector *c, CXCursor cursor);
/* cplusplus.c. NULL: an ordinary call, or member. */
ar_node *ar_cxx_call(ar_collector *c, CXCursor cursor);
ar_node *ar_thread_index(ar_collector *c, CXCursor cursor);
bool ar_is_default_argument(CXCursor cursor);
ar_node *ar_stmt(ar_collector *c, CXCursor cursor);
/* unseen.c: of a variable or function; of an asm at this place. */
void ar_collect_attributes(ar_collector *c, ar_decl *decl, CXCursor cursor);
void ar_collect_asm(ar_collector *c, ar_range range);

/* kids.c: the children of a cursor on top of the stack, and the way back. */
ar_kids ar_push_kids(ar_collector *c, CXCursor cursor);
/* Only those that are expressions or statements. */
ar_kids ar_push_exprs(ar_collector *c, CXCursor cursor);
ar_kids ar_reserve_kids(ar_collector *c, uint32_t count);
void ar_pop_kids(ar_collector *c, ar_kids kids);
CXCursor ar_kid(const ar_collector *c, ar_kids kids, uint32_t i);

/* ---- preprocess.c ------------------------------------------------------ */

/* Before the declarations: macro uses, includes, macros. */
void ar_collect_preprocessing(ar_collector *c, CXCursor cursor);
void ar_finish_macro_uses(ar_collector *c);
/* After them: pragmas, skipped ranges, conditionals around includes. */
void ar_finish_preprocessing(ar_collector *c);

/* ---- errors.c ---------------------------------------------------------- */

/* Fills c->errors and the unit's diagnostics; false: refuse the unit. */
bool ar_collect_errors(ar_collector *c);
bool ar_has_error_in(const ar_collector *c, ar_range range);

#endif
