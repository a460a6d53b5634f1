/* Storage facts: which memory is one memory.
 *
 * Everything a level that changes storage needs to know about the float memory
 * of a program, and what the audit says about it (docs/storage-facts.md). A
 * *slot* is one pointer level of an entity; a *class* is memory that several
 * slots share and that therefore has one element type. Classes are found by
 * unification, one function at a time, callees first: memory a function only
 * reaches through its parameters and result is *generic* and stands for other
 * memory at every call. A field is one slot for all objects of its struct, but
 * for structs that are told apart by object.
 *
 * Ids of slots, classes and sites are positions in their vectors, and the
 * vectors are sorted by place in the text, so that two runs with the units
 * given in another order print the same. Everything lives in the arena given
 * and is read-only. */
#ifndef AR_STORAGE_H
#define AR_STORAGE_H

#include "base/map.h"
#include "core/program.h"
#include "rules/rules.h"

#define AR_NO_ID UINT32_MAX

/* A place in the program's text, with who owns it. */
typedef struct ar_where {
    ar_unit *unit;     /* NULL: no place */
    ar_decl *function; /* NULL: outside functions */
    ar_range range;
} ar_where;

/* What an access, a cast or a declaration takes a memory cell for. */
typedef enum ar_scalar_kind {
    AR_SCALAR_FLOAT,
    AR_SCALAR_DOUBLE,
    AR_SCALAR_HALF,
    AR_SCALAR_BYTE, /* a char type that is read or written */
    AR_SCALAR_INT,
    AR_SCALAR_POINTER,
    AR_SCALAR_VECTOR, /* of floats: can be rewritten, does not pin */
    AR_SCALAR_RECORD,
    AR_SCALAR_KINDS
} ar_scalar_kind;

/* What keeps a class in FP32. What can be rewritten is a site instead. */
typedef enum ar_pin_kind {
    AR_PIN_REINTERPRETED, /* also used as another scalar type */
    AR_PIN_UNION,         /* in a union */
    AR_PIN_RECORD, /* its struct is used as plain memory or as another struct */
    AR_PIN_FOREIGN_CALL,   /* address handed to a function nobody described */
    AR_PIN_FOREIGN_RESULT, /* memory comes from such a function */
    AR_PIN_CALLBACK,       /* parameter of a function that foreign code calls */
    AR_PIN_FOREIGN_OBJECT, /* extern variable that no unit defines */
    AR_PIN_OUTSIDE,        /* declared in a file that may not be edited */
    AR_PIN_FROM_INTEGER,   /* an integer is converted to the pointer */
    AR_PIN_TO_INTEGER,     /* the pointer is converted to an integer */
    AR_PIN_VARARGS,        /* the pointer goes through '...' of own code */
    AR_PIN_LITERAL_BYTES,  /* a byte count not derived from a sizeof */
    AR_PIN_SEVERAL_TYPES,  /* one source, compiled with several types */
    AR_PIN_UNMODELLED,     /* in an expression the tool does not model */
    AR_PIN_KINDS
} ar_pin_kind;

typedef struct ar_pin {
    ar_pin_kind kind;
    const char *reason; /* plain words, no place: "reinterpreted as int" */
    ar_where where;
} ar_pin;

typedef enum ar_accumulator_kind {
    AR_ACCUMULATE_INVARIANT, /* an enclosing loop does not move the target */
    AR_ACCUMULATE_SCATTER,   /* the index is loaded from memory */
    AR_ACCUMULATE_OVERLAP,   /* different iterations may meet one element */
    AR_ACCUMULATE_CALL,      /* the callee reads, adds, writes; see INVARIANT */
    AR_ACCUMULATE_KINDS
} ar_accumulator_kind;

typedef struct ar_accumulator {
    ar_accumulator_kind kind;
    ar_where where; /* the store or the call */
    ar_node *node;
    /* the innermost and the outermost loop that repeat it without moving its
     * target; NULL: SCATTER, OVERLAP. If both are the training loop, it is an
     * update from step to step and no sum. */
    ar_node *inner_loop, *outer_loop;
    ar_node **loops; /* all of them, from the inside */
    uint32_t loop_count;
    uint32_t class_id;
} ar_accumulator;

typedef struct ar_kind_use {
    ar_scalar_kind kind;
    ar_where where; /* the first one in the text */
} ar_kind_use;

/* One pointer level of an entity. float **tab has tab/0 (the variable), tab/1
 * and tab/2; an array counts as a level. A local pointer has one slot per web:
 * per group of assignments that some read sees together. */
typedef struct ar_slot {
    uint32_t id;
    ar_entity *entity; /* variable, parameter, field; function: its result */
    uint32_t level;
    bool is_float;  /* the level that holds floats */
    bool is_scalar; /* level 0 and no array: a single float */
    uint32_t web, web_count;
    uint32_t object;    /* 1 + the object that the field is of; 0: of all */
    const char *holder; /* what holds the object, or NULL */
    ar_where where;     /* the declaration; later webs: the first assignment */
    uint32_t class_id;
} ar_slot;

/* Byte ranges that a decision may have to change. */
typedef enum ar_site_kind {
    AR_SITE_DECLARATION, /* the float token of a declaration */
    AR_SITE_CAST,        /* the float token of a cast */
    AR_SITE_SIZEOF,
    AR_SITE_LOAD,
    AR_SITE_STORE,
    AR_SITE_COMPOUND_STORE,
    AR_SITE_ADDRESS_OF,  /* address of one element */
    AR_SITE_LITERAL,     /* stored as is */
    AR_SITE_INITIALISER, /* of an array of floats */
    AR_SITE_VECTOR,      /* SIMD load or store of floats */
    AR_SITE_ALLOCATION,
    AR_SITE_COPY, /* memcpy and the like */
    AR_SITE_CLEAR,
    AR_SITE_FILE, /* file input or output of a buffer */
    AR_SITE_CALL, /* passes the memory to own code or to an op */
    AR_SITE_LAUNCH,
    AR_SITE_VARARGS_VALUE,   /* printf("%f", x[i]) */
    AR_SITE_VARARGS_ADDRESS, /* scanf("%f", &x[i]) */
    AR_SITE_RECORD,          /* names a struct that is told apart by object */
    AR_SITE_KINDS
} ar_site_kind;

typedef struct ar_site {
    ar_site_kind kind;
    ar_where where;
    ar_node *node; /* NULL: DECLARATION */
    ar_decl *decl; /* DECLARATION; CALL: the callee; else NULL */
    bool in_macro_body, in_macro_argument;
    /* SIZEOF: none, one or several; DECLARATION: one per web of the entity;
     * else one */
    uint32_t *classes;
    uint32_t class_count;
    uint32_t *objects; /* RECORD: whose struct is named */
    uint32_t object_count;
} ar_site;

/* Memory of a struct that is told apart by object: an object, or all that one
 * pointer may point to. */
typedef struct ar_storage_object {
    ar_entity *record;
    const char *name;        /* what holds it, or NULL */
    const uint32_t *classes; /* by field; AR_NO_ID: no pointer to floats */
} ar_storage_object;

typedef enum ar_flow_kind {
    AR_FLOW_MEMORY, /* a pointer is copied: one memory */
    AR_FLOW_VALUE,  /* a float is read and written: free to convert */
    AR_FLOW_BYTES   /* memcpy between two float buffers: a converting copy */
} ar_flow_kind;

typedef struct ar_flow {
    ar_flow_kind kind;
    uint32_t from, to;            /* classes; equal for MEMORY */
    ar_decl *from_decl, *to_decl; /* whose memory; NULL: an expression */
    ar_where where;
} ar_flow;

/* What a call (or a mention of a function as a value) puts in place of the
 * callee's generic classes. */
typedef struct ar_storage_call {
    ar_where where;
    ar_node *node; /* CALL, LAUNCH or REF */
    ar_entity *callee;
    struct ar_instance {
        uint32_t generic, actual;
    } *instances;
    uint32_t instance_count;
} ar_storage_call;

typedef struct ar_storage_class {
    uint32_t id;
    const char *name; /* for messages: the best slot in the program's words:
                         "layer.weights", "main:x" */
    const uint32_t *slots; /* is_float ones */
    uint32_t slot_count;
    bool is_global;
    ar_decl *generic_of; /* the function it is generic in, or NULL */
    /* GENERIC: the classes that are not generic it stands for; else itself */
    const uint32_t *concrete;
    uint32_t concrete_count;
    const ar_kind_use *kinds;
    uint32_t kind_count;
    const ar_pin *pins; /* one per kind, the first in the text */
    uint32_t pin_count;
    const uint32_t *accumulators; /* in own text and in what calls do to it */
    uint32_t accumulator_count;
    bool accumulates; /* own or through an instance */
    const uint32_t *sites;
    uint32_t site_count;
    uint32_t site_counts[AR_SITE_KINDS];
    /* a pointer field or local whose memory every function writes before it
     * reads: its uses are kept apart, this is one of them */
    bool is_scratch;
} ar_storage_class;

/* One allocation that a loop hands out in parts, by a table of the addresses of
 * the pointers and an array of lengths:
 *
 *     float *memory = malloc(total * sizeof(float));
 *     float **table[] = {&t->a, &t->b}, *it = memory;
 *     for (int i = 0; i < 2; i++) {
 *         *table[i] = it;
 *         it += lengths[i];
 *     }
 *
 * Each part is a class of its own, taken to be used within its length, and the
 * memory as a whole is another one. */
typedef struct ar_storage_arena {
    ar_where where;        /* the loop */
    ar_decl *table;        /* a local of the function */
    ar_node *lengths;      /* names the array */
    ar_node *store, *step; /* in the loop */
    ar_node *sum;          /* total += lengths[i]; */
    ar_node *sum_loop;     /* the loop that does so, a statement */
    ar_node *allocation;   /* the call; NULL: there is a problem */
    /* why the text does not show that the allocation is the sum of the lengths
     * and nothing else; NULL: it does */
    const char *problem;
    ar_range problem_at;
    uint32_t whole; /* class of the memory as a whole */
    struct ar_arena_part {
        ar_node *pointer; /* the lvalue whose address is in the table */
        uint32_t class_id;
    } *parts;
    uint32_t part_count;
} ar_storage_arena;

typedef struct ar_storage_facts {
    AR_VEC(ar_slot) slots;
    AR_VEC(ar_storage_class) classes; /* that hold floats */
    AR_VEC(ar_flow) flows;
    AR_VEC(ar_accumulator) accumulators;
    AR_VEC(ar_site) sites;
    AR_VEC(ar_storage_call) calls;
    AR_VEC(ar_storage_object) objects;
    /* MEMBER node of such an object, REF node of a local that has webs ->
     * 1 + class; of several classes: AR_NO_ID + 1 */
    ar_table members;
    AR_VEC(ar_storage_arena) arenas; /* as their places are in the text */
    const uint32_t *first_slot; /* by entity: its first float slot + 1, or 0 */
    const uint32_t *next_slot;  /* by slot: the next of its entity + 1, or 0 */
    uint32_t cell_count;        /* size of the graph */
    double seconds;
} ar_storage_facts;

/* Never NULL. A program without float memory gives empty vectors. apart: by
 * entity, structs whose objects are told apart if they are nothing but structs;
 * NULL: none. */
ar_storage_facts *ar_storage_collect(ar_arena *arena, ar_program *program,
                                     const ar_rules *rules, const bool *apart,
                                     ar_diags *diags);

/* The class of the float memory behind a decl's first web, or NULL. */
const ar_storage_class *ar_storage_of(const ar_storage_facts *facts,
                                      ar_program *program, const ar_decl *decl);

/* Does the store (ASSIGN, COMPOUND_ASSIGN, ++) add to the element it writes? */
bool ar_reads_its_target(ar_node *store);

/* The rule is memcmp's or that of one of its kin. */
bool ar_compares_bytes(const ar_function_rule *rule);

const char *ar_scalar_name(ar_scalar_kind kind);
const char *ar_pin_name(ar_pin_kind kind);
const char *ar_site_name(ar_site_kind kind);
const char *ar_accumulator_name(ar_accumulator_kind kind);
/* "layer.weights/1", "main:x/1#2" (its second web), "make:result/1" */
const char *ar_slot_name(ar_arena *arena, const ar_slot *slot);

/* --dump-after=flows */
void ar_storage_dump(FILE *out, ar_program *program,
                     const ar_storage_facts *facts);
/* One line of counts per topic: the columns of docs/storage-facts.md. */
void ar_storage_print_counts(FILE *out, ar_program *program,
                             const ar_storage_facts *facts);

#endif
