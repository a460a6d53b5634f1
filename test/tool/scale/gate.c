// A state that a gate lets through from step to step is no parameter, and a
// table of rates that was filled before the loop keeps no step from being one.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 32 };

struct cell {
    float *w, *g, *c, *f, *out, *d;
    float *rates, momentum;
};

static void forward(struct cell *s, const float *x) {
    for (int i = 0; i < N; i++)
        s->f[i] = 1.0f / (1.0f + expf(-x[i]));
    for (int i = 0; i < N; i++)
        s->c[i] = s->f[i] * s->c[i];
    for (int i = 0; i < N; i++)
        s->c[i] += s->w[i] * x[i];
    for (int i = 0; i < N; i++)
        s->out[i] = tanhf(s->c[i]);
}

static void backward(struct cell *s, const float *x) {
    for (int i = 0; i < N; i++)
        s->d[i] = (s->out[i] - 0.5f) * (1.0f - s->out[i] * s->out[i]);
    for (int i = 0; i < N; i++)
        s->g[i] += s->d[i] * x[i];
}

static void update(struct cell *s, int epoch) {
    for (int i = 0; i < N; i++)
        s->w[i] -= s->rates[epoch] * s->g[i];
    for (int i = 0; i < N; i++)
        s->g[i] *= s->momentum;
}

int main(int argc, char **argv) {
    struct cell s = {0};
    float x[N];
    s.w = calloc(N, sizeof(float));
    s.g = calloc(N, sizeof(float));
    s.c = calloc(N, sizeof(float));
    s.f = calloc(N, sizeof(float));
    s.out = calloc(N, sizeof(float));
    s.d = calloc(N, sizeof(float));
    s.rates = calloc(10, sizeof(float));
    s.momentum = argc > 1 ? (float)atof(argv[1]) : 0.9f;
    for (int i = 0; i < 10; i++)
        s.rates[i] = 0.1f / (float)(i + 1);
    for (int step = 0; step < 100; step++) {
        for (int i = 0; i < N; i++)
            x[i] = (float)(i % 5) - 2.0f;
        forward(&s, x);
        backward(&s, x);
        update(&s, step / 10);
    }
    printf("%g\n", s.w[0]);
    return 0;
}
// CHECK: loss scale: found
// CHECK: param s.w
// CHECK-NEXT: grad s.g with momentum
// CHECK: unscale before {{.*}} (the step)
// CHECK: cell s.c: activation, degree 0
