#include "pair.h"

#include <stdlib.h>

float *named(int n) { return malloc(n * sizeof(float)); }

void *grab(unsigned long bytes) {
    void *p = malloc(bytes);
    if (!p)
        abort();
    return p;
}

void relu(float *v, int n) {
    for (int i = 0; i < n; i++)
        v[i] = v[i] > 0 ? v[i] : 0;
}

void smooth(float *v, int n) {
    for (int i = 0; i < n; i++)
        v[i] = 0.5f * v[i] + 0.1f;
}

void scale(float *v, int n, float by) {
    for (int i = 0; i < n; i++)
        v[i] *= by;
}

void product(const float *a, const float *b, float *c, int n, int k, int m) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            c[i * m + j] = 0;
    for (int i = 0; i < n; i++)
        for (int l = 0; l < k; l++)
            for (int j = 0; j < m; j++)
                c[i * m + j] += a[i * k + l] * b[l * m + j];
}
