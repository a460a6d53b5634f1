#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { AR_ALIGN = 16, AR_CHUNK = 1 << 16 };

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
    size_t reserve; /* shared: bytes mapped; 0: private */
    size_t used;    /* shared: bytes used, this header included */
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

ar_arena *ar_arena_new_shared(size_t reserve) {
    void *p = mmap(NULL, reserve, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        out_of_memory(reserve);
    ar_arena *arena = p;
    arena->reserve = reserve;
    arena->used = (sizeof *arena + AR_ALIGN - 1) & ~(size_t)(AR_ALIGN - 1);
    return arena;
}

void ar_arena_free(ar_arena *arena) {
    if (!arena)
        return;
    if (arena->reserve) {
        munmap(arena, arena->reserve);
        return;
    }
    for (ar_chunk *c = arena->chunks; c;) {
        ar_chunk *next = c->next;
        free(c);
        c = next;
    }
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

void *ar_alloc(ar_arena *arena, size_t size) {
    if (size > SIZE_MAX - AR_ALIGN)
        out_of_memory(size);
    size = (size + AR_ALIGN - 1) & ~(size_t)(AR_ALIGN - 1);
    if (arena->reserve) {
        if (arena->reserve - arena->used < size)
            out_of_memory(size);
        void *p = (unsigned char *)arena + arena->used;
        arena->used += size;
        arena->total += size;
        return p; /* fresh pages of a mapping are zero */
    }
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

size_t ar_arena_used(const ar_arena *arena) {
    return arena->total;
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
