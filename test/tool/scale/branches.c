// Two losses, one in each branch: the seeds are a set.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
#include <math.h>
#include <stdio.h>

static float w[16], g[16], out[16], d[16], x[16], t[16];

int main(int argc, char **argv) {
    (void)argv;
    fread(x, sizeof x, 1, stdin), fread(t, sizeof t, 1, stdin);
    for (int step = 0; step < 9; step++) {
        for (int i = 0; i < 16; i++)
            out[i] = 1.0f / (1.0f + expf(-w[i] * x[i]));
        if (argc > 1)
            for (int i = 0; i < 16; i++)
                d[i] = out[i] - t[i];
        else
            for (int i = 0; i < 16; i++)
                d[i] = (out[i] - t[i]) * out[i] * (1 - out[i]);
        for (int i = 0; i < 16; i++)
            g[i] = d[i] * x[i];
        for (int i = 0; i < 16; i++)
            w[i] -= 0.1f * g[i];
        printf("%f\n", out[0]);
    }
    return 0;
}
// CHECK-DAG: seed expression {{.*}}:16:24 in main: out[i] - t[i]
// CHECK-DAG: seed expression {{.*}}:19:24 in main: (out[i] - t[i]) * out[i] * (1 - out[i])
// CHECK: unscale before {{.*}}:22:9
