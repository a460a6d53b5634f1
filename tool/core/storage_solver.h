/* What the files of the storage solver share; for solve_storage.c and
 * storage_*.c only. */
#ifndef AR_STORAGE_SOLVER_H
#define AR_STORAGE_SOLVER_H

#include "core/solve_storage.h"

enum { AR_ROLE_COUNT = AR_ROLE_LOSS + 1 };

/* What is known of one class besides its storage facts. */
typedef struct ar_class_info {
    const ar_cell *cells[AR_ROLE_COUNT]; /* the first of each role */
    const ar_cell *aside;                /* the first that training ignores */
    const ar_cell *rate;                 /* the first that the step reads */
    uint32_t roles;                      /* a set of 1u << ar_role */
    /* what the user says of it, by rule or pragma */
    const char *fp32_by, *half_by; /* NULL: nothing */
    ar_range fp32_at, half_at;
    /* a store of something that needs FP32 (storage_values.c) */
    const char *denied;
    ar_range denied_at;
    const ar_decl *denied_in; /* the function, or NULL */
    /* optimizer state that half would spoil (storage_state.c) */
    const char *spoiled;
    ar_range spoiled_at;
} ar_class_info;

/* From the call that puts `actual` in the place of `generic`; of an arena: the
 * whole and a part of it; of none: the same field of two objects whose struct
 * is named in one place, one text that declares both, or two uses of one field.
 * Both have one precision. */
typedef struct ar_storage_link {
    const ar_storage_call *call;
    const ar_site *site;
    const ar_storage_arena *arena;
    uint32_t generic, actual;
} ar_storage_link;

/* What is assigned to a local float, or returned by a function; or its calls.
 */
typedef struct ar_local_value {
    const ar_node *value;
    bool adds; /* += or -= */
    struct ar_local_value *next;
} ar_local_value;

typedef struct ar_storage_solver {
    ar_arena *arena;
    ar_program *program;
    const ar_rules *rules;
    const ar_storage_facts *facts;
    const ar_ops *ops;
    const ar_scale *scale; /* or NULL */
    ar_diags *diags;
    ar_storage_policy policy;
    ar_storage_plan *plan;
    ar_class_info *info;     /* by class id */
    bool *in_training;       /* by entity: a function that training may run */
    bool *is_repeated;       /* and that a loop inside the training loop runs */
    ar_storage_decision *at; /* plan->classes */
    AR_VEC(ar_storage_link) links;
    const char **arena_problem; /* by arena: why it keeps one precision */
    bool *is_whole; /* class: an arena as a whole, whose elements none uses */
    uint32_t *first, *list; /* class -> positions in list of its links */
    ar_map assigned;        /* local float scalar: decl -> ar_local_value */
    ar_map returned;        /* function: entity id + 1 -> ar_local_value */
    ar_map calls_to;        /* likewise: the calls by its name */
    bool *agnostic;         /* passes on what it is given, as bytes */
    /* of a generic class: why it is of one precision in all versions, or NULL
     */
    const char **one_value;
    bool *wanted;   /* the level wants it half */
    bool *followed; /* or it shares code with such memory */
    /* FP32 because of the class at the other end; NULL: for a reason of its
     * own */
    const ar_storage_link **because;
    uint32_t *queue, queued, done;     /* FP32, to be spread */
    AR_VEC(const ar_pragma *) pragmas; /* #pragma amp half, fp32, keep */
    /* nodes by their place: a header read by several units has a tree in each,
     * and one of them has the facts */
    ar_table sites;       /* access, call argument: 1 + site */
    ar_table allocations; /* allocating call: 1 + site */
    ar_table calls;       /* 1 + index in facts->calls */
    ar_table ops_at;      /* call: 1 + index in ops */
} ar_storage_solver;

/* The place of a node as a key. Nodes of one macro use share a place; those are
 * told apart by identity. */
static inline uint64_t ar_place_key(const ar_node *node, uint64_t *more) {
    ar_range range = node->range;
    if (range.in_macro_body || range.file == AR_NO_FILE) {
        *more = UINT64_MAX;
        return ar_key(node);
    }
    *more = ((uint64_t)range.end << 8) | (uint64_t)node->kind;
    return ar_key2(range.file, range.begin);
}
uint32_t ar_solver_find(const ar_table *table, const ar_node *node);
/* What the call puts in the place of a generic class; AR_NO_ID: nothing. */
static inline uint32_t ar_storage_actual(const ar_storage_call *call,
                                         uint32_t generic) {
    for (uint32_t i = 0; i < call->instance_count; i++)
        if (call->instances[i].generic == generic)
            return call->instances[i].actual;
    return AR_NO_ID;
}

/* storage_roles.c: the cells of the loss-scale analysis, class by class */
void ar_storage_find_roles(ar_storage_solver *s);
/* storage_training.c: fills in in_training and is_repeated */
void ar_storage_find_training(ar_storage_solver *s);
/* storage_rules.c: keep rules and pragmas */
void ar_storage_find_rules(ar_storage_solver *s);
/* storage_locals.c: what locals hold */
void ar_storage_find_locals(ar_storage_solver *s);
bool ar_is_local_float(const ar_decl *decl);
/* The one value of a local that is set once and not added to, or NULL. */
const ar_node *ar_storage_single_value(const ar_storage_solver *s,
                                       const ar_decl *local);
/* The same expression, by its text's structure. */
bool ar_storage_same(const ar_node *x, const ar_node *y);
/* The class of the memory that an expression reads, or AR_NO_ID. */
uint32_t ar_storage_loaded(const ar_storage_solver *s, const ar_node *node);
/* storage_norms.c: parameters of norm layers get that role, too */
void ar_storage_find_norms(ar_storage_solver *s);
/* storage_state.c: optimizer state that half would spoil */
void ar_storage_find_state(ar_storage_solver *s);
/* storage_warnings.c: what is in half and may break for it */
void ar_storage_warn(ar_storage_solver *s);
/* Parameters, their gradients or optimizer state and nothing else, which the
 * level stores in half; memory that stands for others: if all of them are. The
 * set of roles, or 0. */
uint32_t ar_storage_trained_roles(const ar_storage_solver *s, uint32_t id);
/* storage_values.c: stores of what needs FP32 */
void ar_storage_find_denied(ar_storage_solver *s);
/* FP32 for this reason, unless something says half; the first one counts. */
void ar_storage_deny(ar_storage_solver *s, uint32_t id, const char *reason,
                     ar_range at, const ar_decl *function);
/* storage_numbers.c: constants out of range, integers */
void ar_storage_find_numbers(ar_storage_solver *s);

/* storage_reasons.c: decides one class by what is known of itself */
void ar_storage_decide(ar_storage_solver *s, const ar_storage_class *c);
/* FP32 for this reason; false: it is FP32 already. */
bool ar_storage_keep(ar_storage_solver *s, uint32_t id, const char *reason,
                     ar_range at, const char *unlock);
const char *ar_storage_role_words(ar_role role);
/* What the level, or a rule about roles, says of a role; and who says so. */
bool ar_storage_role_is_half(const ar_storage_solver *s, ar_role role,
                             const char **by);
/* storage_copies.c: copies of what stays FP32; after the links */
void ar_storage_find_copies(ar_storage_solver *s);
/* storage_arenas.c: marks the classes that are arenas as a whole */
void ar_storage_find_wholes(ar_storage_solver *s);
/* The part whose address this store hands out. */
bool ar_storage_find_part(const ar_storage_arena *arena,
                          const ar_pointer_store *store, uint32_t *part);
/* Arenas that were to have one precision, and got FP32 for it, get one for each
 * part where that can be; false: there is none. */
bool ar_storage_split_arenas(ar_storage_solver *s);
/* The whole of an arena that is split stays FP32: it is bytes. */
void ar_storage_keep_wholes(ar_storage_solver *s);

/* storage_links.c: from class to class */
void ar_storage_find_links(ar_storage_solver *s);
void ar_storage_spread(ar_storage_solver *s);
/* storage_split.c: the functions that versions are about, and whether they can
 * have several */
void ar_storage_find_splits(ar_storage_solver *s);
/* storage_links.c, when those are known: what stands for one precision only */
void ar_storage_find_one_values(ar_storage_solver *s);
/* storage_versions.c: the versions that the decisions so far call for */
void ar_storage_find_versions(ar_storage_solver *s);
/* Their names; the decisions become those of the first ones. */
void ar_storage_settle_versions(ar_storage_solver *s);
/* What has no wish of its own follows what it shares code with. */
void ar_storage_settle(ar_storage_solver *s);

/* As rules write the path of a cell: net.dW for net->dW. */
const char *ar_storage_rule_path(ar_arena *arena, const char *name);

/* storage_objects.c: objects of structs told apart */
void ar_storage_link_objects(ar_storage_solver *s);
/* Memory behind the field of such an object. */
bool ar_storage_is_in_object(const ar_storage_facts *facts, uint32_t id);

/* As rules name a struct: its tag, or its typedef. */
/* The op of this call if it is redirected, or NULL. */
const ar_op_site *ar_storage_redirected(const ar_storage_solver *s,
                                        const ar_node *call);
/* Does the rule, `keep half function`, take the function's results out of what
 * a level keeps in FP32? */
bool ar_storage_function_is_half(const ar_storage_solver *s,
                                 const ar_decl *function);
/* The rule, `keep fp32 function`, that keeps them and its one text; or NULL. */
const char *ar_storage_function_is_fp32(const ar_storage_solver *s,
                                        const ar_decl *function);

#endif
