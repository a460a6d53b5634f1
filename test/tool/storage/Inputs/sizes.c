#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

enum { D = 4 };

static void *checked(size_t bytes) {
    void *p = malloc(bytes);
    if (!p)
        exit(1);
    return p;
}

struct buffers {
    float *x, *h, *g;
};

static void make(struct buffers *b, int rows, int columns) {
    b->h = checked(sizeof(float) * rows * columns);
    b->x = checked((size_t)rows * columns * sizeof(float));
}

int main(int argc, char **argv) {
    int batch = argc > 1 ? atoi(argv[1]) : 8;
    struct buffers b;
    float w[D][D] = {{0}}, dw[D][D];
    float t[8 * (D - 1)];
    make(&b, 2 * batch, D);
    b.g = calloc(batch * D, sizeof(float));
    for (int e = 0; e < 10; e++) {
        float loss = 0;
        for (int i = 0; i < 8 * (D - 1); i++)
            t[i] = (float)rand() / RAND_MAX;
        for (int i = 0; i < batch * D; i++)
            b.x[i] = t[i % 24] * t[0];
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, batch, D, D, 1,
                    b.x, D, w[0], D, 0, b.h, D);
        for (int i = 0; i < batch * D; i++) {
            loss += (b.h[i] - t[1]) * (b.h[i] - t[1]);
            b.g[i] = 2 * (b.h[i] - t[1]);
        }
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, D, D, batch, 1,
                    b.x, D, b.g, D, 0, dw[0], D);
        for (int i = 0; i < D; i++)
            for (int j = 0; j < D; j++)
                w[i][j] -= 0.1f * dw[i][j];
        printf("%f\n", loss);
    }
    return 0;
}
