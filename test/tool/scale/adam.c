// State that only updates read, allocated when first needed, and the step
// counter: all of it belongs to the step and is skipped with it.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct net {
    float *w, *g, *m, *v, *out;
    int t, n;
};

static void adam(struct net *net) {
    if (!net->m) {
        net->m = calloc((size_t)net->n, sizeof(float));
        net->v = calloc((size_t)net->n, sizeof(float));
    }
    for (int i = 0; i < net->n; i++) {
        net->m[i] = 0.9f * net->m[i] + 0.1f * net->g[i];
        net->v[i] = 0.99f * net->v[i] + 0.01f * net->g[i] * net->g[i];
        float mh = net->m[i] / (1 - powf(0.9f, (float)net->t));
        float vh = net->v[i] / (1 - powf(0.99f, (float)net->t));
        net->w[i] -= 0.1f * mh / (sqrtf(vh) + 1e-8f);
    }
}

int main(void) {
    struct net net = {0};
    net.n = 16;
    net.w = calloc(16, sizeof(float));
    net.g = malloc(16 * sizeof(float));
    net.out = malloc(16 * sizeof(float));
    for (int step = 0; step < 9; step++) {
        for (int i = 0; i < 16; i++)
            net.out[i] = net.w[i] * 3.0f;
        for (int i = 0; i < 16; i++)
            net.g[i] = (net.out[i] - 1.0f) * 3.0f;
        net.t++;
        adam(&net);
        printf("%f\n", net.out[0]);
    }
    return 0;
}
// CHECK: step {{.*}}:38:9 to {{.*}}:39:9 in main
// CHECK-DAG: cell net.m: state, degree 0
// CHECK-DAG: cell net.v: state, degree 0
// CHECK-DAG: cell net.g: grad, degree 1
