/* buffers.h - which host memory holds parameters and gradients.
 *
 * The segments of segments.h under one read-write lock. The registry owns the
 * copies that it keeps for AMP_GRAD_CARRY, nothing else.
 */
#ifndef AMP_BUFFERS_H
#define AMP_BUFFERS_H

#include <amp/amp.h>

#include "segments.h"

#include <stdbool.h>

/* Calls visit on each segment of the group with role AMP_GRAD or
 * AMP_GRAD_CARRY, in address order, under the lock: visit must not call the
 * registry. Stops at the first false. Returns how many it visited. */
size_t amp_buffers_gradients(int group,
                             bool (*visit)(amp_segment *s, void *context),
                             void *context);

/* Is the whole of p..p+bytes inside parameters? Adjacent segments count as
 * one. */
bool amp_buffers_is_param(const void *p, size_t bytes);

/* Does p..p+bytes touch a parameter? */
bool amp_buffers_touch_param(const void *p, size_t bytes);

/* The segment that holds p; false if there is none. The copy is good until
 * the buffer is freed. */
bool amp_buffers_find(const void *p, amp_segment *found);

/* Did the registration of a gradient of the group fail since the last call? */
bool amp_buffers_take_failure(int group);

#endif
