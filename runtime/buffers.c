#include "buffers.h"

#include "cast_cache.h"
#include "device.h"
#include "log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_rwlock_t lock;
    amp_segment *segments; /* sorted by start */
    size_t count;
    size_t capacity;
    atomic_size_t live; /* == count, readable without the lock */
    atomic_bool failed[AMP_MAX_GROUPS];
} registry = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* ---- the sorted array; the caller holds the lock ------------------------ */

/* Index of the first segment that ends after p. */
static size_t lower_bound(const char *p) {
    size_t lo = 0;
    size_t hi = registry.count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const amp_segment *s = &registry.segments[mid];
        if ((uintptr_t)s->start + s->bytes <= (uintptr_t)p)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static amp_segment *segment_at(const void *p) {
    size_t i = lower_bound(p);
    if (i == registry.count)
        return NULL;
    amp_segment *s = &registry.segments[i];
    return (uintptr_t)s->start <= (uintptr_t)p ? s : NULL;
}

static bool overlaps(const char *p, size_t bytes) {
    size_t i = lower_bound(p);
    return i < registry.count &&
           (uintptr_t)registry.segments[i].start < (uintptr_t)p + bytes;
}

static void set_count(size_t count) {
    registry.count = count;
    atomic_store_explicit(&registry.live, count, memory_order_relaxed);
}

static amp_status insert(size_t at, const amp_segment *s) {
    if (registry.count == registry.capacity) {
        size_t capacity = registry.capacity ? registry.capacity * 2 : 64;
        amp_segment *grown =
            realloc(registry.segments, capacity * sizeof *grown);
        if (!grown)
            return AMP_ERR_MEMORY;
        registry.segments = grown;
        registry.capacity = capacity;
    }
    amp_segment *place = registry.segments + at;
    memmove(place + 1, place, (registry.count - at) * sizeof *place);
    *place = *s;
    set_count(registry.count + 1);
    return AMP_OK;
}

static void forget_copies(amp_segment *s) {
    free(s->saved);
    s->saved = NULL;
    s->saved_valid = false;
}

/* Removes the allocation that segment i is part of. */
static void remove_allocation(size_t i) {
    const char *base = registry.segments[i].base;
    size_t first = i;
    size_t end = i + 1;
    while (first > 0 && registry.segments[first - 1].base == base)
        first--;
    while (end < registry.count && registry.segments[end].base == base)
        end++;
    for (size_t k = first; k < end; k++) {
        amp_segment *s = &registry.segments[k];
        if (s->role == AMP_PARAM)
            amp_cast_cache_drop(s->start, s->bytes);
        forget_copies(s);
    }
    memmove(registry.segments + first, registry.segments + end,
            (registry.count - end) * sizeof(amp_segment));
    set_count(registry.count - (end - first));
}

/* Memory fresh from the allocator overlaps an entry only if its owner was
 * given back with the C library's free: that entry is dead. */
static void evict(const char *p, size_t bytes) {
    while (overlaps(p, bytes))
        remove_allocation(lower_bound(p));
}

static void set_role(amp_segment *s, amp_role role, int group,
                     const char *name) {
    if (s->role == AMP_PARAM && role != AMP_PARAM)
        amp_cast_cache_drop(s->start, s->bytes);
    if (role != AMP_GRAD_CARRY)
        forget_copies(s);
    s->role = role;
    s->group = group;
    s->name = name;
}

/* ---- registration ------------------------------------------------------ */

static bool valid(amp_role role, int group) {
    return (unsigned)role <= AMP_GRAD_CARRY && group >= 0 &&
           group < AMP_MAX_GROUPS;
}

static amp_status add(const char *p, size_t bytes, amp_role role, int group,
                      const char *name) {
    amp_segment s = {.start = (char *)(uintptr_t)p,
                     .bytes = bytes,
                     .base = (char *)(uintptr_t)p,
                     .role = role,
                     .group = group,
                     .name = name};
    return insert(lower_bound(p), &s);
}

amp_status amp_register(void *p, size_t bytes, amp_role role, int group,
                        const char *name) {
    if (!p || bytes == 0 || !valid(role, group))
        return AMP_ERR_ARGUMENT;
    amp_status status = AMP_OK;
    pthread_rwlock_wrlock(&registry.lock);
    amp_segment *s = segment_at(p);
    if (s && s->start == p && s->bytes == bytes)
        set_role(s, role, group, name);
    else if (overlaps(p, bytes))
        status = AMP_ERR_OVERLAP;
    else
        status = add(p, bytes, role, group, name);
    pthread_rwlock_unlock(&registry.lock);
    return status;
}

amp_status amp_unregister(void *p) {
    amp_status status = AMP_ERR_UNKNOWN_BUFFER;
    pthread_rwlock_wrlock(&registry.lock);
    amp_segment *s = segment_at(p);
    if (s && s->base == p) {
        remove_allocation((size_t)(s - registry.segments));
        status = AMP_OK;
    }
    pthread_rwlock_unlock(&registry.lock);
    return status;
}

static amp_status split_and_mark(char *p, amp_role role, int group,
                                 const char *name) {
    amp_segment *s = segment_at(p);
    if (!s)
        return AMP_ERR_UNKNOWN_BUFFER;
    if (s->start == p) {
        set_role(s, role, group, name);
        return AMP_OK;
    }
    size_t at = (size_t)(s - registry.segments);
    size_t before = (size_t)(p - s->start);
    amp_segment right = {.start = p,
                         .bytes = s->bytes - before,
                         .base = s->base,
                         .role = role,
                         .group = group,
                         .name = name};
    amp_status status = insert(at + 1, &right);
    if (status != AMP_OK)
        return status;
    s = &registry.segments[at];
    if (s->role == AMP_PARAM)
        amp_cast_cache_drop(s->start, s->bytes);
    forget_copies(s);
    s->bytes = before;
    return AMP_OK;
}

amp_status amp_mark(void *p, amp_role role, int group, const char *name) {
    if (!p || !valid(role, group))
        return AMP_ERR_ARGUMENT;
    pthread_rwlock_wrlock(&registry.lock);
    amp_status status = split_and_mark(p, role, group, name);
    pthread_rwlock_unlock(&registry.lock);
    const amp_device *device = amp_device_get();
    if (status == AMP_ERR_UNKNOWN_BUFFER && device)
        status = device->mark(p, role, group, name);
    return status;
}

/* ---- allocators -------------------------------------------------------- */

static void note_failure(amp_status status, amp_role role, int group,
                         const char *name) {
    amp_log(AMP_LOG_ERROR, "cannot register buffer '%s' of group %d: %s",
            name ? name : "(unnamed)", group, amp_status_string(status));
    /* A parameter is only cast more often; a gradient would stay scaled. */
    bool harmless = role == AMP_TRACKED || role == AMP_PARAM;
    if (!harmless && group >= 0 && group < AMP_MAX_GROUPS)
        atomic_store(&registry.failed[group], true);
}

static void adopt(void *p, size_t bytes, amp_role role, int group,
                  const char *name) {
    if (!p || bytes == 0)
        return;
    amp_status status = AMP_ERR_ARGUMENT;
    if (valid(role, group)) {
        pthread_rwlock_wrlock(&registry.lock);
        evict(p, bytes);
        status = add(p, bytes, role, group, name);
        pthread_rwlock_unlock(&registry.lock);
    }
    if (status != AMP_OK)
        note_failure(status, role, group, name);
}

void *amp_malloc(size_t bytes, amp_role role, int group, const char *name) {
    void *p = malloc(bytes);
    adopt(p, bytes, role, group, name);
    return p;
}

void *amp_calloc(size_t count, size_t size, amp_role role, int group,
                 const char *name) {
    void *p = calloc(count, size);
    adopt(p, count * size, role, group, name);
    return p;
}

void amp_free(void *p) {
    /* The entry has to go before the memory: another thread may get the same
     * address back the moment it is free. */
    if (p && atomic_load_explicit(&registry.live, memory_order_relaxed) != 0) {
        pthread_rwlock_rdlock(&registry.lock);
        const amp_segment *s = segment_at(p);
        bool known = s && s->base == p;
        pthread_rwlock_unlock(&registry.lock);
        if (known)
            amp_unregister(p);
    }
    free(p);
}

/* Takes an allocation's segments out of the registry; the caller frees the
 * array. Returns their number. */
static size_t take_out(const void *p, amp_segment **taken, amp_status *status) {
    *taken = NULL;
    amp_segment *s = segment_at(p);
    if (!s || s->base != p)
        return 0;
    size_t first = (size_t)(s - registry.segments);
    size_t end = first;
    while (end < registry.count && registry.segments[end].base == p)
        end++;
    size_t n = end - first;
    *taken = malloc(n * sizeof **taken);
    if (!*taken) {
        *status = AMP_ERR_MEMORY;
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        forget_copies(&registry.segments[first + i]);
    memcpy(*taken, registry.segments + first, n * sizeof **taken);
    remove_allocation(first);
    return n;
}

static amp_status put_back(const amp_segment *taken, size_t n,
                           const char *old_base, char *base, size_t bytes) {
    amp_status status = AMP_OK;
    evict(base, bytes);
    for (size_t i = 0; i < n && status == AMP_OK; i++) {
        size_t offset = (size_t)(taken[i].start - old_base);
        if (offset >= bytes)
            break;
        amp_segment s = taken[i];
        s.start = base + offset;
        s.base = base;
        if (i + 1 == n || s.bytes > bytes - offset)
            s.bytes = bytes - offset;
        status = insert(lower_bound(s.start), &s);
    }
    return status;
}

void *amp_realloc(void *p, size_t bytes, amp_role role, int group,
                  const char *name) {
    amp_status status = valid(role, group) ? AMP_OK : AMP_ERR_ARGUMENT;
    amp_segment *taken = NULL;
    size_t n = 0;
    size_t old_bytes = 0;
    /* By value: after realloc the pointer itself must not be looked at. */
    uintptr_t old = (uintptr_t)p;
    if (p && status == AMP_OK) {
        pthread_rwlock_wrlock(&registry.lock);
        n = take_out(p, &taken, &status);
        pthread_rwlock_unlock(&registry.lock);
    }
    for (size_t i = 0; i < n; i++)
        old_bytes += taken[i].bytes;
    if (n == 1 && taken[0].role == AMP_TRACKED) {
        taken[0].role = role;
        taken[0].group = group;
        taken[0].name = name;
    }
    void *moved = realloc(p, bytes);
    if (status == AMP_OK && n == 0) {
        adopt(moved, bytes, role, group, name);
        return moved;
    }
    bool kept = !moved && bytes != 0; /* failed: the old block lives on */
    if (n != 0 && (moved || kept) && (kept ? old_bytes : bytes) != 0) {
        pthread_rwlock_wrlock(&registry.lock);
        status = put_back(taken, n, (const char *)old,
                          kept ? (char *)old : (char *)moved,
                          kept ? old_bytes : bytes);
        pthread_rwlock_unlock(&registry.lock);
    }
    free(taken);
    if (status != AMP_OK)
        note_failure(status, role, group, name);
    return moved;
}

/* ---- questions --------------------------------------------------------- */

size_t amp_buffers_gradients(int group,
                             bool (*visit)(amp_segment *s, void *context),
                             void *context) {
    size_t visited = 0;
    pthread_rwlock_wrlock(&registry.lock);
    for (size_t i = 0; i < registry.count; i++) {
        amp_segment *s = &registry.segments[i];
        bool gradient = s->role == AMP_GRAD || s->role == AMP_GRAD_CARRY;
        if (!gradient || s->group != group)
            continue;
        visited++;
        if (!visit(s, context))
            break;
    }
    pthread_rwlock_unlock(&registry.lock);
    return visited;
}

bool amp_buffers_is_param(const void *p, size_t bytes) {
    if (atomic_load_explicit(&registry.live, memory_order_relaxed) == 0)
        return false;
    uintptr_t at = (uintptr_t)p;
    uintptr_t end = at + bytes;
    pthread_rwlock_rdlock(&registry.lock);
    size_t i = lower_bound(p);
    while (at < end && i < registry.count) {
        const amp_segment *s = &registry.segments[i++];
        if (s->role != AMP_PARAM || (uintptr_t)s->start > at)
            break;
        at = (uintptr_t)s->start + s->bytes;
    }
    pthread_rwlock_unlock(&registry.lock);
    return at >= end;
}

bool amp_buffers_find(const void *p, amp_segment *found) {
    pthread_rwlock_rdlock(&registry.lock);
    const amp_segment *s = segment_at(p);
    if (s)
        *found = *s;
    pthread_rwlock_unlock(&registry.lock);
    return s != NULL;
}

bool amp_buffers_take_failure(int group) {
    return atomic_exchange(&registry.failed[group], false);
}
