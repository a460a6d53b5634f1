// Kernels are functions, launches their calls; device memory is joined to host
// memory by byte flows; float4 is a way to access floats.
// RUN: %amp-rewrite --dump-after=flows %s | %FileCheck %s
// REQUIRES: nvcc
#include <cuda_runtime.h>

struct buffers {
    float *weight, *grad, *staging;
};

__device__ float &element(float4 &v, int i) {
    return reinterpret_cast<float *>(&v)[i];
}

__global__ void update(float *w, const float *g, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        w[i] -= 0.1f * g[i];
}

__global__ void quad(float4 *out, const float4 *in) {
    extern __shared__ float tile[];
    float4 v = in[threadIdx.x];
    tile[threadIdx.x] = element(v, 1);
    out[threadIdx.x] = v;
}

void run(buffers *b, int n) {
    cudaMalloc(&b->weight, n * sizeof(float));
    cudaMalloc((void **)&b->grad, n * sizeof(float));
    cudaMemcpy(b->weight, b->staging, n * sizeof(float),
               cudaMemcpyHostToDevice);
    update<<<1, n>>>(b->weight, b->grad, n);
    quad<<<1, n / 4>>>((float4 *)b->grad, (const float4 *)b->weight);
}

// CHECK: class buffers.weight/1 global
// CHECK-NEXT: slot buffers.weight/1
// CHECK-NEXT: also vector at cuda.cu:21:
// CHECK-NOT: {{^  (slot|pin)}}
// CHECK: class buffers.grad/1 global
// CHECK-NEXT: slot buffers.grad/1
// CHECK-NOT: {{^  (slot|pin)}}
// CHECK: class buffers.staging/1 global
// CHECK: class update:w/1 generic in update
// CHECK-NEXT: slot
// CHECK-NEXT: stands for buffers.weight/1
// CHECK-NOT: {{^  pin}}
// CHECK: flow bytes buffers.staging -> buffers.weight
// CHECK-DAG: site allocation cuda.cu:29:5 buffers.weight/1
// CHECK-DAG: site launch cuda.cu:33:22 buffers.weight/1
