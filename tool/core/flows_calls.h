/* A call, as the two files see it that say what calls do to memory: of code
 * that has no body here (flows_rules.c) and of the program's own functions
 * (flows_calls.c). */
#ifndef AR_FLOWS_CALLS_H
#define AR_FLOWS_CALLS_H

#include "core/flows.h"

typedef struct ar_flow_argument {
    ar_node *node;
    uint32_t target;     /* what a pointer argument points to */
    uint32_t first_load; /* the floats its value was computed from */
    uint32_t load_count;
} ar_flow_argument;

typedef struct ar_flow_call {
    ar_node *node;
    ar_decl *callee; /* NULL: through a pointer */
    const ar_function_rule *rule;
    ar_flow_argument *args;
    uint32_t count;
} ar_flow_call;

/* For messages. */
const char *ar_flow_callee(const ar_flow_call *c);
/* A site of the call, unless nothing is evaluated or there is no cell. */
void ar_flow_site(ar_walk *w, const ar_flow_call *c, ar_site_kind kind,
                  ar_node *at, uint32_t cell);
/* The call adds to the memory: a sum, if a loop repeats it. */
void ar_flow_repeated(ar_walk *w, const ar_flow_call *c,
                      const ar_flow_argument *arg, uint32_t memory);
/* What the rule says, or a function that none describes may do; the cell that a
 * pointer result points to. */
uint32_t ar_flow_by_rule(ar_walk *w, const ar_flow_call *c);

#endif
