/* buffers.h - which memory holds parameters and gradients.
 *
 * A sorted array of segments under one read-write lock. An allocation starts
 * as one segment; amp_mark splits it, so an arena can hold buffers of several
 * roles. Segments never overlap. The registry owns the copies that it keeps
 * for AMP_GRAD_CARRY, nothing else.
 */
#ifndef AMP_BUFFERS_H
#define AMP_BUFFERS_H

#include <amp/amp.h>

#include <stdbool.h>

typedef struct amp_segment {
    char *start;
    size_t bytes;
    char *base; /* start of the allocation that it is part of */
    amp_role role;
    int group;
    const char *name; /* may be NULL */
    float *saved;     /* AMP_GRAD_CARRY: contents before amp_carry_in */
    bool saved_valid;
} amp_segment;

static inline size_t amp_segment_floats(const amp_segment *s) {
    return s->bytes / sizeof(float);
}

static inline const char *amp_segment_name(const amp_segment *s) {
    return s->name ? s->name : "(unnamed)";
}

/* Calls visit on each segment of the group with role AMP_GRAD or
 * AMP_GRAD_CARRY, in address order, under the lock: visit must not call the
 * registry. Stops at the first false. Returns how many it visited. */
size_t amp_buffers_gradients(int group,
                             bool (*visit)(amp_segment *s, void *context),
                             void *context);

/* Is the whole of p..p+bytes inside parameters? Adjacent segments count as
 * one. */
bool amp_buffers_is_param(const void *p, size_t bytes);

/* The segment that holds p; false if there is none. The copy is good until
 * the buffer is freed. */
bool amp_buffers_find(const void *p, amp_segment *found);

/* Did the registration of a gradient of the group fail since the last call? */
bool amp_buffers_take_failure(int group);

#endif
