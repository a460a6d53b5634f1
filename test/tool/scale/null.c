// Nothing is read through a pointer that is null: a mean that this kind of
// layer does not have is no value without the scale.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
#include <stdio.h>
#include <stdlib.h>

enum { N = 16 };

struct layer {
    int centred;
    float *w, *g, *out, *d, *mean;
};

static struct layer make(void) {
    struct layer l = {0};
    l.w = calloc(N, sizeof(float));
    l.g = calloc(N, sizeof(float));
    l.out = calloc(N, sizeof(float));
    l.d = calloc(N, sizeof(float));
    return l;
}

static void backward(struct layer l, const float *x) {
    for (int i = 0; i < N; i++)
        l.d[i] = l.out[i] - 1.0f;
    if (l.centred)
        for (int i = 0; i < N; i++)
            l.d[i] += l.mean[i];
    for (int i = 0; i < N; i++)
        l.g[i] = l.d[i] * x[i];
}

int main(int argc, char **argv) {
    struct layer l = make();
    float x[N];
    (void)argv;
    l.centred = argc > 5;
    for (int step = 0; step < 50; step++) {
        for (int i = 0; i < N; i++)
            x[i] = (float)i;
        for (int i = 0; i < N; i++)
            l.out[i] = l.w[i] * x[i];
        backward(l, x);
        for (int i = 0; i < N; i++)
            l.w[i] -= 0.01f * l.g[i];
    }
    printf("%g\n", l.w[0]);
    return 0;
}
// CHECK: loss scale: found
// CHECK: seed expression {{.*}}: l.out[i] - 1.0f
// CHECK-NOT: seed
// CHECK: unscale
