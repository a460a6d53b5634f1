#include "fit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct layer {
    float *w, *dw;
    float w2[W], dw2[W];
    int n;
};

static void *checked(size_t bytes) {
    void *p = malloc(bytes);
    if (!p)
        exit(1);
    return p;
}

static float *zeros(int n) {
    return calloc((size_t)n, sizeof(float));
}

static struct layer *layer_new(int n) {
    struct layer *l = malloc(sizeof *l);
    l->n = n;
    l->w = calloc((size_t)n, sizeof(float));
    l->dw = malloc((size_t)n * sizeof(float));
    return l;
}

static float goal[W], x[ROWS * IN];
static float y[ROWS * OUT], t[ROWS * OUT], dy[ROWS * OUT];
static float sw[W];
static float sdw[W];
static struct layer fixed;

int main(void) {
    fill(goal, W);
#if CASE == 0
    float *w = calloc(W, sizeof(float)), *dw = malloc(W * sizeof *dw);
#elif CASE == 1
    float *w = checked(W * sizeof(float)); /* the weights */
    float *dw = checked(W * sizeof(float)); // their gradient
    memset(w, 0, W * sizeof(float));
#elif CASE == 2
    float *w, *dw;
    if (!(w = zeros(W)) || !(dw = zeros(W)))
        return 1;
#elif CASE == 3
    float *w = NULL, *dw = NULL;
    w = realloc(w, W * sizeof(float));
    dw = realloc(dw, W * sizeof(float));
    for (int i = 0; i < W; i++)
        w[i] = 0;
#elif CASE == 4
    float *w = sw, *dw = sdw;
#elif CASE == 5
    float w[W] = {0}, dw[W];
#elif CASE == 6
    struct layer *l = layer_new(W);
    float *w = l->w, *dw = l->dw;
#elif CASE == 7
    struct layer l = {.w = zeros(W), .dw = zeros(W), .n = W};
    float *w = l.w, *dw = l.dw;
#elif CASE == 8
    float *w = fixed.w2, *dw = fixed.dw2;
#elif CASE == 9
    float *w, *dw = zeros(W);
    if (dw)
        w = zeros(W);
    else
        return 1;
#endif
    for (int step = 0; step < 20; step++) {
        float loss = 0;
        fill(x, ROWS * IN);
        mm(0, ROWS, OUT, IN, x, goal, t);
        mm(0, ROWS, OUT, IN, x, w, y);
        for (int i = 0; i < ROWS * OUT; i++) {
            dy[i] = y[i] - t[i];
            loss += (y[i] - t[i]) * (y[i] - t[i]);
        }
        mm(1, IN, OUT, ROWS, x, dy, dw);
        for (int i = 0; i < W; i++)
            w[i] -= 0.02f * dw[i];
        printf("%d %.9g %.9g\n", step, loss, w[0]);
    }
#if CASE <= 3 || CASE == 7 || CASE == 9
    free(w);
    free(dw);
#elif CASE == 6
    free(l->w);
    free(l->dw);
    free(l);
#endif
    (void)checked, (void)zeros, (void)layer_new;
    (void)sw, (void)sdw, (void)fixed;
    return 0;
}
