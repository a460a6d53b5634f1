// What code that is not seen does to gradients is not known: it is named, and
// gets them unscaled.
// RUN: %amp-rewrite %s --dump-after=scale 2>&1 | %FileCheck %s
#include <stdio.h>

void smooth(float *values, int n);
static float w[16], g[16], h[16];

int main(void) {
    for (int step = 0; step < 9; step++) {
        for (int i = 0; i < 16; i++)
            h[i] = w[i] * 2.0f;
        for (int i = 0; i < 16; i++)
            g[i] = h[i] - 1.0f;
        smooth(g, 16);
        for (int i = 0; i < 16; i++)
            w[i] -= 0.1f * g[i];
        printf("%f\n", h[0]);
    }
    return 0;
}
// CHECK-DAG: unscale before {{.*}}:15:9{{$}}
// CHECK-DAG: warning: what 'smooth' does to float memory is unknown
