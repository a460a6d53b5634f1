// Allocations whose parts keep one precision, each with the use that stands in
// the way of elements of their own size.
// RUN: %amp-rewrite -O2 --dump-after=solve --rules %S/Inputs/arena.amp %s > %t 2>/dev/null
// RUN: %FileCheck %s < %t
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINT(memory, a, b)                                                    \
    float **ptrs[] = {&(a), &(b)}, *it = memory;                               \
    for (int i = 0; i < 2; i++) {                                              \
        *ptrs[i] = it;                                                         \
        it += n[i];                                                            \
    }

static size_t total_of(const size_t *n) {
    return n[0] + n[1];
}

// The size is not a sum that is seen.
static float *h_a, *a;
static float *elsewhere(const size_t *n) {
    float *memory = malloc(total_of(n) * sizeof(float));
    float **ptrs[] = {&h_a, &a};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n[i];
    }
    return memory;
}
// CHECK-DAG: storage fp32 h_a/1 {{.*}}in one allocation with 'a/1', which is FP32 ({{.*}}) [{{.*}}:[[#@LINE-6]]:5] to unlock: parts with elements of their own size, but its size is not the sum of the lengths alone ({{.*}}:[[#@LINE-9]]:21)

// The sum goes elsewhere, too.
static float *h_b, *b;
static float *counted(const size_t *n, size_t *all) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n[i];
    float *memory = malloc(total * sizeof(float));
    float **ptrs[] = {&h_b, &b};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n[i];
    }
    *all = total;
    return memory;
}
// CHECK-DAG: storage fp32 h_b/1 {{.*}} but 'total' is used for more than its size (

// A length changes after it was counted.
static float *h_c, *c;
static float *changed(size_t *n) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n[i];
    float *memory = malloc(total * sizeof(float));
    n[0]--;
    float **ptrs[] = {&h_c, &c};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n[i];
    }
    return memory;
}
// CHECK-DAG: storage fp32 h_c/1 {{.*}} but the lengths may change before it is handed out ({{.*}}:[[#@LINE-9]]:5)

// The table goes further than the loop.
static float *h_d, *d, *rest;
static float *shorter(const size_t *n) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n[i];
    float *memory = malloc(total * sizeof(float));
    float **ptrs[] = {&h_d, &d, &rest};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n[i];
    }
    rest = memory;
    return memory;
}
// CHECK-DAG: storage fp32 h_d/1 {{.*}}in one allocation with 'd/1'{{.*}} but the loop is not seen to go over all of the table (

// Its elements are used by the pointer to all of it, in a function, too.
static float *h_e, *e;
static float *point_e(const size_t *n) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n[i];
    float *memory = malloc(total * sizeof(float));
    float **ptrs[] = {&h_e, &e};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n[i];
    }
    return memory;
}
static void ones(float *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        x[i] = 1.0f;
}
// CHECK-DAG: storage fp32 h_e/1 {{.*}} but its elements are used by the pointer to all of it ({{.*}}:[[#@LINE-2]]:9)

// What counts all of it is used on one part.
static float *h_f, *f;
static size_t all_of_f;
static float *point_f(const size_t *n) {
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
static void twos(float *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        x[i] = 2.0f;
}
// CHECK-DAG: storage fp32 h_f/1 {{.*}} but what counts several parts is used on one of them ({{.*}}:[[#@LINE-3]]:5)

// A distance in it.
static float *h_g, *g;
static float *point_g(const size_t *n) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n[i];
    float *memory = malloc(total * sizeof(float));
    float **ptrs[] = {&h_g, &g};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n[i];
    }
    return memory;
}
// CHECK-DAG: storage fp32 h_g/1 {{.*}} but addresses in it are computed from that of all of it (

// One part is taken for all.
static float *h_h, *h;
static float *point_h(const size_t *n) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n[i];
    float *memory = malloc(total * sizeof(float));
    float **ptrs[] = {&h_h, &h};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n[i];
    }
    h = memory;
    return memory;
}
// CHECK-DAG: storage fp32 h_h/1 {{.*}} but a part of it is pointed to as all of it (

// Goes to a file as it is.
static float *h_i, *i_;
static float *point_i(const size_t *n) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n[i];
    float *memory = malloc(total * sizeof(float));
    float **ptrs[] = {&h_i, &i_};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n[i];
    }
    return memory;
}
// CHECK-DAG: storage fp32 h_i/1 {{.*}} but all of it goes to or from a file at once (

// Cleared by a text that clears other memory, too.
static float *h_k, *k_;
static float *point_k(const size_t *n) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n[i];
    float *memory = malloc(total * sizeof(float));
    float **ptrs[] = {&h_k, &k_};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n[i];
    }
    return memory;
}
static void zero(float *x, size_t n) {
    memset(x, 0, n * sizeof(float));
}
// CHECK-DAG: storage fp32 h_k/1 {{.*}} but other memory is cleared by the same text ({{.*}}:[[#@LINE-2]]:5)

// Cleared, but not always this allocation.
static float *h_l, *l_, *some;
static void point_l(const size_t *n) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n[i];
    float *memory = malloc(total * sizeof(float));
    float **ptrs[] = {&h_l, &l_};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n[i];
    }
    some = memory;
}
// CHECK-DAG: storage fp32 h_l/1 {{.*}} but it may also be memory of another allocation, and is cleared (

// Cleared behind an untyped pointer.
static float *h_m, *m_;
static float *point_m(const size_t *n) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n[i];
    float *memory = malloc(total * sizeof(float));
    float **ptrs[] = {&h_m, &m_};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n[i];
    }
    return memory;
}
static void wipe(void *x, size_t bytes) {
    memset(x, 0, bytes);
}
// CHECK-DAG: storage fp32 h_m/1 {{.*}} but it is given away as untyped memory (

// Its table is of addresses of pointers to constants.
static const float *h_n, *n_;
static float *point_n(const size_t *n) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n[i];
    float *memory = malloc(total * sizeof(float));
    const float **ptrs[] = {&h_n, &n_};
    float *it = memory;
    for (int i = 0; i < 2; i++) {
        *ptrs[i] = it;
        it += n[i];
    }
    return memory;
}
// CHECK-DAG: storage fp32 h_n/1 {{.*}} but the table of its pointers has a qualified type (

// The text is a macro's.
static float *h_j, *j;
static float *point_j(const size_t *n) {
    size_t total = 0;
    for (int i = 0; i < 2; i++)
        total += n[i];
    float *memory = malloc(total * sizeof(float));
    POINT(memory, h_j, j)
    return memory;
}
// CHECK-DAG: storage fp32 h_j/1 {{.*}} but {{.*}}macro body (

int main(void) {
    size_t n[2] = {3, 4}, all;
    float *m = elsewhere(n), *k = counted(n, &all), *l = changed(n);
    float *o = shorter(n), *p = point_e(n), *q = point_f(n), *r = point_g(n);
    float *s = point_h(n), *t = point_i(n), *u = point_j(n);
    ones(p, n[0] + n[1]);
    for (int i = 0; i < 2; i++)
        all_of_f += n[i];
    twos(h_f, all_of_f);
    printf("%d\n", r + 1 > r);
    fwrite(t, sizeof(float), all, stdout);
    h_a[0] = h_b[0] = h_c[0] = h_d[0] = h_e[0] = h_g[0] = 1.0f;
    h_h[0] = h_i[0] = h_j[0] = 1.0f;
    a[0] = b[0] = c[0] = d[0] = e[0] = g[0] = f[0] = h[0] = i_[0] = j[0] = 2.0f;
    float plain[4], ints[2], *v = point_k(n), *w = point_m(n);
    zero(plain, 4);
    zero(v, n[0] + n[1]);
    wipe(ints, sizeof ints);
    wipe(w, (n[0] + n[1]) * sizeof(float));
    if (n[0] > 2)
        point_l(n);
    else
        some = malloc(n[0] * sizeof(float));
    memset(some, 0, n[0] * sizeof(float));
    h_k[0] = h_l[0] = h_m[0] = k_[0] = l_[0] = m_[0] = 3.0f;
    float *x = point_n(n);
    printf("%g %g\n", h_n[0], n_[0]);
    free(x);
    free(m), free(k), free(l), free(o), free(q), free(s), free(u);
    return 0;
}
