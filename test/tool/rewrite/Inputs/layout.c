/* Calls over several lines and bodies without braces, in whose text there is
 * something to add. */
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

typedef struct layer {
    float *weight, *gradient;
} layer;

static float *fresh(size_t count)
{
    return malloc(count * sizeof(float));
}

int main(int argc, char **argv)
{
    (void)argv;
    layer l;
    static float x[ROWS * IN], y[ROWS * OUT], t[ROWS * OUT];
    float *d = fresh(ROWS * OUT);
    if (argc) // always
        l.weight = fresh(IN * OUT);
    else
        return 1;
    l.gradient = (float *)malloc((size_t)IN * OUT * sizeof(float));
    if (!l.weight || !l.gradient || !d)
        return 1;
    for (int i = 0; i < IN * OUT; i++)
        l.weight[i] = (float)(i % 7 - 3) * 0.1f;
    for (int i = 0; i < ROWS * IN; i++)
        x[i] = (float)((i * 5) % 11) * 0.1f;
    for (int i = 0; i < ROWS * OUT; i++)
        t[i] = (float)(i % 3);
    for (int step = 0; step < STEPS; step++) {
        float loss = 0.0f;
        mm(0, ROWS, OUT, IN, x,
           l.weight,
           y);
        for (int i = 0; i < ROWS * OUT; i++) {
            d[i] = y[i] - t[i];
            loss += d[i] * d[i];
        }
        mm(1, IN, OUT, ROWS, x, d,
            l.gradient); /* hangs one to the right */
        if (loss > 0.0f)
            for (int i = 0; i < IN * OUT; i++)
                l.weight[i] -= 0.01f * l.gradient[i]; // the step
        printf("%.9g\n", (double)loss);
    }
    free(l.weight);
    free(l.gradient);
    free(d);
    return 0;
}
