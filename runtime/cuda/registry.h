/* registry.h - which device memory holds parameters and gradients.
 *
 * A sorted array of segments under one lock, as runtime/buffers.h keeps for
 * host memory: an allocation starts as one segment and amp_cuda_mark splits
 * it. The registry owns the copies kept for AMP_GRAD_CARRY, nothing else.
 */
#ifndef AMP_CUDA_REGISTRY_H
#define AMP_CUDA_REGISTRY_H

#include <amp/amp_cuda.h>

#include <stdbool.h>

typedef struct amp_cuda_segment {
    char *start;
    size_t bytes;
    char *base; /* start of the allocation that it is part of */
    amp_role role;
    int group;
    int device;
    const char *name; /* may be NULL */
    float *saved;     /* AMP_GRAD_CARRY: contents before carry_in */
    bool saved_valid;
} amp_cuda_segment;

static inline size_t amp_cuda_segment_floats(const amp_cuda_segment *s) {
    return s->bytes / sizeof(float);
}

static inline const char *amp_cuda_segment_name(const amp_cuda_segment *s) {
    return s->name ? s->name : "(unnamed)";
}

static inline bool amp_cuda_segment_is_gradient(const amp_cuda_segment *s) {
    return s->role == AMP_GRAD || s->role == AMP_GRAD_CARRY;
}

/* Calls visit on each gradient of the group in address order, under the lock;
 * visit must not call the registry. Stops at the first status that is not
 * AMP_OK and returns it. */
amp_status amp_cuda_registry_gradients(int group,
                                       amp_status (*visit)(amp_cuda_segment *s,
                                                           void *context),
                                       void *context);

/* Is the whole of p..p+bytes inside parameters? Adjacent segments count as
 * one. */
bool amp_cuda_registry_is_param(const void *p, size_t bytes);

/* A copy of the segment that holds p; false if there is none. */
bool amp_cuda_registry_find(const void *p, amp_cuda_segment *found);

/* Changes whenever a segment comes, goes or changes. */
uint64_t amp_cuda_registry_version(void);

/* Did a registration of the group fail since the last call? */
bool amp_cuda_registry_take_failure(int group);

#endif
