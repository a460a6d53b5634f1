#include "base/vec.h"

#include <stdarg.h>

void *ar_vec_grow(ar_arena *arena, const void *data, uint32_t count,
                  uint32_t *capacity, size_t size) {
    if (*capacity > UINT32_MAX / 2)
        AR_BUG("vector of more than 2^31 elements");
    uint32_t bigger = *capacity ? *capacity * 2 : 8;
    void *fresh = ar_alloc_array(arena, bigger, size);
    if (count)
        memcpy(fresh, data, count * size);
    *capacity = bigger;
    return fresh;
}

void ar_str_addn(ar_str *s, const char *text, size_t length) {
    if (s->capacity - s->length <= length) {
        size_t bigger = (s->length + length + 1) * 2;
        char *fresh = ar_alloc(s->arena, bigger);
        if (s->length)
            memcpy(fresh, s->data, s->length);
        s->data = fresh;
        s->capacity = bigger;
    }
    memcpy(s->data + s->length, text, length);
    s->length += length;
    s->data[s->length] = '\0';
}

void ar_str_add(ar_str *s, const char *text) {
    ar_str_addn(s, text, strlen(text));
}

void ar_str_addf(ar_str *s, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = ar_vsprintf(s->arena, format, args);
    va_end(args);
    ar_str_add(s, text);
}

const char *ar_str_text(const ar_str *s) {
    return s->data ? s->data : "";
}
