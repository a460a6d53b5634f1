// Two slots of one table are taken to hold two buffers where that alone makes
// the loss scale exact, and the tool says so; one buffer under two names of
// the same slot is never taken for two.
// RUN: %amp-rewrite %s --dump-after=scale 2>&1 | %FileCheck %s
// RUN: %amp-rewrite %s --dump-after=scale -- -DSAME 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=SAME
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4, SIZE = 8 };
struct layer {
    float *w, *g, *y, *delta;
};
static struct layer layers[N];
static float t[SIZE];

int main(void) {
    for (int l = 0; l < N; l++) {
        layers[l].w = calloc(SIZE, sizeof(float));
        layers[l].g = calloc(SIZE, sizeof(float));
        layers[l].y = calloc(SIZE, sizeof(float));
        layers[l].delta = calloc(SIZE, sizeof(float));
    }
    fread(t, sizeof t, 1, stdin);
    for (int step = 0; step < 9; step++) {
        for (int l = 1; l < N; l++)
            for (int i = 0; i < SIZE; i++)
                layers[l].y[i] = tanhf(layers[l].w[i] * layers[l - 1].y[i]);
        for (int l = 0; l < N; l++)
            for (int i = 0; i < SIZE; i++)
                layers[l].delta[i] = 0.0f;
        for (int i = 0; i < SIZE; i++)
            layers[N - 1].delta[i] = layers[N - 1].y[i] - t[i];
        for (int l = N - 1; l > 0; l--) {
#ifdef SAME
            float *below = layers[l].delta;
#else
            float *below = layers[l - 1].delta;
#endif
            float *own = layers[l].delta;
            for (int i = 0; i < SIZE; i++)
                below[i] = expf(layers[l].y[i]);
            for (int i = 0; i < SIZE; i++)
                layers[l].g[i] = own[i] * layers[l].y[i];
            for (int i = 0; i < SIZE; i++)
                below[i] *= own[i];
        }
        for (int l = 1; l < N; l++)
            for (int i = 0; i < SIZE; i++)
                layers[l].w[i] -= 0.1f * layers[l].g[i];
        printf("%f\n", layers[N - 1].y[0]);
    }
    return 0;
}
// CHECK: warning: assuming that the buffer '{{.*}}delta' of one element of a table
// CHECK: loss scale: found
// CHECK: assumes: two elements of a table are not one buffer
// SAME: loss scale: found
// SAME-NOT: assumes: two elements
// SAME: seed expression {{.*}}: expf(layers[l].y[i])
