/* The trainer without any header: what it needs, it declares. */

void *malloc(unsigned long size);
void free(void *memory);
int printf(const char *format, ...);

/* c = a * b, or a' * b */
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
    float *w = malloc(32 * sizeof(float)), *dw = malloc(32 * sizeof(float));
    float goal[32], x[128], t[64], y[64], dy[64];
    for (int i = 0; i < 32; i++) {
        w[i] = 0;
        goal[i] = noise();
    }
    for (int step = 0; step < 20; step++) {
        for (int i = 0; i < 128; i++)
            x[i] = noise();
        mm(0, 16, 4, 8, x, goal, t);
        mm(0, 16, 4, 8, x, w, y);
        for (int i = 0; i < 64; i++)
            dy[i] = y[i] - t[i];
        mm(1, 8, 4, 16, x, dy, dw);
        for (int i = 0; i < 32; i++)
            w[i] -= 0.02f * dw[i];
        printf("%d %.9g\n", step, w[0]);
    }
    free(dw);
    free(w);
    return 0;
}
