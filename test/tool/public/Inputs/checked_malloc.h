#ifndef CHECKED_MALLOC_H
#define CHECKED_MALLOC_H
#include <stdio.h>
#include <stdlib.h>

static inline void *malloc_or_die(size_t bytes, const char *file, int line) {
    void *p = malloc(bytes);
    if (!p) {
        fprintf(stderr, "%s:%d: no memory\n", file, line);
        exit(1);
    }
    return p;
}
#define MALLOC(bytes) malloc_or_die(bytes, __FILE__, __LINE__)
#endif
