#include "registry.h"

#include "casts.h"
#include "device.h"
#include "errors.h"
#include "scaling.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;
    amp_cuda_segment *segments; /* sorted by start */
    size_t count;
    size_t capacity;
    atomic_uint_fast64_t version;
    atomic_size_t params; /* segments with role AMP_PARAM */
    atomic_bool failed[AMP_MAX_GROUPS];
    uintptr_t drop_from; /* kept casts of this range are void ... */
    uintptr_t drop_to;   /* ... once the lock is free */
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

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

static void drop_casts(const amp_cuda_segment *s) {
    uintptr_t from = (uintptr_t)s->start;
    uintptr_t to = from + s->bytes;
    bool first = registry.drop_from == registry.drop_to;
    if (first || from < registry.drop_from)
        registry.drop_from = from;
    if (first || to > registry.drop_to)
        registry.drop_to = to;
}

/* ---- the sorted array; the caller holds the lock ------------------------ */

/* Index of the first segment that ends after p. */
static size_t lower_bound(const void *p) {
    size_t lo = 0;
    size_t hi = registry.count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const amp_cuda_segment *s = &registry.segments[mid];
        if ((uintptr_t)s->start + s->bytes <= (uintptr_t)p)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static amp_cuda_segment *segment_at(const void *p) {
    size_t i = lower_bound(p);
    if (i == registry.count)
        return NULL;
    amp_cuda_segment *s = &registry.segments[i];
    return (uintptr_t)s->start <= (uintptr_t)p ? s : NULL;
}

static bool overlaps(const void *p, size_t bytes) {
    size_t i = lower_bound(p);
    return i < registry.count &&
           (uintptr_t)registry.segments[i].start < (uintptr_t)p + bytes;
}

static void changed(void) {
    size_t params = 0;
    for (size_t i = 0; i < registry.count; i++)
        params += registry.segments[i].role == AMP_PARAM;
    atomic_store(&registry.params, params);
    atomic_fetch_add(&registry.version, 1);
}

static amp_status insert(const amp_cuda_segment *s) {
    if (registry.count == registry.capacity) {
        size_t capacity = registry.capacity ? registry.capacity * 2 : 64;
        amp_cuda_segment *grown =
            realloc(registry.segments, capacity * sizeof *grown);
        if (!grown)
            return AMP_ERR_MEMORY;
        registry.segments = grown;
        registry.capacity = capacity;
    }
    size_t at = lower_bound(s->start);
    amp_cuda_segment *place = registry.segments + at;
    memmove(place + 1, place, (registry.count - at) * sizeof *place);
    *place = *s;
    registry.count++;
    return AMP_OK;
}

/* What the library keeps for a segment whose role or extent changes. */
static void forget_copies(amp_cuda_segment *s) {
    if (s->role == AMP_PARAM)
        drop_casts(s);
    if (s->saved)
        (void)AMP_CUDA(cudaFree(s->saved));
    s->saved = NULL;
    s->saved_valid = false;
}

static void remove_allocation(const void *base) {
    size_t kept = 0;
    for (size_t i = 0; i < registry.count; i++) {
        amp_cuda_segment *s = &registry.segments[i];
        if (s->base == base)
            forget_copies(s);
        else
            registry.segments[kept++] = *s;
    }
    registry.count = kept;
    changed();
}

static void set_role(amp_cuda_segment *s, amp_role role, int group,
                     const char *name) {
    if (s->role != role)
        forget_copies(s);
    s->role = role;
    s->group = group;
    s->name = name;
    changed();
}

static bool valid(amp_role role, int group) {
    return (unsigned)role <= AMP_GRAD_CARRY && group >= 0 &&
           group < AMP_MAX_GROUPS;
}

/* One launch and one flag array serve a group, so its gradients have to be on
 * one device. */
static bool device_fits(amp_role role, int group, int device) {
    if (role != AMP_GRAD && role != AMP_GRAD_CARRY)
        return true;
    for (size_t i = 0; i < registry.count; i++) {
        const amp_cuda_segment *s = &registry.segments[i];
        if (amp_cuda_segment_is_gradient(s) && s->group == group)
            return s->device == device;
    }
    return true;
}

static amp_status add(void *p, size_t bytes, amp_role role, int group,
                      const char *name, int device) {
    if (!device_fits(role, group, device))
        return AMP_ERR_ARGUMENT;
    amp_cuda_segment s = {.start = p,
                          .bytes = bytes,
                          .base = p,
                          .role = role,
                          .group = group,
                          .device = device,
                          .name = name};
    amp_status status = insert(&s);
    changed();
    return status;
}

static amp_status split_and_mark(char *p, amp_role role, int group,
                                 const char *name) {
    amp_cuda_segment *s = segment_at(p);
    if (!s)
        return AMP_ERR_UNKNOWN_BUFFER;
    if (!device_fits(role, group, s->device))
        return AMP_ERR_ARGUMENT;
    if (s->start == p) {
        set_role(s, role, group, name);
        return AMP_OK;
    }
    amp_cuda_segment left = *s;
    forget_copies(s);
    amp_cuda_segment right = left;
    right.start = p;
    right.bytes = left.bytes - (size_t)(p - left.start);
    right.role = role;
    right.group = group;
    right.name = name;
    right.saved = NULL;
    right.saved_valid = false;
    s->bytes = (size_t)(p - s->start);
    amp_status status = insert(&right);
    if (status != AMP_OK)
        segment_at(left.start)->bytes = left.bytes;
    changed();
    return status;
}

/* ---- interface --------------------------------------------------------- */

amp_status amp_cuda_register(void *p, size_t bytes, amp_role role, int group,
                             const char *name) {
    if (!p || bytes == 0 || !valid(role, group))
        return AMP_ERR_ARGUMENT;
    int device = 0;
    amp_status status = AMP_CUDA(cudaGetDevice(&device));
    if (status != AMP_OK)
        return status;
    amp_cuda_scaling_install();
    lock();
    amp_cuda_segment *s = segment_at(p);
    if (s && s->start == p && s->bytes == bytes) {
        if (device_fits(role, group, s->device))
            set_role(s, role, group, name);
        else
            status = AMP_ERR_ARGUMENT;
    } else if (overlaps(p, bytes)) {
        status = AMP_ERR_OVERLAP;
    } else {
        status = add(p, bytes, role, group, name, device);
    }
    unlock();
    return status;
}

amp_status amp_cuda_unregister(void *p) {
    amp_status status = AMP_ERR_UNKNOWN_BUFFER;
    lock();
    amp_cuda_segment *s = segment_at(p);
    if (s && s->base == p) {
        remove_allocation(p);
        status = AMP_OK;
    }
    unlock();
    return status;
}

amp_status amp_cuda_mark(void *p, amp_role role, int group, const char *name) {
    if (!p || !valid(role, group))
        return AMP_ERR_ARGUMENT;
    lock();
    amp_status status = split_and_mark(p, role, group, name);
    unlock();
    return status;
}

/* Memory fresh from the allocator overlaps an entry only if that one was given
 * back with cudaFree itself: the entry is dead. */
static void evict(const char *p, size_t bytes) {
    lock();
    while (overlaps(p, bytes))
        remove_allocation(registry.segments[lower_bound(p)].base);
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
                                       amp_status (*visit)(amp_cuda_segment *s,
                                                           void *context),
                                       void *context) {
    amp_status status = AMP_OK;
    lock();
    for (size_t i = 0; i < registry.count && status == AMP_OK; i++) {
        amp_cuda_segment *s = &registry.segments[i];
        if (amp_cuda_segment_is_gradient(s) && s->group == group)
            status = visit(s, context);
    }
    unlock();
    return status;
}

bool amp_cuda_registry_is_param(const void *p, size_t bytes) {
    if (atomic_load_explicit(&registry.params, memory_order_relaxed) == 0)
        return false;
    uintptr_t at = (uintptr_t)p;
    uintptr_t end = at + bytes;
    lock();
    for (size_t i = lower_bound(p); at < end && i < registry.count; i++) {
        const amp_cuda_segment *s = &registry.segments[i];
        if (s->role != AMP_PARAM || (uintptr_t)s->start > at)
            break;
        at = (uintptr_t)s->start + s->bytes;
    }
    unlock();
    return at >= end;
}

bool amp_cuda_registry_find(const void *p, amp_cuda_segment *found) {
    lock();
    const amp_cuda_segment *s = segment_at(p);
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
