/* Roles and the loss scale as a unit (docs/loss-scaling.md).
 *
 * Interprets the program from main over abstract memory, finds the training
 * loop, gives every cell of memory a role from what one iteration does to it,
 * and places the loss scale: for each optimizer (a group) the seeds, where
 * the scale goes in, and the unscale and step, where it goes out. Needs facts
 * and rules only; changes nothing. */
#ifndef AR_SCALE_H
#define AR_SCALE_H

#include "core/program.h"
#include "rules/rules.h"

/* Abstract memory: an object is a variable or an allocation site in a call
 * context; a cell is a path in it. Arrays of scalars are one cell. */
typedef enum ar_object_kind {
    AR_OBJECT_GLOBAL,
    AR_OBJECT_LOCAL,
    AR_OBJECT_HEAP
} ar_object_kind;

typedef struct ar_object {
    ar_object_kind kind;
    ar_decl *decl;           /* variable */
    ar_unit *unit;           /* of decl or site */
    ar_node *site;           /* HEAP: the allocating call */
    ar_node **context;       /* calls from main (first) to the one (last) that
                                entered the function that holds decl or site */
    ar_unit **context_units; /* the unit each context call is in */
    uint32_t context_depth;
    uint32_t id;
} ar_object;

typedef struct ar_cell {
    ar_object *object;
    const char *path;     /* ".dW", "[*].w", "+r1" (a region), or "" */
    const char *name;     /* for messages: the program's own words, "net->dW" */
    const ar_decl *field; /* the innermost one in path, or NULL */
    const ar_type *scalar; /* float type at the bottom, or NULL */
    ar_role role;
    /* DATA that the training loop does not even read, and that no other loop
     * trains: buffers of an evaluation, say */
    bool is_aside;
    bool also_state;    /* gradient that carries momentum */
    bool is_region;     /* a part of an allocation, assumed disjoint */
    int degree;         /* in the loss scale between seed and step: 0 or 1 */
    bool is_rate;       /* the step reads it, and it is no gradient: rates */
    bool is_zero;       /* nothing but zero is ever stored in the program */
    int group;          /* GRAD, PARAM, STATE: the optimizer; else -1 */
    const char *reason; /* why this role, in a few words */
    ar_range reason_at;
} ar_cell;

typedef enum ar_seed_form {
    AR_SEED_EXPRESSION, /* multiply this expression by the scale */
    AR_SEED_AFTER,      /* scale x after this statement, x += y or x -= y */
    AR_SEED_BUFFER      /* scale the buffer in place before a statement */
} ar_seed_form;

typedef struct ar_seed {
    ar_seed_form form;
    ar_unit *unit;
    ar_decl *function;
    ar_node *node;   /* EXPRESSION: the expression; AFTER: the assignment;
                        BUFFER: the statement that the scaling must precede */
    ar_node *buffer; /* BUFFER: an expression that names the buffer and is
                        valid, free of side effects, at `node` */
    const ar_cell *cell;
} ar_seed;

/* A place between statements: before `first`, after `last`; both are siblings
 * in one AR_COMPOUND (or one single statement). */
typedef struct ar_region_of_code {
    ar_unit *unit;
    ar_decl *function;
    ar_node *first, *last;
} ar_region_of_code;

typedef struct ar_fused_update {
    ar_unit *unit;
    ar_node *term; /* additive term of degree 1 in the update's right side */
    const ar_cell *param;
} ar_fused_update;

typedef struct ar_group {
    int index;
    ar_cell **params;
    uint32_t param_count;
    ar_cell **grads;
    uint32_t grad_count;
    ar_seed *seeds;
    uint32_t seed_count;
    ar_region_of_code step; /* skipped as a whole on overflow */
    /* where the unscale goes: before this statement, in the same function as
     * the step; NULL: at the step itself */
    ar_node *unscale_before;
    /* gradients that carry momentum: scaled before this statement, the head of
     * the iteration; NULL: none carries */
    ar_node *carry_before;
    ar_unit *carry_unit;
    ar_fused_update *fused;
    uint32_t fused_count;
    /* fused only: the end of the iteration, where the scale moves */
    ar_node *fused_end_after;
    uint32_t degree1_writes; /* how much is scaled: the ranking */
} ar_group;

/* A place where the program stores the address of an object (or of a region of
 * it) in a pointer: `w->grad = malloc(...)`, `p = make()`, `ptrs[i] = it`. The
 * plan names buffers through these. One record per (node, holder, target). */
typedef struct ar_pointer_store {
    ar_unit *unit;
    ar_decl *function;
    ar_node *node;     /* the ASSIGN, the DECL_STMT of an initialised local, or
                          the CALL that stores through an argument */
    ar_decl *variable; /* DECL_STMT: which declarator; else NULL */
    ar_object *holder; /* object the pointer is stored in */
    const char *holder_path; /* where in it, as ar_cell.path */
    const ar_decl *field;    /* the innermost one in that path, or NULL */
    ar_object *target;
    const char *target_path; /* what part of target, as ar_cell.path */
    bool at_start;           /* points to the start of target, not into it */
} ar_pointer_store;

typedef enum ar_scale_outcome {
    AR_SCALE_NO_LOOP, /* nothing trains here */
    AR_SCALE_FOUND,
    AR_SCALE_NO_SEED, /* no exact placement; diags say what conflicts */
    AR_SCALE_GAVE_UP  /* the analysis could not finish; diags say why */
} ar_scale_outcome;

typedef struct ar_scale {
    ar_scale_outcome outcome;
    ar_unit *loop_unit;
    ar_decl *loop_function;
    ar_node *loop;           /* the training loop */
    AR_VEC(ar_cell *) cells; /* every float cell met, with its role */
    AR_VEC(ar_object *) objects;
    ar_group *groups;
    uint32_t group_count;
    /* statements outside the steps that write parameters after training has
     * begun: cached casts must be dropped after each */
    ar_node **param_writes;
    ar_unit **param_write_units;
    uint32_t param_write_count;
    /* what the result takes for granted, in words; each once */
    AR_VEC(const char *) assumptions;
    AR_VEC(ar_pointer_store) stores;
    /* every call that may free an object, for the plan: call, object pairs */
    struct ar_free_site {
        ar_node *call;
        ar_unit *unit;
        ar_object *object;
    } *frees;
    uint32_t free_count;
    double seconds;
} ar_scale;

typedef struct ar_scale_options {
    bool want_scale; /* place a scale; false: roles only */
} ar_scale_options;

ar_scale *ar_scale_analyse(ar_arena *arena, ar_program *program,
                           const ar_rules *rules,
                           const ar_scale_options *options, ar_diags *diags);

/* --dump-after=scale */
void ar_scale_dump(FILE *out, ar_program *program, const ar_scale *scale);

#endif
