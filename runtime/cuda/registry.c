#include "registry.h"

#include "casts.h"
#include "device.h"
#include "errors.h"
#include "scaling.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static void forget(amp_segment *s);

static struct {
    pthread_mutex_t lock;
    amp_segments segments;
    atomic_uint_fast64_t version;
    atomic_size_t params; /* segments with role AMP_PARAM */
    atomic_bool failed[AMP_MAX_GROUPS];
    uintptr_t drop_from; /* kept casts of this range are void ... */
    uintptr_t drop_to;   /* ... once the lock is free */
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER,
              .segments = {.forget = forget}};

static void lock(void) {
    pthread_mutex_lock(&registry.lock);
}

/* A product looks buffers up while it is in its lane, so the lanes must not be
 * waited for under this lock. */
static void unlock(void) {
    uintptr_t from = registry.drop_from;
    uintptr_t to = registry.drop_to;
    registry.drop_from = registry.drop_to = 0;
    pthread_mutex_unlock(&registry.lock);
    if (from != to)
        amp_cuda_casts_drop((const void *)from, to - from);
}

static void drop_casts(const amp_segment *s) {
    uintptr_t from = (uintptr_t)s->start;
    uintptr_t to = from + s->bytes;
    bool first = registry.drop_from == registry.drop_to;
    if (first || from < registry.drop_from)
        registry.drop_from = from;
    if (first || to > registry.drop_to)
        registry.drop_to = to;
}

/* What is kept of a segment's contents goes with them. */
static void forget(amp_segment *s) {
    if (s->role == AMP_PARAM)
        drop_casts(s);
    if (s->saved)
        (void)AMP_CUDA(cudaFree(s->saved));
    s->saved = NULL;
    s->saved_valid = false;
}

/* After each change, under the lock. */
static void changed(void) {
    size_t params = 0;
    for (size_t i = 0; i < registry.segments.count; i++)
        params += registry.segments.items[i].role == AMP_PARAM;
    atomic_store(&registry.params, params);
    atomic_fetch_add(&registry.version, 1);
}

/* One launch and one flag array serve a group, so its gradients have to be on
 * one device. */
static bool device_fits(amp_role role, int group, int device) {
    if (role != AMP_GRAD && role != AMP_GRAD_CARRY)
        return true;
    for (size_t i = 0; i < registry.segments.count; i++) {
        const amp_segment *s = &registry.segments.items[i];
        if (amp_segment_is_gradient(s) && s->group == group)
            return s->device == device;
    }
    return true;
}

/* ---- interface --------------------------------------------------------- */

amp_status amp_cuda_register(void *p, size_t bytes, amp_role role, int group,
                             const char *name) {
    if (bytes == 0 || !amp_segment_valid(p, role, group))
        return AMP_ERR_ARGUMENT;
    amp_segment s = {.start = p,
                     .bytes = bytes,
                     .base = p,
                     .role = role,
                     .group = group,
                     .name = name};
    amp_status status = AMP_CUDA(cudaGetDevice(&s.device));
    if (status != AMP_OK)
        return status;
    amp_cuda_scaling_install();
    lock();
    const amp_segment *known = amp_segments_at(&registry.segments, p);
    int device = known ? known->device : s.device;
    status = device_fits(role, group, device)
                 ? amp_segments_register(&registry.segments, &s)
                 : AMP_ERR_ARGUMENT;
    changed();
    unlock();
    return status;
}

amp_status amp_cuda_unregister(void *p) {
    lock();
    amp_status status = amp_segments_remove(&registry.segments, p);
    changed();
    unlock();
    return status;
}

amp_status amp_cuda_mark(void *p, amp_role role, int group, const char *name) {
    if (!amp_segment_valid(p, role, group))
        return AMP_ERR_ARGUMENT;
    lock();
    const amp_segment *s = amp_segments_at(&registry.segments, p);
    amp_status status = AMP_ERR_UNKNOWN_BUFFER;
    if (s)
        status =
            device_fits(role, group, s->device)
                ? amp_segments_mark(&registry.segments, p, role, group, name)
                : AMP_ERR_ARGUMENT;
    changed();
    unlock();
    return status;
}

static void evict(const void *p, size_t bytes) {
    lock();
    amp_segments_evict(&registry.segments, p, bytes);
    changed();
    unlock();
}

static void note_failure(amp_status status, amp_role role, int group,
                         const char *name) {
    amp_device_log(AMP_LOG_ERROR,
                   "cannot register device buffer '%s' of group %d: %s",
                   name ? name : "(unnamed)", group, amp_status_string(status));
    amp_cuda_remember(status);
    /* A parameter is only cast more often; a gradient would stay scaled. */
    bool harmless = role == AMP_TRACKED || role == AMP_PARAM;
    if (!harmless && group >= 0 && group < AMP_MAX_GROUPS)
        atomic_store(&registry.failed[group], true);
}

cudaError_t amp_cuda_malloc(void **p, size_t bytes, amp_role role, int group,
                            const char *name) {
    cudaError_t error = cudaMalloc(p, bytes);
    if (error != cudaSuccess || bytes == 0 || !*p)
        return error;
    evict(*p, bytes);
    amp_status status = amp_cuda_register(*p, bytes, role, group, name);
    if (status != AMP_OK)
        note_failure(status, role, group, name);
    return cudaSuccess;
}

cudaError_t amp_cuda_free(void *p) {
    /* The entry goes first: another thread may get the address back the
     * moment it is free. */
    if (p)
        (void)amp_cuda_unregister(p);
    return cudaFree(p);
}

amp_status amp_cuda_registry_gradients(int group,
                                       amp_status (*visit)(amp_segment *s,
                                                           void *context),
                                       void *context) {
    amp_status status = AMP_OK;
    lock();
    for (size_t i = 0; i < registry.segments.count && status == AMP_OK; i++) {
        amp_segment *s = &registry.segments.items[i];
        if (amp_segment_is_gradient(s) && s->group == group)
            status = visit(s, context);
    }
    unlock();
    return status;
}

bool amp_cuda_registry_is_param(const void *p, size_t bytes) {
    if (atomic_load_explicit(&registry.params, memory_order_relaxed) == 0)
        return false;
    lock();
    bool params = amp_segments_are_params(&registry.segments, p, bytes);
    unlock();
    return params;
}

bool amp_cuda_registry_touches_param(const void *p, size_t bytes) {
    if (atomic_load_explicit(&registry.params, memory_order_relaxed) == 0)
        return false;
    lock();
    bool touched = amp_segments_touch_param(&registry.segments, p, bytes);
    unlock();
    return touched;
}

bool amp_cuda_registry_find(const void *p, amp_segment *found) {
    lock();
    const amp_segment *s = amp_segments_at(&registry.segments, p);
    if (s)
        *found = *s;
    unlock();
    return s != NULL;
}

uint64_t amp_cuda_registry_version(void) {
    return atomic_load(&registry.version);
}

bool amp_cuda_registry_take_failure(int group) {
    return atomic_exchange(&registry.failed[group], false);
}
