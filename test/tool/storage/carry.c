// Momentum that is kept in the gradient: half at -O3 if it decays fast enough,
// through whatever names the decay goes.
// RUN: %amp-rewrite -O3 --dump-after=solve %s -- -DDECAY=0.9f 2>/dev/null \
// RUN:   | %FileCheck %s --check-prefix=FAST
// RUN: %amp-rewrite -O3 --dump-after=solve %s -- -DDECAY=0.999f 2>/dev/null \
// RUN:   | %FileCheck %s --check-prefix=SLOW
// RUN: %amp-rewrite -O3 --loss-scale=dynamic --dump-after=solve %s -- \
// RUN:   -DDECAY=0.9f 2>/dev/null | %FileCheck %s --check-prefix=SCALED
#include <stdio.h>

static float w[16], update[16], out[16], delta[16], x[16], t[16];
// FAST-DAG: storage half update/1 (grad): parameter gradients: level O3
// FAST-DAG: storage half w/1 (param): parameters: level O3
// SLOW-DAG: storage fp32 update/1 (grad): decays by 0.001 a step, less than half an ulp of bf16 (2^-9) [{{.*}}carry.c:[[#DECAY:]]:9]
// SCALED-DAG: storage fp32 update/1 (grad): parameter gradients stay FP32: the loss scale is taken out of them in place
// SCALED-DAG: storage half w/1 (param): parameters: level O3

static void decay(float *v, int n, float by) {
    const float factor = by;
    for (int i = 0; i < n; i++)
        v[i] = factor * v[i];
}

int main(void) {
    fread(x, sizeof x, 1, stdin), fread(t, sizeof t, 1, stdin);
    for (int step = 0; step < 9; step++) {
        float cost = 0;
        for (int i = 0; i < 16; i++) {
            out[i] = w[i] * x[i];
            cost += (out[i] - t[i]) * (out[i] - t[i]);
        }
        for (int i = 0; i < 16; i++)
            delta[i] = t[i] - out[i];
        for (int i = 0; i < 16; i++)
            update[i] += delta[i] * x[i];
        for (int i = 0; i < 16; i++)
            w[i] += 0.1f * update[i];
        decay(update, 16, DECAY);
        printf("%f\n", cost);
    }
    return 0;
}
