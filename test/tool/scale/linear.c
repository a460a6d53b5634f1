// The smallest trainer: a linear model whose bias and weights have gradients.
// The seed is the residual, and not the learning rate, which is another place
// where the algebra would allow a factor.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
#include <stdio.h>

static float w[8], b[1], gw[8], gb[1], x[32][8], y[32], pred[32], diff[32];

int main(void) {
    fread(x, sizeof x, 1, stdin), fread(y, sizeof y, 1, stdin);
    float rate = 0.1f;
    for (int step = 0; step < 50; step++) {
        float loss = 0;
        for (int i = 0; i < 32; i++) {
            pred[i] = b[0];
            for (int j = 0; j < 8; j++)
                pred[i] += w[j] * x[i][j];
            loss += (pred[i] - y[i]) * (pred[i] - y[i]);
        }
        for (int i = 0; i < 32; i++)
            diff[i] = pred[i] - y[i];
        for (int j = 0; j < 8; j++) {
            gw[j] = 0;
            for (int i = 0; i < 32; i++)
                gw[j] += diff[i] * x[i][j];
        }
        gb[0] = 0;
        for (int i = 0; i < 32; i++)
            gb[0] += diff[i];
        for (int j = 0; j < 8; j++)
            w[j] -= rate * gw[j];
        b[0] -= rate * gb[0];
        printf("%f\n", loss);
    }
    return 0;
}
// CHECK: loss scale: found
// CHECK: training loop {{.*}}linear.c:12:5 in main
// CHECK-DAG: param w
// CHECK-DAG: param b
// CHECK-DAG: grad gw
// CHECK-DAG: grad gb
// CHECK: seed expression {{.*}}:21:23 in main: pred[i] - y[i]
// CHECK-NOT: seed
// CHECK: unscale before {{.*}}:30:9 (the step)
// CHECK: step {{.*}}:30:9 to {{.*}}:32:9 in main
// CHECK-DAG: cell diff: activation, degree 1
// CHECK-DAG: cell loss: {{.*}}degree 0
