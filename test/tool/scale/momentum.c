// The update buffers are never cleared: they carry the momentum. They are
// scaled at the head of the iteration and unscaled at the step.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
#include <stdio.h>

static float w[16], update[16], out[16], delta[16], x[16], t[16];

int main(void) {
    fread(x, sizeof x, 1, stdin), fread(t, sizeof t, 1, stdin);
    for (int step = 0; step < 9; step++) {
        float cost = 0;
        for (int i = 0; i < 16; i++) {
            out[i] = w[i] * x[i];
            cost += (out[i] - t[i]) * (out[i] - t[i]);
        }
        for (int i = 0; i < 16; i++)
            delta[i] = t[i] - out[i];
        for (int i = 0; i < 16; i++)
            update[i] += delta[i] * x[i];
        for (int i = 0; i < 16; i++) {
            update[i] -= 0.01f * w[i];
            w[i] += 0.1f * update[i];
            update[i] *= 0.9f;
        }
        printf("%f\n", cost);
    }
    return 0;
}
// CHECK: grad update with momentum
// CHECK: seed expression {{.*}}:17:24 in main: t[i] - out[i]
// CHECK: carry before {{.*}}:11:9
// CHECK: unscale before {{.*}}:20:9 (the step)
// CHECK: cell update: grad with momentum, degree 1
