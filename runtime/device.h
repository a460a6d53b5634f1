/* device.h - the seam between libamp and a backend for other memory.
 *
 * A device backend (libamp_cuda) installs one table the first time that a
 * program registers device memory. The loss scaling calls its functions beside
 * the walk over host gradients, so that a group has one scale, one verdict and
 * one place where its rules are kept. Without a backend nothing is called.
 */
#ifndef AMP_DEVICE_H
#define AMP_DEVICE_H

#include <amp/amp.h>

#include "log.h"

#include <stdbool.h>
#include <stddef.h>

/* What a walk over the device gradients of a group saw. */
typedef struct amp_device_walk {
    size_t buffers;    /* gradients that the group has */
    size_t bad;        /* of those, with inf or NaN */
    const char *first; /* name of the first bad one; NULL if it has none */
} amp_device_walk;

typedef struct amp_device {
    /* Multiplies by factor and looks for inf and NaN, in one pass. */
    amp_status (*unscale)(int group, float factor, amp_device_walk *walk);
    /* AMP_GRAD_CARRY: saves the contents, then multiplies by scale. */
    amp_status (*carry_in)(int group, float scale);
    /* The step is skipped. AMP_GRAD_CARRY: puts back what carry_in saved, if
     * it did; AMP_GRAD: zeroes. */
    amp_status (*carry_undo)(int group);
    /* The saved contents are no longer wanted. */
    void (*carry_drop)(int group);
    /* amp_mark and amp_scale_buffer for an address that libamp does not know;
     * AMP_ERR_UNKNOWN_BUFFER if the backend does not either. Work already
     * queued on x is waited for, and the product has been made on return. */
    amp_status (*mark)(void *p, amp_role role, int group, const char *name);
    amp_status (*scale_buffer)(float *x, float scale);
    /* Puts an inf into one gradient; false if the group has none. */
    bool (*inject)(int group);
    /* Did a registration of the group fail since the last call? */
    bool (*take_failure)(int group);
} amp_device;

/* NULL without a backend. */
const amp_device *amp_device_get(void);

/* What a backend, a library of its own, may call of libamp besides amp.h. */
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* The table stays where it is. Installing it again is harmless. */
void amp_device_install(const amp_device *device);

/* amp_log and amp_note_half. */
__attribute__((format(printf, 2, 3))) void
amp_device_log(amp_log_level level, const char *format, ...);
void amp_device_note_half(amp_dtype half);

/* The number that a cast copy of a parameter made now is good under, or 0
 * while no copy may be kept (see cast_cache.h). */
uint64_t amp_device_generation(void);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
