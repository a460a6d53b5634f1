// A table of layers by value: the functions in a record say which kind it is,
// and the buffers of one kind are kept apart from those of the others. The
// scratch buffer is read only where it was filled.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct layer;
struct net {
    struct layer *layers;
    int n;
    float *input, *delta, *scratch;
};

struct layer {
    int direct;
    float *w, *g, *out, *delta;
    float cost;
    void (*forward)(struct layer, struct net);
    void (*backward)(struct layer, struct net);
    void (*update)(struct layer);
};

enum { N = 64 };

static void dense_forward(struct layer l, struct net net) {
    for (int i = 0; i < N; i++)
        l.out[i] = l.w[i] * net.input[i];
}

static void dense_backward(struct layer l, struct net net) {
    float *x = net.scratch;
    if (l.direct)
        x = net.input;
    else
        for (int i = 0; i < N; i++)
            net.scratch[i] = net.input[i] + 1.0f;
    for (int i = 0; i < N; i++)
        l.g[i] += l.delta[i] * x[i];
    for (int i = 0; i < N; i++)
        net.scratch[i] = l.delta[i] * l.w[i];
    if (net.delta)
        for (int i = 0; i < N; i++)
            net.delta[i] += net.scratch[i];
}

static void dense_update(struct layer l) {
    for (int i = 0; i < N; i++) {
        l.w[i] += 0.1f * l.g[i];
        l.g[i] = 0;
    }
}

static void bend_forward(struct layer l, struct net net) {
    for (int i = 0; i < N; i++)
        l.out[i] = tanhf(net.input[i]);
}

static void bend_backward(struct layer l, struct net net) {
    if (net.delta)
        for (int i = 0; i < N; i++)
            net.delta[i] += l.delta[i] * (1.0f - l.out[i] * l.out[i]);
}

static void loss_forward(struct layer l, struct net net) {
    for (int i = 0; i < N; i++) {
        l.out[i] = expf(net.input[i]);
        l.delta[i] = 1.0f - net.input[i];
    }
}

static void loss_backward(struct layer l, struct net net) {
    for (int i = 0; i < N; i++)
        net.delta[i] += l.delta[i];
}

static struct layer dense(void) {
    struct layer l = {0};
    l.w = calloc(N, sizeof(float));
    l.g = calloc(N, sizeof(float));
    l.out = calloc(N, sizeof(float));
    l.delta = calloc(N, sizeof(float));
    l.forward = dense_forward;
    l.backward = dense_backward;
    l.update = dense_update;
    return l;
}

static struct layer bend(void) {
    struct layer l = {0};
    l.out = calloc(N, sizeof(float));
    l.delta = calloc(N, sizeof(float));
    l.forward = bend_forward;
    l.backward = bend_backward;
    return l;
}

static struct layer loss(void) {
    struct layer l = {0};
    l.out = calloc(N, sizeof(float));
    l.delta = calloc(N, sizeof(float));
    l.forward = loss_forward;
    l.backward = loss_backward;
    return l;
}

static void forward(struct net *to, const float *x) {
    struct net net = *to;
    net.input = (float *)x;
    for (int i = 0; i < net.n; i++) {
        struct layer l = net.layers[i];
        memset(l.delta, 0, N * sizeof(float));
        l.forward(l, net);
        net.input = l.out;
    }
}

static void backward(struct net *to, const float *x) {
    struct net net = *to;
    for (int i = net.n - 1; i >= 0; i--) {
        struct layer l = net.layers[i];
        if (i == 0) {
            net.input = (float *)x;
            net.delta = NULL;
        } else {
            struct layer before = net.layers[i - 1];
            net.input = before.out;
            net.delta = before.delta;
        }
        l.backward(l, net);
    }
}

static void update(struct net *to) {
    for (int i = 0; i < to->n; i++) {
        struct layer l = to->layers[i];
        if (l.update)
            l.update(l);
    }
}

int main(int argc, char **argv) {
    struct net net = {0};
    float x[N];
    net.n = argc;
    net.layers = calloc((size_t)net.n, sizeof(struct layer));
    net.scratch = calloc(N, sizeof(float));
    for (int i = 0; i < net.n; i++) {
        struct layer l = {0};
        if (argv[i][0] == 'd')
            l = dense();
        else if (argv[i][0] == 'b')
            l = bend();
        else
            l = loss();
        l.direct = argv[i][1] == 'x';
        net.layers[i] = l;
    }
    for (int step = 0; step < 100; step++) {
        for (int i = 0; i < N; i++)
            x[i] = (float)(i % 7);
        forward(&net, x);
        backward(&net, x);
        update(&net);
    }
    for (int i = 0; i < net.n; i++)
        if (net.layers[i].w)
            printf("%g\n", net.layers[i].w[0]);
    return 0;
}
// CHECK: loss scale: found
// CHECK: param l.w
// CHECK: grad l.g
// CHECK: seed expression {{.*}} in loss_forward: 1.0f - net.input[i]
// CHECK: unscale before {{.*}} (the step)
// CHECK: cell l.out: activation, degree 0
// CHECK: cell l.delta: activation, degree 1
