/* Elman network, truncated nowhere: full back-propagation through time.
 * The target at time t is the symbol seen at time t-1.  Adagrad. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <cblas.h>

enum { T = 10, BATCH = 64, IN = 64, HID = 96, OUT = 64, SYM = 12, ITERS = 120 };

static float Wxh[HID * IN], Whh[HID * HID], Why[OUT * HID], bh[HID], by[OUT];
static float dWxh[HID * IN], dWhh[HID * HID], dWhy[OUT * HID], dbh[HID], dby[OUT];
static float mWxh[HID * IN], mWhh[HID * HID], mWhy[OUT * HID], mbh[HID], mby[OUT];

static float *x[T];         /* BATCH x IN, one per time step */
static float *h[T + 1];     /* h[0] is the zero state, h[t+1] follows x[t] */
static float *p[T];         /* BATCH x OUT */
static float *dh, *dh_next, *dy;
static int *target[T];

static unsigned long seed = 7;
static float uni(void)
{
    seed = (seed * 1103515245UL + 12345UL) & 0x7fffffffUL;
    return (float)(seed >> 7) / (float)(1UL << 24);
}

static float *fbuf(int n)
{
    float *b = calloc(n, sizeof *b);
    if (!b) { perror("calloc"); exit(2); }
    return b;
}

static void rand_init(float *w, int n, float s)
{
    while (n-- > 0)
        *w++ = (2.0f * uni() - 1.0f) * s;
}

static float code[SYM][IN];

static void next_batch(void)
{
    int t, b, i;
    for (b = 0; b < BATCH; b++) {
        int prev = 0;
        for (t = 0; t < T; t++) {
            int s = (int)(uni() * SYM);
            for (i = 0; i < IN; i++)
                x[t][b * IN + i] = code[s][i] + 0.3f * (uni() - 0.5f);
            target[t][b] = t ? prev : OUT - 1;
            prev = s;
        }
    }
}

static float forward(void)
{
    int t, b, i;
    float loss = 0;
    for (t = 0; t < T; t++) {
        float *ht = h[t + 1];
        for (b = 0; b < BATCH; b++)
            memcpy(ht + b * HID, bh, HID * sizeof(float));
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, BATCH, HID, IN,
                    1, x[t], IN, Wxh, IN, 1, ht, HID);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, BATCH, HID, HID,
                    1, h[t], HID, Whh, HID, 1, ht, HID);
        for (i = 0; i < BATCH * HID; i++)
            ht[i] = tanhf(ht[i]);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, BATCH, OUT, HID,
                    1, ht, HID, Why, HID, 0, p[t], OUT);
        for (b = 0; b < BATCH; b++) {
            float *q = p[t] + b * OUT, m = q[0] + by[0], z = 0;
            for (i = 0; i < OUT; i++) {
                q[i] += by[i];
                if (q[i] > m) m = q[i];
            }
            for (i = 0; i < OUT; i++)
                z += q[i] = expf(q[i] - m);
            for (i = 0; i < OUT; i++)
                q[i] /= z;
            loss += -logf(q[target[t][b]]);
        }
    }
    return loss / (T * BATCH);
}

static void backward(void)
{
    int t, b, i;
    memset(dWxh, 0, sizeof dWxh);
    memset(dWhh, 0, sizeof dWhh);
    memset(dWhy, 0, sizeof dWhy);
    memset(dbh, 0, sizeof dbh);
    memset(dby, 0, sizeof dby);
    memset(dh_next, 0, BATCH * HID * sizeof(float));
    for (t = T - 1; t >= 0; t--) {
        for (i = 0; i < BATCH * OUT; i++)
            dy[i] = p[t][i];
        for (b = 0; b < BATCH; b++)
            dy[b * OUT + target[t][b]] -= 1;
        cblas_sscal(BATCH * OUT, 1.0f / (T * BATCH), dy, 1);

        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, OUT, HID, BATCH,
                    1, dy, OUT, h[t + 1], HID, 1, dWhy, HID);
        for (b = 0; b < BATCH; b++)
            cblas_saxpy(OUT, 1, dy + b * OUT, 1, dby, 1);

        memcpy(dh, dh_next, BATCH * HID * sizeof(float));
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, BATCH, HID, OUT,
                    1, dy, OUT, Why, HID, 1, dh, HID);
        for (i = 0; i < BATCH * HID; i++)
            dh[i] *= 1 - h[t + 1][i] * h[t + 1][i];
        for (b = 0; b < BATCH; b++)
            cblas_saxpy(HID, 1, dh + b * HID, 1, dbh, 1);
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, HID, IN, BATCH,
                    1, dh, HID, x[t], IN, 1, dWxh, IN);
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, HID, HID, BATCH,
                    1, dh, HID, h[t], HID, 1, dWhh, HID);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, BATCH, HID, HID,
                    1, dh, HID, Whh, HID, 0, dh_next, HID);
    }
}

static void adagrad(float *w, const float *g, float *mem, int n, float lr)
{
    int i;
    for (i = 0; i < n; i++) {
        mem[i] += g[i] * g[i];
        w[i] -= lr * g[i] / sqrtf(mem[i] + 1e-8f);
    }
}

/* loops only */
static void report(void)
{
    static float hp[HID], hn[HID], o[OUT];
    float loss = 0;
    int b, t, i, j, right = 0;
    next_batch();
    for (b = 0; b < BATCH; b++) {
        memset(hp, 0, sizeof hp);
        for (t = 0; t < T; t++) {
            int arg = 0;
            float z = 0;
            for (i = 0; i < HID; i++) {
                float a = bh[i];
                for (j = 0; j < IN; j++) a += Wxh[i * IN + j] * x[t][b * IN + j];
                for (j = 0; j < HID; j++) a += Whh[i * HID + j] * hp[j];
                hn[i] = tanhf(a);
            }
            memcpy(hp, hn, sizeof hp);
            for (i = 0; i < OUT; i++) {
                float a = by[i];
                for (j = 0; j < HID; j++) a += Why[i * HID + j] * hp[j];
                o[i] = a;
                if (o[i] > o[arg]) arg = i;
            }
            for (i = 0; i < OUT; i++) z += expf(o[i] - o[arg]);
            loss += logf(z) + o[arg] - o[target[t][b]];
            right += arg == target[t][b];
        }
    }
    printf("final loss %.9g accuracy %.9g\n", loss / (T * BATCH),
           (float)right / (T * BATCH));
}

int main(int argc, char *argv[])
{
    int it, t;
    for (t = 0; t < T; t++) {
        x[t] = fbuf(BATCH * IN);
        h[t + 1] = fbuf(BATCH * HID);
        p[t] = fbuf(BATCH * OUT);
        target[t] = calloc(BATCH, sizeof(int));
    }
    h[0] = fbuf(BATCH * HID);
    dh = fbuf(BATCH * HID);
    dh_next = fbuf(BATCH * HID);
    dy = fbuf(BATCH * OUT);
    rand_init(code[0], SYM * IN, 1.0f);
    rand_init(Wxh, HID * IN, 0.1f);
    rand_init(Whh, HID * HID, 0.1f);
    rand_init(Why, OUT * HID, 0.1f);

    for (it = 0; it < ITERS; it++) {
        float loss;
        next_batch();
        loss = forward();
        backward();
        adagrad(Wxh, dWxh, mWxh, HID * IN, 0.02f);
        adagrad(Whh, dWhh, mWhh, HID * HID, 0.02f);
        adagrad(Why, dWhy, mWhy, OUT * HID, 0.02f);
        adagrad(bh, dbh, mbh, HID, 0.02f);
        adagrad(by, dby, mby, OUT, 0.02f);
        if (it % 10 == 0)
            printf("iter %d loss %.9g\n", it, loss);
    }
    report();
    if (argc > 1) {
        FILE *f = fopen(argv[1], "wb");
        if (!f) { perror(argv[1]); return 1; }
        fwrite(Wxh, sizeof Wxh, 1, f);
        fwrite(Whh, sizeof Whh, 1, f);
        fwrite(Why, sizeof Why, 1, f);
        fwrite(bh, sizeof bh, 1, f);
        fwrite(by, sizeof by, 1, f);
        fclose(f);
    }
    return 0;
}
