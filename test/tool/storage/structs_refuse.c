// Objects whose struct is named where text cannot change stay FP32, and the
// others do not mind. A struct that is seen as something else is one memory for
// all of its objects.
// RUN: %amp-rewrite -O2 --half=bf16 --loss-scale=none --dump-after=solve %s \
// RUN:   2>/dev/null | %FileCheck %s --match-full-lines --check-prefix=APART
// RUN: %amp-rewrite -O2 --half=bf16 --loss-scale=none %s -o %t.c 2>/dev/null
// RUN: %FileCheck %s < %t.c
// RUN: %gcc -Wall -Wextra -Wno-comment -Werror -I %amp-include -DAMP_HALF_BF16 -c %t.c -o %t.o
//
// RUN: %amp-rewrite -O2 --half=bf16 --loss-scale=none --dump-after=solve %s \
// RUN:   -- -DVIEWED 2>/dev/null | %FileCheck %s --check-prefix=WHOLE
// RUN: %amp-rewrite -O2 --half=bf16 --loss-scale=none --dump-after=solve %s \
// RUN:   -- -DUNTYPED 2>/dev/null | %FileCheck %s --check-prefix=WHOLE
// RUN: %amp-rewrite -O2 --half=bf16 --loss-scale=none --dump-after=solve %s \
// RUN:   -- -DBYTES 2>/dev/null | %FileCheck %s --check-prefix=WHOLE
// RUN: %amp-rewrite -O2 --half=bf16 --loss-scale=none --dump-after=solve %s \
// RUN:   -- -DUNION 2>/dev/null | %FileCheck %s --check-prefix=WHOLE
// RUN: %amp-rewrite -O2 --half=bf16 --loss-scale=none --dump-after=solve %s \
// RUN:   -- -DINSIDE 2>/dev/null | %FileCheck %s --check-prefix=WHOLE
// APART-DAG: storage half plain.v/1 (activation): {{.*}}
// APART-DAG: storage half grad.v/1 (activation): {{.*}}
// APART-DAG: storage half shown.v/1 (activation): {{.*}}
// APART-DAG: storage fp32 w.v/1 (param): {{.*}}
// APART-DAG: storage fp32 made.v/1 (activation): its struct is named in the body of a macro [{{.*}}]
// APART-DAG: storage fp32 called.v/1 (activation): 'twice' is called through a pointer [{{.*}}] {{.*}}
// APART-DAG: storage fp32 first:b.v/1 in first (no role): its type is a name for more than the struct [{{.*}}]
// APART-DAG: storage fp32 named.v/1 (activation): passed to 'first', where it is FP32 {{.*}}
//
// WHOLE: storage fp32 buf.v/1 (param+grad+activation): one memory with 'w.v', and parameters stay FP32
#include <stdio.h>
#include <stdlib.h>

struct buf {
    int n;
    float *v;
#ifdef INSIDE
    enum { ROW, COLUMN } order;
#endif
};
// CHECK: struct buf_half {
// CHECK-NEXT: int n;
// CHECK-NEXT: amp_half *v;

typedef struct buf Buf;
typedef struct buf *BufP;
typedef struct {
    int n;
    float *v;
} Other;

#define NEW(T) ((T *)calloc(1, sizeof(T)))
enum { N = 16 };

float data[N], wanted[N];
static struct buf w, dw, plain, grad;
static Buf *made, called, named;
static Buf *shown;

static void twice(struct buf *b) {
    for (int i = 0; i < b->n; i++)
        b->v[i] *= 2;
}
static void (*const doubler)(struct buf *) = twice;

static float first(BufP b) { return b->v[0]; }

// CHECK: static struct buf w, dw;
// CHECK-NEXT: static struct buf_half plain, grad;
// CHECK-NEXT: static Buf *made, called, named;
// CHECK-NEXT: static Buf_half *shown;
// CHECK: printf("%p\n", (void *)(Buf_half *)shown);
// CHECK: made = NEW(Buf);

#ifdef VIEWED
static float look(void) { return ((Other *)&plain)->v[0]; }
#elif defined UNTYPED
static float look(void) {
    void *any = &plain;
    Other *o = any;
    return o->v[0];
}
#elif defined BYTES
static float look(void) {
    char *c = (char *)&plain;
    return c[0];
}
#elif defined UNION
static union {
    struct buf b;
    Other o;
} both;
static float look(void) {
    both.b = plain;
    return both.o.v[0];
}
#else
static float look(void) { return plain.v[0]; }
#endif
Other o;

static void room(struct buf *b) {
    b->n = N;
    b->v = calloc(N, sizeof(float));
}

static float step(void) {
    float loss = 0;
    for (int i = 0; i < N; i++) {
        plain.v[i] = w.v[i] * data[i];
        made->v[i] = w.v[i] * data[i] * 2;
        called.v[i] = w.v[i] * data[i] * 3;
        named.v[i] = w.v[i] * data[i] * 4;
        shown->v[i] = w.v[i] * data[i] * 5;
    }
    doubler(&called);
    for (int i = 0; i < N; i++) {
        float d = plain.v[i] + made->v[i] + called.v[i] + named.v[i] +
                  shown->v[i] - wanted[i];
        loss += d * d;
        grad.v[i] = d;
    }
    loss += 0 * (first(&named) + look());
    printf("%p\n", (void *)(Buf *)shown);
    for (int i = 0; i < N; i++)
        dw.v[i] = grad.v[i] * data[i];
    for (int i = 0; i < N; i++)
        w.v[i] -= 0.001f * dw.v[i];
    return loss;
}

int main(void) {
    made = NEW(Buf);
    shown = malloc(sizeof *shown);
    room(&w);
    room(&dw);
    room(&plain);
    room(&grad);
    room(made);
    room(&called);
    room(&named);
    room(shown);
    for (int i = 0; i < N; i++)
        data[i] = wanted[i] = w.v[i] = 0.1f * i;
    for (int i = 0; i < 20; i++)
        printf("%f\n", step());
    return 0;
}
