// Both passes of a CUDA source: kernels, launches, device functions, types of
// half precision. Needs the toolkit's headers, not a GPU.
// REQUIRES: nvcc
// RUN: %amp-rewrite --dump-after=collect %s -- -gencode arch=compute_80,code=sm_80 --use_fast_math -Xcompiler=-fopenmp,-DHOST=1 -ccbin gcc | %FileCheck %s
#include <cublas_v2.h>
#include <cuda_fp16.h>
__constant__ float coef[4];
template <int N> __global__ void scale(float *x) { x[threadIdx.x] *= N; }
__device__ float twice(float a) { return a * 2; }
__global__ void k(float *out, const float *in, int n) {
    extern __shared__ float sh[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sh[threadIdx.x] = __ldcs(in + i);
    __syncthreads();
    if (i < n)
        __stcs(out + i, twice(sh[threadIdx.x]) * coef[0]);
    atomicAdd(&out[0], max(1.0f, 2.0));
#ifdef __CUDA_ARCH__
    out[1] = __CUDA_ARCH__;
#endif
}
// CHECK: UNIT '{{.*}}cuda.cu' CUDA host
// CHECK: VAR 'coef' extern def __constant__ <float[4]>
// CHECK: FUNCTION 'scale' {{.*}}__global__
// CHECK-NEXT: PARAM 'x' auto def <float *>
// CHECK: FUNCTION 'twice' {{.*}}__device__
// CHECK: FUNCTION 'k' extern def __global__ <void (float *, float *, int)>
// CHECK: VAR 'sh' {{.*}}__shared__ <float[]>
// CHECK: REF 'blockIdx' "blockIdx.x" read <unsigned int>
// CHECK: REF '__ldcs'
// CHECK: REF '__stcs'
// CHECK: REF 'atomicAdd' <float (float *, float)>
int main(void) {
    float *d;
    cudaMalloc(&d, 16 * sizeof(float));
    // CHECK: REF 'cudaMalloc'
    // CHECK: SIZEOF <unsigned long> of <float>
    dim3 grid(4, 2);
    k<<<grid, 256, 1024>>>(d, d, HOST);
    // CHECK: LAUNCH <void> [[@LINE-1]]:5-39 op@[[@LINE-1]]:5-6
    // CHECK-NEXT: REF 'k'
    // CHECK-NEXT: REF 'grid'
    // CHECK-NEXT: INIT_LIST <dim3>
    // CHECK-NEXT: IMPLICIT <unsigned int>
    // CHECK-NEXT: INT_LIT 256
    // CHECK-NEXT: REF 'd' read <float *>
    // CHECK-NEXT: REF 'd' read <float *>
    // CHECK-NEXT: INT_LIT 1 <int>
    scale<3><<<1, 2>>>(d);
    // CHECK: LAUNCH
    // CHECK-NEXT: REF 'scale'
    __half h = __float2half(1.0f);
    // CHECK: VAR 'h' auto def <__half>
    return (int)(float)h;
}
// CHECK: UNIT '{{.*}}cuda.cu' CUDA device
// CHECK: FUNCTION 'k' extern def __global__
// CHECK: INT_LIT 800
