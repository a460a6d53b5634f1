/*
 * train.c - multilayer perceptron classifier in single precision on CBLAS.
 *
 *     cc -O2 train.c -o train -lopenblas -lm
 *     ./train [checkpoint]
 *
 * Makes its own data: CLASSES classes of DIM features; each class is two
 * clusters on either side of the origin, so that a linear model fails.
 */
#define _POSIX_C_SOURCE 199309L
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DIM 512
#define HIDDEN 1024
#define CLASSES 16
#define CLUSTERS 2

#define TRAIN_ROWS 8192
#define TEST_ROWS 2048
#define BATCH 256
#define EPOCHS 6

#define NLAYERS 3

struct layer {
    int in, out;
    float *w, *b;          /* parameters: w is out x in */
    float *dw, *db;        /* their gradients */
    float *mw, *mb;        /* momentum */
    float *y, *dy;         /* output and its gradient: BATCH x out */
};

struct net {
    struct layer layer[NLAYERS];
    float lr, momentum;
};

/* ---- random numbers ---- */

static unsigned long long rng = 0x2545F4914F6CDD1DULL;

static float uniform(void)
{
    rng = rng * 6364136223846793005ULL + 1442695040888963407ULL;
    return (float)(rng >> 40) / 16777216.0f;
}

static float normal(void)
{
    float s = 0.0f;
    int i;
    for (i = 0; i < 12; i++)
        s += uniform();
    return s - 6.0f;
}

/* ---- network ---- */

static float *vector(size_t n)
{
    float *v = calloc(n, sizeof(float));
    if (!v) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return v;
}

static void layer_init(struct layer *l, int in, int out)
{
    size_t n = (size_t)in * out, i;
    float scale = sqrtf(2.0f / in);
    l->in = in;
    l->out = out;
    l->w = vector(n);
    l->b = vector(out);
    l->dw = vector(n);
    l->db = vector(out);
    l->mw = vector(n);
    l->mb = vector(out);
    l->y = vector((size_t)BATCH * out);
    l->dy = vector((size_t)BATCH * out);
    for (i = 0; i < n; i++)
        l->w[i] = scale * normal();
}

static void layer_free(struct layer *l)
{
    free(l->w);
    free(l->b);
    free(l->dw);
    free(l->db);
    free(l->mw);
    free(l->mb);
    free(l->y);
    free(l->dy);
}

static void forward(struct net *n, const float *x)
{
    int k, i, j;
    for (k = 0; k < NLAYERS; k++) {
        struct layer *l = &n->layer[k];
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, BATCH, l->out,
                    l->in, 1.0f, x, l->in, l->w, l->in, 0.0f, l->y, l->out);
        for (i = 0; i < BATCH; i++)
            for (j = 0; j < l->out; j++) {
                float v = l->y[i * l->out + j] + l->b[j];
                if (k < NLAYERS - 1 && v < 0.0f)
                    v = 0.0f;
                l->y[i * l->out + j] = v;
            }
        x = l->y;
    }
}

/* Mean cross-entropy of the batch; counts right answers. Turns the outputs
 * into probabilities and writes the gradient of the last layer. */
static float loss(struct net *n, const int *label, int *right)
{
    struct layer *l = &n->layer[NLAYERS - 1];
    float total = 0.0f;
    int i, j;
    for (i = 0; i < BATCH; i++) {
        float *p = l->y + i * l->out, *d = l->dy + i * l->out;
        float max = p[0], sum = 0.0f;
        int best = 0;
        for (j = 1; j < l->out; j++)
            if (p[j] > max) {
                max = p[j];
                best = j;
            }
        for (j = 0; j < l->out; j++) {
            p[j] = expf(p[j] - max);
            sum += p[j];
        }
        for (j = 0; j < l->out; j++) {
            p[j] /= sum;
            d[j] = (p[j] - (j == label[i])) / BATCH;
        }
        total -= logf(p[label[i]] + 1e-20f);
        *right += best == label[i];
    }
    return total / BATCH;
}

static void backward(struct net *n, const float *x)
{
    int k, i, j;
    for (k = NLAYERS - 1; k >= 0; k--) {
        struct layer *l = &n->layer[k];
        const float *in = k ? n->layer[k - 1].y : x;
        if (k < NLAYERS - 1)
            for (i = 0; i < BATCH * l->out; i++)
                if (l->y[i] <= 0.0f)
                    l->dy[i] = 0.0f;
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, l->out, l->in,
                    BATCH, 1.0f, l->dy, l->out, in, l->in, 0.0f, l->dw, l->in);
        memset(l->db, 0, l->out * sizeof(float));
        for (i = 0; i < BATCH; i++)
            for (j = 0; j < l->out; j++)
                l->db[j] += l->dy[i * l->out + j];
        if (k > 0)
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, BATCH,
                        l->in, l->out, 1.0f, l->dy, l->out, l->w, l->in, 0.0f,
                        n->layer[k - 1].dy, l->in);
    }
}

static void update(struct net *n)
{
    int k;
    size_t i;
    for (k = 0; k < NLAYERS; k++) {
        struct layer *l = &n->layer[k];
        size_t count = (size_t)l->in * l->out;
        for (i = 0; i < count; i++) {
            l->mw[i] = n->momentum * l->mw[i] + l->dw[i];
            l->w[i] -= n->lr * l->mw[i];
        }
        for (i = 0; i < (size_t)l->out; i++) {
            l->mb[i] = n->momentum * l->mb[i] + l->db[i];
            l->b[i] -= n->lr * l->mb[i];
        }
    }
}

/* ---- data ---- */

static float center[CLASSES * CLUSTERS][DIM];

static void make_rows(float *x, int *label, int rows)
{
    int i, j;
    for (i = 0; i < rows; i++) {
        int c = (int)(uniform() * CLASSES * CLUSTERS);
        float side = uniform() < 0.5f ? -1.0f : 1.0f;
        label[i] = c / CLUSTERS;
        for (j = 0; j < DIM; j++)
            x[(size_t)i * DIM + j] = side * center[c][j] + normal();
    }
}

/* ---- main ---- */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int save(const struct net *n, const char *path)
{
    FILE *f = fopen(path, "wb");
    int k;
    if (!f) {
        perror(path);
        return 1;
    }
    for (k = 0; k < NLAYERS; k++) {
        const struct layer *l = &n->layer[k];
        fwrite(l->w, sizeof(float), (size_t)l->in * l->out, f);
        fwrite(l->b, sizeof(float), l->out, f);
    }
    if (fclose(f)) {
        perror(path);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static struct net net;
    float *x = vector((size_t)TRAIN_ROWS * DIM);
    float *xt = vector((size_t)TEST_ROWS * DIM);
    int *label = malloc(TRAIN_ROWS * sizeof(int));
    int *labelt = malloc(TEST_ROWS * sizeof(int));
    int e, s, i, j, right, status = 0;
    float total;

    for (i = 0; i < CLASSES * CLUSTERS; i++)
        for (j = 0; j < DIM; j++)
            center[i][j] = 0.4f * normal();
    make_rows(x, label, TRAIN_ROWS);
    make_rows(xt, labelt, TEST_ROWS);

    net.lr = 0.02f;
    net.momentum = 0.9f;
    layer_init(&net.layer[0], DIM, HIDDEN);
    layer_init(&net.layer[1], HIDDEN, HIDDEN);
    layer_init(&net.layer[2], HIDDEN, CLASSES);

    for (e = 1; e <= EPOCHS; e++) {
        double start = seconds();
        int steps = TRAIN_ROWS / BATCH;
        total = 0.0f;
        right = 0;
        for (s = 0; s < steps; s++) {
            const float *bx = x + (size_t)s * BATCH * DIM;
            forward(&net, bx);
            total += loss(&net, label + s * BATCH, &right);
            backward(&net, bx);
            update(&net);
        }
        printf("epoch %d  loss %.9g  accuracy %.4f  %.2f ms/step\n", e,
               total / steps, (float)right / TRAIN_ROWS,
               1000.0 * (seconds() - start) / steps);
        fflush(stdout);
    }

    total = 0.0f;
    right = 0;
    for (s = 0; s < TEST_ROWS / BATCH; s++) {
        forward(&net, xt + (size_t)s * BATCH * DIM);
        total += loss(&net, labelt + s * BATCH, &right);
    }
    printf("test     loss %.9g  accuracy %.4f\n", total / (TEST_ROWS / BATCH),
           (float)right / TEST_ROWS);

    if (argc > 1)
        status = save(&net, argv[1]);
    for (i = 0; i < NLAYERS; i++)
        layer_free(&net.layer[i]);
    free(x);
    free(xt);
    free(label);
    free(labelt);
    return status;
}
