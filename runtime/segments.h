/* segments.h - the memory ranges that have a role, sorted by address.
 *
 * An allocation starts as one segment; marking an address inside cuts it, so
 * that an arena can hold buffers of several roles. Segments never overlap.
 * The host's registry (buffers.c) and the device's (cuda/registry.c) are each
 * one of these under a lock of their own; nothing here locks. The array owns
 * its memory, not what the segments point to: `forget` gives that up.
 */
#ifndef AMP_SEGMENTS_H
#define AMP_SEGMENTS_H

#include <amp/amp.h>

#include <stdbool.h>

typedef struct amp_segment {
    char *start;
    size_t bytes;
    char *base; /* start of the allocation that it is part of */
    amp_role role;
    int group;
    int device;       /* of device memory */
    const char *name; /* may be NULL */
    float *saved;     /* AMP_GRAD_CARRY: contents before amp_carry_in */
    bool saved_valid;
} amp_segment;

typedef struct amp_segments {
    amp_segment *items;
    size_t count;
    size_t capacity;
    /* The segment goes, or changes its role or extent: cast copies of it are
     * void, what was saved is to be freed. */
    void (*forget)(amp_segment *s);
} amp_segments;

static inline size_t amp_segment_floats(const amp_segment *s) {
    return s->bytes / sizeof(float);
}

static inline const char *amp_segment_name(const amp_segment *s) {
    return s->name ? s->name : "(unnamed)";
}

static inline bool amp_segment_is_gradient(const amp_segment *s) {
    return s->role == AMP_GRAD || s->role == AMP_GRAD_CARRY;
}

/* Could this be a segment? A gradient is read as floats, so its address has to
 * be one of floats. */
bool amp_segment_valid(const void *p, amp_role role, int group);

/* The segment that holds p, or NULL. Good until the array changes. */
amp_segment *amp_segments_at(const amp_segments *all, const void *p);

/* Index of the first segment that ends after p. */
size_t amp_segments_from(const amp_segments *all, const void *p);

/* Does any part of p..p+bytes lie in a parameter? */
bool amp_segments_touch_param(const amp_segments *all, const void *p,
                              size_t bytes);
/* Does all of it? Adjacent segments count as one. */
bool amp_segments_are_params(const amp_segments *all, const void *p,
                             size_t bytes);

/* Adds a segment where there is none. AMP_ERR_MEMORY. */
amp_status amp_segments_insert(amp_segments *all, const amp_segment *s);

/* Adds an allocation of one segment. One that is there already, cut or not,
 * starts anew. AMP_ERR_OVERLAP if it lies across others. */
amp_status amp_segments_register(amp_segments *all, const amp_segment *s);

/* Gives a role from p to the next cut. AMP_ERR_UNKNOWN_BUFFER. */
amp_status amp_segments_mark(amp_segments *all, char *p, amp_role role,
                             int group, const char *name);

/* Removes all segments of the allocation that starts at base; AMP_OK, or
 * AMP_ERR_UNKNOWN_BUFFER if there is none. */
amp_status amp_segments_remove(amp_segments *all, const void *base);

/* Memory fresh from an allocator overlaps a segment only if that one was given
 * back behind libamp's back: it is dead and makes way. */
void amp_segments_evict(amp_segments *all, const void *p, size_t bytes);

#endif
