/* A linear layer fitted to another one. */
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 16, IN = 8, OUT = 4 };

/* c = a * b, or a' * b; row-major */
static void mm(int ta, int m, int n, int k, const float *a, const float *b,
               float *c) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int l = 0; l < k; l++)
                sum += (ta ? a[l * m + i] : a[i * k + l]) * b[l * n + j];
            c[i * n + j] = sum;
        }
}

static float noise(void) {
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / 8388608.0f - 1.0f;
}

int main(void) {
    float *w = malloc(IN * OUT * sizeof(float));
    float *dw = malloc(IN * OUT * sizeof(float));
    float goal[IN * OUT], x[ROWS * IN], t[ROWS * OUT];
    float y[ROWS * OUT], dy[ROWS * OUT];
    for (int i = 0; i < IN * OUT; i++) {
        w[i] = 0;
        goal[i] = noise();
    }
    for (int step = 0; step < 40; step++) {
        for (int i = 0; i < ROWS * IN; i++)
            x[i] = noise();
        mm(0, ROWS, OUT, IN, x, goal, t);
        mm(0, ROWS, OUT, IN, x, w, y);
        float loss = 0;
        for (int i = 0; i < ROWS * OUT; i++) {
            float e = y[i] - t[i];
            loss += e * e;
            dy[i] = 2 * e / ROWS;
        }
        mm(1, IN, OUT, ROWS, x, dy, dw);
        for (int i = 0; i < IN * OUT; i++)
            w[i] -= 0.1f * dw[i];
        if (step % 10 == 9)
            printf("%d %.9g\n", step, loss);
    }
    free(dw);
    free(w);
    return 0;
}
