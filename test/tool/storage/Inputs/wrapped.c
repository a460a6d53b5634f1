#include <stdio.h>

enum { N = 4 };

static float in[N * N], w[N * N], out[N * N], h[N * N];

static void copy(float *to, const float *from, int n) {
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}

static void product(const float *a, const float *b, float *c, int n) {
    float row[N];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            row[j] = 0;
            for (int k = 0; k < n; k++)
                row[j] += a[i * n + k] * b[k * n + j];
        }
        copy(c + i * n, row, n);
    }
}

int main(void) {
    for (int i = 0; i < N * N; i++)
        in[i] = w[i] = (float)i;
    copy(h, in, N * N);
    product(h, w, out, N);
    printf("%g\n", out[1]);
    return 0;
}
