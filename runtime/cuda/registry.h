/* registry.h - which device memory holds parameters and gradients.
 *
 * The segments of runtime/segments.h under one lock. The registry owns the
 * copies kept for AMP_GRAD_CARRY (device memory), nothing else.
 */
#ifndef AMP_CUDA_REGISTRY_H
#define AMP_CUDA_REGISTRY_H

#include <amp/amp_cuda.h>

#include "segments.h"

#include <stdbool.h>

/* Calls visit on each gradient of the group in address order, under the lock;
 * visit must not call the registry. Stops at the first status that is not
 * AMP_OK and returns it. */
amp_status amp_cuda_registry_gradients(int group,
                                       amp_status (*visit)(amp_segment *s,
                                                           void *context),
                                       void *context);

/* Is the whole of p..p+bytes inside parameters? Adjacent segments count as
 * one. */
bool amp_cuda_registry_is_param(const void *p, size_t bytes);

/* Does p..p+bytes touch a parameter? */
bool amp_cuda_registry_touches_param(const void *p, size_t bytes);

/* A copy of the segment that holds p; false if there is none. */
bool amp_cuda_registry_find(const void *p, amp_segment *found);

/* Changes whenever a segment comes, goes or changes. */
uint64_t amp_cuda_registry_version(void);

/* Did a registration of the group fail since the last call? */
bool amp_cuda_registry_take_failure(int group);

#endif
