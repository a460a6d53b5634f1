// Each layer hands its delta to the one below, the last gets it from the loss:
// all rows are written again before they are read, though no loop covers them.
// RUN: %amp-rewrite %s --dump-after=scale 2>&1 | %FileCheck %s
#include <stdio.h>

enum { LAYERS = 3 };
static float w[LAYERS][8], g[LAYERS][8], delta[LAYERS][8], x[8], t[8], out[8];

int main(void) {
    fread(x, sizeof x, 1, stdin);
    fread(t, sizeof t, 1, stdin);
    for (int step = 0; step < 9; step++) {
        for (int i = 0; i < 8; i++)
            out[i] = x[i] * w[0][i] * w[1][i] * w[2][i];
        for (int i = 0; i < 8; i++)
            delta[LAYERS - 1][i] = out[i] - t[i];
        for (int l = LAYERS - 1; l >= 0; l--) {
            for (int i = 0; i < 8; i++)
                g[l][i] += delta[l][i] * x[i];
            if (l > 0)
                for (int i = 0; i < 8; i++)
                    delta[l - 1][i] = delta[l][i] * w[l][i];
        }
        for (int l = 0; l < LAYERS; l++)
            for (int i = 0; i < 8; i++) {
                w[l][i] -= 0.1f * g[l][i];
                g[l][i] = 0;
            }
        printf("%f\n", out[0]);
    }
    return 0;
}
// CHECK: loss scale: found
// CHECK: seed expression {{.*}}:16:36
