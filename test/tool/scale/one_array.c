// Parameters and gradients in one array or allocation, told apart by pointers
// that are set once: each part gets a mark of its own, and where the gradients
// come first the mark of what follows ends theirs.
// RUN: %amp-rewrite -O1 --loss-scale=dynamic %s | %FileCheck %s --check-prefixes=ARRAY,TWO
// RUN: %amp-rewrite -O1 --loss-scale=dynamic %s -- -DROWS | %FileCheck %s --check-prefixes=ROWS,TWO
// RUN: %amp-rewrite -O1 --loss-scale=dynamic %s -- -DHEAP | %FileCheck %s --check-prefixes=HEAP,TWO
// RUN: %amp-rewrite -O1 --loss-scale=dynamic %s -- -DTHREE 2>&1 | %FileCheck %s --check-prefix=THREE
// RUN: not %amp-rewrite -O1 --loss-scale=dynamic %s -- -DHIDDEN 2>&1 | %FileCheck %s --check-prefix=HIDDEN
#include <stdio.h>
#include <stdlib.h>

enum { N = 16 };
static float x[N], h[N], arena[2 * N], rows[2][N];

static void update(float *w, float *g) {
    for (int i = 0; i < N; i++)
        w[i] -= 0.1f * g[i];
}

static void train(float *w, float *g, float *y) {
    for (int step = 0; step < 9; step++) {
        for (int i = 0; i < N; i++)
            y[i] = w[i] * x[i];
        for (int i = 0; i < N; i++)
            g[i] = y[i] - 1;
        update(w, g);
        printf("%f\n", y[0]);
    }
}

int main(void) {
#if defined ROWS
    float *w = rows[0], *g = rows[1];
#elif defined HEAP
    float *g = calloc(2 * N, sizeof *g), *w = g + N;
#elif defined THREE
    float *g = calloc(3 * N, sizeof *g), *y = g + N, *w = y + N;
#elif defined HIDDEN
    float *w = arena + N, *g = arena;
#else
    float *w = arena, *g = arena + N;
#endif
    fread(w, sizeof *w, N, stdin);
    fread(x, sizeof *x, N, stdin);
#if defined THREE
    train(w, g, y);
#elif defined HIDDEN
    train(w, g, h);
#else
    for (int step = 0; step < 9; step++) {
        for (int i = 0; i < N; i++)
            h[i] = w[i] * x[i];
        for (int i = 0; i < N; i++)
            g[i] = h[i] - 1;
        update(w, g);
        printf("%f\n", h[0]);
    }
#endif
    return 0;
}
// HEAP: +    float *g = amp_calloc(2 * N, sizeof *g, AMP_TRACKED, 0, "g"), *w = g + N;
// HEAP: +    amp_mark(g, AMP_GRAD, 0, "g");
// HEAP: +    amp_mark(w, AMP_PARAM, 0, "w");
// THREE: warning: assuming that 'y+w' does not overlap 'g' in one allocation
// THREE: +        if (amp_step_begin(0)) {
// THREE: +    float *g = amp_calloc(3 * N, sizeof *g, AMP_TRACKED, 0, "g"), *y = g + N, *w = y + N;
// THREE: +    amp_mark(g, AMP_GRAD, 0, "g");
// THREE: +    amp_mark(w, AMP_PARAM, 0, "w");
// THREE: +    amp_mark(y, AMP_TRACKED, 0, "y");
// ARRAY: +    amp_register(arena, sizeof arena, AMP_PARAM, 0, "arena");
// ARRAY: +    amp_mark(g, AMP_GRAD, 0, "g");
// ROWS: +    amp_register(rows, sizeof rows, AMP_PARAM, 0, "rows");
// ROWS: +    amp_mark(g, AMP_GRAD, 0, "g");
// TWO: +        if (amp_step_begin(0)) {
// HIDDEN: error: gradient '{{.*}}' cannot be registered
