#include "buffers.h"

#include "cast_cache.h"
#include "device.h"
#include "log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* What is kept of a segment's contents goes with them. */
static void forget(amp_segment *s) {
    if (s->role == AMP_PARAM)
        amp_cast_cache_drop(s->start, s->bytes);
    free(s->saved);
    s->saved = NULL;
    s->saved_valid = false;
}

static struct {
    pthread_rwlock_t lock;
    amp_segments segments;
    atomic_size_t live; /* their number, readable without the lock */
    atomic_bool failed[AMP_MAX_GROUPS];
} registry = {.lock = PTHREAD_RWLOCK_INITIALIZER,
              .segments = {.forget = forget}};

static void lock(void) {
    pthread_rwlock_wrlock(&registry.lock);
}

static void unlock(void) {
    atomic_store_explicit(&registry.live, registry.segments.count,
                          memory_order_relaxed);
    pthread_rwlock_unlock(&registry.lock);
}

static bool is_empty(void) {
    return atomic_load_explicit(&registry.live, memory_order_relaxed) == 0;
}

/* ---- registration ------------------------------------------------------ */

static amp_segment whole(void *p, size_t bytes, amp_role role, int group,
                         const char *name) {
    return (amp_segment){.start = p,
                         .bytes = bytes,
                         .base = p,
                         .role = role,
                         .group = group,
                         .name = name};
}

/* Rewritten code does not look at the status, and what is not known is not
 * unscaled. It may hold nothing, so steps go on. */
static amp_status told(amp_status status, const void *p, amp_role role,
                       int group, const char *name) {
    static atomic_flag said[AMP_MAX_GROUPS]; /* clear, as all statics are */
    bool gradient = role == AMP_GRAD || role == AMP_GRAD_CARRY;
    if (status == AMP_OK || !p || !gradient || group < 0 ||
        group >= AMP_MAX_GROUPS || !amp_once(&said[group]))
        return status;
    amp_log(AMP_LOG_WARN,
            "gradient '%s' of group %d at %p is not unscaled: %s (said once)",
            name ? name : "(unnamed)", group, p, amp_status_string(status));
    return status;
}

amp_status amp_register(void *p, size_t bytes, amp_role role, int group,
                        const char *name) {
    if (bytes == 0)
        return AMP_ERR_ARGUMENT;
    if (!amp_segment_valid(p, role, group))
        return told(AMP_ERR_ARGUMENT, p, role, group, name);
    amp_segment s = whole(p, bytes, role, group, name);
    lock();
    amp_status status = amp_segments_register(&registry.segments, &s);
    unlock();
    return told(status, p, role, group, name);
}

amp_status amp_unregister(void *p) {
    lock();
    amp_status status = amp_segments_remove(&registry.segments, p);
    unlock();
    return status;
}

amp_status amp_mark(void *p, amp_role role, int group, const char *name) {
    if (!amp_segment_valid(p, role, group))
        return told(AMP_ERR_ARGUMENT, p, role, group, name);
    lock();
    amp_status status =
        amp_segments_mark(&registry.segments, p, role, group, name);
    unlock();
    const amp_device *device = amp_device_get();
    if (status == AMP_ERR_UNKNOWN_BUFFER && device)
        status = device->mark(p, role, group, name);
    return told(status, p, role, group, name);
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
    if (amp_segment_valid(p, role, group)) {
        amp_segment s = whole(p, bytes, role, group, name);
        lock();
        amp_segments_evict(&registry.segments, p, bytes);
        status = amp_segments_insert(&registry.segments, &s);
        unlock();
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
    if (p && !is_empty()) {
        pthread_rwlock_rdlock(&registry.lock);
        const amp_segment *s = amp_segments_at(&registry.segments, p);
        bool known = s && s->base == p;
        pthread_rwlock_unlock(&registry.lock);
        if (known)
            amp_unregister(p);
    }
    free(p);
}

/* An allocation's segments, out of the registry while realloc moves it. */
typedef struct taken {
    amp_segment *items; /* freed by the caller */
    size_t count;
    size_t bytes;
    uintptr_t base; /* by value: realloc makes the pointer itself void */
} taken;

static void note_lost(const amp_segment *s) {
    if (amp_segment_is_gradient(s))
        atomic_store(&registry.failed[s->group], true);
}

/* Without memory for the list the segments are lost, not left behind: they
 * would be written through after realloc has moved the block. */
static amp_status take_out(const void *p, taken *t) {
    *t = (taken){.base = (uintptr_t)p};
    const amp_segments *all = &registry.segments;
    const amp_segment *first = amp_segments_at(all, p);
    if (!first || first->base != p)
        return AMP_OK;
    const amp_segment *end = all->items + all->count;
    size_t n = 0;
    while (first + n < end && first[n].base == p)
        t->bytes += first[n++].bytes;
    t->items = malloc(n * sizeof *t->items);
    for (size_t i = 0; i < n; i++) {
        if (!t->items) {
            note_lost(&first[i]);
            continue;
        }
        t->items[i] = first[i];
        t->items[i].saved = NULL; /* freed by the removal */
        t->items[i].saved_valid = false;
    }
    t->count = t->items ? n : 0;
    amp_segments_remove(&registry.segments, p);
    return t->items ? AMP_OK : AMP_ERR_MEMORY;
}

static amp_status put_back(const taken *t, char *base, size_t bytes) {
    amp_status status = AMP_OK;
    amp_segments_evict(&registry.segments, base, bytes);
    for (size_t i = 0; i < t->count && status == AMP_OK; i++) {
        amp_segment s = t->items[i];
        size_t offset = (size_t)((uintptr_t)s.start - t->base);
        if (offset >= bytes)
            break;
        s.start = base + offset;
        s.base = base;
        if (i + 1 == t->count || s.bytes > bytes - offset)
            s.bytes = bytes - offset;
        status = amp_segments_insert(&registry.segments, &s);
        if (status != AMP_OK)
            note_lost(&s);
    }
    return status;
}

void *amp_realloc(void *p, size_t bytes, amp_role role, int group,
                  const char *name) {
    taken t = {0};
    amp_status status = AMP_OK;
    if (p) {
        lock();
        status = take_out(p, &t);
        unlock();
    }
    if (t.count == 1 && t.items[0].role == AMP_TRACKED &&
        amp_segment_valid(t.items[0].start, role, group)) {
        t.items[0].role = role;
        t.items[0].group = group;
        t.items[0].name = name;
    }
    void *moved = realloc(p, bytes);
    if (status == AMP_OK && t.count == 0) {
        adopt(moved, bytes, role, group, name);
        return moved;
    }
    bool kept = !moved && bytes != 0; /* failed: the old block lives on */
    if (t.count != 0 && (moved || kept) && (kept ? t.bytes : bytes) != 0) {
        lock();
        status = put_back(&t, kept ? (char *)t.base : (char *)moved,
                          kept ? t.bytes : bytes);
        unlock();
    }
    free(t.items);
    if (status != AMP_OK)
        note_failure(status, role, group, name);
    return moved;
}

/* ---- questions --------------------------------------------------------- */

size_t amp_buffers_gradients(int group,
                             bool (*visit)(amp_segment *s, void *context),
                             void *context) {
    size_t visited = 0;
    lock();
    for (size_t i = 0; i < registry.segments.count; i++) {
        amp_segment *s = &registry.segments.items[i];
        if (!amp_segment_is_gradient(s) || s->group != group)
            continue;
        visited++;
        if (!visit(s, context))
            break;
    }
    unlock();
    return visited;
}

bool amp_buffers_is_param(const void *p, size_t bytes) {
    if (is_empty())
        return false;
    pthread_rwlock_rdlock(&registry.lock);
    bool params = amp_segments_are_params(&registry.segments, p, bytes);
    pthread_rwlock_unlock(&registry.lock);
    return params;
}

bool amp_buffers_touch_param(const void *p, size_t bytes) {
    if (is_empty())
        return false;
    pthread_rwlock_rdlock(&registry.lock);
    bool touched = amp_segments_touch_param(&registry.segments, p, bytes);
    pthread_rwlock_unlock(&registry.lock);
    return touched;
}

bool amp_buffers_find(const void *p, amp_segment *found) {
    pthread_rwlock_rdlock(&registry.lock);
    const amp_segment *s = amp_segments_at(&registry.segments, p);
    if (s)
        *found = *s;
    pthread_rwlock_unlock(&registry.lock);
    return s != NULL;
}

bool amp_buffers_take_failure(int group) {
    return atomic_exchange(&registry.failed[group], false);
}
