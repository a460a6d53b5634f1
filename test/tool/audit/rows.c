// What the rows of buffers and the hints say, and what they leave out.
// RUN: %amp-rewrite --audit %s --rules %S/../rewrite/Inputs/mm.amp | %FileCheck %s
// RUN: %amp-rewrite --audit=json %s --rules %S/../rewrite/Inputs/mm.amp | %FileCheck %s --check-prefix=JSON
// RUN: %amp-rewrite --audit -O0 %s | %FileCheck %s --check-prefix=NONE
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 8, IN = 16, OUT = 16, STEPS = 12 };

static void mm(int ta, int m, int n, int k, const float *a, const float *b,
               float *c)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float s = 0.0f;
            for (int p = 0; p < k; p++)
                s += (ta ? a[p * m + i] : a[i * k + p]) * b[p * n + j];
            c[i * n + j] = s;
        }
}

static void update(float *w, const float *dw)
{
    for (int i = 0; i < IN * OUT; i++)
        w[i] -= 0.01f * dw[i];
}

static float *fresh(size_t count)
{
    float *p = malloc(count * sizeof(float));
    return p;
}

int main(void)
{
    static float x[ROWS * IN], y[ROWS * OUT], d[ROWS * OUT];
    float *w = fresh(IN * OUT), *dw = fresh(IN * OUT);
    if (!w || !dw)
        return 1;
    for (int i = 0; i < IN * OUT; i++)
        w[i] = (float)(i % 7 - 3) * 0.1f;
    for (int i = 0; i < ROWS * IN; i++)
        x[i] = (float)(i * 5 % 11) * 0.1f;
    for (int step = 0; step < STEPS; step++) {
        float loss = 0.0f;
        mm(0, ROWS, OUT, IN, x, w, y);
        for (int i = 0; i < ROWS * OUT; i++) {
            loss += (y[i] - 1.0f) * (y[i] - 1.0f);
            d[i] = y[i] - 1.0f;
        }
        mm(1, IN, OUT, ROWS, x, d, dw);
        update(w, dw);
        printf("%.9g\n", (double)loss);
    }
    free(w);
    free(dw);
    return 0;
}

// A pointer to buffers of both kinds; an update is no sum.
// CHECK: buffers: 0 of {{[0-9]+}} in half (-O1 changes no storage)
// CHECK: variable fresh:p (float *), grad, carries the loss scale in part:
// CHECK: variable main:w (float *), param, unscaled
// CHECK-NEXT: variable main:dw (float *), grad, carries the loss scale:
// Its rule exists already.
// CHECK-NOT: if 'mm' is one GEMM
// JSON: "name": "fresh:p"
// JSON: "degree_in_part": true
// JSON: "name": "main:w"
// JSON: "degree_in_part": false
// JSON: "accumulates": null
// NONE: buffers: 0 of {{[0-9]+}} in half (-O0 changes no storage)
// NONE: variable main:w (float *), param, unscaled: -O0 changes nothing
// NONE-NOT: -O1 keeps
