// What a callee adds to through a struct is a sum where a loop repeats the
// call, and an object that others define keeps the floats they know.
// RUN: %amp-rewrite -O2 --half=bf16 --loss-scale=none --dump-after=solve %s \
// RUN:   2>/dev/null | %FileCheck %s
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int n;
    float *v;
} buf;

enum { N = 16 };
float data[N], wanted[N];
static buf w, dw, once, often, grad;
extern buf elsewhere;

static void room(buf *b) {
    b->n = N;
    b->v = calloc(N, sizeof(float));
}

static void plus(buf *to, const buf *from) {
    for (int i = 0; i < to->n; i++)
        to->v[i] += from->v[i];
}

static void plus_by_value(buf to, buf from) {
    for (int i = 0; i < to.n; i++)
        to.v[i] += from.v[i];
}

static float step(void) {
    float loss = 0;
    for (int i = 0; i < N; i++) {
        once.v[i] = w.v[i] * data[i];
        often.v[i] = w.v[i] * data[i];
        elsewhere.v[i] = w.v[i] * data[i];
    }
    plus(&once, &w);
    for (int k = 0; k < 8; k++)
        plus_by_value(often, w);
    for (int i = 0; i < N; i++) {
        float d = once.v[i] + often.v[i] + elsewhere.v[i] - wanted[i];
        loss += d * d;
        grad.v[i] = d;
    }
    for (int i = 0; i < N; i++)
        dw.v[i] = grad.v[i] * data[i];
    for (int i = 0; i < N; i++)
        w.v[i] -= 0.001f * dw.v[i];
    return loss;
}

// CHECK-DAG: storage half once.v/1 (activation): activations
// CHECK-DAG: storage half grad.v/1 (activation)
// CHECK-DAG: storage fp32 w.v/1 (param): parameters stay FP32
// CHECK-DAG: storage fp32 often.v/1 (activation): a sum: a call in a loop adds to it again and again [
// CHECK-DAG: storage fp32 elsewhere.v/1 {{.*}}: defined outside the program [
int main(void) {
    room(&w);
    room(&dw);
    room(&once);
    room(&often);
    room(&grad);
    for (int i = 0; i < N; i++)
        data[i] = wanted[i] = w.v[i] = 0.1f * i;
    for (int i = 0; i < 20; i++)
        printf("%f\n", step());
    return 0;
}
