/*
 * Residual classifier in CUDA whose tensors are parts of a few large
 * allocations, handed out through tables of pointers. The loss kernel turns the
 * logits into their gradient, gradients and moments are allocated when they are
 * first needed, and the backward pass reuses activations as scratch.
 *
 *   nvcc -O2 arena.cu -o arena -lcublas
 *   ./arena [parameter file [learning rate]]
 */
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call) checked((call), __LINE__)
#define BLAS(call) checked((call) == CUBLAS_STATUS_SUCCESS                     \
                               ? cudaSuccess : cudaErrorUnknown, __LINE__)
#define BLOCKS(n) (((n) + 127) / 128)

static void checked(cudaError_t error, int line)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "arena.cu:%d: %s\n", line, cudaGetErrorString(error));
        exit(1);
    }
}

struct Shape {
    int inputs, width, classes, blocks;
};

#define PARAMETERS 5
struct Parameters {
    float *embed;     /* width x inputs */
    float *inner;     /* blocks x width x width */
    float *innerb;    /* blocks x width */
    float *head;      /* classes x width */
    float *headb;     /* classes */
};

#define ACTIVATIONS 4
struct Activations {
    float *stream;    /* (blocks + 1) x batch x width */
    float *hidden;    /* blocks x 2 x batch x width: value, room */
    float *logits;    /* batch x classes, later their gradient */
    float *losses;    /* batch */
};

struct Model {
    Shape shape;
    size_t sizes[PARAMETERS], count;
    Parameters params, grads;
    float *params_memory, *grads_memory, *moment1, *moment2;
    Activations acts;
    float *acts_memory, *dstream;
    int batch;
    cublasHandle_t blas;
};

/* ---------------------------------------------------------------- kernels */

__global__ void bias_relu_kernel(float *y, const float *b, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols)
        return;
    float v = y[i] + b[i % cols];
    y[i] = v > 0.0f ? v : 0.0f;
}

__global__ void sum_kernel(float *out, const float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] + b[i];
}

__global__ void bias_kernel(float *y, const float *b, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols)
        y[i] += b[i % cols];
}

__global__ void relu_backward_kernel(float *dy, const float *y, const float *d,
                                     int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        dy[i] = y[i] > 0.0f ? d[i] : 0.0f;
}

__global__ void bias_backward_kernel(float *db, const float *dy, int rows,
                                     int cols)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= cols)
        return;
    float sum = 0.0f;
    for (int i = 0; i < rows; i++)
        sum += dy[i * cols + j];
    atomicAdd(&db[j], sum);
}

struct Peak {
    float offset, scale;
};

__device__ Peak peak_of(const float *z, int n)
{
    float top = z[0], sum = 0.0f;
    for (int j = 1; j < n; j++)
        top = fmaxf(top, z[j]);
    for (int j = 0; j < n; j++)
        sum += expf(z[j] - top);
    return Peak{top, 1.0f / sum};
}

/* one thread per row: the loss, and the logits become their gradient */
__global__ void classify_kernel(float *logits, float *losses, const int *labels,
                                int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    int label = labels[row];
    Peak peak = peak_of(logits + row * cols, cols);
    losses[row] = peak.offset - logf(peak.scale) - logits[row * cols + label];
    for (int j = 0; j < cols; j++) {
        float p = expf(logits[row * cols + j] - peak.offset) * peak.scale;
        logits[row * cols + j] = (p - (j == label ? 1.0f : 0.0f)) / rows;
    }
}

__device__ inline float lerp_to(float from, float to, float weight)
{
    return fmaf(weight, to, fmaf(-weight, from, from));
}

__global__ void adam_kernel(float *p, const float *grads, float *moment1,
                            float *moment2, size_t n, float lr, float c1,
                            float c2)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float g = grads[i], m = moment1[i], v = moment2[i];
    m = lerp_to(g, m, 0.9f);
    moment1[i] = m;
    v = lerp_to(g * g, v, 0.999f);
    moment2[i] = v;
    m /= c1;
    v /= c2;
    p[i] -= lr * (m / (sqrtf(v) + 1e-8f) + 1e-4f * p[i]);
}

/* ----------------------------------------------------------------- memory */

static float *point(float **targets[], const size_t *sizes, int n)
{
    size_t count = 0;
    float *memory, *at;
    for (int i = 0; i < n; i++)
        count += sizes[i];
    CHECK(cudaMalloc((void **)&memory, count * sizeof(float)));
    at = memory;
    for (int i = 0; i < n; i++) {
        *targets[i] = at;
        at += sizes[i];
    }
    return memory;
}

static float *point_parameters(Parameters *p, const size_t *sizes)
{
    float **targets[] = {&p->embed, &p->inner, &p->innerb, &p->head,
                         &p->headb};
    return point(targets, sizes, PARAMETERS);
}

static float *point_activations(Activations *a, const size_t *sizes)
{
    float **targets[] = {&a->stream, &a->hidden, &a->logits, &a->losses};
    return point(targets, sizes, ACTIVATIONS);
}

/* ------------------------------------------------------------------ model */

static unsigned rng_state = 77u;

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

static void build(Model *m, Shape shape)
{
    int w = shape.width;
    m->shape = shape;
    m->sizes[0] = (size_t)w * shape.inputs;
    m->sizes[1] = (size_t)shape.blocks * w * w;
    m->sizes[2] = (size_t)shape.blocks * w;
    m->sizes[3] = (size_t)shape.classes * w;
    m->sizes[4] = shape.classes;
    m->count = 0;
    for (int i = 0; i < PARAMETERS; i++)
        m->count += m->sizes[i];
    m->params_memory = point_parameters(&m->params, m->sizes);
    float *host = (float *)malloc(m->count * sizeof(float));
    for (size_t i = 0; i < m->count; i++)
        host[i] = 0.12f * nrand();
    CHECK(cudaMemcpy(m->params_memory, host, m->count * sizeof(float),
                     cudaMemcpyHostToDevice));
    free(host);
    m->acts_memory = NULL;
    m->grads_memory = NULL;
    m->moment1 = NULL;
    m->moment2 = NULL;
    BLAS(cublasCreate(&m->blas));
}

/* y = x * w^T; dx = dy * w; dw += dy^T * x */
static void linear(Model *m, float *y, const float *x, const float *w,
                   int rows, int in, int out)
{
    const float one = 1.0f, zero = 0.0f;
    BLAS(cublasSgemm(m->blas, CUBLAS_OP_T, CUBLAS_OP_N, out, rows, in, &one, w,
                     in, x, in, &zero, y, out));
}

static void linear_backward(Model *m, float *dx, float *dw, const float *dy,
                            const float *x, const float *w, int rows, int in,
                            int out)
{
    const float one = 1.0f, zero = 0.0f;
    if (dx != NULL)
        BLAS(cublasSgemm(m->blas, CUBLAS_OP_N, CUBLAS_OP_N, in, rows, out,
                         &one, w, in, dy, out, &zero, dx, in));
    BLAS(cublasSgemm(m->blas, CUBLAS_OP_N, CUBLAS_OP_T, in, out, rows, &one, x,
                     in, dy, out, &one, dw, in));
}

static float forward(Model *m, const float *x, const int *labels, int rows)
{
    int w = m->shape.width, blocks = m->shape.blocks;
    if (m->acts_memory == NULL) {
        size_t sizes[ACTIVATIONS] = {
            (size_t)(blocks + 1) * rows * w, (size_t)blocks * 2 * rows * w,
            (size_t)rows * m->shape.classes, (size_t)rows};
        m->batch = rows;
        m->acts_memory = point_activations(&m->acts, sizes);
    } else if (rows != m->batch) {
        fprintf(stderr, "the batch must stay as it is\n");
        exit(1);
    }
    Parameters p = m->params;
    Activations a = m->acts;
    linear(m, a.stream, x, p.embed, rows, m->shape.inputs, w);
    for (int l = 0; l < blocks; l++) {
        float *in = a.stream + l * rows * w;
        float *out = a.stream + (l + 1) * rows * w;
        float *hidden = a.hidden + l * 2 * rows * w;
        linear(m, hidden, in, p.inner + l * w * w, rows, w, w);
        bias_relu_kernel<<<BLOCKS(rows * w), 128>>>(hidden, p.innerb + l * w,
                                                    rows, w);
        sum_kernel<<<BLOCKS(rows * w), 128>>>(out, in, hidden, rows * w);
    }
    linear(m, a.logits, a.stream + blocks * rows * w, p.head, rows, w,
           m->shape.classes);
    bias_kernel<<<BLOCKS(rows * m->shape.classes), 128>>>(
        a.logits, p.headb, rows, m->shape.classes);
    classify_kernel<<<BLOCKS(rows), 128>>>(a.logits, a.losses, labels, rows,
                                           m->shape.classes);
    float *host = (float *)malloc(rows * sizeof(float)), mean = 0.0f;
    CHECK(cudaMemcpy(host, a.losses, rows * sizeof(float),
                     cudaMemcpyDeviceToHost));
    for (int i = 0; i < rows; i++)
        mean += host[i];
    free(host);
    return mean / rows;
}

static void clear_gradients(Model *m)
{
    if (m->grads_memory != NULL)
        CHECK(cudaMemset(m->grads_memory, 0, m->count * sizeof(float)));
}

static void backward(Model *m, const float *x)
{
    int rows = m->batch, w = m->shape.width;
    if (m->grads_memory == NULL) {
        m->grads_memory = point_parameters(&m->grads, m->sizes);
        CHECK(cudaMalloc((void **)&m->dstream,
                         (size_t)rows * w * sizeof(float)));
        clear_gradients(m);
    }
    Parameters p = m->params;
    Parameters g;
    g = m->grads;
    Activations a = m->acts;
    linear_backward(m, m->dstream, g.head, a.logits,
                    a.stream + m->shape.blocks * rows * w, p.head, rows, w,
                    m->shape.classes);
    bias_backward_kernel<<<BLOCKS(m->shape.classes), 128>>>(
        g.headb, a.logits, rows, m->shape.classes);
    for (int l = m->shape.blocks - 1; l >= 0; l--) {
        float *hidden = a.hidden + l * 2 * rows * w;
        /* the value is not needed after this, and beside it there is room */
        float *dhidden = hidden + 0 * rows * w;
        float *dinput = hidden + 1 * rows * w;
        relu_backward_kernel<<<BLOCKS(rows * w), 128>>>(dhidden, hidden,
                                                        m->dstream, rows * w);
        linear_backward(m, dinput, g.inner + l * w * w, dhidden,
                        a.stream + l * rows * w, p.inner + l * w * w, rows, w,
                        w);
        bias_backward_kernel<<<BLOCKS(w), 128>>>(g.innerb + l * w, dhidden,
                                                 rows, w);
        sum_kernel<<<BLOCKS(rows * w), 128>>>(m->dstream, m->dstream, dinput,
                                              rows * w);
    }
    linear_backward(m, NULL, g.embed, m->dstream, x, p.embed, rows,
                    m->shape.inputs, w);
}

static void update(Model *m, float lr, int t)
{
    size_t bytes = m->count * sizeof(float);
    if (m->moment1 == NULL) {
        CHECK(cudaMalloc((void **)&m->moment1, bytes));
        CHECK(cudaMalloc((void **)&m->moment2, bytes));
        CHECK(cudaMemset(m->moment1, 0, bytes));
        CHECK(cudaMemset(m->moment2, 0, bytes));
    }
    float c1 = 1.0f - powf(0.9f, (float)t), c2 = 1.0f - powf(0.999f, (float)t);
    adam_kernel<<<BLOCKS(m->count), 128>>>(m->params_memory, m->grads_memory,
                                           m->moment1, m->moment2, m->count, lr,
                                           c1, c2);
    CHECK(cudaGetLastError());
}

/* ------------------------------------------------------------------- data */

#define SAMPLES 1024
#define BATCH 64

static void make_data(float *x, int *y, int n, const float *centers, Shape s)
{
    for (int i = 0; i < n; i++) {
        y[i] = (int)(frand() * s.classes);
        const float *c = centers + (2 * y[i] + (frand() < 0.5f)) * s.inputs;
        for (int j = 0; j < s.inputs; j++)
            x[i * s.inputs + j] = c[j] + 0.9f * nrand();
    }
}

/* on the CPU, in plain FP32, so that it judges the parameters alone */
static void evaluate(const Model *m, const float *x, const int *y, int n,
                     FILE *save)
{
    Shape s = m->shape;
    float *p = (float *)malloc(m->count * sizeof(float));
    float *h = (float *)malloc(2 * s.width * sizeof(float));
    float *z = (float *)malloc(s.classes * sizeof(float)), total = 0.0f;
    int right = 0;
    CHECK(cudaMemcpy(p, m->params_memory, m->count * sizeof(float),
                     cudaMemcpyDeviceToHost));
    if (save)
        fwrite(p, sizeof(float), m->count, save);
    const float *inner = p + m->sizes[0], *innerb = inner + m->sizes[1];
    const float *head = innerb + m->sizes[2], *headb = head + m->sizes[3];
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < s.width; i++) {
            h[i] = 0.0f;
            for (int j = 0; j < s.inputs; j++)
                h[i] += p[i * s.inputs + j] * x[k * s.inputs + j];
        }
        for (int l = 0; l < s.blocks; l++) {
            for (int i = 0; i < s.width; i++) {
                float v = innerb[l * s.width + i];
                for (int j = 0; j < s.width; j++)
                    v += inner[(l * s.width + i) * s.width + j] * h[j];
                h[s.width + i] = h[i] + (v > 0.0f ? v : 0.0f);
            }
            for (int i = 0; i < s.width; i++)
                h[i] = h[s.width + i];
        }
        int best = 0;
        float sum = 0.0f;
        for (int i = 0; i < s.classes; i++) {
            z[i] = headb[i];
            for (int j = 0; j < s.width; j++)
                z[i] += head[i * s.width + j] * h[j];
            if (z[i] > z[best])
                best = i;
        }
        for (int i = 0; i < s.classes; i++)
            sum += expf(z[i] - z[best]);
        total += logf(sum) + z[best] - z[y[k]];
        right += best == y[k];
    }
    printf("final loss %.9g accuracy %.9g\n", total / n, (float)right / n);
    free(p); free(h); free(z);
}

int main(int argc, char **argv)
{
    Shape shape = {48, 64, 8, 3};
    float lr = argc > 2 ? (float)atof(argv[2]) : 0.002f;
    size_t in = shape.inputs;
    float *centers = (float *)malloc(2 * shape.classes * in * sizeof(float));
    float *x = (float *)malloc(SAMPLES * in * sizeof(float));
    int *y = (int *)malloc(SAMPLES * sizeof(int));
    float *d_x;
    int *d_y;
    FILE *save = NULL;
    Model model;

    for (size_t i = 0; i < 2 * shape.classes * in; i++)
        centers[i] = 0.6f * nrand();
    make_data(x, y, SAMPLES, centers, shape);
    CHECK(cudaMalloc((void **)&d_x, SAMPLES * in * sizeof(float)));
    CHECK(cudaMalloc((void **)&d_y, SAMPLES * sizeof(int)));
    CHECK(cudaMemcpy(d_x, x, SAMPLES * in * sizeof(float),
                     cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_y, y, SAMPLES * sizeof(int), cudaMemcpyHostToDevice));
    build(&model, shape);

    for (int step = 0; step < 96; step++) {
        int at = step * BATCH % SAMPLES;
        float loss = forward(&model, d_x + at * in, d_y + at, BATCH);
        clear_gradients(&model);
        backward(&model, d_x + at * in);
        update(&model, lr, step + 1);
        CHECK(cudaDeviceSynchronize());
        if (step % 16 == 15)
            printf("step %d loss %.9g\n", step + 1, loss);
    }
    if (argc > 1 && !(save = fopen(argv[1], "wb"))) {
        fprintf(stderr, "cannot write %s\n", argv[1]);
        return 1;
    }
    evaluate(&model, x, y, SAMPLES, save);
    if (save)
        fclose(save);

    CHECK(cudaFree(model.params_memory));
    CHECK(cudaFree(model.grads_memory));
    CHECK(cudaFree(model.moment1));
    CHECK(cudaFree(model.moment2));
    CHECK(cudaFree(model.acts_memory));
    CHECK(cudaFree(model.dstream));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
    BLAS(cublasDestroy(model.blas));
    free(centers); free(x); free(y);
    return 0;
}
