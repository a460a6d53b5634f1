// Parts of one allocation, each stored in its own precision: lengths are summed
// up and handed out as room. What clears several parts at once goes on doing so.
// RUN: %same --exact %s --rules %S/Inputs/arena.amp -O2 --loss-scale=none > %t.diff
// RUN: %amp-rewrite %s --rules %S/Inputs/arena.amp -O2 --loss-scale=none 2>&1 >/dev/null | %FileCheck --check-prefix=NOTE %s
// RUN: grep '^[+]' %t.diff | %FileCheck %s
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS 5

typedef struct acts {
    float *h_in;
    // CHECK: +    amp_half *h_in;
    float *mean; // an odd number of them
    float *h_mid, *h_out;
    // CHECK-NEXT: +    amp_half *h_mid, *h_out;
    float *loss;
} acts;

typedef struct model {
    acts a;
    size_t lengths[PARTS];
    float *memory;
} model;

static void *reserve(size_t bytes, const char *file, int line) {
    void *p = malloc(bytes);
    if (!p) {
        fprintf(stderr, "%s:%d: no %zu bytes\n", file, line, bytes);
        exit(1);
    }
    return p;
}
#define RESERVE(bytes) reserve(bytes, __FILE__, __LINE__)

static void give_back(void *p) {
    if (p)
        free(p);
}

static float *point(acts *a, size_t *lengths) {
    size_t n = 0;
    // CHECK-NEXT: +    const size_t ptrs_element[] = {
    // CHECK-NEXT: +        sizeof *a->h_in, sizeof *a->mean, sizeof *a->h_mid, sizeof *a->h_out,
    // CHECK-NEXT: +        sizeof *a->loss};
    for (size_t i = 0; i < PARTS; i++) {
        n += lengths[i];
        // CHECK-NEXT: +        n += amp_arena_floats(lengths[i], ptrs_element[i]);
    }
    float* memory = (float*)RESERVE(n * sizeof(float));
    float** ptrs[] = {
        // CHECK-NEXT: +    void* ptrs[] = {
        &a->h_in, &a->mean, &a->h_mid, &a->h_out, &a->loss
    };
    float* it = memory;
    for (size_t i = 0; i < PARTS; i++) {
        // NOTE: :[[#@LINE-1]]:5: warning: assuming that no index goes beyond the part of this allocation that it is used on [AMP512-parts-assumed]
        *(ptrs[i]) = it;
        // CHECK-NEXT: +        amp_arena_part(ptrs[i], it, lengths[i], ptrs_element[i]);
        it += lengths[i];
        // CHECK-NEXT: +        it += amp_arena_floats(lengths[i], ptrs_element[i]);
    }
    return memory;
}

// By distances, of globals, with a count from the table, in ints.
static float *h_first, *plain, *h_last;
static int counts[3] = {3, 1, 5};

static void spread(void) {
    int all = 0, at = 0, k;
    float *memory;
    // CHECK: +    const size_t where_element[] = {
    // CHECK-NEXT: +        sizeof *h_first, sizeof *plain, sizeof *h_last};
    for (k = 0; k < 3; ++k)
        all += counts[k];
        // CHECK-NEXT: +        all += amp_arena_floats(counts[k], where_element[k]);
    memory = calloc(all, sizeof *memory);
    if (!memory)
        exit(1);
    float **where[] = {&h_first, &plain, &h_last};
    // CHECK-NEXT: +    void *where[] = {&h_first, &plain, &h_last};
    for (int i = 0; i < (int)(sizeof where / sizeof where[0]); i++) {
        *where[i] = memory + at;
        // CHECK-NEXT: +        amp_arena_point(where[i], memory + at);
        at += counts[i];
        // CHECK-NEXT: +        at += amp_arena_floats(counts[i], where_element[i]);
    }
}

static void fill(float *x, size_t n, float from) {
    for (size_t i = 0; i < n; i++)
        x[i] = from + (float)i;
}

static float sum(const float *x, size_t n) {
    float s = 0.0f;
    for (size_t i = 0; i < n; i++)
        s += x[i];
    return s;
}

static void forget(model *m, size_t bytes) {
    if (m->memory != NULL)
        memset(m->memory, 0, bytes);
    // CHECK: +        amp_arena_clear(m->memory, bytes);
}

int main(void) {
    model m = {.lengths = {7, 3, 5, 2, 1}};
    m.memory = point(&m.a, m.lengths);
    fill(m.a.h_in, m.lengths[0], 1.0f);
    fill(m.a.h_mid, m.lengths[2], 8.0f);
    fill(m.a.h_out, m.lengths[3], 16.0f);
    for (size_t i = 0; i < m.lengths[1]; i++)
        m.a.mean[i] = m.a.h_in[i] + 0.25f;
    m.a.loss[0] = sum(m.a.h_in, m.lengths[0]);
    printf("%g %g %g %g %g\n", sum(m.a.h_in, 7), m.a.mean[2],
           sum(m.a.h_mid, 5), sum(m.a.h_out, 2), m.a.loss[0]);
    size_t all = 0;
    for (size_t i = 0; i < PARTS; i++)
        all += m.lengths[i];
    forget(&m, 11 * sizeof(float));
    printf("%g %g %g %g %g\n", sum(m.a.h_in, 7), m.a.mean[2],
           sum(m.a.h_mid, 5), sum(m.a.h_out, 2), m.a.loss[0]);
    forget(&m, all * sizeof(float));
    printf("%g %g %g\n", sum(m.a.h_mid, 5), sum(m.a.h_out, 2), m.a.loss[0]);
    give_back(m.memory);

    spread();
    fill(h_first, 3, 2.0f);
    plain[0] = h_last[4];
    fill(h_last, 5, 3.0f);
    printf("%g %g %g\n", sum(h_first, 3), plain[0], sum(h_last, 5));
    return 0;
}
