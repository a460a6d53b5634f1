// A pointer that walks through a buffer at each turn of a loop keeps no part
// of it: what was cleared as a whole is cleared wherever the pointer stands.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 16, T = 4 };

struct view {
    float *x, *d;
};

struct net {
    float *w, *g, *h, *d;
};

static void one(struct net *net, struct view v) {
    for (int i = 0; i < N; i++)
        net->g[i] += v.d[i] * v.x[i];
}

static void backward(struct net *net, const float *target) {
    struct view v = {net->h, net->d};
    v.x += (T - 1) * N;
    v.d += (T - 1) * N;
    memset(net->d, 0, T * N * sizeof(float));
    for (int t = T - 1; t >= 0; t--) {
        for (int i = 0; i < N; i++)
            v.d[i] += v.x[i] - target[i];
        one(net, v);
        v.x -= N;
        v.d -= N;
    }
}

int main(void) {
    struct net net = {0};
    float target[N] = {1.0f};
    net.w = calloc(N, sizeof(float));
    for (int i = 0; i < N; i++)
        net.w[i] = 0.1f * (float)(i + 1);
    net.g = calloc(N, sizeof(float));
    net.h = calloc(T * N, sizeof(float));
    net.d = calloc(T * N, sizeof(float));
    for (int step = 0; step < 50; step++) {
        for (int t = 0; t < T; t++)
            for (int i = 0; i < N; i++)
                net.h[t * N + i] = net.w[i] * (float)(t + 1);
        memset(net.g, 0, N * sizeof(float));
        backward(&net, target);
        for (int i = 0; i < N; i++)
            net.w[i] -= 0.01f * net.g[i];
    }
    printf("%g\n", net.w[0]);
    return 0;
}
// CHECK: loss scale: found
// CHECK: seed expression {{.*}}: v.x[i] - target[i]
// CHECK: cell net.g: grad, degree 1
// CHECK-NOT: cell d:
// CHECK: cell net.d: activation, degree 1
