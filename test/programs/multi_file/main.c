#include "net.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FEATURES = 64, CLASSES = 64, USED = 16, BATCH = 64, STEPS = 160 };

static float proto[USED][FEATURES];

static void draw(matrix x, int *label)
{
    for (size_t r = 0; r < x.rows; r++) {
        label[r] = (int)(random_unit() * USED);
        int flip = random_unit() < 0.5f;
        for (size_t c = 0; c < x.cols; c++) {
            float p = proto[label[r]][flip ? FEATURES - 1 - c : c];
            AT(x, r, c) = p + 1.6f * (random_unit() - 0.5f);
        }
    }
}

/* plain loops over one row at a time */
static float test(const net *n, matrix x, const int *label, float *loss)
{
    float a[256], z[256];
    int right = 0;
    *loss = 0.0f;
    for (size_t r = 0; r < x.rows; r++) {
        for (size_t c = 0; c < x.cols; c++)
            a[c] = AT(x, r, c);
        for (int i = 0; i < n->count; i++) {
            const layer *l = &n->layers[i];
            for (size_t o = 0; o < l->weight.cols; o++) {
                float s = l->bias.val[o];
                for (size_t k = 0; k < l->weight.rows; k++)
                    s += a[k] * AT(l->weight, k, o);
                z[o] = s;
            }
            for (size_t o = 0; o < l->weight.cols; o++)
                a[o] = i + 1 < n->count && z[o] < 0.0f ? 0.0f : z[o];
        }
        int best = 0;
        float sum = 0.0f;
        for (int c = 1; c < CLASSES; c++)
            if (a[c] > a[best])
                best = c;
        for (int c = 0; c < CLASSES; c++)
            sum += expf(a[c] - a[best]);
        *loss += (logf(sum) + a[best] - a[label[r]]) / x.rows;
        right += best == label[r];
    }
    return (float)right / x.rows;
}

static int save(const net *n, const char *path)
{
    FILE *f = fopen(path, "wb");
    if (!f) {
        perror(path);
        return EXIT_FAILURE;
    }
    for (int i = 0; i < n->count; i++) {
        const layer *l = &n->layers[i];
        fwrite(l->weight.val, sizeof(float), mat_size(l->weight), f);
        fwrite(l->bias.val, sizeof(float), mat_size(l->bias), f);
    }
    return fclose(f) ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    const size_t widths[] = {FEATURES, 128, 64, CLASSES};
    struct sgd opt = {0.02f, 0.9f};
    net n;
    matrix x = mat_new(BATCH, FEATURES), xt = mat_new(640, FEATURES);
    int label[BATCH], labelt[640];
    float loss, accuracy;

    for (int i = 0; i < USED; i++)
        for (int j = 0; j < FEATURES; j++)
            proto[i][j] = 1.6f * (random_unit() - 0.5f);
    net_create(&n, BATCH, widths, 3);
    for (int step = 1; step <= STEPS; step++) {
        draw(x, label);
        net_forward(&n, x);
        loss = cross_entropy(&n, label);
        net_backward(&n, x);
        sgd_step(&opt, &n);
        if (step % 16 == 0)
            printf("step %d loss %.9g\n", step, loss);
    }
    draw(xt, labelt);
    accuracy = test(&n, xt, labelt, &loss);
    printf("final loss %.9g accuracy %.9g\n", loss, accuracy);
    int status = argc > 1 ? save(&n, argv[1]) : EXIT_SUCCESS;
    net_destroy(&n);
    mat_free(&x);
    mat_free(&xt);
    return status;
}
