#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { B = 8, D = 16 };

struct net {
    float *w, *dw;
    float *hidden, *logits, *probs;
};

float x[4 * B][D], t[4 * B][D];
#pragma amp half
float dhidden[B][D];
#pragma amp fp32
float spare[B][D];
float bits[D];

static void act(float *v, int n) {
    for (int i = 0; i < n; i++)
        v[i] = v[i] > 0 ? v[i] : 0.1f * v[i];
}

static void softmax(const float *in, float *out, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += out[i] = expf(in[i]);
    for (int i = 0; i < n; i++)
        out[i] /= sum;
}

static float step(struct net *m, int n) {
    float loss = 0;
#pragma amp keep
    float kept[D];
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, B, D, D, 1, x[n * B],
                D, m->w, D, 0, m->hidden, D);
    act(m->hidden, B * D);
    for (int b = 0; b < B; b++)
        for (int j = 0; j < D; j++) {
            kept[j] = m->hidden[b * D + j];
            spare[b][j] = kept[j];
            m->logits[b * D + j] = spare[b][j];
            bits[j] = kept[j];
            loss += *(int *)&bits[j] & 1;
        }
    for (int b = 0; b < B; b++)
        softmax(m->logits + b * D, m->probs + b * D, D);
    for (int b = 0; b < B; b++)
        for (int j = 0; j < D; j++) {
            loss -= t[n * B + b][j] * logf(m->probs[b * D + j] + 1e-6f);
            dhidden[b][j] = (m->probs[b * D + j] - t[n * B + b][j]) *
                            (m->hidden[b * D + j] > 0 ? 1 : 0.1f);
        }
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, D, D, B, 1, x[n * B],
                D, dhidden[0], D, 0, m->dw, D);
    for (int i = 0; i < D * D; i++)
        m->w[i] -= 0.1f * m->dw[i];
    return loss;
}

int main(void) {
    struct net m = {calloc(D * D, sizeof(float)), calloc(D * D, sizeof(float)),
                    calloc(B * D, sizeof(float)), calloc(B * D, sizeof(float)),
                    calloc(B * D, sizeof(float))};
    for (int b = 0; b < 4 * B; b++)
        for (int j = 0; j < D; j++) {
            x[b][j] = (float)rand() / RAND_MAX;
            t[b][j] = (float)rand() / RAND_MAX;
        }
    for (int e = 0; e < 40; e++)
        printf("%f\n", step(&m, e % 4));
    return 0;
}
