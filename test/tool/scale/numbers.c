// The loss is a sum of terms times one number: the number is one seed, the
// terms would be two. A learning rate is a number as well, but too late.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
#include <math.h>
#include <stdio.h>

static float w[16], g[16], p[16], d[16], x[16], each[16];
static int label;

int main(void) {
    fread(x, sizeof x, 1, stdin);
    fread(&label, sizeof label, 1, stdin);
    for (int step = 0; step < 9; step++) {
        float rate = 0.1f / (float)(step + 1);
        for (int i = 0; i < 16; i++)
            p[i] = expf(w[i] * x[i]);
        for (int i = 0; i < 16; i++)
            each[i] = 1.0f / 16;
        for (int i = 0; i < 16; i++) {
            float have = p[i];
            float want = i == label ? 1.0f : 0.0f;
            d[i] = (have - want) * each[i];
        }
        for (int i = 0; i < 16; i++)
            g[i] = d[i] * x[i];
        for (int i = 0; i < 16; i++)
            g[i] *= rate;
        for (int i = 0; i < 16; i++)
            w[i] -= g[i];
        printf("%f\n", p[0]);
    }
    return 0;
}
// CHECK: seed expression {{.*}}:18:23 in main: 1.0f / 16
// CHECK-NOT: seed
