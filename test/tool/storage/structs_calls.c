// What a callee adds to through a struct is a sum where a loop repeats the
// call, unless the call says that nothing is kept of what was there. An object
// that others define keeps the floats they know. What is passed as an array is a
// pointer to the first element.
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
static buf w, dw, once, often, sums, grad, anew, kept;
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

static void mix(buf *to, const buf *from, float keep) {
    for (int i = 0; i < to->n; i++)
        to->v[i] = from->v[i] + keep * to->v[i];
}

static float first(buf **all) { return all[0]->v[0] * all[1]->v[0]; }

static float step(void) {
    float loss = 0;
    for (int i = 0; i < N; i++) {
        once.v[i] = w.v[i] * data[i];
        often.v[i] = w.v[i] * data[i];
        elsewhere.v[i] = w.v[i] * data[i];
        sums.v[i] = kept.v[i] = 0;
    }
    plus(&once, &w);
    for (int k = 0; k < 8; k++)
        plus_by_value(often, w);
    for (int k = 0; k < 8; k++)
        plus(&sums, &w);
    for (int k = 0; k < 8; k++) {
        mix(&anew, &w, 0);
        mix(&kept, &w, 0.5f);
    }
    for (int i = 0; i < N; i++) {
        float d = once.v[i] + often.v[i] + elsewhere.v[i] + anew.v[i] +
                  kept.v[i] + sums.v[i] - wanted[i];
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
// CHECK-DAG: storage half anew.v/1 (activation): activations
// CHECK-DAG: storage half grad.v/1 (activation)
// CHECK-DAG: storage fp32 w.v/1 (param): parameters stay FP32
// CHECK-DAG: storage fp32 often.v/1 (activation): a sum: a call in a loop adds to it again and again [
// CHECK-DAG: storage fp32 sums.v/1 (activation): a sum: a call in a loop adds to it again and again [
// CHECK-DAG: storage fp32 kept.v/1 (activation): a sum: a call in a loop adds to it again and again [
// CHECK-DAG: storage fp32 elsewhere.v/1 {{.*}}: defined outside the program [
int main(void) {
    room(&w);
    room(&dw);
    room(&once);
    room(&often);
    room(&grad);
    room(&anew);
    room(&kept);
    room(&sums);
    for (int i = 0; i < N; i++)
        data[i] = wanted[i] = w.v[i] = 0.1f * i;
    for (int i = 0; i < 20; i++)
        printf("%f\n", step());
    buf *pair[2] = {&w, &w};
    printf("%f\n", first(pair));
    return 0;
}
