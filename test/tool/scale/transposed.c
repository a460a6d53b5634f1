// The gradient is what was made from more, not what was written last: the
// activation is transposed after the error is known.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
#include <math.h>
#include <stdio.h>
#include <string.h>

static float w[16], g[16], h[16], slope[16], copy[16], x[16], t[16], e[16];

int main(void) {
    fread(x, sizeof x, 1, stdin);
    fread(t, sizeof t, 1, stdin);
    for (int step = 0; step < 9; step++) {
        float y[16];
        for (int i = 0; i < 16; i++)
            h[i] = tanhf(w[i] * x[i]);
        for (int i = 0; i < 16; i++)
            y[i] = w[i] * h[i];
        for (int i = 0; i < 16; i++)
            e[i] = y[i] - t[i];
        memcpy(slope, h, sizeof h);
        for (int i = 0; i < 16; i++)
            slope[i] = 1 - slope[i] * slope[i];
        for (int i = 0; i < 16; i++)
            copy[15 - i] = h[i];
        for (int i = 0; i < 16; i++)
            g[i] = e[i] * copy[15 - i] + e[i] * slope[i] * x[i];
        for (int i = 0; i < 16; i++)
            w[i] -= 0.1f * g[i];
        printf("loss %f\n", y[0]);
    }
    return 0;
}
// CHECK: seed expression {{.*}}:20:20 in main: y[i] - t[i]
// CHECK-NOT: seed
