// Allocations in parts that keep one precision since what is computed from
// lengths may reach from one part into the next.
// RUN: %amp-rewrite -O2 --dump-after=solve --rules %S/Inputs/arena.amp %s > %t 2>/dev/null
// RUN: %FileCheck %s < %t
#include <stdlib.h>
#include <string.h>

// The lengths of two parts lie in variables of their own.
static float *h_a, *a;
static size_t n_a[2];
static float *point_a(void) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n_a[i];
    float *memory = malloc(total * sizeof(float));
    float **ptrs[] = {&h_a, &a};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n_a[i];
    }
    return memory;
}
static void use_a(void) {
    size_t first = n_a[0], second = n_a[1];
    memset(h_a, 0, (first + second) * sizeof(float));
}
// CHECK-DAG: storage fp32 h_a/1 {{.*}} but what counts several parts is used on one of them ({{.*}}:[[#@LINE-2]]:5)

// A length goes on top of an index.
static float *h_b, *b;
static size_t n_b[2];
static float *point_b(void) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n_b[i];
    float *memory = malloc(total * sizeof(float));
    float **ptrs[] = {&h_b, &b};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n_b[i];
    }
    return memory;
}
static void use_b(size_t skip) {
    for (size_t i = 0; i < n_b[1]; i++)
        h_b[i + skip] = 1.0f;
}
// CHECK-DAG: storage fp32 h_b/1 {{.*}} but what counts several parts is used on one of them ({{.*}}:[[#@LINE-2]]:9)

// The next part by the length of the one before.
static float *h_c, *c;
static size_t n_c[2];
static float *point_c(void) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n_c[i];
    float *memory = malloc(total * sizeof(float));
    float **ptrs[] = {&h_c, &c};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n_c[i];
    }
    return memory;
}
static void use_c(void) {
    float *tail = h_c + n_c[0];
    tail[0] = 1.0f;
}
// CHECK-DAG: storage fp32 h_c/1 {{.*}} but the length of a part is used as a distance in one ({{.*}}:[[#@LINE-3]]:19)

// Twice what the lengths were set from.
static float *h_d, *d;
static size_t n_d[2], rows;
static float *point_d(void) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n_d[i];
    float *memory = malloc(total * sizeof(float));
    float **ptrs[] = {&h_d, &d};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n_d[i];
    }
    return memory;
}
static void use_d(void) {
    n_d[0] = n_d[1] = rows;
    for (size_t i = 0; i < 2 * rows; i++)
        h_d[i] = 1.0f;
}
// CHECK-DAG: storage fp32 h_d/1 {{.*}} but what counts several parts is used on one of them ({{.*}}:[[#@LINE-3]]:5)

// The lengths come from a function, and a loop ends at their sum.
static float *h_e, *e;
static size_t n_e[2];
static float *point_e(void) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n_e[i];
    float *memory = malloc(total * sizeof(float));
    float **ptrs[] = {&h_e, &e};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n_e[i];
    }
    return memory;
}
static size_t length(const size_t *n, int i) {
    return n[i];
}
static void use_e(void) {
    size_t both = length(n_e, 0);
    both += length(n_e, 1);
    for (size_t i = 0;; i++) {
        if (i == both)
            break;
        h_e[i] = 1.0f;
    }
}
// CHECK-DAG: storage fp32 h_e/1 {{.*}} but what counts several parts is used on one of them ({{.*}}:[[#@LINE-6]]:5)

// Each part up to its own length, in bytes and from behind, too.
static float *h_f, *f;
static size_t n_f[2];
static float *point_f(void) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n_f[i];
    float *memory = malloc(total * sizeof(float));
    float **ptrs[] = {&h_f, &f};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n_f[i];
    }
    return memory;
}
static void use_f(void) {
    size_t first = n_f[0], bytes = n_f[1] * sizeof(float);
    for (size_t i = 0; i < first; i++)
        h_f[i] = 1.0f;
    h_f[first - 1] = 2.0f;
    memset(f, 0, bytes);
}
// CHECK-DAG: storage half h_f/1

int main(void) {
    float *m = point_a(), *k = point_b(), *l = point_c(), *o = point_d();
    float *p = point_e(), *q = point_f();
    use_a(), use_b(n_b[0]), use_c(), use_d(), use_e(), use_f();
    a[0] = b[0] = c[0] = d[0] = e[0] = 2.0f;
    free(m), free(k), free(l), free(o), free(p), free(q);
    return 0;
}
