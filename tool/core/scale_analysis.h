/* Inside the loss-scale analysis: what its steps pass on.
 *
 *   interp*    run the program, record the value graph
 *   roles      find the training loop; give every cell a role
 *   copies     updates that are made elsewhere and copied back
 *   step       find where each group of parameters is updated
 *   factor     which of two factors is the gradient
 *   seed       where a value could be multiplied in the text
 *   degree     given the places of unscales: which values can carry the scale,
 *              which must, where it enters
 *   check      whether that is exact, by propagation
 *   place      try the candidate places, fill in the result
 *
 * A graph index (ar_graph_index) is a view of one run of the interpreter; it
 * is made again after each run. */
#ifndef AR_SCALE_ANALYSIS_H
#define AR_SCALE_ANALYSIS_H

#include "core/interp.h"
#include "core/kernels.h"

typedef AR_VEC(uint32_t) ar_ids;

/* Code in a context: the unit of "where" in this analysis. */
typedef struct ar_where {
    uint32_t context;
    ar_node *at;
} ar_where;

typedef struct ar_graph_index {
    uint32_t count;       /* nodes */
    bool *live;           /* evaluated in the last run */
    uint32_t *use_start;  /* count + 1 */
    uint32_t *uses;       /* nodes that have it as input */
    uint32_t *store_of;   /* cell -> first STORE; chained by next_store */
    uint32_t *next_store; /* node -> next STORE of the same cell */
} ar_graph_index;

typedef struct ar_cell_info {
    ar_role role;
    bool is_updated; /* every write in the iteration reads the cell */
    bool carries;    /* gradient that carries momentum */
    int group;
    int degree;
    uint32_t reason_node;
    const char *reason;
} ar_cell_info;

/* Sibling statements first..last in one context. */
typedef struct ar_step_region {
    uint32_t context;
    ar_node *first, *last;
    bool is_fused;           /* no once-per-iteration place */
    bool is_named;           /* by the user */
    AR_VEC(uint32_t) params; /* cells */
    AR_VEC(uint32_t) grads;
    AR_VEC(uint32_t) stores; /* STORE nodes of the parameters */
    AR_VEC(ar_node *) terms; /* fused: expressions that are unscaled */
    AR_VEC(uint32_t) term_cells;
} ar_step_region;

typedef struct ar_analysis {
    ar_arena *arena;
    ar_program *program;
    const ar_rules *rules;
    ar_kernels *kernels;
    ar_diags *diags;
    ar_interp *in;
    ar_graph_index g;
    ar_loop *loop; /* the training loop */
    int8_t *context_in_loop;
    ar_cell_info *cells;
    uint32_t cell_count;
    AR_VEC(ar_step_region) regions;
    bool *depends;  /* node: depends on parameters within the iteration */
    bool *gradlike; /* and through more than copies */
    bool *direct;   /* and not through another update */
    ar_scale *out;
    bool *is_rate;            /* cell: see ar_cell */
    ar_cell **result_cells;   /* internal cell -> cell of the result */
    bool *is_read;            /* cell: by the training loop */
    bool *is_trained;         /* cell: a parameter to some loop */
    const bool *term_unscale; /* TERM nodes where a fused update unscales */
    /* (statement, cell): 1 where the cell may be scaled in place */
    const ar_idtable *buffer_boundary;
    ar_idtable user_seeds, user_steps; /* statements after a pragma */
    bool has_user_seeds;
    ar_idtable factors;    /* (x, y) -> 1 + what ar_choose_factor says */
    ar_table scaled_after; /* statement: what scale_seed.c found out */
    /* searches over the graph mark nodes with a number of their own */
    uint32_t *mark_at, mark_now, mark_count;
} ar_analysis;

/* ---- scale_index.c ------------------------------------------------------- */

void ar_index_graph(ar_analysis *a);
/* Starts a search; ar_mark says whether the node is met for the first time. */
void ar_marks_begin(ar_analysis *a);
static inline bool ar_mark(ar_analysis *a, uint32_t node) {
    if (a->mark_at[node] == a->mark_now)
        return false;
    a->mark_at[node] = a->mark_now;
    return true;
}
static inline bool ar_marked(const ar_analysis *a, uint32_t node) {
    return a->mark_at[node] == a->mark_now;
}
bool ar_where_in_loop(ar_analysis *a, uint32_t context, const ar_node *at);
/* Is (context, at) inside the loop? */
bool ar_inside_loop(const ar_interp *in, const ar_loop *loop, uint32_t context,
                    const ar_node *at);
/* The node in `context` that (from, at) happens under, or NULL. */
ar_node *ar_lift(const ar_interp *in, uint32_t from, ar_node *at,
                 uint32_t context);
/* Goes from a node to its parent, from a function's body to the call. */
bool ar_climb(const ar_interp *in, ar_where *w);
bool ar_is_ancestor(const ar_interp *in, uint32_t context,
                    const ar_node *ancestor, const ar_node *node);
/* Is the context `caller`, or one of a call that it leads to? */
bool ar_is_called_from(const ar_analysis *a, uint32_t context, uint32_t caller);
bool ar_is_statement(const ar_node *node);
/* The statement of `node` that stands in a compound or alone under a loop. */
ar_node *ar_statement_around(const ar_interp *in, const ar_unit *unit,
                             ar_node *node);
bool ar_in_region(const ar_analysis *a, const ar_step_region *region,
                  uint32_t context, ar_node *at);
bool ar_is_memory(const ar_analysis *a, uint32_t cell);
bool ar_is_array(const ar_analysis *a, uint32_t cell);
const char *ar_cell_name(ar_analysis *a, uint32_t cell);

/* ---- scale_roles.c ------------------------------------------------------- */

/* Does what is stored read the cell that it goes to? With a loop: other than
 * through a gate that is made in it. */
bool ar_reads_itself(ar_analysis *a, uint32_t store, const ar_loop *loop);
bool ar_find_training_loop(ar_analysis *a);
void ar_assign_roles(ar_analysis *a);
void ar_mark_dependence(ar_analysis *a);

/* ---- scale_copies.c ------------------------------------------------------ */

/* The factor of a product or quotient that is more than a number made from
 * numbers, or -1: both are. */
int ar_array_factor(const ar_analysis *a, const ar_vnode *v);
/* The array that the stored value is a copy of, or 0. */
uint32_t ar_copied_cell(const ar_analysis *a, uint32_t store);
/* Is what is stored a copy of another array? */
bool ar_is_copy(const ar_analysis *a, uint32_t store);
/* Does the copy bring back what the cell held at the head of the iteration,
 * with something added? */
bool ar_brings_itself_back(ar_analysis *a, const ar_loop *loop, uint32_t store);
/* Is the value at the head used for more than sums? What comes back by copy is
 * a parameter then; a velocity is only scaled and added. */
bool ar_is_multiplied(ar_analysis *a, const ar_loop *loop, uint32_t head,
                      const bool *updated);
/* Does the statement only add arrays, each times a number? So do averaging,
 * weight decay and momentum; what makes gradients does not. */
bool ar_only_adds(ar_analysis *a, const ar_step_region *r, ar_node *statement);

/* ---- scale_step.c -------------------------------------------------------- */

bool ar_find_steps(ar_analysis *a);

/* ---- scale_factor.c ------------------------------------------------------ */

/* Of two factors, the one that carries the gradient: 0 or 1. */
int ar_choose_factor(ar_analysis *a, uint32_t x, uint32_t y);

/* ---- scale_seed.c -------------------------------------------------------- */

/* What is multiplied if the node is a seed, or NULL: an expression, or a whole
 * `x += y` or `x -= y` after which x is scaled. */
ar_node *ar_seed_expression(ar_analysis *a, uint32_t node);
/* Could the node be a seed, were its text rewritten? */
bool ar_seed_is_out_of_reach(ar_analysis *a, uint32_t node);

/* ---- scale_degree.c ------------------------------------------------------ */

typedef struct ar_conflict {
    uint32_t node;         /* value that must be both */
    uint32_t scaled_use;   /* a node that wants degree 1 */
    uint32_t root;         /* what stands against it */
    int sink;              /* index of the sink that wants degree 0, or -1 */
    uint32_t stale_write;  /* what the iteration before left, or 0 */
    uint32_t stores[2];    /* what stored the values that meet, or 0 */
    uint32_t out_of_reach; /* a place for the scale that is not rewritten */
    const char *text;
    const char *way_out;
} ar_conflict;

typedef struct ar_placement {
    /* what is tried */
    const uint32_t *regions; /* indices of the groups solved together */
    uint32_t region_count;
    ar_node **unscale_at; /* per region: boundary statement, or NULL: fused */
    ar_node *carry_at;
    bool allow_buffers;
    /* a product in which to scale the factor without parameters, or NULL */
    const ar_node *number_in;
    /* what comes out */
    bool ok;
    bool is_checked; /* the search found no conflict, the check perhaps */
    AR_VEC(uint32_t) seeds; /* STORE, TERM or BOUNDARY nodes, one a place */
    uint8_t *degree;        /* node: bits of scale_solver.h */
    bool *demanded;
    uint32_t scaled_writes;
    AR_VEC(ar_conflict) conflicts;
    ar_ids root_cells; /* buffers between the conflicts and their roots */
} ar_placement;

void ar_solve_degrees(ar_analysis *a, ar_placement *p);

/* ---- scale_repeat.c ------------------------------------------------------ */

typedef struct ar_repeats ar_repeats;
ar_repeats *ar_repeats_new(ar_analysis *a);
/* Where the contents of a cell from before and after some writes of it meet
 * (STORE, PHI), or an inner loop begins (LOOP): does an iteration write what
 * the iteration before it had written? `degree`: values without one are zero.
 */
bool ar_is_renewed(ar_repeats *r, const ar_vnode *v, const uint8_t *degree);

/* ---- scale_user.c -------------------------------------------------------- */

void ar_read_user_marks(ar_analysis *a);
bool ar_user_allows_seed(const ar_analysis *a, uint32_t context, ar_node *at);
bool ar_user_step(const ar_analysis *a, ar_where *w);
/* What a `role` rule says of the cell; AR_ROLE_NONE: nothing. */
ar_role ar_user_role(ar_analysis *a, uint32_t cell);
/* Tells of the cells that turned out to be something else. */
void ar_check_user_roles(ar_analysis *a);

/* ---- scale_place.c ------------------------------------------------------- */

typedef enum ar_attempt_result {
    AR_ATTEMPT_EXACT,
    AR_ATTEMPT_CONFLICT
} ar_attempt_result;

/* The placements of all regions, indexed like them; on a conflict, `failed`
 * is the last placement that was tried, `closest` the one that was nearest to
 * being exact. */
typedef struct ar_solution {
    ar_placement *placements;
    ar_placement *failed;
    ar_placement closest;
    uint32_t closest_region;
} ar_solution;

ar_attempt_result ar_place_scale(ar_analysis *a, ar_solution *solution);

/* ---- scale_explain.c ----------------------------------------------------- */

void ar_explain_conflict(ar_analysis *a, const ar_solution *solution);

/* ---- scale_result.c ------------------------------------------------------ */

void ar_fill_cells(ar_analysis *a, const ar_solution *solution);
void ar_fill_groups(ar_analysis *a, const ar_solution *solution);
void ar_fill_rest(ar_analysis *a);
/* An expression that names the cell of a boundary there, or NULL. */
ar_node *ar_buffer_name(ar_analysis *a, const ar_vnode *v);

#endif
