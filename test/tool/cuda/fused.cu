// An update inside the kernel that makes the gradient: the unscale would have
// to be a call of the host. bf16 needs none.
// REQUIRES: nvcc
// RUN: %exits 2 %amp-rewrite -O1 --half=fp16 %s 2>&1 | %FileCheck %s
// RUN: %amp-rewrite -O1 --half=bf16 %s | %FileCheck %s --check-prefix=BF16
// BF16: + {{.*}}amp_cublasSgemm(blas
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stdio.h>
__global__ void learn(float *w, float *y, const float *x, float *loss, int n) {
    int j = threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        float d = y[i * n + j] - 1.0f;
        sum += d * x[i];
        loss[j] = d * d;
    }
    w[j] -= 0.01f * sum;
}
int main(void) {
    const float one = 1.0f, zero = 0.0f;
    float *x, *y, *w, *loss, shown[8];
    cublasHandle_t blas;
    cublasCreate(&blas);
    cudaMalloc(&x, 64 * sizeof(float));
    cudaMalloc(&y, 64 * sizeof(float));
    cudaMalloc(&w, 64 * sizeof(float));
    cudaMalloc(&loss, 8 * sizeof(float));
    cudaMemset(w, 0, 64 * sizeof(float));
    cudaMemset(x, 1, 64 * sizeof(float));
    for (int step = 0; step < 10; step++) {
        cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, w, 8, x, 8,
                    &zero, y, 8);
        learn<<<1, 8>>>(w, y, x, loss, 8);
        cudaMemcpy(shown, loss, sizeof shown, cudaMemcpyDefault);
        printf("%g\n", shown[0]);
    }
    return 0;
}
// CHECK: fused.cu:{{.*}}: error: {{.*}}parameters are updated by a kernel that does other work as well
