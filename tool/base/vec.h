/* Growable arrays in an arena: AR_VEC(type) declares the struct, AR_PUSH adds
 * an element. Growing copies and leaves the old storage to the arena, so
 * pointers into `data` are valid only until the next push. */
#ifndef AR_VEC_H
#define AR_VEC_H

#include "base/arena.h"

#include <stdint.h>
#include <string.h>

#define AR_VEC(type)                                                           \
    struct {                                                                   \
        type *data;                                                            \
        uint32_t count, capacity;                                              \
    }

#define AR_PUSH(arena, vec, ...)                                               \
    do {                                                                       \
        if ((vec)->count == (vec)->capacity)                                   \
            (vec)->data = ar_vec_grow((arena), (vec)->data, (vec)->count,      \
                                      &(vec)->capacity, sizeof *(vec)->data);  \
        (vec)->data[(vec)->count++] = (__VA_ARGS__);                           \
    } while (0)

void *ar_vec_grow(ar_arena *arena, const void *data, uint32_t count,
                  uint32_t *capacity, size_t size);

/* String builder: a char vector that is kept NUL-terminated. */
typedef struct ar_str {
    ar_arena *arena;
    char *data; /* NULL while empty */
    size_t length, capacity;
} ar_str;

void ar_str_add(ar_str *s, const char *text);
void ar_str_addn(ar_str *s, const char *text, size_t length);
void ar_str_addf(ar_str *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The text so far; "" while empty. */
const char *ar_str_text(const ar_str *s);

#endif
