// The loss is summed from the buffer that then goes backward: it is scaled in
// place after its last unscaled use.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
#include <stdio.h>

static float w[16], g[16], out[16], x[16], t[16];

static float loss(float *d, const float *want) {
    float sum = 0;
    for (int i = 0; i < 16; i++)
        d[i] -= want[i];
    for (int i = 0; i < 16; i++)
        sum += d[i] * d[i];
    return sum;
}

int main(void) {
    fread(x, sizeof x, 1, stdin), fread(t, sizeof t, 1, stdin);
    for (int step = 0; step < 9; step++) {
        for (int i = 0; i < 16; i++)
            out[i] = w[i] * x[i];
        printf("%f\n", loss(out, t));
        for (int i = 0; i < 16; i++)
            g[i] = out[i] * x[i];
        for (int i = 0; i < 16; i++)
            w[i] -= 0.1f * g[i];
    }
    return 0;
}
// CHECK: seed buffer d before {{.*}}:14:5 in loss
// CHECK: unscale before {{.*}}:25:9 (the step)
