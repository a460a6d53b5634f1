// Learning rates stay FP32, also where each step makes them anew.
// RUN: %amp-rewrite %s -O2 --loss-scale=dynamic --audit | %FileCheck %s
#include <math.h>
#include <stdio.h>

static float w[64], g[64], h[64], delta[64], t[64], rate[4];

int main(void) {
    fread(t, sizeof t, 1, stdin);
    for (int step = 0; step < 9; step++) {
        for (int k = 0; k < 4; k++)
            rate[k] = 0.1f / (float)(step + k + 1);
        for (int i = 0; i < 64; i++)
            h[i] = tanhf(w[i]);
        for (int i = 0; i < 64; i++)
            delta[i] = h[i] - t[i];
        for (int i = 0; i < 64; i++)
            g[i] = delta[i] * (1.0f - h[i] * h[i]);
        for (int i = 0; i < 64; i++)
            w[i] -= rate[i / 16] * g[i];
        printf("%f\n", (double)w[0]);
    }
    return 0;
}
// CHECK-DAG: half {{.*}}variable delta
// CHECK-DAG: fp32 {{.*}}variable rate {{.*}}: the update reads it, as a learning rate
