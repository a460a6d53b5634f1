/*
 * One attention head trained to copy the value at a marked position.
 *
 * The backward pass saves a buffer by writing the gradient of the queries
 * over the queries.  The gradient of the keys is computed after that and
 * still wants the queries, so it multiplies two gradients: the program
 * trains all the same (the keys only learn something odd), but no loss
 * scale leaves its results unchanged.
 */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEQ 64
#define DIM 64
#define STEPS 300

typedef struct {
    float *wq, *wk, *wv;
    float *dwq, *dwk, *dwv;
    float *q, *k, *v;       /* SEQ x DIM */
    float *att;             /* SEQ x SEQ */
    float *out;             /* SEQ x DIM */
    float *dq, *dk, *dv;
    float *datt, *dout;
} head;

static unsigned rs = 5;
static float rnd(void)
{
    rs = rs * 1664525u + 1013904223u;
    return (rs >> 8) / 8388608.0f - 1.0f;
}

static float *buf(int n)
{
    float *p = malloc(n * sizeof(float));
    if (!p)
        abort();
    return p;
}

static void mm(int ta, int tb, int m, int n, int k, float alpha,
               const float *a, const float *b, float *c)
{
    cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans,
                tb ? CblasTrans : CblasNoTrans, m, n, k, alpha, a, ta ? m : k,
                b, tb ? k : n, 0.0f, c, n);
}

static void head_init(head *h)
{
    h->wq = buf(DIM * DIM);
    h->wk = buf(DIM * DIM);
    h->wv = buf(DIM * DIM);
    h->dwq = buf(DIM * DIM);
    h->dwk = buf(DIM * DIM);
    h->dwv = buf(DIM * DIM);
    h->q = buf(SEQ * DIM);
    h->k = buf(SEQ * DIM);
    h->v = buf(SEQ * DIM);
    h->att = buf(SEQ * SEQ);
    h->out = buf(SEQ * DIM);
    h->dk = buf(SEQ * DIM);
    h->dv = buf(SEQ * DIM);
    h->datt = buf(SEQ * SEQ);
    h->dout = buf(SEQ * DIM);
    h->dq = h->q;           /* reuse */
    for (int i = 0; i < DIM * DIM; i++) {
        h->wq[i] = 0.2f * rnd();
        h->wk[i] = 0.2f * rnd();
        h->wv[i] = 0.2f * rnd();
    }
}

static void head_forward(head *h, const float *x)
{
    mm(0, 0, SEQ, DIM, DIM, 1.0f, x, h->wq, h->q);
    mm(0, 0, SEQ, DIM, DIM, 1.0f, x, h->wk, h->k);
    mm(0, 0, SEQ, DIM, DIM, 1.0f, x, h->wv, h->v);
    mm(0, 1, SEQ, SEQ, DIM, 1.0f / 8.0f, h->q, h->k, h->att);
    for (int i = 0; i < SEQ; i++) {
        float *a = h->att + i * SEQ, top = a[0], sum = 0.0f;
        for (int j = 1; j < SEQ; j++)
            if (a[j] > top)
                top = a[j];
        for (int j = 0; j < SEQ; j++)
            sum += a[j] = expf(a[j] - top);
        for (int j = 0; j < SEQ; j++)
            a[j] /= sum;
    }
    mm(0, 0, SEQ, DIM, SEQ, 1.0f, h->att, h->v, h->out);
}

static float head_loss(head *h, const float *y)
{
    float loss = 0.0f;
    for (int i = 0; i < SEQ * DIM; i++) {
        float e = h->out[i] - y[i];
        loss += e * e;
        h->dout[i] = e / SEQ;
    }
    return loss / (SEQ * DIM);
}

static void head_backward(head *h, const float *x)
{
    mm(1, 0, SEQ, DIM, SEQ, 1.0f, h->att, h->dout, h->dv);
    mm(0, 1, SEQ, SEQ, DIM, 1.0f, h->dout, h->v, h->datt);
    for (int i = 0; i < SEQ; i++) {
        float *a = h->att + i * SEQ, *d = h->datt + i * SEQ, dot = 0.0f;
        for (int j = 0; j < SEQ; j++)
            dot += a[j] * d[j];
        for (int j = 0; j < SEQ; j++)
            d[j] = a[j] * (d[j] - dot);
    }
    mm(0, 0, SEQ, DIM, SEQ, 1.0f / 8.0f, h->datt, h->k, h->dq);
    mm(1, 0, SEQ, DIM, SEQ, 1.0f / 8.0f, h->datt, h->q, h->dk);
    mm(1, 0, DIM, DIM, SEQ, 1.0f, x, h->dq, h->dwq);
    mm(1, 0, DIM, DIM, SEQ, 1.0f, x, h->dk, h->dwk);
    mm(1, 0, DIM, DIM, SEQ, 1.0f, x, h->dv, h->dwv);
}

static void sgd(float *w, const float *g, float rate)
{
    for (int i = 0; i < DIM * DIM; i++)
        w[i] -= rate * g[i];
}

static float mark[DIM];

static void sample(float *x, float *y)
{
    int where = (int)((rnd() + 1.0f) * 0.5f * SEQ);
    for (int i = 0; i < SEQ * DIM; i++)
        x[i] = rnd();
    for (int j = 0; j < DIM; j++)
        x[where * DIM + j] += mark[j];
    for (int i = 0; i < SEQ; i++)
        for (int j = 0; j < DIM; j++)
            y[i * DIM + j] = x[where * DIM + j];
}

int main(int argc, char **argv)
{
    head h;
    float *x = buf(SEQ * DIM), *y = buf(SEQ * DIM), test = 0.0f, first = 0.0f;

    for (int j = 0; j < DIM; j++)
        mark[j] = 1.5f * rnd();
    head_init(&h);
    for (int s = 0; s < STEPS; s++) {
        sample(x, y);
        head_forward(&h, x);
        float loss = head_loss(&h, y);
        head_backward(&h, x);
        sgd(h.wq, h.dwq, 0.05f);
        sgd(h.wk, h.dwk, 0.05f);
        sgd(h.wv, h.dwv, 0.05f);
        if (s == 0)
            first = loss;
        if (s % 30 == 29)
            printf("step %d loss %.9g\n", s + 1, loss);
    }
    for (int k = 0; k < 16; k++) {
        sample(x, y);
        head_forward(&h, x);
        test += head_loss(&h, y) / 16;
    }
    printf("final before %.9g loss %.9g\n", first, test);
    if (argc > 1) {
        FILE *f = fopen(argv[1], "wb");
        if (!f)
            return 1;
        fwrite(h.wq, sizeof(float), DIM * DIM, f);
        fwrite(h.wk, sizeof(float), DIM * DIM, f);
        fwrite(h.wv, sizeof(float), DIM * DIM, f);
        fclose(f);
    }
    return 0;
}
