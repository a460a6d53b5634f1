/* Abstract memory of the interpreter: objects, cells, values and states.
 *
 * An object is a variable, an allocation in a call context, or a function. A
 * cell is a path in an object; all scalars of an array share one cell. A value
 * says what a cell may hold: a node of the value graph (floats), the cells it
 * may point to, an integer, and how the address or number varies with the
 * loops around it. Values and point-to sets are interned, so that equality is
 * comparison of ids. A state maps cells to values; states are persistent
 * (copying is O(1), joining costs what differs).
 *
 * Everything lives in the arena of the memory except the nodes of states,
 * which are counted and reused. */
#ifndef AR_MEMORY_H
#define AR_MEMORY_H

#include "base/map.h"
#include "core/scale.h"

/* ---- objects and cells --------------------------------------------------- */

typedef enum ar_step_kind {
    AR_STEP_ROOT,
    AR_STEP_FIELD,
    AR_STEP_INDEX, /* element of an array of pointers or records */
    AR_STEP_REGION /* the part of an allocation that a slot points to */
} ar_step_kind;

#define AR_ANY_INDEX        INT64_MIN
/* Elements at unknown places that are records of one kind. */
#define AR_KIND_INDEX(kind) (INT64_MIN + (int64_t)(kind))
static inline bool ar_is_kind_index(int64_t index) {
    return index > INT64_MIN && index < INT64_MIN / 2;
}

typedef struct ar_mem_object {
    ar_object as; /* first: what the result shows */
    uint32_t root;
    uint32_t context; /* id of the interpreter's context */
    bool is_function;
    bool zero_default;   /* static storage, calloc, `= {0}` */
    bool is_summary;     /* stands for several live at once */
    uint32_t loop_depth; /* loops around the allocation */
    bool disjoint;       /* the base pointer does not cover the regions */
    bool is_table;       /* a pointer got its symbol by where it lies in here */
} ar_mem_object;

typedef struct ar_mem_cell {
    uint32_t object, parent; /* parent 0: the root of the object */
    ar_step_kind step;
    const ar_decl *field;
    int64_t index;       /* INDEX: constant or AR_ANY_INDEX; REGION: slot */
    const ar_type *type; /* static type; NULL: whatever was allocated */
    const ar_type *scalar;
    uint32_t first_child, next_sibling;
    uint32_t set;  /* of the pointers to its start; 0: not made yet */
    bool is_many;  /* an array of scalars, or reached through [*] */
    bool any_path; /* the path has a [*] in it */
} ar_mem_cell;

typedef struct ar_target {
    uint32_t cell;
    int64_t index; /* elements from the start of the cell; AR_ANY_INDEX */
} ar_target;

typedef struct ar_targets {
    ar_target *data;
    uint32_t count;
} ar_targets;

/* ---- values -------------------------------------------------------------- */

/* How an index or address varies: bit d of the tags says that it takes a
 * different value in each iteration of the active loop of depth d. */
typedef struct ar_value {
    uint32_t node;    /* float: node of the value graph; 0: none */
    uint32_t targets; /* pointer: interned set; 0: points nowhere */
    uint64_t offset_tags;
    uint64_t pointer_tags;   /* got by loading the pointer through a tagged
                                address: which object varies */
    int64_t shift;           /* constant part of an index */
    int64_t pointer_shift;   /* the same of the addresses in pointer_tags */
    uint32_t symbol;         /* exactly which index; 0: not known */
    uint32_t pointer_symbol; /* exactly which pointer; 0: not known */
    int64_t number;
    uint32_t extent; /* integer: what its value is called, or 0 */
    uint32_t row;    /* index or address: the row it is in, or 0 */
    bool is_number;  /* the integer `number` */
    bool excludes;   /* an unknown integer, but not `number` */
    bool may_be_null;
    bool is_partial; /* an unknown, unvarying amount is in the index */
    bool is_undefined;
} ar_value;

/* ---- states -------------------------------------------------------------- */

typedef struct ar_trie ar_trie;
typedef struct ar_state {
    ar_trie *root;
    bool dead; /* not reachable */
} ar_state;

typedef struct ar_memory {
    ar_arena *arena;
    AR_VEC(ar_mem_object *) objects; /* [0] unused */
    AR_VEC(ar_mem_cell) cells;       /* [0] unused */
    AR_VEC(ar_value) values;         /* [0] unused: absent */
    AR_VEC(ar_targets) sets;         /* [0]: empty */
    ar_idtable object_ids, cell_ids, set_unions;
    uint32_t *value_buckets;
    uint32_t value_capacity;
    uint32_t *set_buckets;
    uint32_t set_capacity;
    struct ar_trie *free_inner, *free_leaves;
} ar_memory;

ar_memory *ar_memory_new(ar_arena *arena);

/* The object of this key; *is_new says that the caller must fill it in. */
ar_mem_object *ar_memory_object(ar_memory *m, uint64_t a, uint64_t b,
                                bool *is_new);
uint32_t ar_memory_root(ar_memory *m, ar_mem_object *object,
                        const ar_type *type);
uint32_t ar_memory_child(ar_memory *m, uint32_t parent, ar_step_kind step,
                         const ar_decl *field, int64_t index,
                         const ar_type *type);
/* 0: no such child yet. */
uint32_t ar_memory_find_child(const ar_memory *m, uint32_t parent,
                              ar_step_kind step, const ar_decl *field,
                              int64_t index);
static inline ar_mem_object *ar_object_of(const ar_memory *m, uint32_t cell) {
    return m->objects.data[m->cells.data[cell].object];
}
/* ".dW", "[*].w", "+W1" */
const char *ar_memory_path(ar_memory *m, uint32_t cell);

uint32_t ar_memory_intern(ar_memory *m, const ar_value *value);
static inline const ar_value *ar_memory_value(const ar_memory *m, uint32_t id) {
    return &m->values.data[id];
}
uint32_t ar_memory_set(ar_memory *m, const ar_target *targets, uint32_t count);
uint32_t ar_memory_union(ar_memory *m, uint32_t a, uint32_t b);
static inline const ar_targets *ar_memory_targets(const ar_memory *m,
                                                  uint32_t set) {
    return &m->sets.data[set];
}

/* A state is a value: copy with ar_state_copy, give up with ar_state_drop. */
ar_state ar_state_copy(ar_state state);
void ar_state_drop(ar_memory *m, ar_state *state);
/* The state's own words move to the result. */
static inline ar_state ar_state_take(ar_state *state) {
    ar_state taken = *state;
    *state = (ar_state){NULL, true};
    return taken;
}
uint32_t ar_state_get(const ar_state *state, uint32_t cell);
void ar_state_set(ar_memory *m, ar_state *state, uint32_t cell, uint32_t value);
/* Calls visit for every cell whose value differs. */
typedef void ar_diff_visit(void *context, uint32_t cell, uint32_t a,
                           uint32_t b);
void ar_state_diff(const ar_state *a, const ar_state *b, ar_diff_visit *visit,
                   void *context);

#endif
