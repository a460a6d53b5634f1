// State and parameters that are made in another buffer and copied back. The
// copy belongs to the step: a skipped step must not touch them.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
#include <math.h>
#include <stdio.h>
#include <string.h>

static float w[16], next[16], last[16], g[16], h[16], x[16], t[16];

int main(void) {
    fread(x, sizeof x, 1, stdin);
    fread(t, sizeof t, 1, stdin);
    for (int step = 0; step < 9; step++) {
        for (int i = 0; i < 16; i++)
            h[i] = tanhf(w[i] * x[i]);
        for (int i = 0; i < 16; i++)
            g[i] = (h[i] - t[i]) * (1 - h[i] * h[i]) * x[i];
        for (int i = 0; i < 16; i++)
            g[i] += 0.9f * last[i];
        for (int i = 0; i < 16; i++)
            next[i] = w[i] - 0.1f * g[i];
        memcpy(w, next, sizeof w);
        memcpy(last, g, sizeof last);
        printf("loss %f\n", h[0]);
    }
    return 0;
}
// CHECK: param w
// CHECK: seed expression {{.*}}:17:20 in main: (h[i] - t[i]) * (1 - h[i] * h[i]) * x[i]
// CHECK-NOT: seed
// CHECK: unscale before {{.*}}:18:9
// CHECK: to {{.*}}:23:9 in main
// CHECK: cell w: param, degree 0
// CHECK: cell last: state, degree 0
