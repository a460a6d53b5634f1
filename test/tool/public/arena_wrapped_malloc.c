// Parameters and gradients live in one arena each, made by the same function
// through a wrapper of malloc that a header outside the rewrite defines. The
// arena's size is said where its address is first stored; what it holds is
// said where the two are told apart. The optimizer walks the whole arenas.
// RUN: rm -rf %t && mkdir %t
// RUN: %amp-rewrite %s -o %t/amp.c -- -I %S/Inputs
// RUN: grep -v CHECK %t/amp.c | %FileCheck %s
// RUN: %gcc -Wall -Werror -fsyntax-only -DAMP_HALF_FP16 -I %amp-include %t/amp.c -I %S/Inputs
#include "checked_malloc.h"

#include <cblas.h>
#include <string.h>

enum { IN = 8, OUT = 4, ROWS = 16 };

typedef struct tensors {
    float *w, *v;
} tensors;

typedef struct net {
    tensors params, grads;
    size_t sizes[2], total;
    float *params_memory, *grads_memory;
} net;

static float *carve(tensors *t, const size_t *sizes) {
    float *memory = (float *)MALLOC((sizes[0] + sizes[1]) * sizeof(float));
    // CHECK: float *memory = (float *)MALLOC(
    // CHECK-NEXT: amp_register(memory, (sizes[0] + sizes[1]) * sizeof(float),
    // CHECK-NEXT: AMP_TRACKED, 0, "memory");
    float **fields[] = {&t->w, &t->v};
    float *at = memory;
    for (int i = 0; i < 2; i++) {
        *fields[i] = at;
        at += sizes[i];
    }
    return memory;
}

static void forward(const net *n, const float *x, float *h, float *y) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, ROWS, OUT, IN, 1.0f,
                x, IN, n->params.w, OUT, 0.0f, h, OUT);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, ROWS, OUT, OUT, 1.0f,
                h, OUT, n->params.v, OUT, 0.0f, y, OUT);
}

static void backward(net *n, const float *x, const float *h, const float *dy,
                     float *dh) {
    if (!n->grads_memory) {
        n->grads_memory = carve(&n->grads, n->sizes);
        // CHECK: n->grads_memory = carve(&n->grads, n->sizes);
        // CHECK-NEXT: amp_mark(n->grads_memory, AMP_GRAD, 0, "n->grads_memory");
        memset(n->grads_memory, 0, n->total * sizeof(float));
    }
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, OUT, OUT, ROWS, 1.0f,
                h, OUT, dy, OUT, 1.0f, n->grads.v, OUT);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, ROWS, OUT, OUT, 1.0f,
                dy, OUT, n->params.v, OUT, 0.0f, dh, OUT);
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, IN, OUT, ROWS, 1.0f, x,
                IN, dh, OUT, 1.0f, n->grads.w, OUT);
}

static void update(net *n, float rate) {
    for (size_t i = 0; i < n->total; i++)
        n->params_memory[i] -= rate * n->grads_memory[i];
}

int main(void) {
    static float x[ROWS * IN], h[ROWS * OUT], dh[ROWS * OUT], y[ROWS * OUT],
        t[ROWS * OUT], dy[ROWS * OUT];
    net n = {.sizes = {IN * OUT, OUT * OUT}};
    n.total = n.sizes[0] + n.sizes[1];
    n.params_memory = carve(&n.params, n.sizes);
    // CHECK: n.params_memory = carve(&n.params, n.sizes);
    // CHECK-NEXT: amp_mark(n.params_memory, AMP_PARAM, 0, "n.params_memory");
    for (size_t i = 0; i < n.total; i++)
        n.params_memory[i] = (float)rand() / (float)RAND_MAX - 0.5f;
    for (int i = 0; i < ROWS * IN; i++)
        x[i] = (float)rand() / (float)RAND_MAX - 0.5f;
    for (int i = 0; i < ROWS * OUT; i++)
        t[i] = x[i];
    for (int step = 0; step < 20; step++) {
        float loss = 0.0f;
        forward(&n, x, h, y);
        for (int i = 0; i < ROWS * OUT; i++) {
            dy[i] = (y[i] - t[i]) / ROWS;
            loss += (y[i] - t[i]) * (y[i] - t[i]);
        }
        printf("loss %.9g\n", loss);
        if (n.grads_memory)
            memset(n.grads_memory, 0, n.total * sizeof(float));
        backward(&n, x, h, dy, dh);
        update(&n, 0.1f);
        // CHECK: if (amp_step_begin(0)) {
        // CHECK-NEXT: update(&n, 0.1f);
        // CHECK-NEXT: }
    }
    // The wrapper's memory goes through amp_free, which forgets it.
    free(n.params_memory);
    free(n.grads_memory);
    // CHECK: amp_free(n.params_memory);
    // CHECK-NEXT: amp_free(n.grads_memory);
    return 0;
}
