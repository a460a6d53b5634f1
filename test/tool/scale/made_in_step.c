// What updates the parameters compares outputs with targets itself: it is no
// step that finds gradients, also where it is one call, and the output of the
// forward pass is no gradient.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
#include <math.h>
#include <stdio.h>

enum { IN = 8, OUT = 3, ROWS = 64 };
static float w[OUT][IN], y[OUT], x[ROWS][IN], want[ROWS][OUT];

static void forward(const float *x) {
    for (int o = 0; o < OUT; o++) {
        float sum = 0;
        for (int i = 0; i < IN; i++)
            sum += w[o][i] * x[i];
        y[o] = tanhf(sum);
    }
}

static void learn(const float *x, const float *want, float rate) {
    for (int o = 0; o < OUT; o++) {
        float d = y[o] - want[o];
        for (int i = 0; i < IN; i++)
            w[o][i] -= rate * d * (1 - y[o] * y[o]) * x[i];
    }
}

static float error(const float *want) {
    float sum = 0;
    for (int o = 0; o < OUT; o++)
        sum += (y[o] - want[o]) * (y[o] - want[o]);
    return sum;
}

int main(void) {
    fread(x, sizeof x, 1, stdin), fread(want, sizeof want, 1, stdin);
    for (int epoch = 0; epoch < 50; epoch++) {
        float loss = 0;
        for (int r = 0; r < ROWS; r++) {
            forward(x[r]);
            learn(x[r], want[r], 0.01f);
            loss += error(want[r]);
        }
        printf("%f\n", loss);
    }
    return 0;
}
// CHECK: loss scale: found
// CHECK: training loop {{.*}}made_in_step.c:39:9 in main
// CHECK-NOT: grad y
// CHECK: fused term {{.*}}made_in_step.c:24:{{[0-9]+}}: rate * d *
// CHECK: cell y: activation, {{.*}} written first, then read
