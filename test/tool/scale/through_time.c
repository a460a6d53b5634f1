// Backward through time reads what the later step wrote, at a shifted index:
// the loop hands the values on.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
#include <math.h>
#include <stdio.h>
#include <string.h>

static float u[4], gu[4], h[10][4], dh[10][4], x[10][4];

int main(void) {
    for (int step = 0; step < 9; step++) {
        for (int t = 1; t < 10; t++)
            for (int i = 0; i < 4; i++)
                h[t][i] = tanhf(x[t][i] + u[i] * h[t - 1][i]);
        printf("%f\n", h[9][0]);
        memset(gu, 0, sizeof gu);
        memset(dh, 0, sizeof dh);
        for (int i = 0; i < 4; i++)
            dh[9][i] = h[9][i] - 0.5f;
        for (int t = 9; t > 0; t--)
            for (int i = 0; i < 4; i++) {
                float raw = dh[t][i] * (1 - h[t][i] * h[t][i]);
                gu[i] += raw * h[t - 1][i];
                dh[t - 1][i] += raw * u[i];
            }
        for (int i = 0; i < 4; i++)
            u[i] -= 0.1f * gu[i];
    }
    return 0;
}
// CHECK: param u
// CHECK: grad gu
// CHECK: seed expression {{.*}}:19:24 in main: h[9][i] - 0.5f
// CHECK-NOT: seed
// CHECK: unscale before {{.*}}:26:9 (the step)
// CHECK: cell dh: activation, degree 1
