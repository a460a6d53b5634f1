/* cast_cache.h - cast copies of parameters, made once per optimizer step.
 *
 * A copy is used only between two calls of amp_cast_cache_renew (which
 * amp_step_end and amp_params_changed make), never before the first and never
 * while a step is open: what the optimizer writes meanwhile is not seen stale.
 * Copies are counted, so one in use is not overwritten by another thread.
 * AMP_CHECK_CASTS=1 casts again on each hit and compares.
 */
#ifndef AMP_CAST_CACHE_H
#define AMP_CAST_CACHE_H

#include <amp/amp.h>

#include "operand.h"

typedef struct amp_cast amp_cast;

/* The cast of m, or NULL: m is not a parameter, the cache is off, or *status
 * tells what went wrong (it is AMP_OK otherwise). A copy has to be released. */
amp_cast *amp_cast_cache_get(const amp_matrix *m, amp_operand_kind kind,
                             amp_status *status);
const void *amp_cast_data(const amp_cast *cast);
void amp_cast_release(amp_cast *cast);

/* The optimizer of this group may write parameters from now on. */
void amp_cast_cache_suspend(int group);
/* It is done: copies made before are void. */
void amp_cast_cache_resume(int group);
void amp_cast_cache_renew(void);

/* For caches of other memory: the number that a copy made now is good under,
 * or 0 while no copy may be kept. */
uint64_t amp_cast_cache_generation(void);

/* These bytes are about to be written, outside a step: copies of them are
 * void. */
void amp_cast_cache_written(const void *start, size_t bytes);

/* The memory is no parameter any more. */
void amp_cast_cache_drop(const void *start, size_t bytes);

typedef struct amp_cast_stats {
    uint64_t hits;
    uint64_t casts;
    size_t entries;
} amp_cast_stats;

amp_cast_stats amp_cast_cache_stats(void);

#endif
