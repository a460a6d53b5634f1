/*
 * Two-layer perceptron classifier on CBLAS.
 * Every tensor is its own malloc inside a struct; plain SGD.
 */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUTS 64
#define CLASSES 10
#define SAMPLES 2048
#define TEST_SAMPLES 1024

typedef struct {
    float *W1;            /* hidden x input */
    float *b1;
    float *W2;            /* classes x hidden */
    float *b2;
    float *W1_grad;
    float *b1_grad;
    float *W2_grad;
    float *b2_grad;
    float *hidden;        /* batch x hidden */
    float *probs;         /* batch x classes */
    float *d_hidden;
    float *d_logits;
    int input_dim, hidden_dim, output_dim, batch_size;
} MLP;

static unsigned int lcg_state = 12345u;

static float frand(void)
{
    lcg_state = lcg_state * 1664525u + 1013904223u;
    return (float)(lcg_state >> 8) / 16777216.0f;
}

static float nrand(void)
{
    float s = 0.0f;
    int i;
    for (i = 0; i < 12; i++)
        s += frand();
    return s - 6.0f;
}

static MLP *init_mlp(int input_dim, int hidden_dim, int output_dim, int batch)
{
    MLP *m = (MLP *)malloc(sizeof(MLP));
    m->input_dim = input_dim;
    m->hidden_dim = hidden_dim;
    m->output_dim = output_dim;
    m->batch_size = batch;
    m->W1 = (float *)malloc(hidden_dim * input_dim * sizeof(float));
    m->b1 = (float *)calloc(hidden_dim, sizeof(float));
    m->W2 = (float *)malloc(output_dim * hidden_dim * sizeof(float));
    m->b2 = (float *)calloc(output_dim, sizeof(float));
    m->W1_grad = (float *)malloc(hidden_dim * input_dim * sizeof(float));
    m->b1_grad = (float *)malloc(hidden_dim * sizeof(float));
    m->W2_grad = (float *)malloc(output_dim * hidden_dim * sizeof(float));
    m->b2_grad = (float *)malloc(output_dim * sizeof(float));
    m->hidden = (float *)malloc(batch * hidden_dim * sizeof(float));
    m->probs = (float *)malloc(batch * output_dim * sizeof(float));
    m->d_hidden = (float *)malloc(batch * hidden_dim * sizeof(float));
    m->d_logits = (float *)malloc(batch * output_dim * sizeof(float));
    for (int i = 0; i < hidden_dim * input_dim; i++)
        m->W1[i] = nrand() * sqrtf(2.0f / input_dim);
    for (int i = 0; i < output_dim * hidden_dim; i++)
        m->W2[i] = nrand() * sqrtf(1.0f / hidden_dim);
    return m;
}

static void free_mlp(MLP *m)
{
    free(m->W1); free(m->b1); free(m->W2); free(m->b2);
    free(m->W1_grad); free(m->b1_grad); free(m->W2_grad); free(m->b2_grad);
    free(m->hidden); free(m->probs); free(m->d_hidden); free(m->d_logits);
    free(m);
}

static void forward_pass(MLP *m, const float *X)
{
    int B = m->batch_size, D = m->input_dim, H = m->hidden_dim;
    int O = m->output_dim;

    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, B, H, D,
                1.0f, X, D, m->W1, D, 0.0f, m->hidden, H);
    for (int i = 0; i < B; i++)
        for (int j = 0; j < H; j++) {
            float v = m->hidden[i * H + j] + m->b1[j];
            m->hidden[i * H + j] = v > 0.0f ? v : 0.0f;
        }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, B, O, H,
                1.0f, m->hidden, H, m->W2, H, 0.0f, m->probs, O);
    for (int i = 0; i < B; i++) {
        float *p = m->probs + i * O;
        float max = -1e30f, sum = 0.0f;
        for (int j = 0; j < O; j++) {
            p[j] += m->b2[j];
            if (p[j] > max)
                max = p[j];
        }
        for (int j = 0; j < O; j++) {
            p[j] = expf(p[j] - max);
            sum += p[j];
        }
        for (int j = 0; j < O; j++)
            p[j] /= sum;
    }
}

static float calculate_loss(MLP *m, const int *y)
{
    float loss = 0.0f;
    for (int i = 0; i < m->batch_size; i++)
        loss -= logf(m->probs[i * m->output_dim + y[i]] + 1e-12f);
    return loss / m->batch_size;
}

static void backward_pass(MLP *m, const float *X, const int *y)
{
    int B = m->batch_size, D = m->input_dim, H = m->hidden_dim;
    int O = m->output_dim;

    for (int i = 0; i < B; i++)
        for (int j = 0; j < O; j++)
            m->d_logits[i * O + j] =
                (m->probs[i * O + j] - (j == y[i] ? 1.0f : 0.0f)) / B;

    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, O, H, B,
                1.0f, m->d_logits, O, m->hidden, H, 0.0f, m->W2_grad, H);
    memset(m->b2_grad, 0, O * sizeof(float));
    for (int i = 0; i < B; i++)
        for (int j = 0; j < O; j++)
            m->b2_grad[j] += m->d_logits[i * O + j];

    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, B, H, O,
                1.0f, m->d_logits, O, m->W2, H, 0.0f, m->d_hidden, H);
    for (int i = 0; i < B * H; i++)
        if (m->hidden[i] <= 0.0f)
            m->d_hidden[i] = 0.0f;

    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, H, D, B,
                1.0f, m->d_hidden, H, X, D, 0.0f, m->W1_grad, D);
    memset(m->b1_grad, 0, H * sizeof(float));
    for (int i = 0; i < B; i++)
        for (int j = 0; j < H; j++)
            m->b1_grad[j] += m->d_hidden[i * H + j];
}

static void update_weights(MLP *m, float lr)
{
    for (int i = 0; i < m->hidden_dim * m->input_dim; i++)
        m->W1[i] -= lr * m->W1_grad[i];
    for (int i = 0; i < m->hidden_dim; i++)
        m->b1[i] -= lr * m->b1_grad[i];
    for (int i = 0; i < m->output_dim * m->hidden_dim; i++)
        m->W2[i] -= lr * m->W2_grad[i];
    for (int i = 0; i < m->output_dim; i++)
        m->b2[i] -= lr * m->b2_grad[i];
}

/* one sample at a time, no BLAS */
static void evaluate(const MLP *m, const float *X, const int *y, int n)
{
    int D = m->input_dim, H = m->hidden_dim, O = m->output_dim, right = 0;
    float h[512], o[64], loss = 0.0f;
    for (int s = 0; s < n; s++) {
        int best = 0;
        float sum = 0.0f;
        for (int j = 0; j < H; j++) {
            float a = m->b1[j];
            for (int k = 0; k < D; k++)
                a += m->W1[j * D + k] * X[s * D + k];
            h[j] = a > 0.0f ? a : 0.0f;
        }
        for (int j = 0; j < O; j++) {
            float a = m->b2[j];
            for (int k = 0; k < H; k++)
                a += m->W2[j * H + k] * h[k];
            o[j] = a;
            if (o[j] > o[best])
                best = j;
        }
        for (int j = 0; j < O; j++)
            sum += expf(o[j] - o[best]);
        loss += logf(sum) + o[best] - o[y[s]];
        right += best == y[s];
    }
    printf("final loss %.9g accuracy %.9g\n", loss / n, (float)right / n);
}

static int save_model(const MLP *m, const char *path)
{
    FILE *f = fopen(path, "wb");
    if (!f) {
        fprintf(stderr, "cannot write %s\n", path);
        return 1;
    }
    fwrite(m->W1, sizeof(float), m->hidden_dim * m->input_dim, f);
    fwrite(m->b1, sizeof(float), m->hidden_dim, f);
    fwrite(m->W2, sizeof(float), m->output_dim * m->hidden_dim, f);
    fwrite(m->b2, sizeof(float), m->output_dim, f);
    return fclose(f) != 0;
}

static void make_data(float *X, int *y, int n, const float *centers)
{
    for (int i = 0; i < n; i++) {
        y[i] = (int)(frand() * CLASSES);
        /* two centres a class, so that a linear model is not enough */
        const float *c = centers + (2 * y[i] + (frand() < 0.5f)) * INPUTS;
        for (int j = 0; j < INPUTS; j++)
            X[i * INPUTS + j] = c[j] + 0.9f * nrand();
    }
}

int main(int argc, char **argv)
{
    int batch = 64, epochs = 10, status = 0;
    float *centers = (float *)malloc(2 * CLASSES * INPUTS * sizeof(float));
    float *X = (float *)malloc(SAMPLES * INPUTS * sizeof(float));
    float *Xt = (float *)malloc(TEST_SAMPLES * INPUTS * sizeof(float));
    int *y = (int *)malloc(SAMPLES * sizeof(int));
    int *yt = (int *)malloc(TEST_SAMPLES * sizeof(int));

    for (int i = 0; i < 2 * CLASSES * INPUTS; i++)
        centers[i] = 0.6f * nrand();
    make_data(X, y, SAMPLES, centers);
    make_data(Xt, yt, TEST_SAMPLES, centers);

    MLP *m = init_mlp(INPUTS, 128, CLASSES, batch);
    for (int e = 0; e < epochs; e++) {
        float total = 0.0f;
        int batches = SAMPLES / batch;
        for (int b = 0; b < batches; b++) {
            float *bx = X + b * batch * INPUTS;
            int *by = y + b * batch;
            forward_pass(m, bx);
            total += calculate_loss(m, by);
            backward_pass(m, bx, by);
            update_weights(m, 0.1f);
        }
        printf("epoch %d loss %.9g\n", e + 1, total / batches);
    }
    evaluate(m, Xt, yt, TEST_SAMPLES);
    if (argc > 1)
        status = save_model(m, argv[1]);
    free_mlp(m);
    free(centers); free(X); free(Xt); free(y); free(yt);
    return status;
}
