/* The graph behind storage facts; private to slots*.c, flows*.c, pins*.c and
 * sites*.c.
 *
 * A *cell* is a piece of memory: a variable, what a pointer points to, a field
 * (of all objects of its struct), a function. Cells are numbered from 1, 0
 * means none. unify() makes two cells one and whatever they point to as well.
 * What is known of a cell is a sorted, immutable list of facts, one of each
 * kind, so that lists are shared when a summary is copied to a call. */
#ifndef AR_SLOTS_H
#define AR_SLOTS_H

#include "core/storage.h"
#include "base/map.h"

/* Facts of a cell: scalar kinds, then pins, then accumulators, then that a
 * callee updates it, then that a function is called through a pointer, then
 * what updates it depends on. */
enum {
    AR_FACT_SCALAR = 0,
    AR_FACT_PIN = AR_FACT_SCALAR + AR_SCALAR_KINDS,
    AR_FACT_ACCUMULATOR = AR_FACT_PIN + AR_PIN_KINDS,
    AR_FACT_UPDATED = AR_FACT_ACCUMULATOR + AR_ACCUMULATE_KINDS,
    AR_FACT_CALLED,
    /* + entity of a parameter: the function that has it updates the memory,
     * unless it is called with zero for it */
    AR_FACT_SCALED
};

typedef struct ar_fact {
    const struct ar_fact *next; /* of a greater kind */
    uint32_t kind;
    ar_where where;
    const char *text; /* pins: the reason */
    uint32_t index;   /* accumulators: into facts->accumulators */
} ar_fact;

typedef struct ar_cell {
    uint32_t parent, rank;
    uint32_t pointee;
    bool is_global; /* reachable from a variable or field: never copied */
    uint32_t *params;
    uint32_t param_count, result; /* function cells */
    bool has_body;                /* one of the functions in it is known */
    const ar_decl *record;        /* memory of a struct */
    uint32_t *fields; /* a struct told apart by object: by index in the struct,
                         0 for a field that all objects share */
    uint32_t field_count;
    const ar_fact *facts;
    uint32_t owner; /* index of the function it was made in + 1; 0: none */
    bool is_generic;
    uint32_t copy_of_epoch, copy; /* while a summary is copied */
    uint32_t class_id;            /* when all is done */
} ar_cell;

typedef struct ar_edge { /* a byte count flows: value of from into to */
    uint32_t from, to;
} ar_edge;

typedef struct ar_sink { /* a byte count is applied to memory */
    uint32_t count, memory;
    ar_where where;
    const char *what; /* "malloc" */
    uint32_t origin;  /* sink + 1 of the text that this is an instance of */
} ar_sink;

typedef struct ar_size_source {
    uint32_t cell, site;
} ar_size_source;

typedef struct ar_raw_flow {
    ar_flow_kind kind;
    uint32_t from, to;
    ar_decl *from_decl, *to_decl;
    ar_where where;
} ar_raw_flow;

typedef struct ar_raw_call {
    ar_where where;
    ar_node *node;
    ar_entity *callee;
    ar_edge *map; /* generic cell -> cell in the caller */
    uint32_t map_count;
} ar_raw_call;

typedef struct ar_raw_site {
    ar_site site;
    uint32_t cell; /* 0: none yet */
} ar_raw_site;

/* An object, or objects that one pointer may point to, of a struct whose
 * objects are told apart. */
typedef struct ar_raw_object {
    uint32_t cell;
    ar_entity *record;
    const char *name; /* what holds it best, or NULL */
    int rank;         /* of the name, as for slots */
} ar_raw_object;

/* MEMBER that names a field of such an object, REF that names a local which is
 * kept in versions */
typedef struct ar_raw_member {
    ar_node *node;
    uint32_t cell;
} ar_raw_member;

typedef struct ar_web { /* a version of a local, kept for its slot */
    ar_entity *entity;
    uint32_t cell;
    ar_where where;
    uint32_t version; /* while its function is read */
    bool is_used;
} ar_web;

typedef struct ar_function {
    ar_entity *entity;
    ar_decl *decl; /* with the body */
    ar_unit *unit;
    uint32_t cell;
    AR_VEC(uint32_t) callees; /* functions */
    uint32_t component;       /* strongly connected; callees have smaller */
    bool is_done;             /* generalised: calls copy it */
    bool is_called;
    ar_edge *size_edges; /* summary: from the interface to the interface, to
                            global cells or to sinks */
    uint32_t size_edge_count;
    ar_sink *sinks;
    uint32_t sink_count;
    ar_size_source *sources; /* sizeofs that reach its result or cells behind
                                its parameters */
    uint32_t source_count;
} ar_function;

typedef struct ar_mixture { /* one memory is seen as two structs */
    const ar_decl *one, *other;
    ar_where where;
} ar_mixture;

typedef struct ar_graph {
    ar_arena *arena;
    ar_program *program;
    const ar_rules *rules;
    ar_diags *diags;
    ar_storage_facts *facts;
    AR_VEC(ar_cell) cells;
    AR_VEC(ar_function) functions;
    uint32_t *function_of; /* by entity: function + 1, 0 none */
    uint32_t *entity_cell; /* by entity: cell, 0 none yet */
    uint32_t owner;        /* function being read + 1 */
    uint32_t epoch;
    uint32_t *marks; /* by cell, for walks; grown by ar_marks() */
    uint32_t mark_count, walk;
    AR_VEC(ar_edge) pending; /* unifications to do */
    AR_VEC(ar_edge) edges;
    AR_VEC(ar_sink) sinks;
    AR_VEC(ar_size_source) sources;
    AR_VEC(ar_raw_flow) flows;
    AR_VEC(ar_raw_call) calls;
    AR_VEC(ar_raw_site) sites;
    AR_VEC(ar_web) webs;
    AR_VEC(uint32_t) accumulator_cells; /* beside facts->accumulators */
    bool *is_scratch;                   /* by entity */
    ar_map scratch_uses; /* entity, function: has memory of its own there */
    bool *is_apart;      /* by entity: a struct whose objects are told apart */
    bool *is_mixed;      /* ... and that turned out to be seen as something else
                            too; NULL: none is told apart */
    AR_VEC(ar_mixture) mixtures;
    ar_table mixed; /* pairs of entities: are in mixtures */
    AR_VEC(ar_raw_object) objects;
    ar_map object_at; /* root cell -> object + 1 */
    AR_VEC(ar_raw_member) members;
    /* by entity of the table: 1 + index in facts->arenas; until classes are
     * numbered, their class ids are cells, 0 at first */
    ar_map arena_of;
} ar_graph;

/* ---- slots_graph.c: cells ------------------------------------------------ */

uint32_t ar_cell_new(ar_graph *g);
uint32_t ar_cell_find(ar_graph *g, uint32_t cell);
uint32_t ar_cell_pointee(ar_graph *g, uint32_t cell);
uint32_t ar_cell_param(ar_graph *g, uint32_t function, uint32_t index);
uint32_t ar_cell_result(ar_graph *g, uint32_t function);
void ar_cell_unify(ar_graph *g, uint32_t a, uint32_t b);
void ar_cell_make_global(ar_graph *g, uint32_t cell);
void ar_cell_fact(ar_graph *g, uint32_t cell, uint32_t kind, ar_where where,
                  const char *text, uint32_t index);
void ar_cell_pin(ar_graph *g, uint32_t cell, ar_pin_kind kind, ar_where where,
                 const char *reason);
const ar_fact *ar_cell_has(ar_graph *g, uint32_t cell, uint32_t kind);
/* Adds that memory is accessed or declared as this type. */
void ar_cell_typed(ar_graph *g, uint32_t cell, const ar_type *type,
                   ar_where where);
/* The same for what a pointer of this type points to, down all levels. */
void ar_target_typed(ar_graph *g, uint32_t target, const ar_type *pointer,
                     ar_where where);
/* The cell of a variable, parameter, field or function; makes it. */
uint32_t ar_cell_of(ar_graph *g, const ar_decl *decl);
/* Adds what the declared type says. */
void ar_cell_declare(ar_graph *g, uint32_t cell, const ar_entity *entity);
/* A number per cell, 0 at first, that a walk may compare with ++g->walk. */
uint32_t *ar_marks(ar_graph *g);
bool ar_where_before(const ar_where *a, const ar_where *b);

/* ---- slots_objects.c: structs told apart by object ----------------------- */

/* The struct at the bottom of the type if its objects are told apart. */
const ar_decl *ar_apart_record(ar_graph *g, const ar_type *type);
/* The object, down the pointers of the type. */
uint32_t ar_object_below(ar_graph *g, uint32_t cell, const ar_type *type);
/* The memory is of this struct. */
void ar_cell_is_record(ar_graph *g, uint32_t cell, const ar_decl *record);
/* One memory is seen as two structs, whose fields nobody joins. */
void ar_seen_as_both(ar_graph *g, const ar_decl *a, const ar_decl *b,
                     ar_where where);
/* One is the first member of the other, or a head without floats that both
 * have: the fields that they share need not be joined. */
bool ar_can_be_viewed_as(ar_graph *g, const ar_decl *a, const ar_decl *b);
/* The field of every object of its struct, or of this one. */
bool ar_field_is_apart(ar_graph *g, const ar_decl *field);
uint32_t ar_cell_field(ar_graph *g, uint32_t object, const ar_decl *field);
/* Joins what two cells that became one know of their structs. */
void ar_join_records(ar_graph *g, uint32_t root, uint32_t other);
/* An object that is pinned pins what its fields point to. */
void ar_pins_of_objects(ar_graph *g);
/* Notes what turns out to be no plain struct. */
void ar_objects_check(ar_graph *g);
/* A declaration in the words of dumps and messages: "layer.weights",
 * "main:x"; and how well it names memory, 0 best. */
const char *ar_decl_words(ar_arena *arena, const ar_decl *decl);
int ar_decl_rank(const ar_decl *decl);
/* When all text is read: the objects and the places that name their struct. */
void ar_objects_find(ar_graph *g);
void ar_sites_of_records(ar_graph *g);
/* The public objects; the objects of a site, in the place of their cells. */
void ar_objects_make(ar_graph *g);
void ar_site_take_objects(ar_graph *g, ar_site *site);
/* An expression names the struct of this object. */
void ar_site_of_record(ar_graph *g, ar_where where, ar_node *node,
                       uint32_t object);

/* ---- slots_summary.c: generalise and instantiate ------------------------- */

/* Marks the interface of a finished function and makes its size summary. */
void ar_function_generalise(ar_graph *g, ar_function *f, uint32_t first_edge,
                            uint32_t first_sink, uint32_t first_source);
/* The function cell a call uses: a copy when it is generalised. */
uint32_t ar_function_instance(ar_graph *g, ar_function *f, ar_node *node,
                              ar_where where);

/* ---- flows*.c: constraints of the text -------------------------------------
 */

void ar_flows_of_function(ar_graph *g, ar_function *f);
void ar_flows_of_variable(ar_graph *g, ar_unit *unit, ar_decl *variable);

/* ---- flows_bytes.c: byte counts ------------------------------------------ */

/* After all text: gives every sizeof its classes, pins counts without one. */
void ar_bytes_resolve(ar_graph *g);

/* ---- pins.c -------------------------------------------------------------- */

/* Pins that follow from the declarations and from what cells were used as. */
void ar_pins_of_declarations(ar_graph *g);
void ar_pins_of_kinds(ar_graph *g);
void ar_pins_of_unknown_calls(ar_graph *g);
/* Pins what the fields of structs point to that are seen as others. */
void ar_pins_of_mixtures(ar_graph *g);
/* Pins the floats that lie inside a struct. */
void ar_pin_fields(ar_graph *g, const ar_decl *record, ar_where where,
                   const char *reason);

/* ---- pins_unseen.c ------------------------------------------------------- */

/* Pins what attributes and the text of asm name; after those of declarations,
 * which make the cells. */
void ar_pins_of_unseen(ar_graph *g);

/* ---- pins_accumulate.c --------------------------------------------------- */

/* Finds the accumulating stores of a function and tells which calls pass an
 * address that an enclosing loop does not move. */
typedef struct ar_accumulation ar_accumulation;
ar_accumulation *ar_accumulation_of(ar_graph *g, ar_unit *unit,
                                    ar_decl *function);
/* The loops around a place that do not move what it adds to. */
typedef struct ar_repetition {
    ar_node *inner, *outer; /* NULL: no such loop */
    ar_node **loops;        /* all of them, from the inside */
    uint32_t loop_count;
} ar_repetition;
/* Is this store (COMPOUND_ASSIGN, ASSIGN, ++) an accumulator?
 * AR_ACCUMULATE_KINDS: it is not. */
ar_accumulator_kind ar_accumulates(ar_accumulation *a, ar_node *store,
                                   ar_repetition *repeated);
/* Two lvalues that name the same element in one text. */
bool ar_is_same_place(ar_node *x, ar_node *y);
/* Does the function set this variable after its declaration, or may it? */
bool ar_is_assigned(const ar_accumulation *a, const ar_decl *variable);
/* The only value that a local of the function ever has, or NULL. */
ar_node *ar_only_value(const ar_accumulation *a, const ar_decl *variable);
/* The loops around a call that do not move this argument. */
ar_repetition ar_call_repetition(ar_accumulation *a, ar_node *call,
                                 ar_node *argument);

/* ---- sites.c ------------------------------------------------------------- */

uint32_t ar_site_add(ar_graph *g, ar_site_kind kind, ar_where where,
                     ar_node *node, ar_decl *decl, uint32_t cell);
/* Declarations and initialisers; macro arguments. */
void ar_sites_of_declarations(ar_graph *g);
void ar_sites_mark_macros(ar_graph *g);

/* ---- slots_scratch.c ----------------------------------------------------- */

/* Finds pointer fields whose memory is written before it is read. */
void ar_scratch_find(ar_graph *g);

/* ---- slots_arenas.c ------------------------------------------------------ */

/* Finds allocations that are handed out in parts. */
void ar_arenas_find(ar_graph *g);
/* The arena that this table is of, or NULL. */
ar_storage_arena *ar_arena_of_table(ar_graph *g, const ar_decl *table);

/* ---- slots_classes.c ----------------------------------------------------- */

/* Turns cells into slots and classes, raw facts into public ones. */
void ar_classes_make(ar_graph *g);

#endif
