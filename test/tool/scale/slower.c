// A rate that sinks from epoch to epoch is no part of the step: the loop over
// the batches trains, with a step that can be skipped as a whole.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
#include <stdio.h>

enum { IN = 8, ROWS = 32, BATCHES = 4, ALL = ROWS * BATCHES };
static float w[IN], g[IN], x[ALL][IN], y[ALL], diff[ROWS];

static float pass(float (*x)[IN], const float *y) {
    float loss = 0;
    for (int r = 0; r < ROWS; r++) {
        float sum = 0;
        for (int i = 0; i < IN; i++)
            sum += w[i] * x[r][i];
        diff[r] = sum - y[r];
        loss += diff[r] * diff[r];
    }
    for (int i = 0; i < IN; i++) {
        float sum = 0;
        for (int r = 0; r < ROWS; r++)
            sum += diff[r] * x[r][i];
        g[i] = sum;
    }
    return loss;
}

int main(void) {
    fread(x, sizeof x, 1, stdin), fread(y, sizeof y, 1, stdin);
    float rate = 0.01f;
    for (int epoch = 0; epoch < 50; epoch++) {
        float loss = 0;
        for (int b = 0; b < BATCHES; b++) {
            loss += pass(&x[b * ROWS], &y[b * ROWS]);
            for (int i = 0; i < IN; i++)
                w[i] -= rate * g[i];
        }
        rate *= 0.9f;
        printf("%f\n", loss);
    }
    return 0;
}
// CHECK: loss scale: found
// CHECK: training loop {{.*}}slower.c:32:9 in main
// CHECK: step {{.*}}slower.c:34:13
// CHECK-DAG: cell g: grad
// CHECK-DAG: cell w: param
// CHECK-DAG: cell rate: data, {{.*}} not written by the training loop
