// What an iteration wrote to its own row says nothing of a row that is reached
// through another index, nor of what the table holds after it was changed: that
// row may hold what it held before.
// RUN: %amp-rewrite %s --dump-after=scale -- -DREAD=l 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=SAME
// RUN: %amp-rewrite %s --dump-after=scale -- -DREAD=2*l 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=OTHER
// RUN: %amp-rewrite %s --dump-after=scale -- -DREAD=N-l 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=OTHER
// RUN: %amp-rewrite %s --dump-after=scale -- -DREAD=l+1-one 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=OTHER
// RUN: %amp-rewrite %s --dump-after=scale -- "-DREAD=(unsigned char)l" 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=OTHER
// RUN: %amp-rewrite %s --dump-after=scale -- -DREAD=l -DSWAP 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=OTHER
// RUN: %amp-rewrite %s --dump-after=scale -- -DREAD=l -DSTEP=l++ 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=OTHER
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4, SIZE = 8 };
#ifndef STEP
#define STEP
#endif
static float *act[N], *w[N], *g[N], *err[2 * N], t[SIZE];

int main(int argc, char **argv) {
    (void)argv;
    int one = argc;
    for (int l = 0; l < N; l++) {
        act[l] = calloc(SIZE, sizeof(float));
        w[l] = calloc(SIZE, sizeof(float));
        g[l] = calloc(SIZE, sizeof(float));
    }
    for (int l = 0; l < 2 * N; l++)
        err[l] = calloc(SIZE, sizeof(float));
    fread(t, sizeof t, 1, stdin);
    fread(act[0], sizeof(float), SIZE, stdin);
    for (int step = 0; step < 9; step++) {
        for (int l = 0; l + 1 < N; l++)
            for (int i = 0; i < SIZE; i++)
                act[l + 1][i] = tanhf(w[l][i] * act[l][i]);
        for (int l = 0; l < 2 * N; l++)
            memcpy(err[l], t, SIZE * sizeof(float));
        for (int l = 0; l < N; l++) {
            (void)err[l + 1][0];
            memcpy(err[l], act[l], SIZE * sizeof(float));
            for (int i = 0; i < SIZE; i++)
                err[l][i] -= t[i];
#ifdef SWAP
            float *other = err[l];
            err[l] = err[l + 1];
            err[l + 1] = other;
#endif
            STEP;
            for (int i = 0; i < SIZE; i++)
                g[l][i] = err[READ][i] * act[l][i];
        }
        for (int l = 0; l < N; l++)
            for (int i = 0; i < SIZE; i++)
                w[l][i] -= 0.1f * g[l][i];
        printf("%f\n", act[N - 1][0]);
    }
    return 0;
}
// SAME: seed after {{.*}}err[l][i] -= t[i]
// OTHER: loss scale: found
// OTHER-NOT: seed after
// OTHER: seed expression {{.*}}err[READ][i] * act[l][i]
