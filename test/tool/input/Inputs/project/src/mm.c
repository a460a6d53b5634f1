#include "mm.h"

void mm(int ta, int m, int n, int k, const float *a, const float *b, float *c)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int l = 0; l < k; l++)
                sum += (ta ? a[l * m + i] : a[i * k + l]) * b[l * n + j];
            c[i * n + j] = sum;
        }
}

float noise(void)
{
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / 8388608.0f - 1.0f;
}
