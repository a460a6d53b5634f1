/* Dense network in the darknet manner: the update buffers are not cleared
 * between iterations, they are multiplied by the momentum and so hold the
 * velocity; delta is target minus output (ascent). */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NLAYERS 3

typedef struct {
    int inputs, outputs, batch, last;
    float *weights, *weight_updates;
    float *biases, *bias_updates;
    float *output, *delta;
} connected;

typedef struct {
    float learning_rate, momentum, decay;
    int batch;
} params;

static unsigned int seed = 31415;
static float urand(float a, float b)
{
    seed = seed * 1664525u + 1013904223u;
    return a + (b - a) * (seed >> 8) / 16777216.0f;
}

static connected make_connected(int batch, int inputs, int outputs, int last)
{
    int i;
    float scale = sqrtf(6.f / inputs);
    connected l = {0};
    l.batch = batch;
    l.inputs = inputs;
    l.outputs = outputs;
    l.last = last;
    l.weights = calloc(inputs * outputs, sizeof(float));
    l.weight_updates = calloc(inputs * outputs, sizeof(float));
    l.biases = calloc(outputs, sizeof(float));
    l.bias_updates = calloc(outputs, sizeof(float));
    l.output = calloc(batch * outputs, sizeof(float));
    l.delta = calloc(batch * outputs, sizeof(float));
    for (i = 0; i < inputs * outputs; ++i)
        l.weights[i] = urand(-scale, scale);
    return l;
}

static void forward_connected(connected l, float *in)
{
    int b, i;
    for (b = 0; b < l.batch; ++b)
        cblas_scopy(l.outputs, l.biases, 1, l.output + b * l.outputs, 1);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, l.batch, l.outputs,
                l.inputs, 1, in, l.inputs, l.weights, l.inputs, 1, l.output,
                l.outputs);
    if (!l.last)
        for (i = 0; i < l.batch * l.outputs; ++i)
            if (l.output[i] < 0) l.output[i] *= .1f;
}

static void backward_connected(connected l, float *in, float *in_delta)
{
    int b, i;
    if (!l.last)
        for (i = 0; i < l.batch * l.outputs; ++i)
            l.delta[i] *= l.output[i] > 0 ? 1 : .1f;
    for (b = 0; b < l.batch; ++b)
        cblas_saxpy(l.outputs, 1, l.delta + b * l.outputs, 1, l.bias_updates, 1);
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, l.outputs, l.inputs,
                l.batch, 1, l.delta, l.outputs, in, l.inputs, 1,
                l.weight_updates, l.inputs);
    if (in_delta)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, l.batch,
                    l.inputs, l.outputs, 1, l.delta, l.outputs, l.weights,
                    l.inputs, 0, in_delta, l.inputs);
}

static void update_connected(connected l, params a)
{
    int n = l.inputs * l.outputs;
    cblas_saxpy(l.outputs, a.learning_rate / a.batch, l.bias_updates, 1, l.biases, 1);
    cblas_sscal(l.outputs, a.momentum, l.bias_updates, 1);

    cblas_saxpy(n, -a.decay * a.batch, l.weights, 1, l.weight_updates, 1);
    cblas_saxpy(n, a.learning_rate / a.batch, l.weight_updates, 1, l.weights, 1);
    cblas_sscal(n, a.momentum, l.weight_updates, 1);
}

static float softmax_delta(connected l, const float *truth)
{
    int b, i;
    float cost = 0;
    for (b = 0; b < l.batch; ++b) {
        float *o = l.output + b * l.outputs;
        const float *t = truth + b * l.outputs;
        float big = o[0], sum = 0;
        for (i = 1; i < l.outputs; ++i)
            if (o[i] > big) big = o[i];
        for (i = 0; i < l.outputs; ++i) {
            o[i] = expf(o[i] - big);
            sum += o[i];
        }
        for (i = 0; i < l.outputs; ++i) {
            o[i] /= sum;
            cost -= t[i] * logf(o[i] + 1e-10f);
            l.delta[b * l.outputs + i] = t[i] - o[i];
        }
    }
    return cost / l.batch;
}

#define IN 64
#define OUT 64
#define USED 12
#define BATCH 64

static float centre[USED][IN];

static void get_batch(float *X, float *Y, int *label)
{
    int b, i;
    memset(Y, 0, BATCH * OUT * sizeof(float));
    for (b = 0; b < BATCH; ++b) {
        int c = (int)urand(0, USED);
        float sign = urand(0, 1) < .5f ? -1.f : 1.f;
        for (i = 0; i < IN; ++i)
            X[b * IN + i] = sign * centre[c][i] + urand(-1.2f, 1.2f);
        Y[b * OUT + c] = 1;
        if (label) label[b] = c;
    }
}

static void test(connected *net)
{
    static float X[BATCH * IN], Y[BATCH * OUT], a[128], z[128];
    int label[BATCH], r, b, k, i, j, right = 0, n = 0;
    float loss = 0;
    for (r = 0; r < 10; ++r) {
        get_batch(X, Y, label);
        for (b = 0; b < BATCH; ++b, ++n) {
            int best = 0;
            float sum = 0;
            memcpy(a, X + b * IN, IN * sizeof(float));
            for (k = 0; k < NLAYERS; ++k) {
                connected l = net[k];
                for (i = 0; i < l.outputs; ++i) {
                    float s = l.biases[i];
                    for (j = 0; j < l.inputs; ++j)
                        s += l.weights[i * l.inputs + j] * a[j];
                    z[i] = s > 0 || l.last ? s : .1f * s;
                }
                memcpy(a, z, l.outputs * sizeof(float));
            }
            for (i = 1; i < OUT; ++i)
                if (a[i] > a[best]) best = i;
            for (i = 0; i < OUT; ++i)
                sum += expf(a[i] - a[best]);
            loss += logf(sum) + a[best] - a[label[b]];
            right += best == label[b];
        }
    }
    printf("final loss %.9g accuracy %.9g\n", loss / n, (float)right / n);
}

int main(int argc, char **argv)
{
    connected net[NLAYERS];
    params args = {.02f, .9f, .0005f, BATCH};
    float *X = calloc(BATCH * IN, sizeof(float));
    float *Y = calloc(BATCH * OUT, sizeof(float));
    int it, i, j;

    for (i = 0; i < USED; ++i)
        for (j = 0; j < IN; ++j)
            centre[i][j] = urand(-.8f, .8f);
    net[0] = make_connected(BATCH, IN, 128, 0);
    net[1] = make_connected(BATCH, 128, 64, 0);
    net[2] = make_connected(BATCH, 64, OUT, 1);

    for (it = 1; it <= 150; ++it) {
        float cost, *in = X;
        get_batch(X, Y, NULL);
        for (i = 0; i < NLAYERS; ++i) {
            forward_connected(net[i], in);
            in = net[i].output;
        }
        cost = softmax_delta(net[NLAYERS - 1], Y);
        for (i = NLAYERS - 1; i >= 0; --i)
            backward_connected(net[i], i ? net[i - 1].output : X,
                               i ? net[i - 1].delta : NULL);
        for (i = 0; i < NLAYERS; ++i)
            update_connected(net[i], args);
        if (it % 15 == 0) printf("%d: loss %.9g\n", it, cost);
    }
    test(net);
    if (argc > 1) {
        FILE *fp = fopen(argv[1], "wb");
        if (!fp) {
            perror(argv[1]);
            return 1;
        }
        for (i = 0; i < NLAYERS; ++i) {
            fwrite(net[i].biases, sizeof(float), net[i].outputs, fp);
            fwrite(net[i].weights, sizeof(float), net[i].inputs * net[i].outputs, fp);
            fwrite(net[i].weight_updates, sizeof(float), net[i].inputs * net[i].outputs, fp);
        }
        fclose(fp);
    }
    return 0;
}
