// A value that a call hands to a setter is judged where it is made, for the
// memory that the call hands over with it.
// RUN: %amp-rewrite -O2 --loss-scale=1 --dump-after=solve %s 2>/dev/null | %FileCheck %s
#include <math.h>
#include <stdio.h>

enum { N = 16 };

static float w[N], dw[N], x[N];
static float hidden[N], prob[N], again[N], delta[N];

static void set(float *v, int i, float value) {
    v[i] = value;
}

static void put(float *v, int i, float value) {
    set(v, i, value);
}

int main(void) {
    for (int i = 0; i < N; i++) {
        w[i] = 0.1f * i;
        x[i] = i;
    }
    for (int step = 0; step < 10; step++) {
        float sum = 0, loss = 0;
        for (int i = 0; i < N; i++)
            set(hidden, i, w[i] * x[i]);
        for (int i = 0; i < N; i++) {
            put(prob, i, expf(hidden[i]));
            sum += prob[i];
        }
        for (int i = 0; i < N; i++) {
            put(again, i, hidden[i] * 0.5f);
            loss -= logf(prob[i] / sum) * x[i];
            delta[i] = prob[i] / sum - x[i] + again[i];
        }
        for (int i = 0; i < N; i++)
            dw[i] = delta[i] * x[i];
        for (int i = 0; i < N; i++)
            w[i] -= 0.01f * dw[i];
        printf("%f\n", loss);
    }
    return 0;
}
// CHECK-DAG: storage half hidden/1 (activation)
// CHECK-DAG: storage fp32 prob/1 (activation): holds what needs FP32: rule exp expf (libm.amp) [{{.*}}handed.c:30:13] to unlock
// CHECK-DAG: storage half again/1 (activation)
// CHECK-DAG: storage half delta/1 (activation)
// CHECK-DAG: version set_half of set: in half
// CHECK-DAG: version put_half of put: in half
