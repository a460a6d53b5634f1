#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { AR_ALIGN = 16, AR_CHUNK = 1 << 16 };

#define AR_LEAST_SHARED ((size_t)16 << 20)
/* So much of a shared mapping is made present at a time, less at its start:
 * a fault for each page costs several times as much. */
#define AR_FAULT_AHEAD  ((size_t)1 << 20)
#define AR_FAULT_FIRST  ((size_t)1 << 17)

typedef struct ar_chunk {
    struct ar_chunk *next;
    size_t size, used;
    _Alignas(AR_ALIGN) unsigned char bytes[];
} ar_chunk;

/* A shared arena lives at the start of its own mapping, so that the worker's
 * bump pointer is visible to the parent as well. */
struct ar_arena {
    ar_chunk *chunks;
    size_t total;
    size_t mapped;  /* bytes of the shared mapping, 0: there is none */
    size_t used;    /* of it, this header included */
    size_t present; /* of it, made present ahead of use */
    bool is_shared; /* false: takes memory from the chunks */
};

static _Noreturn void out_of_memory(size_t size) {
    fprintf(stderr, "amp-rewrite: out of memory (%zu bytes)\n", size);
    exit(70);
}

ar_arena *ar_arena_new(void) {
    ar_arena *arena = calloc(1, sizeof *arena);
    if (!arena)
        out_of_memory(sizeof *arena);
    return arena;
}

static void *map_shared(size_t size) {
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Where address space is short, half of what there is is left to others: the
 * parser needs more than its result does. */
static void *map_less(size_t *size) {
    for (*size /= 2; *size >= AR_LEAST_SHARED; *size /= 2) {
        unsigned char *p = map_shared(*size * 2);
        if (!p)
            continue;
        munmap(p + *size, *size);
        return p;
    }
    return NULL;
}

ar_arena *ar_arena_new_shared(size_t reserve) {
    size_t size = reserve;
    ar_arena *arena = map_shared(size);
    if (!arena)
        arena = map_less(&size);
    if (!arena)
        out_of_memory(reserve);
    arena->mapped = size;
    arena->is_shared = true;
    arena->used = (sizeof *arena + AR_ALIGN - 1) & ~(size_t)(AR_ALIGN - 1);
    return arena;
}

static size_t page_down(size_t size) {
    return size & ~((size_t)sysconf(_SC_PAGESIZE) - 1);
}

/* Kernels before 5.14 refuse and leave it to the faults. */
static void make_present(ar_arena *arena, size_t from, size_t size) {
#ifdef MADV_POPULATE_WRITE
    madvise((unsigned char *)arena + from, size, MADV_POPULATE_WRITE);
#else
    (void)arena, (void)from, (void)size;
#endif
}

static void fault_ahead(ar_arena *arena) {
    size_t from = page_down(arena->used);
    if (from < arena->present)
        from = arena->present;
    size_t size =
        arena->present < AR_FAULT_AHEAD ? AR_FAULT_FIRST : AR_FAULT_AHEAD;
    if (size > arena->mapped - from)
        size = arena->mapped - from;
    make_present(arena, from, size);
    arena->present = from + size;
}

void ar_arena_end_sharing(ar_arena *arena) {
    if (!arena->is_shared)
        return;
    arena->is_shared = false;
    size_t kept = page_down(arena->used - 1) + (size_t)sysconf(_SC_PAGESIZE);
    if (kept < arena->mapped)
        munmap((unsigned char *)arena + kept, arena->mapped - kept);
    arena->mapped = kept;
    make_present(arena, 0, kept);
}

void ar_arena_free(ar_arena *arena) {
    if (!arena)
        return;
    for (ar_chunk *c = arena->chunks; c;) {
        ar_chunk *next = c->next;
        free(c);
        c = next;
    }
    if (arena->mapped)
        munmap(arena, arena->mapped);
    else
        free(arena);
}

static ar_chunk *add_chunk(ar_arena *arena, size_t size) {
    /* Doubling keeps the number of chunks logarithmic. */
    size_t want = arena->total / 2 > AR_CHUNK ? arena->total / 2 : AR_CHUNK;
    if (want < size)
        want = size;
    ar_chunk *c = malloc(sizeof *c + want);
    if (!c)
        out_of_memory(want);
    c->next = arena->chunks;
    c->size = want;
    c->used = 0;
    arena->chunks = c;
    return c;
}

static void *alloc_shared(ar_arena *arena, size_t size) {
    if (arena->mapped - arena->used < size)
        out_of_memory(size);
    void *p = (unsigned char *)arena + arena->used;
    arena->used += size;
    arena->total += size;
    if (arena->used > arena->present)
        fault_ahead(arena);
    return p; /* fresh pages of a mapping are zero */
}

void *ar_alloc(ar_arena *arena, size_t size) {
    if (size > SIZE_MAX - AR_ALIGN)
        out_of_memory(size);
    size = (size + AR_ALIGN - 1) & ~(size_t)(AR_ALIGN - 1);
    if (arena->is_shared)
        return alloc_shared(arena, size);
    ar_chunk *c = arena->chunks;
    if (!c || c->size - c->used < size)
        c = add_chunk(arena, size);
    void *p = c->bytes + c->used;
    c->used += size;
    arena->total += size;
    return memset(p, 0, size);
}

void *ar_alloc_array(ar_arena *arena, size_t count, size_t size) {
    if (size && count > SIZE_MAX / size)
        out_of_memory(SIZE_MAX);
    return ar_alloc(arena, count * size);
}

char *ar_strndup(ar_arena *arena, const char *text, size_t length) {
    char *copy = ar_alloc(arena, length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *ar_strdup(ar_arena *arena, const char *text) {
    return ar_strndup(arena, text, strlen(text));
}

char *ar_vsprintf(ar_arena *arena, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length < 0)
        AR_BUG("bad format '%s'", format);
    char *text = ar_alloc(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *ar_sprintf(ar_arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = ar_vsprintf(arena, format, args);
    va_end(args);
    return text;
}

void ar_bug(const char *file, int line, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "amp-rewrite: internal error at %s:%d: ", file, line);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    abort();
}
