/*
 * Three-layer perceptron classifier in CUDA.
 * cublasSgemm for the products, a kernel for everything else, Adam.
 * Matrices are row-major; cuBLAS is column-major, so products are swapped.
 *
 *   nvcc -O2 mlp.cu -o mlp -lcublas
 *   ./mlp [parameter file]
 */
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define INPUTS  64
#define HIDDEN  72
#define CLASSES 10
#define SAMPLES 1024
#define TEST_SAMPLES 512
#define BATCH   64
#define LAYERS  3
#define THREADS 128
#define BLOCKS(n) (((n) + THREADS - 1) / THREADS)

#define CHECK(call) do {                                                   \
        cudaError_t e_ = (call);                                           \
        if (e_ != cudaSuccess) {                                           \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,             \
                    cudaGetErrorString(e_));                               \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

#define CHECK_BLAS(call) do {                                              \
        cublasStatus_t s_ = (call);                                        \
        if (s_ != CUBLAS_STATUS_SUCCESS) {                                 \
            fprintf(stderr, "%s:%d: cublas error %d\n", __FILE__,          \
                    __LINE__, (int)s_);                                    \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

typedef struct {
    int in, out;
    float *w, *b;           /* out x in */
    float *dw, *db;
    float *mw, *vw, *mb, *vb;
    float *act, *dact;      /* batch x out */
} Layer;

typedef struct {
    Layer layer[LAYERS];
    float *losses;          /* one per row */
    int step;
    cublasHandle_t blas;
} Net;

/* ---------------------------------------------------------------- kernels */

__global__ void bias_act_kernel(float *y, const float *b, int rows, int cols,
                                int relu)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols) {
        float v = y[i] + b[i % cols];
        y[i] = relu && v < 0.0f ? 0.0f : v;
    }
}

__global__ void relu_backward_kernel(float *dy, const float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && y[i] <= 0.0f)
        dy[i] = 0.0f;
}

__global__ void bias_backward_kernel(float *db, const float *dy, int rows,
                                     int cols)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < cols) {
        float sum = 0.0f;
        for (int i = 0; i < rows; i++)
            sum += dy[i * cols + j];
        db[j] = sum;
    }
}

/* one thread per row: loss, and the gradient of the mean loss */
__global__ void softmax_xent_kernel(float *losses, float *dlogits,
                                    const float *logits, const int *labels,
                                    int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        const float *z = logits + i * cols;
        float top = z[0], sum = 0.0f;
        for (int j = 1; j < cols; j++)
            top = fmaxf(top, z[j]);
        for (int j = 0; j < cols; j++)
            sum += expf(z[j] - top);
        for (int j = 0; j < cols; j++) {
            float p = expf(z[j] - top) / sum;
            dlogits[i * cols + j] =
                (p - (j == labels[i] ? 1.0f : 0.0f)) / rows;
        }
        losses[i] = logf(sum) + top - z[labels[i]];
    }
}

__global__ void adam_kernel(float *p, const float *g, float *m, float *v,
                            int n, float lr, float c1, float c2)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        m[i] = 0.9f * m[i] + 0.1f * g[i];
        v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
        p[i] -= lr * (m[i] / c1) / (sqrtf(v[i] / c2) + 1e-8f);
    }
}

/* ---------------------------------------------------------------- network */

static unsigned rng_state = 2024u;

static float frand(void)
{
    rng_state = rng_state * 1664525u + 1013904223u;
    return (float)(rng_state >> 8) / 16777216.0f;
}

static float nrand(void)
{
    float s = 0.0f;
    for (int i = 0; i < 12; i++)
        s += frand();
    return s - 6.0f;
}

static void layer_init(Layer *l, int in, int out)
{
    size_t wsize = (size_t)in * out * sizeof(float);
    size_t bsize = out * sizeof(float);
    size_t asize = (size_t)BATCH * out * sizeof(float);
    float *host = (float *)malloc(wsize);

    l->in = in;
    l->out = out;
    for (int i = 0; i < in * out; i++)
        host[i] = nrand() * sqrtf(2.0f / in);
    CHECK(cudaMalloc((void **)&l->w, wsize));
    CHECK(cudaMalloc((void **)&l->b, bsize));
    CHECK(cudaMalloc((void **)&l->dw, wsize));
    CHECK(cudaMalloc((void **)&l->db, bsize));
    CHECK(cudaMalloc((void **)&l->mw, wsize));
    CHECK(cudaMalloc((void **)&l->vw, wsize));
    CHECK(cudaMalloc((void **)&l->mb, bsize));
    CHECK(cudaMalloc((void **)&l->vb, bsize));
    CHECK(cudaMalloc((void **)&l->act, asize));
    CHECK(cudaMalloc((void **)&l->dact, asize));
    CHECK(cudaMemcpy(l->w, host, wsize, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(l->b, 0, bsize));
    CHECK(cudaMemset(l->mw, 0, wsize));
    CHECK(cudaMemset(l->vw, 0, wsize));
    CHECK(cudaMemset(l->mb, 0, bsize));
    CHECK(cudaMemset(l->vb, 0, bsize));
    free(host);
}

static void layer_free(Layer *l)
{
    cudaFree(l->w);  cudaFree(l->b);  cudaFree(l->dw); cudaFree(l->db);
    cudaFree(l->mw); cudaFree(l->vw); cudaFree(l->mb); cudaFree(l->vb);
    cudaFree(l->act);
    cudaFree(l->dact);
}

static void forward(Net *net, const float *x)
{
    const float one = 1.0f, zero = 0.0f;
    for (int i = 0; i < LAYERS; i++) {
        Layer *l = &net->layer[i];
        /* act = x * w^T */
        CHECK_BLAS(cublasSgemm(net->blas, CUBLAS_OP_T, CUBLAS_OP_N, l->out,
                               BATCH, l->in, &one, l->w, l->in, x, l->in,
                               &zero, l->act, l->out));
        bias_act_kernel<<<BLOCKS(BATCH * l->out), THREADS>>>(
            l->act, l->b, BATCH, l->out, i < LAYERS - 1);
        x = l->act;
    }
}

static float loss(Net *net, const int *labels)
{
    Layer *last = &net->layer[LAYERS - 1];
    float host[BATCH], sum = 0.0f;
    softmax_xent_kernel<<<BLOCKS(BATCH), THREADS>>>(
        net->losses, last->dact, last->act, labels, BATCH, CLASSES);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, net->losses, sizeof(host),
                     cudaMemcpyDeviceToHost));
    for (int i = 0; i < BATCH; i++)
        sum += host[i];
    return sum / BATCH;
}

static void backward(Net *net, const float *x)
{
    const float one = 1.0f, zero = 0.0f;
    for (int i = LAYERS - 1; i >= 0; i--) {
        Layer *l = &net->layer[i];
        const float *in = i > 0 ? net->layer[i - 1].act : x;
        if (i < LAYERS - 1)
            relu_backward_kernel<<<BLOCKS(BATCH * l->out), THREADS>>>(
                l->dact, l->act, BATCH * l->out);
        /* dw = dact^T * in */
        CHECK_BLAS(cublasSgemm(net->blas, CUBLAS_OP_N, CUBLAS_OP_T, l->in,
                               l->out, BATCH, &one, in, l->in, l->dact,
                               l->out, &zero, l->dw, l->in));
        bias_backward_kernel<<<BLOCKS(l->out), THREADS>>>(l->db, l->dact,
                                                          BATCH, l->out);
        /* gradient of the layer below = dact * w */
        if (i > 0)
            CHECK_BLAS(cublasSgemm(net->blas, CUBLAS_OP_N, CUBLAS_OP_N, l->in,
                                   BATCH, l->out, &one, l->w, l->in, l->dact,
                                   l->out, &zero, net->layer[i - 1].dact,
                                   l->in));
    }
}

static void update(Net *net, float lr)
{
    net->step++;
    float c1 = 1.0f - powf(0.9f, (float)net->step);
    float c2 = 1.0f - powf(0.999f, (float)net->step);
    for (int i = 0; i < LAYERS; i++) {
        Layer *l = &net->layer[i];
        adam_kernel<<<BLOCKS(l->in * l->out), THREADS>>>(
            l->w, l->dw, l->mw, l->vw, l->in * l->out, lr, c1, c2);
        adam_kernel<<<BLOCKS(l->out), THREADS>>>(l->b, l->db, l->mb, l->vb,
                                                 l->out, lr, c1, c2);
    }
}

static void make_data(float *x, int *y, int n, const float *centers)
{
    for (int i = 0; i < n; i++) {
        y[i] = (int)(frand() * CLASSES);
        /* two centres a class, so that a linear model is not enough */
        const float *c = centers + (2 * y[i] + (frand() < 0.5f)) * INPUTS;
        for (int j = 0; j < INPUTS; j++)
            x[i * INPUTS + j] = c[j] + 0.9f * nrand();
    }
}

/* on the CPU, in plain FP32, so that it judges the parameters alone */
static void evaluate(const Net *net, const float *x, const int *y, int n,
                     FILE *save)
{
    float *w[LAYERS], *b[LAYERS], a[2][HIDDEN], total = 0.0f;
    int right = 0;
    for (int i = 0; i < LAYERS; i++) {
        const Layer *l = &net->layer[i];
        size_t size = (size_t)l->in * l->out;
        w[i] = (float *)malloc(size * sizeof(float));
        b[i] = (float *)malloc(l->out * sizeof(float));
        CHECK(cudaMemcpy(w[i], l->w, size * sizeof(float),
                         cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(b[i], l->b, l->out * sizeof(float),
                         cudaMemcpyDeviceToHost));
        if (save) {
            fwrite(w[i], sizeof(float), size, save);
            fwrite(b[i], sizeof(float), l->out, save);
        }
    }
    for (int s = 0; s < n; s++) {
        const float *in = x + s * INPUTS;
        int best = 0;
        float sum = 0.0f;
        for (int i = 0; i < LAYERS; i++) {
            const Layer *l = &net->layer[i];
            float *out = a[i % 2];
            for (int j = 0; j < l->out; j++) {
                float v = b[i][j];
                for (int k = 0; k < l->in; k++)
                    v += w[i][j * l->in + k] * in[k];
                out[j] = i < LAYERS - 1 && v < 0.0f ? 0.0f : v;
            }
            in = out;
        }
        for (int j = 1; j < CLASSES; j++)
            if (in[j] > in[best])
                best = j;
        for (int j = 0; j < CLASSES; j++)
            sum += expf(in[j] - in[best]);
        total += logf(sum) + in[best] - in[y[s]];
        right += best == y[s];
    }
    printf("final loss %.9g accuracy %.9g\n", total / n, (float)right / n);
    for (int i = 0; i < LAYERS; i++) {
        free(w[i]);
        free(b[i]);
    }
}

int main(int argc, char **argv)
{
    static const int sizes[LAYERS + 1] = {INPUTS, HIDDEN, HIDDEN, CLASSES};
    float *centers = (float *)malloc(2 * CLASSES * INPUTS * sizeof(float));
    float *x = (float *)malloc(SAMPLES * INPUTS * sizeof(float));
    float *xt = (float *)malloc(TEST_SAMPLES * INPUTS * sizeof(float));
    int *y = (int *)malloc(SAMPLES * sizeof(int));
    int *yt = (int *)malloc(TEST_SAMPLES * sizeof(int));
    float *d_x;
    int *d_y;
    FILE *save = NULL;
    Net net;

    for (int i = 0; i < 2 * CLASSES * INPUTS; i++)
        centers[i] = 0.6f * nrand();
    make_data(x, y, SAMPLES, centers);
    make_data(xt, yt, TEST_SAMPLES, centers);
    CHECK(cudaMalloc((void **)&d_x, SAMPLES * INPUTS * sizeof(float)));
    CHECK(cudaMalloc((void **)&d_y, SAMPLES * sizeof(int)));
    CHECK(cudaMemcpy(d_x, x, SAMPLES * INPUTS * sizeof(float),
                     cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_y, y, SAMPLES * sizeof(int), cudaMemcpyHostToDevice));

    for (int i = 0; i < LAYERS; i++)
        layer_init(&net.layer[i], sizes[i], sizes[i + 1]);
    CHECK(cudaMalloc((void **)&net.losses, BATCH * sizeof(float)));
    CHECK_BLAS(cublasCreate(&net.blas));
    net.step = 0;

    for (int epoch = 0; epoch < 6; epoch++) {
        float total = 0.0f;
        for (int at = 0; at < SAMPLES; at += BATCH) {
            forward(&net, d_x + at * INPUTS);
            total += loss(&net, d_y + at);
            backward(&net, d_x + at * INPUTS);
            update(&net, 0.002f);
        }
        printf("epoch %d loss %.9g\n", epoch + 1, total * BATCH / SAMPLES);
    }
    if (argc > 1 && !(save = fopen(argv[1], "wb"))) {
        fprintf(stderr, "cannot write %s\n", argv[1]);
        return 1;
    }
    evaluate(&net, xt, yt, TEST_SAMPLES, save);
    if (save)
        fclose(save);

    for (int i = 0; i < LAYERS; i++)
        layer_free(&net.layer[i]);
    cudaFree(net.losses);
    cudaFree(d_x);
    cudaFree(d_y);
    cublasDestroy(net.blas);
    free(centers); free(x); free(xt); free(y); free(yt);
    return 0;
}
