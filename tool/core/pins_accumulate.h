/* Loops of one function and what they assign; private to pins_*.c.
 *
 * A store adds to memory again and again when a loop around it moves nothing
 * that its target depends on. What an expression depends on is a set of
 * variables; a local that one plain assignment in the loop defines stands for
 * what it was computed from, and so does one that walks on from there. */
#ifndef AR_PINS_ACCUMULATE_H
#define AR_PINS_ACCUMULATE_H

#include "core/flows.h"

typedef struct ar_loop {
    ar_node *node;
    struct ar_loop *outer;
    uint64_t control; /* for (v = start; ...): v; else 0 */
    ar_node *start;
    ar_map assigned; /* variable key -> ar_assignment */
} ar_loop;

typedef struct ar_assignment {
    ar_node *value; /* of the only assignment, if that is a plain one */
    /* of the only plain assignment beside steps (`e++`, `k += 2`): the variable
     * walks from here anew each time; NULL: none, or several */
    ar_node *start;
    ar_loop *start_loop; /* the innermost one around it */
    bool is_lost;        /* may be set in ways not listed here */
} ar_assignment;

struct ar_accumulation {
    ar_graph *g;
    ar_map loop_of;  /* store or call -> innermost ar_loop */
    ar_map assigned; /* in the function: variable key -> ar_assignment */
};

/* 0 when the node is not a variable. */
uint64_t ar_variable_key(const ar_accumulation *a, const ar_node *node);
/* May two iterations of the loops around a store meet at one index? */
bool ar_index_overlaps(const ar_accumulation *a, ar_loop *loop,
                       ar_node *target);

#endif
