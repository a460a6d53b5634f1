/* Sums in memory that an FP32 scratch can hold.
 *
 * A loop that adds to one element, or to one row of elements, again and again
 * would round every partial sum in half. Where the text shows that the loop
 * touches that memory by this element or row only, and always, the sums are
 * made in FP32 beside it, and it gets each result once, behind the loop
 * (core/plan_storage_sums.c). What is found here depends on the program and not
 * on what is stored how: a scratch is used where its memory is in half.
 * Everything lives in the arena given and is read-only. */
#ifndef AR_STORAGE_SUMS_H
#define AR_STORAGE_SUMS_H

#include "core/scale.h"
#include "core/storage_index.h"

typedef enum ar_sum_form {
    AR_SUM_ELEMENT, /* one element: a local float */
    AR_SUM_ROW      /* elements 0 to n of a row: a buffer of libamp's */
} ar_sum_form;

typedef struct ar_sum_access {
    const ar_node *lvalue;
    const char *text; /* what the scratch has in its place */
} ar_sum_access;

typedef struct ar_sum_scratch {
    ar_sum_form form;
    ar_where where; /* the loop */
    ar_node *loop;
    uint32_t class_id;
    const char *name;   /* of the local */
    const char *memory; /* the element; the row, as a pointer or array */
    const char *count;  /* ROW: its length */
    const char *guard;  /* what must be true for it to run; NULL: it does */
    bool starts; /* a store in front of the loop sets it: what is added to was
                    not there in the last call */
    AR_VEC(ar_sum_access) accesses;
} ar_sum_scratch;

/* Why a sum has no scratch. */
typedef struct ar_sum_problem {
    const char *why; /* without the place */
    ar_range at;
} ar_sum_problem;

typedef struct ar_storage_sums {
    AR_VEC(ar_sum_scratch *) list; /* in the order of the facts */
    ar_map at;                     /* lvalue of an access -> ar_sum_scratch */
    ar_sum_scratch **of;           /* by accumulator; NULL: none */
    ar_sum_problem *problems;      /* by accumulator */
} ar_storage_sums;

/* scale may be NULL: no training loop is known. Never NULL. */
ar_storage_sums *ar_storage_find_sums(ar_arena *arena, ar_program *program,
                                      const ar_storage_facts *facts,
                                      const ar_storage_index *index,
                                      const ar_scale *scale);

/* ---- for storage_sum*.c only --------------------------------------------- */

typedef struct ar_sum_search {
    ar_arena *arena;
    ar_program *program;
    ar_where where; /* the loop */
    ar_node *loop;
    const ar_node *parent; /* what the loop stands in */
    ar_table wanted; /* lvalues of the memory in the loop: 1, stored to: 2 */
} ar_sum_search;

/* storage_sum_shape.c: the form of a scratch for all the wanted lvalues, of
 * which this one is a sum's, but for its class and name; NULL: problem. */
ar_sum_scratch *ar_sum_shape(const ar_sum_search *search, const ar_node *sum,
                             ar_sum_problem *problem);

#endif
