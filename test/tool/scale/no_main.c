// Without a main, functions that nothing calls are run from the outside, also
// those that return a record.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
#include <stdlib.h>

struct layer {
    float *w, *g;
};

struct layer make(int n) {
    struct layer l = {0};
    l.w = calloc((size_t)n, sizeof(float));
    if (n > 4)
        l.g = calloc((size_t)n, sizeof(float));
    else
        l.g = NULL;
    return l;
}

void train(struct layer *l, const float *x, int n) {
    for (int step = 0; step < 100; step++) {
        for (int i = 0; i < n; i++)
            l->g[i] = (l->w[i] * x[i] - 1.0f) * x[i];
        for (int i = 0; i < n; i++)
            l->w[i] -= 0.1f * l->g[i];
    }
}
// CHECK: loss scale:
