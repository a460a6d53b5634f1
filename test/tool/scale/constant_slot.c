// A table of layers by value, whose functions say of which kind each is. What
// `layers[0]` names by a constant is among what was written to the layers of
// each kind: printing its gradient after the backward pass is seen. Gradients
// of parameters and those for the layer before are added to by one function, so
// that the scale must come in at the loss: what was added to in `add` could be
// scaled for the parameters, but not for the others.
// RUN: not %amp-rewrite %s -O1 --loss-scale=dynamic 2>&1 | %FileCheck %s
// RUN: %amp-rewrite %s -O1 --loss-scale=dynamic -- -DQUIET \
// RUN:     | %FileCheck %s --check-prefix=QUIET
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct layer;
struct net {
    struct layer *layers;
    int n;
    float *input, *delta;
};

struct layer {
    float *b, *g, *out, *delta;
    void (*forward)(struct layer, struct net);
    void (*backward)(struct layer, struct net);
};

enum { N = 8 };

static void add(const float *x, float *y) {
    for (int i = 0; i < N; i++)
        y[i] += x[i];
}

static void bias_forward(struct layer l, struct net net) {
    for (int i = 0; i < N; i++)
        l.out[i] = l.b[i] + net.input[i];
}

static void bias_backward(struct layer l, struct net net) {
    add(l.delta, l.g);
    if (net.delta)
        add(l.delta, net.delta);
}

static void loss_forward(struct layer l, struct net net) {
    for (int i = 0; i < N; i++) {
        l.out[i] = net.input[i];
        l.delta[i] = 1.0f - net.input[i];
    }
}

static void loss_backward(struct layer l, struct net net) {
    add(l.delta, net.delta);
}

static void forward(struct net net) {
    for (int i = 0; i < net.n; i++) {
        struct layer l = net.layers[i];
        memset(l.delta, 0, N * sizeof(float));
        l.forward(l, net);
        net.input = l.out;
    }
}

static void backward(struct net *to) {
    struct net net = *to;
    for (int i = net.n - 1; i >= 0; i--) {
        struct layer l = net.layers[i];
        if (i == 0) {
            net = *to;
        } else {
            struct layer before = net.layers[i - 1];
            net.input = before.out;
            net.delta = before.delta;
        }
        l.backward(l, net);
    }
#ifndef QUIET
    printf("%g\n", to->layers[0].delta[0]);
#endif
}

static void update(struct net net) {
    for (int i = 0; i < net.n; i++) {
        struct layer l = net.layers[i];
        if (l.b)
            for (int k = 0; k < N; k++) {
                l.b[k] += 0.1f * l.g[k];
                l.g[k] = 0;
            }
    }
}

int main(int argc, char **argv) {
    float x[N];
    struct net net = {0};
    net.n = argc;
    net.layers = calloc((size_t)net.n, sizeof(struct layer));
    for (int i = 0; i < net.n; i++) {
        struct layer l = {0};
        l.out = calloc(N, sizeof(float));
        if (argv[i][0] == 'b') {
            l.delta = calloc(N, sizeof(float));
            l.b = calloc(N, sizeof(float));
            l.g = calloc(N, sizeof(float));
            l.forward = bias_forward;
            l.backward = bias_backward;
        } else {
            l.delta = calloc(N, sizeof(float));
            l.forward = loss_forward;
            l.backward = loss_backward;
        }
        net.layers[i] = l;
    }
    for (int step = 0; step < 100; step++) {
        for (int i = 0; i < N; i++)
            x[i] = (float)((i + step) % 7);
        net.input = x;
        forward(net);
        backward(&net);
        update(net);
    }
    for (int i = 0; i < net.n; i++)
        if (net.layers[i].b)
            printf("%g\n", net.layers[i].b[0]);
    return 0;
}
// CHECK: error: 'l.delta' would have to carry the loss scale, and must not
// CHECK: note: it is printed or formatted here
// CHECK-NEXT: printf("%g\n", to->layers[0].delta[0]);
// QUIET-NOT: +{{.*}}amp_loss_scale
// QUIET: +{{ *}}l.delta[i] = (1.0f - net.input[i]) * amp_loss_scale(0);
