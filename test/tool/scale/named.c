// The user may name the seed and the step; what is named is checked as what is
// found would be.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
// RUN: sed 's/pragma amp seed/pragma omp seed/' %s > %t.c
// RUN: %amp-rewrite %t.c --dump-after=scale | %FileCheck %s --check-prefix=FREE
#include <stdio.h>

static float w[16], g[16], h[16], d[16], x[16];

int main(void) {
    fread(x, sizeof x, 1, stdin);
    for (int step = 0; step < 9; step++) {
        for (int i = 0; i < 16; i++)
            h[i] = w[i] * x[i];
        printf("%f\n", h[0]);
        for (int i = 0; i < 16; i++)
            d[i] = h[i] - 1.0f;
#pragma amp seed
        for (int i = 0; i < 16; i++)
            g[i] = d[i] * x[i];
#pragma amp step
        for (int i = 0; i < 16; i++)
            w[i] -= 0.1f * g[i];
    }
    return 0;
}
// CHECK: seed expression {{.*}}:20:20 in main: d[i] * x[i]
// CHECK: step {{.*}}:22:9 to {{.*}}:22:9
// FREE: seed expression {{.*}}:17:20 in main: h[i] - 1.0f
