/* The walk over one function's text that makes cells, unifications and raw
 * flows; private to flows*.c. Expressions give the cell that their value
 * points to (0: no pointer, or null), lvalues the cell they name. */
#ifndef AR_FLOWS_H
#define AR_FLOWS_H

#include "core/slots.h"

/* A version of a pointer local: what it holds between an assignment and the
 * reads that see it. A join becomes real only when it is read. */
typedef struct ar_version {
    uint32_t cell;    /* 0: a join nobody has read */
    uint32_t *joined; /* versions */
    uint32_t joined_count;
    bool is_used;
    bool is_measured; /* a sizeof, which reads nothing, names it */
    ar_where where;
} ar_version;

/* Which version of each local is current; NULL: the place is not reached. */
typedef uint32_t *ar_env;

/* Where break and continue go. */
typedef struct ar_target {
    struct ar_target *outer;
    bool is_loop;
    AR_VEC(ar_env) breaks, continues;
    ar_env entry; /* switch: before the first case */
    bool has_default;
} ar_target;

typedef struct ar_load {
    uint32_t cell;
    ar_decl *decl;
} ar_load;

typedef struct ar_walk {
    ar_graph *g;
    ar_unit *unit;
    ar_decl *function; /* NULL: an initialiser of a global */
    uint32_t cell;     /* of the function */
    bool is_quiet;     /* inside sizeof: nothing is evaluated */
    ar_accumulation *accumulation;
    AR_VEC(ar_load) loads; /* floats read by the expression so far */
    ar_map size_sites;     /* SIZEOF node -> site + 1 */
    ar_map cells;          /* integer lvalue or call -> its cell */
    ar_map scratch;        /* entity of a scratch field -> cell here */
    ar_map sized;          /* SIZEOF of a struct whose object is known */
    /* webs */
    AR_VEC(ar_entity *) locals;
    ar_map local_index; /* entity id + 1 -> index + 1 */
    AR_VEC(ar_version) versions;
    ar_env env;
    ar_target *target;
} ar_walk;

/* flows.c */
uint32_t ar_eval(ar_walk *w, ar_node *node);
uint32_t ar_lvalue(ar_walk *w, ar_node *node);
void ar_initialise(ar_walk *w, uint32_t cell, const ar_type *type,
                   ar_node *value, ar_decl *to);
/* A struct that is told apart by object, and no pointer to one: its value
 * stands for the object. */
static inline bool ar_is_apart_value(const ar_walk *w, const ar_type *type) {
    return ar_is_kind(type, AR_TYPE_RECORD) && ar_apart_record(w->g, type);
}
/* The struct is copied: what it points to is one memory. */
void ar_copy_object(ar_walk *w, uint32_t from, uint32_t to);
/* The value with this target is stored in a cell. */
void ar_store_pointer(ar_walk *w, uint32_t cell, uint32_t target,
                      ar_node *value, ar_decl *to, ar_node *at);
void ar_flow_values(ar_walk *w, uint32_t first_load, uint32_t to, ar_decl *decl,
                    ar_node *at);
void ar_note_accumulation(ar_walk *w, ar_accumulator_kind kind, uint32_t cell,
                          ar_node *node, ar_repetition repeated);
ar_where ar_here(const ar_walk *w, const ar_node *node);
bool ar_is_zero(ar_node *node);
static inline bool ar_is_reference(const ar_type *type) {
    return type && type->kind == AR_TYPE_POINTER && type->is_reference;
}
bool ar_returns_reference(ar_node *call);

void ar_walk_site(ar_walk *w, ar_site_kind kind, ar_node *node, uint32_t cell);

/* flows_update.c */
enum { AR_MAX_FACTORS = 8 }; /* that are looked at, of one term */
/* What is written there has in it what was there before, times factors: none is
 * 1. Notes that callers see it updated; false: a factor is zero. */
bool ar_note_updated(ar_walk *w, uint32_t cell, ar_node *at, ar_node **factors,
                     uint32_t count);
/* The same for a store of a sum: c[i] = beta * c[i] + sum. */
void ar_note_scaled_store(ar_walk *w, uint32_t cell, ar_node *store);

/* flows_convert.c */
uint32_t ar_eval_conversion(ar_walk *w, ar_node *node);
/* The cell of the floats below a cell of this type. */
uint32_t ar_floats_in(ar_walk *w, uint32_t cell, const ar_type *type);
/* The node's text names the struct of what lies in memory of this type. */
void ar_names_record(ar_walk *w, ar_node *node, const ar_type *type,
                     uint32_t cell);
/* Memory of its own that a pin keeps as it is. */
uint32_t ar_pinned_memory(ar_walk *w, ar_node *node, ar_pin_kind kind,
                          const char *reason);
/* The same for an expression that is a struct told apart; 0: any other. */
uint32_t ar_pinned_object(ar_walk *w, ar_node *node, ar_pin_kind kind,
                          const char *reason);

/* flows_calls.c */
uint32_t ar_eval_call(ar_walk *w, ar_node *node);
/* A function named as a value. */
uint32_t ar_mention(ar_walk *w, ar_node *node);

/* flows_text.c: statements and webs */
void ar_statement(ar_walk *w, ar_node *node);
/* The cell of a local's current version; 0: not kept in versions. */
uint32_t ar_local_read(ar_walk *w, const ar_decl *decl);
/* A new version for a plain assignment. */
uint32_t ar_local_write(ar_walk *w, const ar_decl *decl, ar_where where);

/* flows_bytes.c */
/* The value of an integer expression flows to a cell. */
void ar_size_flow(ar_walk *w, ar_node *node, uint32_t to);
/* ... is the number of bytes something is done to. */
void ar_size_sink(ar_walk *w, ar_node *count, uint32_t memory, ar_node *at,
                  const char *what);

#endif
