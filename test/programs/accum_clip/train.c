/*
 * Regression network with gradient accumulation: every optimizer step sums
 * the gradients of ACCUM micro-batches, divides by ACCUM, clips the global
 * norm and takes an Adam step with L2 weight decay.
 */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NIN 64
#define NHID 96
#define NOUT 64
#define MICRO 64
#define ACCUM 4
#define STEPS 120

struct tensor {
    const char *name;
    float *data;
    float *grad;
    float *m1;
    float *m2;
    int size;
};

enum { FC1_W, FC1_B, FC2_W, FC2_B, FC3_W, FC3_B, NPARAM };

static struct tensor P[NPARAM];
static float *act1, *act2, *pred;
static float *gact1, *gact2, *gpred;

static unsigned lcg = 271828u;
static float uniform(void)
{
    lcg = lcg * 1664525u + 1013904223u;
    return (float)(lcg >> 8) / 16777216.0f * 2.0f - 1.0f;
}

static void new_tensor(int id, const char *name, int size, float scale)
{
    struct tensor *t = &P[id];
    t->name = name;
    t->size = size;
    t->data = malloc(sizeof(float) * size);
    t->grad = malloc(sizeof(float) * size);
    t->m1 = calloc(size, sizeof(float));
    t->m2 = calloc(size, sizeof(float));
    for (int i = 0; i < size; i++)
        t->data[i] = scale * uniform();
}

static void linear(float *out, const float *in, const struct tensor *w,
                   const struct tensor *b, int nin, int nout)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, MICRO, nout, nin,
                1.0f, in, nin, w->data, nout, 0.0f, out, nout);
    for (int r = 0; r < MICRO; r++)
        for (int c = 0; c < nout; c++)
            out[r * nout + c] += b->data[c];
}

static void linear_grad(float *din, struct tensor *w, struct tensor *b,
                        const float *dout, const float *in, int nin, int nout)
{
    /* beta = 1: micro-batches accumulate */
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, nin, nout, MICRO,
                1.0f, in, nin, dout, nout, 1.0f, w->grad, nout);
    for (int r = 0; r < MICRO; r++)
        for (int c = 0; c < nout; c++)
            b->grad[c] += dout[r * nout + c];
    if (din != NULL)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, MICRO, nin, nout,
                    1.0f, dout, nout, w->data, nout, 0.0f, din, nin);
}

static void relu(float *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = fmaxf(x[i], 0.0f);
}

static void relu_grad(float *g, const float *y, int n)
{
    for (int i = 0; i < n; i++)
        g[i] = y[i] > 0.0f ? g[i] : 0.0f;
}

static float micro_batch(const float *x, const float *y)
{
    float sse = 0.0f;
    linear(act1, x, &P[FC1_W], &P[FC1_B], NIN, NHID);
    relu(act1, MICRO * NHID);
    linear(act2, act1, &P[FC2_W], &P[FC2_B], NHID, NHID);
    relu(act2, MICRO * NHID);
    linear(pred, act2, &P[FC3_W], &P[FC3_B], NHID, NOUT);
    for (int i = 0; i < MICRO * NOUT; i++) {
        float e = pred[i] - y[i];
        sse += e * e;
        gpred[i] = 2.0f * e / (MICRO * NOUT);
    }
    linear_grad(gact2, &P[FC3_W], &P[FC3_B], gpred, act2, NHID, NOUT);
    relu_grad(gact2, act2, MICRO * NHID);
    linear_grad(gact1, &P[FC2_W], &P[FC2_B], gact2, act1, NHID, NHID);
    relu_grad(gact1, act1, MICRO * NHID);
    linear_grad(NULL, &P[FC1_W], &P[FC1_B], gact1, x, NIN, NHID);
    return sse / (MICRO * NOUT);
}

static void zero_grad(void)
{
    for (int k = 0; k < NPARAM; k++)
        memset(P[k].grad, 0, sizeof(float) * P[k].size);
}

static float clip_grad_norm(float max_norm)
{
    float sq = 0.0f;
    for (int k = 0; k < NPARAM; k++)
        sq += cblas_sdot(P[k].size, P[k].grad, 1, P[k].grad, 1);
    float norm = sqrtf(sq);
    if (norm > max_norm) {
        float c = max_norm / (norm + 1e-6f);
        for (int k = 0; k < NPARAM; k++)
            cblas_sscal(P[k].size, c, P[k].grad, 1);
    }
    return norm;
}

static void adam_step(int t, float lr, float decay)
{
    const float b1 = 0.9f, b2 = 0.98f;
    for (int k = 0; k < NPARAM; k++) {
        struct tensor *p = &P[k];
        for (int i = 0; i < p->size; i++) {
            float g = p->grad[i] + decay * p->data[i];
            p->m1[i] += (1.0f - b1) * (g - p->m1[i]);
            p->m2[i] += (1.0f - b2) * (g * g - p->m2[i]);
            float mh = p->m1[i] / (1.0f - powf(b1, (float)t));
            float vh = p->m2[i] / (1.0f - powf(b2, (float)t));
            p->data[i] -= lr * mh / (sqrtf(vh) + 1e-7f);
        }
    }
}

static float teacher[NIN * NOUT];

static void sample(float *x, float *y)
{
    for (int r = 0; r < MICRO; r++) {
        for (int i = 0; i < NIN; i++)
            x[r * NIN + i] = uniform();
        for (int o = 0; o < NOUT; o++) {
            float s = 0.0f;
            for (int i = 0; i < NIN; i++)
                s += teacher[i * NOUT + o] * x[r * NIN + i];
            y[r * NOUT + o] = s + 0.5f * s * s + 0.05f * uniform();
        }
    }
}

/* R squared on fresh data, written out without BLAS */
static void evaluate(float *x, float *y)
{
    float res = 0.0f, tot = 0.0f, mean = 0.0f;
    static float h1[NHID], h2[NHID];
    sample(x, y);
    for (int i = 0; i < MICRO * NOUT; i++)
        mean += y[i];
    mean /= MICRO * NOUT;
    for (int r = 0; r < MICRO; r++) {
        for (int j = 0; j < NHID; j++) {
            float s = P[FC1_B].data[j];
            for (int i = 0; i < NIN; i++)
                s += x[r * NIN + i] * P[FC1_W].data[i * NHID + j];
            h1[j] = s > 0.0f ? s : 0.0f;
        }
        for (int j = 0; j < NHID; j++) {
            float s = P[FC2_B].data[j];
            for (int i = 0; i < NHID; i++)
                s += h1[i] * P[FC2_W].data[i * NHID + j];
            h2[j] = s > 0.0f ? s : 0.0f;
        }
        for (int j = 0; j < NOUT; j++) {
            float s = P[FC3_B].data[j], d;
            for (int i = 0; i < NHID; i++)
                s += h2[i] * P[FC3_W].data[i * NOUT + j];
            d = y[r * NOUT + j];
            res += (s - d) * (s - d);
            tot += (d - mean) * (d - mean);
        }
    }
    printf("final loss %.9g accuracy %.9g\n", res / (MICRO * NOUT),
           1.0f - res / tot);
}

int main(int argc, char **argv)
{
    float *x = malloc(sizeof(float) * MICRO * NIN);
    float *y = malloc(sizeof(float) * MICRO * NOUT);
    new_tensor(FC1_W, "fc1.weight", NIN * NHID, 0.18f);
    new_tensor(FC1_B, "fc1.bias", NHID, 0.1f);
    new_tensor(FC2_W, "fc2.weight", NHID * NHID, 0.15f);
    new_tensor(FC2_B, "fc2.bias", NHID, 0.1f);
    new_tensor(FC3_W, "fc3.weight", NHID * NOUT, 0.15f);
    new_tensor(FC3_B, "fc3.bias", NOUT, 0.0f);
    act1 = malloc(sizeof(float) * MICRO * NHID);
    act2 = malloc(sizeof(float) * MICRO * NHID);
    pred = malloc(sizeof(float) * MICRO * NOUT);
    gact1 = malloc(sizeof(float) * MICRO * NHID);
    gact2 = malloc(sizeof(float) * MICRO * NHID);
    gpred = malloc(sizeof(float) * MICRO * NOUT);
    for (int i = 0; i < NIN * NOUT; i++)
        teacher[i] = 0.25f * uniform();

    int clipped = 0;
    for (int step = 1; step <= STEPS; step++) {
        float loss = 0.0f, norm;
        zero_grad();
        for (int k = 0; k < ACCUM; k++) {
            sample(x, y);
            loss += micro_batch(x, y) / ACCUM;
        }
        for (int k = 0; k < NPARAM; k++)
            cblas_sscal(P[k].size, 1.0f / ACCUM, P[k].grad, 1);
        norm = clip_grad_norm(0.12f);
        clipped += norm > 0.12f;
        adam_step(step, 3e-3f, 1e-5f);
        if (step % 10 == 0)
            printf("step %d loss %.9g norm %.9g\n", step, loss, norm);
    }
    printf("clipped %d of %d steps\n", clipped, STEPS);
    evaluate(x, y);
    if (argc > 1) {
        FILE *f = fopen(argv[1], "wb");
        if (f == NULL) {
            fprintf(stderr, "%s: cannot create\n", argv[1]);
            return 1;
        }
        for (int k = 0; k < NPARAM; k++)
            fwrite(P[k].data, sizeof(float), P[k].size, f);
        fclose(f);
    }
    for (int k = 0; k < NPARAM; k++) {
        free(P[k].data);
        free(P[k].grad);
        free(P[k].m1);
        free(P[k].m2);
    }
    return 0;
}
