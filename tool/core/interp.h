/* The interpreter: runs the program over abstract memory and records a graph
 * of float values.
 *
 * Calls are followed in context: a context is a chain of calls from main. Every
 * float operation has one node in the graph per context; a node's identity is
 * (context, syntax node, cell), its inputs are those of the last evaluation, so
 * that the graph of the last run is the graph of the fixpoint. Roles and
 * degrees are then properties of graph nodes and need no second look at the
 * program. docs/loss-scaling.md explains the transfer functions. */
#ifndef AR_INTERP_H
#define AR_INTERP_H

#include "core/memory.h"

/* ---- the value graph ----------------------------------------------------- */

typedef enum ar_vnode_kind {
    AR_V_ZERO,      /* node 1: any degree */
    AR_V_UNDEFINED, /* node 2: never written, any degree */
    AR_V_CONST,     /* node 3 and others: a number that is not zero */
    AR_V_INPUT,     /* from outside: files, unknown calls */
    AR_V_SUM,       /* sum, difference, selection: equal degrees */
    AR_V_MUL,
    AR_V_DIV,
    AR_V_NONLINEAR, /* wants degree 0, gives degree 0 */
    AR_V_STORE,     /* in[0] stored into a cell; in[1] what stays (weak) */
    AR_V_PHI,       /* paths that meet, several cells that are read */
    AR_V_LOOP,      /* head of a loop: in[0] before it, in[1] last iteration */
    AR_V_BOUNDARY,  /* identity at a statement; the scale may change here */
    AR_V_TERM       /* identity around an additive term of an update */
} ar_vnode_kind;

/* What a node that joins a cell's values is about (ar_focus). */
typedef enum ar_vnode_part {
    AR_PART_ALL,
    AR_PART_FRESH, /* the element that the loops are at */
    AR_PART_REST,  /* the others */
    AR_PART_BOTH   /* one value for them */
} ar_vnode_part;

typedef struct ar_vnode {
    ar_vnode_kind kind;
    ar_vnode_part part;
    uint32_t context, path;
    ar_node *at; /* syntax */
    uint32_t cell;
    uint32_t in_count, in_capacity;
    uint32_t *in;
    uint32_t stamp; /* time of the last evaluation */
    uint64_t
        address;   /* of a load of several cells, of a STORE: what names it */
    uint64_t tags; /* STORE: the loops that the address follows */
    uint64_t pointer_tags; /* STORE: those that pick the object */
    bool covers;           /* STORE: all of the object that is picked */
    bool is_array_clear;   /* STORE of zero by memset or calloc */
} ar_vnode;

enum { AR_NODE_ZERO = 1, AR_NODE_UNDEFINED = 2, AR_NODE_CONST = 3 };

/* Why a value must have degree 0. */
typedef enum ar_sink_kind {
    AR_SINK_PRINT,
    AR_SINK_SAVE,
    AR_SINK_INT,         /* converted to an integer */
    AR_SINK_COMPARE,     /* compared with a constant other than 0 */
    AR_SINK_COMPARE_TWO, /* two values: equal degrees */
    AR_SINK_DIVISOR,
    AR_SINK_CALL,    /* passed to code that is not seen */
    AR_SINK_UNKNOWN, /* stored to memory that is not known */
    AR_SINK_JUMP,    /* may change by a jump back */
    AR_SINK_PARAM,   /* parameter or optimizer state (added by the solver) */
    AR_SINK_RETURN   /* result of main */
} ar_sink_kind;

typedef struct ar_sink {
    ar_sink_kind kind;
    uint32_t context;
    ar_node *at;
    uint32_t node, other; /* other: COMPARE_TWO */
    uint32_t stamp;
} ar_sink;

/* ---- contexts and loops -------------------------------------------------- */

typedef struct ar_context {
    uint32_t id, parent;
    ar_node *call; /* in the parent; NULL: a root */
    ar_decl *function;
    ar_unit *unit;
    uint32_t depth;
    uint32_t loop_depth;     /* loops that are active at the call */
    AR_VEC(uint32_t) locals; /* objects */
} ar_context;

/* What one loop in one context has taught so far. */
typedef struct ar_loop {
    uint32_t id;
    uint32_t context;
    ar_node *at;
    uint32_t depth;
    AR_VEC(uint32_t) carried; /* cells that the next iteration may read */
    ar_idtable carried_value; /* cell -> value at the head */
    ar_idtable mixed;         /* cells accessed at shifted indices */
    AR_VEC(uint32_t) ahead;   /* cells read before the loop writes there */
    AR_VEC(uint32_t) read;    /* cells read in it */
    uint32_t stamp, ended;    /* start and end of the last pass */
} ar_loop;

typedef struct ar_span {
    int64_t low, high;
    bool any;
} ar_span;

typedef struct ar_access {
    uint64_t write_tags, read_tags;     /* of all accesses: AND */
    uint64_t offset_tags, pointer_tags; /* of any access: OR */
    ar_span writes, reads; /* shifts of indices that follow this loop alone */
    int64_t shift, pointer_shift;
    uint32_t first_write, last_read; /* kernels: barriers passed before it */
    bool has_shift, mixed, pointer_mixed, is_written, is_read;
    bool is_atomic; /* any access */
    uint32_t row;   /* that all accesses are in, or 0 */
} ar_access;

/* Do accesses in one iteration of the loop of this tag mean elements of
 * different iterations? Inside an object that the loop picks, an index does
 * not lead to those of other iterations. */
static inline bool ar_is_mixed(const ar_access *a, uint64_t bit) {
    return (a->pointer_mixed && a->pointer_tags & bit) ||
           (a->mixed && a->offset_tags & bit);
}

/* Where an address lies that follows a loop in equal steps. */
typedef struct ar_row {
    uint32_t loop;   /* its depth */
    uint32_t stride; /* extent: the step */
    uint32_t inside; /* extent: no less than what was added; 0: nothing was */
    int64_t shift;   /* rows away from the one of the iteration */
} ar_row;
typedef struct ar_rows ar_rows;

/* What the threads of a launch have waited for so far. */
typedef struct ar_barriers {
    uint32_t passed;
    bool in_loop;   /* a barrier that a thread passes again and again */
    bool is_fenced; /* blocks may pass values to each other */
    bool in_atomic; /* what is accessed now is, by an atomic operation */
} ar_barriers;

typedef struct ar_frame_loop {
    ar_loop *loop;
    ar_state head;
    AR_VEC(ar_access) accesses;
    AR_VEC(uint32_t) cells; /* what each of them is of */
    /* cell -> where its access may be: it is there if `cells` says so, too, so
     * that nothing needs to be cleared */
    uint32_t *places;
    uint32_t place_count;
    ar_state breaks, continues;
} ar_frame_loop;

/* A state that is followed apart to the end of the block. */
typedef struct ar_split {
    ar_state state;
    uint32_t path, fork_depth;
    uint32_t fork; /* 1 + index in forks: a kind of record; else 0 */
    uint32_t kind; /* its element of the table */
} ar_split;

/* An element of unknown kind was copied out of a table. */
typedef struct ar_fork {
    ar_state base;
    uint64_t bit; /* of the loop whose index said which element */
    uint32_t table;
} ar_fork;

typedef struct ar_jump {
    const char *name;
    ar_state state;       /* of those on their way to the label */
    ar_state passed;      /* when the label was passed last */
    const ar_node *label; /* NULL: it was not passed yet */
} ar_jump;

typedef struct ar_frame {
    ar_context *context;
    ar_state returns;
    ar_value result;
    bool has_result;
    uint32_t result_cell; /* record results */
    AR_VEC(ar_jump) jumps;
    struct ar_frame *up;
} ar_frame;

/* Where code breaks out to: loops and switches. */
typedef struct ar_break_scope {
    ar_state *breaks, *continues;
    struct ar_break_scope *up;
} ar_break_scope;

/* What a symbol says (interp_focus.c). */
typedef struct ar_symbol {
    uint32_t kind, x;
    uint64_t y;
} ar_symbol;

enum { AR_SYMBOLS_DIFFER = 0x7fffffff };

/* A statement (in a context, 0: in every context) before which the cells of
 * `cells` pass through a boundary node. */
typedef struct ar_boundary {
    ar_node *at;
    uint32_t context;
    const uint32_t *cells;
    uint32_t cell_count;
} ar_boundary;

/* What a cell of many elements holds in the one that the loops are at. */
typedef struct ar_focus {
    uint32_t fresh, rest; /* nodes: that element; the others, or UNDEFINED */
    uint32_t symbol;      /* of the pointer to it */
    uint64_t tags;        /* the loops that the symbol follows */
    uint32_t stamp;       /* of the node that stands for both */
} ar_focus;

/* A jump back over changes to float memory. */
typedef struct ar_back_jump {
    uint32_t context;
    ar_node *at;
} ar_back_jump;

typedef struct ar_note {
    ar_diag_id id;
    ar_range range;
    const char *text;
} ar_note;

/* Variables that a loop only steps. */
typedef struct ar_induction {
    ar_decl **data;
    uint32_t count;
    int direction; /* of data[0]: 1 up, -1 down, 0 not known */
} ar_induction;

typedef struct ar_scalar_access_record {
    uint32_t context, cell;
    ar_node *at;
    bool is_write;
    uint32_t stamp;
} ar_scalar_access_record;

typedef struct ar_interp {
    ar_arena *arena;
    ar_program *program;
    const ar_rules *rules;
    ar_memory *m;

    AR_VEC(ar_vnode) nodes; /* [0] unused */
    ar_idtable node_ids;
    AR_VEC(ar_sink) sinks;
    ar_idtable sink_ids;
    AR_VEC(ar_context *) contexts; /* [0] unused */
    ar_idtable context_ids;
    AR_VEC(ar_loop *) loops; /* [0] unused */
    ar_idtable loop_ids;
    ar_idtable prescans; /* FOR/WHILE/DO -> index in inductions */
    ar_idtable sets; /* pointer variable -> 1: set once, 2: or in another way */
    AR_VEC(ar_induction) inductions;
    ar_idtable unit_ids;         /* unit -> 1 + its number */
    ar_node ***parents;          /* per unit: node id -> parent */
    uint32_t **positions;        /* per unit: node id -> index in the parent */
    AR_VEC(uint32_t) main_roots; /* contexts run from the outside */

    /* the running state */
    ar_state state;
    ar_frame *frame;
    ar_break_scope *breaks;
    AR_VEC(ar_frame_loop) active; /* loops, outermost first */
    uint32_t clock, run_start, work;
    ar_node *statement;
    /* interp_paths.c */
    uint32_t path, fork_depth;
    AR_VEC(ar_split) splits;
    AR_VEC(ar_fork) forks;
    AR_VEC(uint32_t) forked_tables; /* cells */
    ar_idtable path_ids, kind_ids;
    uint32_t path_count, kind_count;

    /* what this run records */
    AR_VEC(ar_boundary) boundaries;
    ar_idtable boundary_index; /* statement -> 1 + first of the list */
    ar_idtable term_nodes;     /* expressions to wrap in AR_V_TERM */
    ar_idtable symbols;
    AR_VEC(ar_symbol) symbol_list; /* by id - 1 */
    AR_VEC(ar_focus) focuses;
    ar_idtable focus_ids;    /* node -> 1 + its focus */
    uint32_t tables_changed; /* when a pointer in a table last changed */
    AR_VEC(ar_back_jump) back_jumps;
    AR_VEC(ar_note) notes;
    ar_idtable note_ids;
    AR_VEC(ar_pointer_store) stores;
    ar_idtable store_ids;
    AR_VEC(struct ar_free_site) frees;
    ar_idtable free_ids;
    /* integers and other scalars that persist: who writes and reads them */
    AR_VEC(ar_scalar_access_record) scalar_accesses;
    ar_idtable scalar_ids;
    /* pointers to floats that a REF or MEMBER named: (context, node) -> set */
    ar_idtable named_sets;
    /* (context, node) -> 1 + the pointer's symbol, or AR_SYMBOLS_DIFFER */
    ar_idtable named_symbols;
    /* base pointers do not mean the regions, two slots of a table no one
     * buffer */
    bool disjoint;
    bool meets_slots;       /* the latter would make a difference */
    AR_VEC(uint32_t) apart; /* cells of which it was taken for granted */
    /* the active loops that stand for the blocks of a launch and the threads
     * of a block, as tags; 0 outside kernels */
    uint64_t block_bit, thread_bit;
    ar_barriers barriers;
    AR_VEC(uint32_t) shared; /* objects of __shared__ variables */
    bool gave_up;
    struct ar_inert *inert; /* functions that are not followed */
    /* what was taken for granted on the way (ar_scale.assumptions) */
    bool assumes_loops_run, assumes_index_covers, assumes_buffers_exist;
    bool assumes_rows_apart;
    ar_rows *rows;
} ar_interp;

/* Mixes the path that is followed into a key of nodes and contexts. */
static inline uint64_t ar_path_key(const ar_interp *in) {
    return (uint64_t)in->path * 0x9e3779b97f4a7c15u;
}

ar_interp *ar_interp_new(ar_arena *arena, ar_program *program,
                         const ar_rules *rules);
/* Runs the whole program once. Results accumulate: the second run starts from
 * what the loops of the first have taught. */
void ar_interp_run(ar_interp *in);

/* ---- inside -------------------------------------------------------------- */

#define AR_VN(in, id) (&(in)->nodes.data[id])

/* The node of this key, with its inputs replaced. */
uint32_t ar_graph_node(ar_interp *in, ar_vnode_kind kind, ar_node *at,
                       uint32_t cell, const uint32_t *inputs, uint32_t count);
/* The same for a part of what the cell holds. */
uint32_t ar_graph_part(ar_interp *in, ar_vnode_kind kind, ar_vnode_part part,
                       ar_node *at, uint32_t cell, const uint32_t *inputs,
                       uint32_t count);
uint32_t ar_graph_sum(ar_interp *in, ar_node *at, uint32_t a, uint32_t b);
uint32_t ar_graph_mul(ar_interp *in, ar_node *at, uint32_t a, uint32_t b);
void ar_graph_sink(ar_interp *in, ar_sink_kind kind, ar_node *at, uint32_t node,
                   uint32_t other);
uint32_t ar_float_of(ar_interp *in, const ar_value *value);
void ar_interp_note(ar_interp *in, ar_diag_id id, ar_range range,
                    const char *text);

/* values */
ar_value ar_unknown(void);
ar_value ar_number(int64_t n);
ar_value ar_from_node(uint32_t node);
ar_value ar_value_pointer(ar_interp *in, uint32_t cell, int64_t index);
/* at: where the paths meet; cell: for float nodes */
ar_value ar_join_values(ar_interp *in, ar_node *at, uint32_t cell,
                        const ar_value *a, const ar_value *b);

/* memory.  `type` is the static type of the access. */
uint32_t ar_variable_cell(ar_interp *in, ar_decl *decl);
ar_value ar_interp_load(ar_interp *in, ar_node *at, const ar_value *address,
                        const ar_type *type);
void ar_interp_store(ar_interp *in, ar_node *at, const ar_value *address,
                     const ar_type *type, const ar_value *value);
/* Writes a whole block of floats: BLAS results, memset, files. */
void ar_store_block(ar_interp *in, ar_node *at, const ar_value *address,
                    uint32_t node, bool is_clear);
uint32_t ar_load_block(ar_interp *in, ar_node *at, const ar_value *address);
void ar_copy_record(ar_interp *in, ar_node *at, const ar_value *to,
                    const ar_value *from, const ar_type *type, bool is_param);
void ar_clear_block(ar_interp *in, ar_node *at, const ar_value *address,
                    bool to_zero);
void ar_copy_block(ar_interp *in, ar_node *at, const ar_value *to,
                   const ar_value *from);
/* What code that is not seen leaves where it was told to write: numbers that
 * nobody knows. `element` is what the static type of the pointer says. */
void ar_fill_unknown(ar_interp *in, ar_node *at, const ar_value *address,
                     const ar_type *element);
/* Forgets the value of the cell and of all in it. */
void ar_forget_cells(ar_interp *in, uint32_t cell);
/* Forgets everything in the object. */
void ar_reset_object(ar_interp *in, ar_mem_object *object, bool zero);
/* May an element that has a cell of its own be the one of this index? One of
 * unknown index, and records that are told apart by their kind. */
bool ar_may_be_element(const ar_interp *in, uint32_t kid, int64_t index);
uint32_t ar_element_cell(ar_interp *in, uint32_t cell, int64_t index,
                         const ar_type *type);
/* What `to` has at the path that leads from `from` to the cell, or 0. */
uint32_t ar_same_path(ar_interp *in, uint32_t cell, uint32_t from, uint32_t to);
void ar_scalar_access(ar_interp *in, ar_node *at, uint32_t cell, bool write);
ar_state ar_join_states(ar_interp *in, ar_node *at, ar_state *a, ar_state *b);
/* Ids of values (0: absent) that one cell has on two paths. */
uint32_t ar_join_ids(ar_interp *in, ar_node *at, uint32_t cell, uint32_t a,
                     uint32_t b);

/* 1 + where the access of the cell is in the loop's list; 0: none yet. */
static inline uint32_t ar_access_at(const ar_frame_loop *loop, uint32_t cell) {
    uint32_t at = cell < loop->place_count ? loop->places[cell] : 0;
    return at < loop->cells.count && loop->cells.data[at] == cell ? at + 1 : 0;
}
/* Adds it; the cell has none. */
void ar_access_add(ar_interp *in, ar_frame_loop *loop, uint32_t cell,
                   ar_access access);

/* interp_focus.c: the element that a loop is at. */
uint32_t ar_symbol_of_variable(ar_interp *in, const ar_loop *loop,
                               const ar_decl *decl);
/* The pointer in the slot is another one from now on. */
void ar_table_changed(ar_interp *in, uint32_t slot);
uint32_t ar_symbol_plus(ar_interp *in, uint32_t x, int64_t n);
uint32_t ar_symbol_of_load(ar_interp *in, const ar_value *address,
                           const ar_value *loaded);
/* Fills in the symbol of a pointer that was loaded from `fields`, the same
 * field of any record at the address. */
void ar_name_pointer(ar_interp *in, const ar_value *record, uint32_t fields,
                     ar_value *pointer);
/* What is known of the element of this address where the cell's value is
 * `node`, or NULL. */
const ar_focus *ar_focus_at(const ar_interp *in, uint32_t node,
                            const ar_value *address);
bool ar_can_focus(const ar_interp *in, const ar_node *at,
                  const ar_value *address);
/* What the cell holds but for the element of another slot of the table that the
 * address comes from, where one is known apart: a node, or 0. */
uint32_t ar_rest_of_slots(ar_interp *in, uint32_t cell, uint32_t node,
                          const ar_value *address);
/* The value of a cell whose element at the address holds `fresh`. */
uint32_t ar_focus_on(ar_interp *in, ar_node *at, uint32_t cell,
                     const ar_value *address, uint32_t fresh, uint32_t rest);
/* Two values of a cell that meet: what both say of one element stays apart. */
uint32_t ar_join_nodes(ar_interp *in, ar_node *at, uint32_t cell, uint32_t x,
                       uint32_t y);
/* The value at the head of a loop: `before` it, or from the iteration before.
 */
uint32_t ar_loop_node(ar_interp *in, const ar_loop *loop, uint32_t cell,
                      uint32_t before, uint32_t back);
/* A cell's value as it passes a boundary. The fresh part's node has the symbol
 * as its address. */
uint32_t ar_boundary_node(ar_interp *in, ar_node *at, uint32_t cell,
                          uint32_t node);
/* Was it made by ar_loop_node for this loop? */
bool ar_is_head(const ar_interp *in, const ar_loop *loop, uint32_t node);
/* A loop is entered again with what its last pass left at the head. */
void ar_enter_focus(ar_interp *in, uint32_t node);
/* Is one element known apart there? */
bool ar_is_focused(const ar_interp *in, uint32_t node);
/* interp_rows.c: sizes and rows.  An integer of which nothing is known: */
bool ar_is_size(const ar_value *v);
/* Its extent once it is stored there. */
uint32_t ar_new_extent(ar_interp *in, const ar_node *at, uint32_t cell);
/* The row of the variable that the loop steps. */
uint32_t ar_loop_row(ar_interp *in, uint32_t depth);
ar_row ar_row_at(ar_interp *in, uint32_t id);
/* Equal for all addresses in the row. */
uint32_t ar_row_start(ar_interp *in, uint32_t id);
/* Fills in the extent or row of what an operator gives. */
void ar_size_arith(ar_interp *in, ar_op op, const ar_value *a,
                   const ar_value *b, ar_value *v);
void ar_forget_sizes(ar_interp *in, uint32_t loop, ar_value *v);

/* control */
ar_value ar_interp_eval(ar_interp *in, ar_node *node);
/* A term of an update, or an argument, gets a node of its own. */
ar_value ar_as_term(ar_interp *in, ar_node *at, ar_value v);
ar_value ar_interp_address(ar_interp *in, ar_node *node);
/* 1: true, 0: false, -1: unknown */
int ar_truth(ar_interp *in, ar_node *node, ar_value *value);
/* Shifts of indices and pointers; not known if one of them is not. */
#define AR_NO_SHIFT INT64_MAX
int64_t ar_shift_sum(int64_t a, int64_t b);
ar_value ar_arith(ar_interp *in, ar_node *node, ar_op op, ar_value a,
                  ar_value b, const ar_type *a_type, const ar_type *b_type,
                  const ar_type *type);
ar_value ar_interp_convert(ar_interp *in, ar_node *at, ar_value value,
                           const ar_type *from, const ar_type *to);
void ar_interp_exec(ar_interp *in, ar_node *node);
/* The statements of a block from number `from` on. */
void ar_exec_block(ar_interp *in, ar_node *block, uint32_t from);
/* interp_paths.c: states that are not joined yet wait in in->splits. */
uint32_t ar_path_of(ar_interp *in, const ar_node *at, uint32_t branch);
/* True when *taken was set aside instead of being joined with in->state. */
bool ar_fork_branches(ar_interp *in, ar_node *at, ar_state *taken);
/* `to` = an element of a table with several kinds of record; true: each kind
 * waits with its own copy, and in->state is dead. */
bool ar_fork_kinds(ar_interp *in, ar_node *at, const ar_value *to,
                   const ar_value *from, const ar_type *type);
/* The element for records of the kind that `source` is of, or 0. */
uint32_t ar_kind_cell(ar_interp *in, ar_target to, uint32_t source,
                      const ar_type *type);
/* Runs the rest of the block for all that waits since `first`, and joins. */
void ar_run_splits(ar_interp *in, ar_node *block, uint32_t next,
                   uint32_t first);
void ar_join_splits(ar_interp *in, ar_node *at, uint32_t first);
/* Notes what integers are on the branch where the condition holds or not. */
void ar_assume(ar_interp *in, ar_node *condition, bool holds);
void ar_exec_loop(ar_interp *in, ar_node *node);
/* interp_jump.c: where the state goes at a GOTO; what comes in at a LABEL. */
ar_state *ar_jump_from(ar_interp *in, ar_node *node);
void ar_pass_label(ar_interp *in, ar_node *node);
/* A local pointer with one initialiser or assignment and nothing else. */
bool ar_is_set_once(const ar_interp *in, const ar_decl *variable);
/* A loop statement, not the threads of a launch. */
bool ar_is_loop(const ar_node *node);
/* Runs `pass` until the cells that one iteration hands to the next are known.
 * A pass takes in->state to the back edge and leaves what gets out in *exits.
 * `node` is what the loop is known by; it need not be a loop statement. */
typedef void ar_loop_pass(ar_interp *in, ar_node *node, void *context,
                          ar_state *exits);
void ar_iterate(ar_interp *in, ar_node *node, ar_loop_pass *run, void *context);
void ar_init_variable(ar_interp *in, ar_node *at, ar_decl *decl);
void ar_init_cell(ar_interp *in, ar_node *at, const ar_value *address,
                  const ar_type *type, ar_node *init);
ar_value ar_interp_call(ar_interp *in, ar_node *node);
/* interp_launch.c: a kernel launch is a loop over blocks around a loop over
 * threads. */
void ar_interp_launch(ar_interp *in, ar_node *node);
/* The value of threadIdx.x and its like; false: an ordinary variable. */
bool ar_thread_value(const ar_interp *in, const ar_node *node, ar_value *value);
/* What the functions of cooperative groups return: the place of a thread, a
 * sum over threads. */
bool ar_thread_call(ar_interp *in, const ar_node *call, ar_value *value);
/* What an operator makes of numbers that follow the threads. */
ar_value ar_thread_arith(const ar_interp *in, ar_op op, const ar_value *a,
                         const ar_value *b);
/* Can a thread (block) find in the cell what another one of this launch wrote?
 * Without an atomic operation or a barrier in between that would be a race. */
bool ar_threads_share(const ar_interp *in, uint64_t loop_bit,
                      const ar_access *access);
/* An if statement that only keeps some threads out, as `if (i < n)`: 1 when
 * its body runs for the others, 0 when it sends the rest away, -1: no such. */
int ar_thread_guard(const ar_interp *in, const ar_node *node,
                    const ar_value *condition);
/* What is passed for a parameter: references and records by address. */
ar_value ar_interp_argument(ar_interp *in, ar_node *arg, const ar_decl *param,
                            const ar_type **type);
/* Runs a function that was given its arguments as values. */
ar_value ar_run_function(ar_interp *in, ar_node *call, ar_decl *function,
                         const ar_value *args, const ar_type *const *types,
                         uint32_t count);
/* interp_rules.c: a call of a function that a rule describes; false: no rule
 * says what it does. */
bool ar_apply_rule(ar_interp *in, ar_node *call, const ar_decl *callee,
                   ar_value *args, const ar_type *const *types, uint32_t count,
                   ar_value *result);
/* Memory of floats, by the static type or by what is known to lie there. */
bool ar_points_to_floats(ar_interp *in, const ar_value *v, const ar_type *type);
/* What a call gives of which nothing is known. */
ar_value ar_unknown_result(ar_interp *in, ar_node *call);
/* interp_inert.c: functions that cannot reach a float. */
typedef struct ar_inert ar_inert;
void ar_find_inert(ar_interp *in);
bool ar_is_inert(const ar_interp *in, const ar_decl *function);
/* What such a call leaves behind. */
void ar_skip_call(ar_interp *in, ar_node *call, const ar_value *args,
                  uint32_t count);
ar_value ar_allocate(ar_interp *in, ar_node *call, bool zero);
uint32_t ar_function_target(ar_interp *in, ar_decl *function);

/* syntax */
ar_node *ar_interp_parent(const ar_interp *in, const ar_unit *unit,
                          const ar_node *node);
/* Which of its parent's kids it is. */
uint32_t ar_interp_position(const ar_interp *in, const ar_unit *unit,
                            const ar_node *node);
ar_unit *ar_context_unit(const ar_interp *in, uint32_t context);

#endif
