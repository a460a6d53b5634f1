/* arenas.c - where the parts of allocations lie that were handed out with
 * elements of different sizes, so that bytes counted for floats can be cleared.
 */
#include <amp/amp_storage.h>

#include "log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct part {
    char *start;
    size_t n;
    size_t size; /* of an element */
} part;

/* Sorted by address; parts do not overlap. */
static struct {
    pthread_mutex_t lock;
    part *items;
    size_t count;
    size_t capacity;
} parts = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t room(const part *p) {
    return amp_arena_floats(p->n, p->size) * sizeof(float);
}

/* Index of the first part that ends after p. */
static size_t first_after(const char *p) {
    size_t low = 0, high = parts.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (parts.items[middle].start + room(&parts.items[middle]) > p)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* What would be cleared otherwise is not known. */
_Noreturn static void stop(const char *problem, const void *p) {
    amp_log(AMP_LOG_ERROR, "allocation in parts at %p: %s", p, problem);
    abort();
}

static void insert(size_t at, const part *p) {
    if (parts.count == parts.capacity) {
        size_t capacity = parts.capacity ? 2 * parts.capacity : 64;
        part *items = realloc(parts.items, capacity * sizeof *items);
        if (!items)
            stop("no memory to remember it", p->start);
        parts.items = items;
        parts.capacity = capacity;
    }
    memmove(&parts.items[at + 1], &parts.items[at],
            (parts.count - at) * sizeof *parts.items);
    parts.items[at] = *p;
    parts.count++;
}

void amp_arena_note(void *memory, size_t n, size_t size) {
    part p = {memory, n, size};
    if (n == 0)
        return;
    pthread_mutex_lock(&parts.lock);
    size_t at = first_after(p.start), end = at;
    while (end < parts.count && parts.items[end].start < p.start + room(&p))
        end++; /* of memory that was freed since */
    if (end > at)
        memmove(&parts.items[at], &parts.items[end],
                (parts.count - end) * sizeof *parts.items);
    parts.count -= end - at;
    insert(at, &p);
    pthread_mutex_unlock(&parts.lock);
}

void amp_arena_clear(void *memory, size_t bytes) {
    char *at = memory;
    pthread_mutex_lock(&parts.lock);
    for (size_t i = bytes ? first_after(at) : 0; bytes; i++) {
        if (i == parts.count || parts.items[i].start != at)
            stop("cleared beyond its parts", memory);
        const part *p = &parts.items[i];
        size_t whole = p->n * sizeof(float);
        size_t taken = bytes < whole ? bytes : whole;
        memset(at, 0,
               taken == whole ? room(p) : taken / sizeof(float) * p->size);
        at += room(p);
        bytes -= taken;
    }
    pthread_mutex_unlock(&parts.lock);
}
