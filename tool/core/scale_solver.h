/* What the search for a placement (scale_degree.c) and the check of it
 * (scale_check.c) share. A solver lives for one placement, in the arena of the
 * analysis. */
#ifndef AR_SCALE_SOLVER_H
#define AR_SCALE_SOLVER_H

#include "core/scale_analysis.h"

/* Bits of ar_placement.degree. STALE: the cell may still hold what an earlier
 * iteration left; AGED: the value was made from such. */
enum { D0 = 1, D1 = 2, BAD = 4, STALE = 8, AGED = 16 };

typedef struct ar_solver {
    ar_analysis *a;
    ar_placement *p;
    bool *must;         /* must have degree 0 */
    bool *can;          /* can be made to have degree 1 */
    bool *could;        /* could, but for `must`; when asked for */
    uint32_t *must_via; /* the next node on the way to the sink, or itself */
    int *must_sink;
    uint32_t *via; /* demanded: who wants it */
    ar_idtable seeded;
    ar_idtable barred; /* places with an instance that must have degree 0 */
    ar_repeats *repeats;
} ar_solver;

static inline const ar_vnode *ar_solver_node(const ar_solver *s, uint32_t id) {
    return AR_VN(s->a->in, id);
}

/* Index into the regions of the placement, or -1. */
int ar_region_of(const ar_solver *s, uint32_t cell);
bool ar_is_unscale(const ar_solver *s, uint32_t id);
bool ar_is_carry(const ar_solver *s, uint32_t id);
bool ar_is_update_store(const ar_solver *s, uint32_t id);
bool ar_is_seed(const ar_solver *s, uint32_t id);

/* Computes every degree; adds what is wrong to the conflicts. */
void ar_check_placement(ar_solver *s);

#endif
