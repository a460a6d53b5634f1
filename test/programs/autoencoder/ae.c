/* Autoencoder 96-64-96 (tanh, linear) trained with Adam on squared error.
 * To save memory the gradient of the output is the output buffer itself:
 * after the forward pass it is overwritten with output - target. */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    float *w, *b;       /* parameters */
    float *dw, *db;     /* gradients */
    float *mw, *vw;     /* Adam moments */
    float *mb, *vb;
    int in, out;
} dense;

typedef struct {
    dense enc, dec;
    float *code;        /* batch x hidden */
    float *dcode;
    float *output;      /* batch x visible, then its gradient */
    float *grad_output;
    int batch;
    int t;              /* Adam steps taken */
    float beta1, beta2, lr, eps;
} autoencoder;

static unsigned rs = 99;
static float rnd(void)
{
    rs = rs * 1664525u + 1013904223u;
    return (rs >> 8) * (1.0f / 8388608.0f) - 1.0f;
}

static void dense_init(dense *d, int in, int out)
{
    int i, n = in * out;
    d->in = in;
    d->out = out;
    d->w = malloc(n * sizeof(float));
    d->b = calloc(out, sizeof(float));
    d->dw = malloc(n * sizeof(float));
    d->db = malloc(out * sizeof(float));
    d->mw = calloc(n, sizeof(float));
    d->vw = calloc(n, sizeof(float));
    d->mb = calloc(out, sizeof(float));
    d->vb = calloc(out, sizeof(float));
    for (i = 0; i < n; i++)
        d->w[i] = rnd() * sqrtf(3.0f / in);
}

static void dense_free(dense *d)
{
    free(d->w);
    free(d->b);
    free(d->dw);
    free(d->db);
    free(d->mw);
    free(d->vw);
    free(d->mb);
    free(d->vb);
}

static void dense_forward(const dense *d, const float *x, float *y, int batch)
{
    int i;
    for (i = 0; i < batch; i++)
        cblas_scopy(d->out, d->b, 1, y + i * d->out, 1);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, batch, d->out, d->in,
                1.0f, x, d->in, d->w, d->in, 1.0f, y, d->out);
}

static void dense_backward(dense *d, const float *x, const float *dy,
                           float *dx, int batch)
{
    int i;
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, d->out, d->in, batch,
                1.0f, dy, d->out, x, d->in, 0.0f, d->dw, d->in);
    memset(d->db, 0, d->out * sizeof(float));
    for (i = 0; i < batch; i++)
        cblas_saxpy(d->out, 1.0f, dy + i * d->out, 1, d->db, 1);
    if (dx)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, batch, d->in,
                    d->out, 1.0f, dy, d->out, d->w, d->in, 0.0f, dx, d->in);
}

static void forward(autoencoder *a, const float *x)
{
    int i;
    dense_forward(&a->enc, x, a->code, a->batch);
    for (i = 0; i < a->batch * a->enc.out; i++)
        a->code[i] = tanhf(a->code[i]);
    dense_forward(&a->dec, a->code, a->output, a->batch);
}

/* mean squared error; leaves output - target in grad_output */
static float loss(autoencoder *a, const float *target)
{
    int i, n = a->batch * a->dec.out;
    float sum = 0.0f;
    for (i = 0; i < n; i++) {
        a->grad_output[i] = a->output[i] - target[i];
        sum += a->grad_output[i] * a->grad_output[i];
    }
    return sum / n;
}

static void backward(autoencoder *a, const float *x)
{
    int i;
    dense_backward(&a->dec, a->code, a->grad_output, a->dcode, a->batch);
    for (i = 0; i < a->batch * a->enc.out; i++)
        a->dcode[i] *= 1.0f - a->code[i] * a->code[i];
    dense_backward(&a->enc, x, a->dcode, NULL, a->batch);
}

static void adam(const autoencoder *a, float *p, const float *g, float *m,
                 float *v, int n)
{
    float c1 = 1.0f - powf(a->beta1, (float)a->t);
    float c2 = 1.0f - powf(a->beta2, (float)a->t);
    float rate = a->lr * sqrtf(c2) / c1;
    int i;
    for (i = 0; i < n; i++) {
        float gi = g[i] / a->batch;
        m[i] = a->beta1 * m[i] + (1.0f - a->beta1) * gi;
        v[i] = a->beta2 * v[i] + (1.0f - a->beta2) * gi * gi;
        p[i] -= rate * m[i] / (sqrtf(v[i]) + a->eps);
    }
}

static void update(autoencoder *a)
{
    dense *e = &a->enc, *d = &a->dec;
    a->t++;
    adam(a, e->w, e->dw, e->mw, e->vw, e->in * e->out);
    adam(a, e->b, e->db, e->mb, e->vb, e->out);
    adam(a, d->w, d->dw, d->mw, d->vw, d->in * d->out);
    adam(a, d->b, d->db, d->mb, d->vb, d->out);
}

#define VIS 96
#define HID 64
#define BATCH 64
#define ROWS 512

/* points near a curved 12-dimensional surface */
static void make_rows(float *x, int n, const float *mix)
{
    int i, j, k;
    float u[12];
    for (i = 0; i < n; i++) {
        for (k = 0; k < 12; k++)
            u[k] = rnd();
        for (j = 0; j < VIS; j++) {
            float s = 0.0f;
            for (k = 0; k < 12; k++)
                s += mix[j * 12 + k] * u[k];
            x[i * VIS + j] = sinf(s) + 0.02f * rnd();
        }
    }
}

static float plain_mse(const autoencoder *a, const float *x, int n)
{
    float c[HID], sum = 0.0f;
    int r, i, j;
    for (r = 0; r < n; r++) {
        const float *row = x + r * VIS;
        for (i = 0; i < HID; i++) {
            float s = a->enc.b[i];
            for (j = 0; j < VIS; j++)
                s += a->enc.w[i * VIS + j] * row[j];
            c[i] = tanhf(s);
        }
        for (i = 0; i < VIS; i++) {
            float s = a->dec.b[i];
            for (j = 0; j < HID; j++)
                s += a->dec.w[i * HID + j] * c[j];
            sum += (s - row[i]) * (s - row[i]);
        }
    }
    return sum / (n * VIS);
}

int main(int argc, char **argv)
{
    static float mix[VIS * 12], x[ROWS * VIS], xt[256 * VIS];
    autoencoder a;
    int e, b, i;
    float before;

    memset(&a, 0, sizeof a);
    a.batch = BATCH;
    a.beta1 = 0.9f;
    a.beta2 = 0.999f;
    a.lr = 2e-3f;
    a.eps = 1e-8f;
    dense_init(&a.enc, VIS, HID);
    dense_init(&a.dec, HID, VIS);
    a.code = malloc(BATCH * HID * sizeof(float));
    a.dcode = malloc(BATCH * HID * sizeof(float));
    a.output = malloc(BATCH * VIS * sizeof(float));
    a.grad_output = a.output;

    for (i = 0; i < VIS * 12; i++)
        mix[i] = 0.7f * rnd();
    make_rows(x, ROWS, mix);
    make_rows(xt, 256, mix);
    before = plain_mse(&a, xt, 256);

    for (e = 0; e < 40; e++) {
        float sum = 0.0f;
        for (b = 0; b < ROWS / BATCH; b++) {
            const float *rows = x + b * BATCH * VIS;
            forward(&a, rows);
            sum += loss(&a, rows);
            backward(&a, rows);
            update(&a);
        }
        if (e % 4 == 0)
            printf("epoch %d loss %.9g\n", e, sum / (ROWS / BATCH));
    }
    printf("final before %.9g loss %.9g\n", before, plain_mse(&a, xt, 256));
    if (argc > 1) {
        FILE *f = fopen(argv[1], "wb");
        if (!f) {
            perror(argv[1]);
            return 1;
        }
        fwrite(&a.t, sizeof a.t, 1, f);
        fwrite(a.enc.w, sizeof(float), VIS * HID, f);
        fwrite(a.enc.b, sizeof(float), HID, f);
        fwrite(a.dec.w, sizeof(float), VIS * HID, f);
        fwrite(a.dec.b, sizeof(float), VIS, f);
        fwrite(a.enc.mw, sizeof(float), VIS * HID, f);
        fwrite(a.enc.vw, sizeof(float), VIS * HID, f);
        fclose(f);
    }
    dense_free(&a.enc);
    dense_free(&a.dec);
    free(a.code);
    free(a.dcode);
    free(a.output);
    return 0;
}
