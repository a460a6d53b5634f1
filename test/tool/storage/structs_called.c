// A struct that goes through a pointer to functions is pinned with all that its
// fields point to, if it is told apart. Others may be told apart without it.
// RUN: %amp-rewrite -O2 --half=bf16 --loss-scale=none --dump-after=solve %s \
// RUN:   2>/dev/null | %FileCheck %s
#include <stdio.h>
#include <stdlib.h>

typedef struct mat {
    int n;
    float *v;
} mat;

typedef struct state {
    float *in, *out;
    int n;
} state;

typedef struct layer {
    void (*forward)(state s);
} layer;

enum { N = 16 };
static float data[N], wanted[N];
static mat w, dw, hidden, top;

static void doubled(state s) {
    for (int i = 0; i < s.n; i++)
        s.out[i] = 2 * s.in[i];
}

static void bent(state s) {
    for (int i = 0; i < s.n; i++)
        s.out[i] = s.in[i] > 0 ? s.in[i] : 0;
}

static void room(mat *m) {
    m->n = N;
    m->v = calloc(N, sizeof(float));
}

static float step(layer *l) {
    float loss = 0;
    for (int i = 0; i < N; i++)
        hidden.v[i] = w.v[i] * data[i];
    state s = {hidden.v, top.v, N};
    l->forward(s);
    for (int i = 0; i < N; i++) {
        float d = top.v[i] - wanted[i];
        loss += d * d;
        dw.v[i] = 2 * d * data[i];
    }
    for (int i = 0; i < N; i++)
        w.v[i] -= 0.01f * dw.v[i];
    return loss;
}

int main(int argc, char **argv) {
    layer l = {doubled};
    if (argc > 1 && argv[1][0])
        l.forward = bent;
    room(&w), room(&dw), room(&hidden), room(&top);
    for (int i = 0; i < N; i++) {
        data[i] = (float)i / N;
        wanted[i] = 1 - data[i];
    }
    for (int k = 0; k < 20; k++)
        printf("%g\n", step(&l));
    return 0;
}
// CHECK-DAG: storage fp32 w.v/1 (param)
// CHECK-DAG: storage half state.in/1 (activation)
// CHECK-DAG: storage half state.out/1 (activation)
