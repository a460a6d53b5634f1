// Allocations in parts that must keep one precision, for what happens around
// the sum of the lengths, and for what may be told room in place of a length.
// RUN: %amp-rewrite -O2 --dump-after=solve --rules %S/Inputs/arena.amp %s > %t 2>/dev/null
// RUN: %FileCheck %s < %t
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A function of the C library changes the lengths after they were added up.
static float *h_a, *a;
static float *point_a(size_t *n, const size_t *final) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n[i];
    float *memory = malloc(total * sizeof(float));
    memcpy(n, final, 2 * sizeof *n);
    float **ptrs[] = {&h_a, &a};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n[i];
    }
    return memory;
}
// CHECK-DAG: storage fp32 h_a/1 {{.*}} but the lengths may change before it is handed out ({{.*}}:[[#@LINE-9]]:5)

// What allocates remembers the bytes, which are then room.
static float *h_b, *b;
static size_t held;
static void *keep(size_t bytes) {
    void *p = malloc(bytes);
    held = bytes;
    return p;
}
static float *point_b(size_t *n) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n[i];
    float *memory = keep(total * sizeof(float));
    float **ptrs[] = {&h_b, &b};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n[i];
    }
    return memory;
}
// CHECK-DAG: storage fp32 h_b/1 {{.*}} but what allocates it uses its size otherwise, too ({{.*}}:[[#@LINE-9]]:21)

// What allocates takes something off.
static float *h_c, *c;
static void *shorter(size_t bytes, int less) {
    return malloc(bytes - (size_t)less);
}
static float *point_c(size_t *n) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n[i];
    float *memory = shorter(total * sizeof(float), 4);
    float **ptrs[] = {&h_c, &c};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n[i];
    }
    return memory;
}
// CHECK-DAG: storage fp32 h_c/1 {{.*}} but what allocates it uses its size otherwise, too ({{.*}}:[[#@LINE-9]]:21)

// A variable whose name looks like the compiler's is a number all the same.
static float *h_d, *d;
static int __less = 8;
static float *point_d(size_t *n) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n[i];
    float *memory = shorter(total * sizeof(float), __less);
    float **ptrs[] = {&h_d, &d};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n[i];
    }
    return memory;
}
// CHECK-DAG: storage fp32 h_d/1 {{.*}} but its size is not the sum of the lengths alone ({{.*}}:[[#@LINE-9]]:21)

// What allocates changes a length.
static float *h_e, *e;
static size_t lengths[2] = {3, 4};
static void *sly(size_t bytes) {
    lengths[0]--;
    return malloc(bytes);
}
static float *point_e(void) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += lengths[i];
    float *memory = sly(total * sizeof(float));
    float **ptrs[] = {&h_e, &e};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += lengths[i];
    }
    return memory;
}
// CHECK-DAG: storage fp32 h_e/1 {{.*}} but what allocates it does more than that ({{.*}}:[[#@LINE-16]]:5)

// Other memory of the same function comes to what clears it.
static float *h_f, *f;
static float *point_f(const size_t *n, int plain) {
    if (plain)
        return malloc(100 * sizeof(float));
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n[i];
    float *memory = malloc(total * sizeof(float));
    float **ptrs[] = {&h_f, &f};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n[i];
    }
    return memory;
}
// CHECK-DAG: storage fp32 h_f/1 {{.*}} but it may also be memory of another allocation, and is cleared ({{.*}}:[[#@LINE-13]]:16)

int main(int argc, char **argv) {
    (void)argv;
    size_t n[2] = {3, 4}, final[2] = {4, 3};
    float *m = point_a(n, final), *k = point_b(n), *l = point_c(n);
    float *o = point_d(n), *p = point_e(), *q = point_f(n, argc > 1);
    memset(k, 0, held);
    memset(q, 0, 7 * sizeof(float));
    h_a[0] = h_b[0] = h_c[0] = h_d[0] = h_e[0] = h_f[0] = 1.0f;
    a[0] = b[0] = c[0] = d[0] = e[0] = f[0] = 2.0f;
    free(m), free(k), free(l), free(o), free(p), free(q);
    return 0;
}
