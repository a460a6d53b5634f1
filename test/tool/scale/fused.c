// The update is made inside the backward pass: its gradient terms are unscaled
// one by one, decay and the learning rate are left alone.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
#include <stdio.h>

static float w1[8][8], w2[8], h[8], dh[8], x[8];

int main(void) {
    fread(x, sizeof x, 1, stdin);
    for (int step = 0; step < 9; step++) {
        float p = 0, d;
        for (int i = 0; i < 8; i++) {
            h[i] = 0;
            for (int j = 0; j < 8; j++)
                h[i] += w1[i][j] * x[j];
            p += w2[i] * h[i];
        }
        d = p - 1.0f;
        for (int i = 0; i < 8; i++) {
            dh[i] = d * w2[i];
            w2[i] -= 0.1f * (d * h[i]) + 0.001f * w2[i];
            for (int j = 0; j < 8; j++)
                w1[i][j] -= 0.1f * dh[i] * x[j];
        }
        printf("%f\n", p);
    }
    return 0;
}
// CHECK-DAG: param w1
// CHECK-DAG: param w2
// CHECK: seed expression {{.*}}:18:13 in main: p - 1.0f
// CHECK-DAG: fused term {{.*}}: 0.1f * (d * h[i])
// CHECK-DAG: fused term {{.*}}: 0.1f * dh[i] * x[j]
// CHECK-NOT: fused term
// CHECK: iteration ends after {{.*}}:25:9
