// What threads can see of each other: nothing without a barrier, shared memory
// only within a block, sums by atomics. The loss kernel reads a row, waits, and
// leaves its gradient there; values without a name, plain assignment and
// default construction of C++.
// REQUIRES: nvcc
// RUN: %amp-rewrite %s --dump-after=scale 2>&1 | %FileCheck %s
// RUN: %amp-rewrite %s --dump-after=scale -- -DUNORDERED 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=SHARED
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
namespace cg = cooperative_groups;

enum { ROWS = 32, COLS = 64 };
struct Row {
    float offset, scale;
};
struct Net {
    float *w, *dw, *y;
    int rows;
};

__device__ Row row_of(const float *y, int n) {
    __shared__ float tops[32];
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    float top = -1e30f, sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        top = fmaxf(top, y[i]);
    tops[warp.meta_group_rank()] = cg::reduce(warp, top, cg::greater<float>{});
    __syncthreads();
    top = tops[0];
    for (int i = n - 1 - threadIdx.x; i >= 0; i -= blockDim.x)
        sum += expf(y[i] - top);
    return Row{top, 1.0f / cg::reduce(warp, sum, cg::plus<float>{})};
}

__global__ void loss_kernel(float *y, const int *labels, int n) {
    __shared__ float total;
    float *own = y + blockIdx.x * n;
    Row row = row_of(own, n);
    __syncthreads();
    if (threadIdx.x == 0)
        total = own[labels[blockIdx.x]];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float p = expf(own[i] - row.offset) * row.scale;
        own[i] = (p - (i == labels[blockIdx.x])) * 0.1f;
    }
#ifdef UNORDERED
    __syncthreads();
    if (threadIdx.x == 0)
        own[0] = expf(own[n - 1]) * total;
#endif
}

__global__ void forward_kernel(float *y, const float *w, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = w[i % COLS] * x[i];
}

__global__ void backward_kernel(float *dw, const float *dy, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&dw[i % COLS], dy[i] * x[i]);
}

__global__ void update_kernel(float *w, const float *dw, float lr) {
    int i = threadIdx.x;
    w[i] -= lr * dw[i];
}

int main(int argc, char **argv) {
    Net net, other;
    float lr = (float)atof(argv[argc - 1]), *x, host[ROWS * COLS];
    int *labels;
    cudaMalloc(&net.w, COLS * sizeof(float));
    cudaMalloc(&net.dw, COLS * sizeof(float));
    cudaMalloc(&net.y, ROWS * COLS * sizeof(float));
    cudaMalloc(&x, ROWS * COLS * sizeof(float));
    cudaMalloc(&labels, ROWS * sizeof(int));
    fread(host, sizeof host, 1, stdin);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    net.rows = ROWS;
    other = net;
    for (int step = 0; step < 9; step++) {
        forward_kernel<<<other.rows, COLS>>>(other.y, net.w, x);
        loss_kernel<<<ROWS, 32>>>(net.y, labels, COLS);
        cudaMemset(other.dw, 0, COLS * sizeof(float));
        backward_kernel<<<ROWS, COLS>>>(other.dw, net.y, x);
        update_kernel<<<1, COLS>>>(other.w, net.dw, lr);
    }
    return 0;
}
// CHECK: loss scale: found
// CHECK: seed expression {{.*}}:49:18 in loss_kernel
// CHECK: unscale before {{.*}}:91:9 (the step)
// CHECK: cell net.dw: grad, degree 1
// CHECK: cell net.y: activation, degree 1
// SHARED: seed buffer other.y before {{.*}}:89:9
