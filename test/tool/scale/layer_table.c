// A loop over layers makes the error of its own layer in steps and reads that
// of the layer above: what it reads back from its own is what it wrote there.
// RUN: %amp-rewrite %s --dump-after=scale > %t.out
// RUN: %FileCheck %s < %t.out
// RUN: %amp-rewrite %s -O1 --loss-scale=dynamic | %FileCheck %s \
// RUN:     --check-prefix=TEXT
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3, SIZE = 8 };
static float *act[N + 1], *w[N], *g[N], *err[N + 1], t[SIZE];

int main(int argc, char **argv) {
    (void)argv;
    for (int l = 0; l <= N; l++) {
        act[l] = calloc(SIZE, sizeof(float));
        err[l] = calloc(SIZE, sizeof(float));
    }
    for (int l = 0; l < N; l++) {
        w[l] = calloc(SIZE, sizeof(float));
        g[l] = calloc(SIZE, sizeof(float));
    }
    fread(t, sizeof t, 1, stdin);
    fread(act[0], sizeof(float), SIZE, stdin);
    for (int step = 0; step < 9; step++) {
        for (int l = 0; l < N; l++)
            for (int i = 0; i < SIZE; i++)
                act[l + 1][i] = 1.0f / (1.0f + expf(-w[l][i] * act[l][i]));
        for (int l = N; l > 0; l--) {
            if (l == N) {
                memcpy(err[l], act[l], SIZE * sizeof(float));
                if (argc > 1)
                    for (int i = 0; i < SIZE; i++) {
                        err[l][i] -= t[i];
                    }
                else
                    for (int i = 0; i < SIZE; i++)
                        err[l][i] = (err[l][i] - t[i]) * err[l][i];
            } else {
                for (int i = 0; i < SIZE; i++)
                    err[l][i] = err[l + 1][i] * w[l][i];
                for (int i = 0; i < SIZE; i++)
                    err[l][i] *= act[l][i] * (1 - act[l][i]);
            }
            for (int i = 0; i < SIZE; i++)
                g[l - 1][i] = err[l][i] * act[l - 1][i];
        }
        for (int l = 0; l < N; l++)
            for (int i = 0; i < SIZE; i++)
                w[l][i] -= 0.1f * g[l][i];
        for (int l = 0; l <= N; l++)
            memset(err[l], 0, SIZE * sizeof(float));
        printf("%f\n", act[N][0]);
    }
    return 0;
}
// CHECK: loss scale: found
// CHECK-DAG: seed after {{.*}}:36:25 in main: err[l][i] -= t[i]
// CHECK-DAG: seed expression {{.*}}:40:37 in main: (err[l][i] - t[i]) * err[l][i]
// CHECK: unscale before {{.*}}:50:9 (the step)
// TEXT: err[l][i] -= t[i];
// TEXT-NEXT: {{^\+ +}}err[l][i] *= amp_loss_scale(0);
