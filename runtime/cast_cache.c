#include "cast_cache.h"

#include "buffers.h"
#include "log.h"
#include "worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 256

/* Views of parameters, not parameters: programs have at most a few of each.
 * Above this the cache stops growing and the rest is cast on each call. */
#define MAX_ENTRIES 4096

struct amp_cast {
    atomic_int holders; /* the cache is one of them */
    void *data;
    size_t bytes;
};

typedef struct entry {
    struct entry *next;
    amp_matrix matrix;
    amp_operand_kind kind;
    uint64_t generation; /* of the copy; 0: none */
    amp_cast *cast;
} entry;

static struct {
    pthread_mutex_t lock;
    entry *buckets[BUCKETS];
    amp_cast_stats stats;
    atomic_uint_fast64_t generation; /* 0: off */
    atomic_uint writing;             /* one bit per group with an open step */
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool checking(void) {
    static atomic_int on = -1;
    int now = atomic_load_explicit(&on, memory_order_relaxed);
    if (now < 0) {
        const char *text = getenv("AMP_CHECK_CASTS");
        now = text && *text && strcmp(text, "0") != 0;
        atomic_store_explicit(&on, now, memory_order_relaxed);
    }
    return now != 0;
}

/* ---- counted copies ---------------------------------------------------- */

const void *amp_cast_data(const amp_cast *cast) {
    return cast->data;
}

void amp_cast_release(amp_cast *cast) {
    if (!cast || atomic_fetch_sub(&cast->holders, 1) != 1)
        return;
    free(cast->data);
    free(cast);
}

static amp_cast *new_cast(size_t bytes) {
    amp_cast *cast = malloc(sizeof *cast);
    if (!cast)
        return NULL;
    cast->bytes = bytes;
    cast->data = aligned_alloc(64, (bytes + 63u) & ~(size_t)63u);
    if (!cast->data) {
        free(cast);
        return NULL;
    }
    atomic_init(&cast->holders, 1);
    return cast;
}

/* ---- entries; the caller holds the lock --------------------------------- */

static bool same_matrix(const amp_matrix *a, const amp_matrix *b) {
    return a->data == b->data && a->type == b->type && a->rows == b->rows &&
           a->cols == b->cols && a->ld == b->ld && a->batch == b->batch &&
           a->stride == b->stride;
}

static size_t bucket_of(const amp_matrix *m) {
    uint64_t h = (uint64_t)(uintptr_t)m->data >> 2;
    h = (h ^ (uint64_t)m->rows * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
    h ^= h >> 33;
    h = (h ^ (uint64_t)m->cols) * 0xc4ceb9fe1a85ec53u;
    return (size_t)(h >> 40) % BUCKETS;
}

static entry *find_or_add(const amp_matrix *m, amp_operand_kind kind) {
    entry **bucket = &cache.buckets[bucket_of(m)];
    for (entry *e = *bucket; e; e = e->next)
        if (e->kind == kind && same_matrix(&e->matrix, m))
            return e;
    if (cache.stats.entries == MAX_ENTRIES)
        return NULL;
    entry *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->matrix = *m;
    e->kind = kind;
    e->next = *bucket;
    *bucket = e;
    cache.stats.entries++;
    return e;
}

static bool fresh_copy(entry *e, uint64_t generation) {
    bool shared = e->cast && atomic_load(&e->cast->holders) > 1;
    if (!e->cast || shared) {
        amp_cast *cast = new_cast(amp_operand_bytes(&e->matrix, e->kind));
        if (!cast)
            return false;
        amp_cast_release(e->cast);
        e->cast = cast;
    }
    amp_operand_cast(e->cast->data, &e->matrix, e->kind);
    e->generation = generation;
    cache.stats.casts++;
    return true;
}

static bool still_equal(entry *e) {
    amp_worker *w = amp_worker_get();
    void *again = w ? amp_scratch(w, AMP_SCRATCH_CHECK, e->cast->bytes) : NULL;
    if (!again)
        return true;
    amp_operand_cast(again, &e->matrix, e->kind);
    return memcmp(again, e->cast->data, e->cast->bytes) == 0;
}

static amp_cast *use(entry *e, uint64_t generation, amp_status *status) {
    if (e->generation != generation) {
        if (!fresh_copy(e, generation))
            return NULL;
    } else if (checking() && !still_equal(e)) {
        e->generation = 0;
        *status = AMP_ERR_STALE_CAST;
        return NULL;
    } else {
        cache.stats.hits++;
    }
    atomic_fetch_add(&e->cast->holders, 1);
    return e->cast;
}

/* ---- interface --------------------------------------------------------- */

amp_cast *amp_cast_cache_get(const amp_matrix *m, amp_operand_kind kind,
                             amp_status *status) {
    *status = AMP_OK;
    uint64_t generation = atomic_load(&cache.generation);
    if (generation == 0 || atomic_load(&cache.writing) != 0 ||
        !amp_buffers_is_param(m->data, amp_matrix_extent(m)))
        return NULL;
    pthread_mutex_lock(&cache.lock);
    entry *e = find_or_add(m, kind);
    amp_cast *cast = e ? use(e, generation, status) : NULL;
    pthread_mutex_unlock(&cache.lock);
    if (*status == AMP_ERR_STALE_CAST) {
        amp_segment s = {0};
        amp_buffers_find(m->data, &s);
        amp_log(AMP_LOG_ERROR,
                "parameter '%s' was written without amp_step_end or "
                "amp_params_changed: %s",
                amp_segment_name(&s), amp_status_string(*status));
    }
    return cast;
}

void amp_cast_cache_suspend(int group) {
    unsigned bit = 1u << group;
    if (!(atomic_load_explicit(&cache.writing, memory_order_relaxed) & bit))
        atomic_fetch_or(&cache.writing, bit);
}

void amp_cast_cache_resume(int group) {
    amp_cast_cache_renew();
    atomic_fetch_and(&cache.writing, ~(1u << group));
}

void amp_cast_cache_renew(void) {
    atomic_fetch_add(&cache.generation, 1);
}

uint64_t amp_cast_cache_generation(void) {
    return atomic_load(&cache.writing) != 0 ? 0
                                            : atomic_load(&cache.generation);
}

static bool overlaps(const entry *e, const void *start, size_t bytes) {
    uintptr_t from = (uintptr_t)start;
    uintptr_t at = (uintptr_t)e->matrix.data;
    return at < from + bytes && from < at + amp_matrix_extent(&e->matrix);
}

void amp_cast_cache_written(const void *start, size_t bytes) {
    pthread_mutex_lock(&cache.lock);
    for (size_t i = 0; i < BUCKETS; i++)
        for (entry *e = cache.buckets[i]; e; e = e->next)
            if (overlaps(e, start, bytes))
                e->generation = 0;
    pthread_mutex_unlock(&cache.lock);
}

void amp_cast_cache_drop(const void *start, size_t bytes) {
    pthread_mutex_lock(&cache.lock);
    for (size_t i = 0; i < BUCKETS; i++) {
        entry **link = &cache.buckets[i];
        while (*link) {
            entry *e = *link;
            if (!overlaps(e, start, bytes)) {
                link = &e->next;
                continue;
            }
            *link = e->next;
            amp_cast_release(e->cast);
            free(e);
            cache.stats.entries--;
        }
    }
    pthread_mutex_unlock(&cache.lock);
}

amp_cast_stats amp_cast_cache_stats(void) {
    pthread_mutex_lock(&cache.lock);
    amp_cast_stats stats = cache.stats;
    pthread_mutex_unlock(&cache.lock);
    return stats;
}
