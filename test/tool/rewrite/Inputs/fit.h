/* What the small trainers of this folder share: a product and numbers. */
#ifndef FIT_H
#define FIT_H

enum { ROWS = 16, IN = 8, OUT = 4, W = IN * OUT };

/* c = a * b, or a' * b; row-major */
static inline void mm(int ta, int m, int n, int k, const float *a,
                      const float *b, float *c) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int l = 0; l < k; l++)
                sum += (ta ? a[l * m + i] : a[i * k + l]) * b[l * n + j];
            c[i * n + j] = sum;
        }
}

static inline float noise(void) {
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / 8388608.0f - 1.0f;
}

static inline void fill(float *x, int n) {
    for (int i = 0; i < n; i++)
        x[i] = noise();
}

#endif
