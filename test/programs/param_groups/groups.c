/* Residual classifier: two square layers kept in one two-dimensional array
 * (the body) and an output layer (the head).  Body and head are two groups
 * with a learning rate each.  The update clears the gradients it has used. */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define D 64
#define N (D * D)
#define B 64
#define K 10
#define MAX_TENSORS 4

static float W[2][N], G[2][N];
static float act[3][B * D], gact[3][B * D];
static float hid[2][B * D];
static float *head_w, *head_b, *ghead_w, *ghead_b;
static float *out, *gout;

struct group {
    float rate;
    int count;
    float *param[MAX_TENSORS];
    float *grad[MAX_TENSORS];
    int len[MAX_TENSORS];
};

static void add(struct group *g, float *param, float *grad, int len)
{
    g->param[g->count] = param;
    g->grad[g->count] = grad;
    g->len[g->count] = len;
    g->count++;
}

static void group_step(struct group *g)
{
    for (int t = 0; t < g->count; t++) {
        float *p = g->param[t], *d = g->grad[t];
        for (int i = 0; i < g->len[t]; i++) {
            p[i] -= g->rate * d[i];
            d[i] = 0.0f;
        }
    }
}

static unsigned s = 17;
static float rnd(void)
{
    s = s * 1664525u + 1013904223u;
    return (s >> 8) / 8388608.0f - 1.0f;
}

static float proto[2 * K][D];

static void batch(float *x, int *y)
{
    for (int r = 0; r < B; r++) {
        int c = (int)((rnd() + 1.0f) * K);
        y[r] = c % K;
        for (int j = 0; j < D; j++)
            x[r * D + j] = proto[c][j] + 1.1f * rnd();
    }
}

static float forward(const float *x, const int *y)
{
    float loss = 0.0f;
    memcpy(act[0], x, sizeof act[0]);
    for (int l = 0; l < 2; l++) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, B, D, D, 1.0f,
                    act[l], D, W[l], D, 0.0f, hid[l], D);
        for (int i = 0; i < B * D; i++)
            act[l + 1][i] = act[l][i] + (hid[l][i] > 0.0f ? hid[l][i] : 0.0f);
    }
    for (int r = 0; r < B; r++)
        memcpy(out + r * D, head_b, D * sizeof(float));
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, B, D, D, 1.0f, act[2],
                D, head_w, D, 1.0f, out, D);
    for (int r = 0; r < B; r++) {
        float *z = out + r * D, top = z[0], sum = 0.0f;
        for (int k = 1; k < D; k++)
            top = fmaxf(top, z[k]);
        for (int k = 0; k < D; k++)
            sum += expf(z[k] - top);
        loss += logf(sum) + top - z[y[r]];
        for (int k = 0; k < D; k++)
            gout[r * D + k] = expf(z[k] - top) / sum / B;
        gout[r * D + y[r]] -= 1.0f / B;
    }
    return loss / B;
}

static void backward(void)
{
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, D, D, B, 1.0f, gout,
                D, act[2], D, 1.0f, ghead_w, D);
    for (int r = 0; r < B; r++)
        cblas_saxpy(D, 1.0f, gout + r * D, 1, ghead_b, 1);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, B, D, D, 1.0f, gout,
                D, head_w, D, 0.0f, gact[2], D);
    for (int l = 1; l >= 0; l--) {
        memcpy(gact[l], gact[l + 1], sizeof gact[l]);
        for (int i = 0; i < B * D; i++)
            if (hid[l][i] <= 0.0f)
                gact[l + 1][i] = 0.0f;
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, D, D, B, 1.0f,
                    gact[l + 1], D, act[l], D, 1.0f, G[l], D);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, B, D, D, 1.0f,
                    gact[l + 1], D, W[l], D, 1.0f, gact[l], D);
    }
}

static void evaluate(float *x, int *y)
{
    float a[D], b[D], loss = 0.0f;
    int right = 0;
    for (int rep = 0; rep < 10; rep++) {
        batch(x, y);
        for (int r = 0; r < B; r++) {
            int best = 0;
            float sum = 0.0f;
            memcpy(a, x + r * D, sizeof a);
            for (int l = 0; l < 2; l++) {
                for (int i = 0; i < D; i++) {
                    float v = 0.0f;
                    for (int j = 0; j < D; j++)
                        v += W[l][i * D + j] * a[j];
                    b[i] = a[i] + (v > 0.0f ? v : 0.0f);
                }
                memcpy(a, b, sizeof a);
            }
            for (int i = 0; i < D; i++) {
                b[i] = head_b[i];
                for (int j = 0; j < D; j++)
                    b[i] += head_w[i * D + j] * a[j];
                if (b[i] > b[best])
                    best = i;
            }
            for (int i = 0; i < D; i++)
                sum += expf(b[i] - b[best]);
            loss += logf(sum) + b[best] - b[y[r]];
            right += best == y[r];
        }
    }
    printf("final loss %.9g accuracy %.9g\n", loss / (10 * B),
           right / (10.0f * B));
}

int main(int argc, char **argv)
{
    struct group body = {.rate = 0.03f}, head = {.rate = 0.1f};
    float *x = malloc(B * D * sizeof(float));
    int y[B];

    head_w = malloc(N * sizeof(float));
    head_b = calloc(D, sizeof(float));
    ghead_w = calloc(N, sizeof(float));
    ghead_b = calloc(D, sizeof(float));
    out = malloc(B * D * sizeof(float));
    gout = malloc(B * D * sizeof(float));
    for (int i = 0; i < 2 * K * D; i++)
        proto[i / D][i % D] = rnd();
    for (int i = 0; i < N; i++) {
        W[0][i] = 0.15f * rnd();
        W[1][i] = 0.15f * rnd();
        head_w[i] = 0.1f * rnd();
    }
    add(&body, W[0], G[0], N);
    add(&body, W[1], G[1], N);
    add(&head, head_w, ghead_w, N);
    add(&head, head_b, ghead_b, D);

    for (int it = 1; it <= 120; it++) {
        float loss;
        batch(x, y);
        loss = forward(x, y);
        backward();
        group_step(&body);
        group_step(&head);
        if (it % 12 == 0)
            printf("%d loss %.9g\n", it, loss);
    }
    evaluate(x, y);
    if (argc > 1) {
        FILE *f = fopen(argv[1], "wb");
        if (!f)
            return 1;
        fwrite(W, sizeof W, 1, f);
        fwrite(head_w, sizeof(float), N, f);
        fwrite(head_b, sizeof(float), D, f);
        fclose(f);
    }
    return 0;
}
