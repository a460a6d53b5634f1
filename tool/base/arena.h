/* Arena: bump allocation, freed as a whole.
 *
 * A process-private arena grows by chunks. A shared arena is one reserved
 * mapping (MAP_SHARED) made before fork(): what a worker process writes into
 * it is visible to the parent at the same addresses, so whole data structures
 * with pointers cross the process border without being serialised. Nothing in
 * a shared arena may point to the worker's private memory; string literals and
 * functions are fine, since both run the same image.
 *
 * Allocation never returns NULL: running out of memory ends the process with
 * one message. Memory is zeroed. An arena is used by one thread at a time. */
#ifndef AR_ARENA_H
#define AR_ARENA_H

#include <stdarg.h>
#include <stddef.h>

typedef struct ar_arena ar_arena;

ar_arena *ar_arena_new(void);
/* reserve: address space in bytes; pages are only used when touched. Where
 * address space is limited (ulimit -v, strict overcommit) it is less, at most
 * half of what there is; below 16 MiB it counts as out of memory. */
ar_arena *ar_arena_new_shared(size_t reserve);
/* For the parent, when the worker has ended: gives the unused address space
 * back. What is allocated from now on is private. */
void ar_arena_end_sharing(ar_arena *arena);
void ar_arena_free(ar_arena *arena);

void *ar_alloc(ar_arena *arena, size_t size);
void *ar_alloc_array(ar_arena *arena, size_t count, size_t size);
#define AR_NEW(arena, type) ((type *)ar_alloc((arena), sizeof(type)))
#define AR_NEW_ARRAY(arena, type, n)                                           \
    ((type *)ar_alloc_array((arena), (n), sizeof(type)))

char *ar_strdup(ar_arena *arena, const char *text);
char *ar_strndup(ar_arena *arena, const char *text, size_t length);
char *ar_sprintf(ar_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *ar_vsprintf(ar_arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* A broken invariant: prints file:line and the text, then aborts. */
#define AR_BUG(...) ar_bug(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void ar_bug(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
