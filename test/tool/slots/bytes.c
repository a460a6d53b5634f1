// Byte counts flow from a sizeof through locals, fields, parameters and results
// to where they are used.
// RUN: %amp-rewrite --dump-after=flows %s | %FileCheck %s
#include <stdlib.h>
#include <string.h>

struct plan {
    float *work;
    size_t bytes;
    float *fixed;
    float *own;
};

static size_t need(int n) {
    size_t per = sizeof(float);
    return per * (size_t)n;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

void prepare(struct plan *p, int n) {
    p->bytes = larger(p->bytes, need(n));
}

void make(struct plan *p) {
    p->work = malloc(p->bytes);
    p->fixed = malloc(4 * 64);
    p->own = malloc(8 * sizeof *p->own);
    memset(p->own, 0, 8 * sizeof(p->own[0]));
}

static void *zeroed(size_t count, size_t size) {
    return calloc(count, size);
}

float *cleared(int n) {
    return zeroed((size_t)n, sizeof(float));
}

// CHECK: class plan.work/1 global
// CHECK-NOT: pin
// CHECK: class plan.fixed/1 global
// CHECK: pin literal-bytes: the byte count of malloc does not come from a sizeof at bytes.c:29:16
// CHECK: class plan.own/1 global
// CHECK-NOT: pin
// CHECK: class cleared:result/1
// CHECK-NOT: pin
// CHECK: site sizeof bytes.c:15:18 plan.work/1
// CHECK: site sizeof bytes.c:30:25 plan.own/1
// CHECK: site sizeof bytes.c:31:27 plan.own/1
// CHECK: site sizeof bytes.c:39:30 cleared:result/1
