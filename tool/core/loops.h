/* What a loop nest over float memory looks like. A heuristic on the text of
 * its stores, for the audit only: nothing is rewritten on its word. */
#ifndef AR_LOOPS_H
#define AR_LOOPS_H

#include "core/facts.h"

typedef enum ar_loop_shape {
    AR_LOOP_NONE, /* stores no float */
    AR_LOOP_ELEMENTWISE,
    AR_LOOP_REDUCTION,
    AR_LOOP_CONTRACTION /* sums a product of two arrays, each used again: what
                           a GEMM does */
} ar_loop_shape;

/* nest: a FOR, WHILE or DO. */
ar_loop_shape ar_loop_shape_of(ar_arena *arena, const ar_node *nest);
const char *ar_loop_shape_name(ar_loop_shape shape);

#endif
