// A trainer whose loss gradient, update and everything between are kernels: the
// loss scale goes into the kernel as an argument, in every launch of it.
// REQUIRES: nvcc
// RUN: %amp-rewrite -O1 %s -o %t.cu
// RUN: %FileCheck %s --match-full-lines --strict-whitespace --input-file=%t.cu
// RUN: %nvcc -arch=sm_80 --Werror=all-warnings -I%amp-include -c %t.cu -o %t.o
// RUN: %nvcc -arch=sm_80 -DAMP_HALF_FP32 -I%amp-include -c %t.cu -o %t.o
// RUN: %amp-rewrite -O1 --half=bf16 %s | %FileCheck %s --check-prefix=BF16
// BF16: +#define AMP_HALF_DEFAULT AMP_BF16
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
//      CHECK:#include <amp/amp.h>
// CHECK-NEXT:#include <amp/amp_cuda.h>
#define CHECKED(call)                                                          \
    do {                                                                       \
        if ((call) != 0) {                                                     \
            fprintf(stderr, "failed\n");                                       \
            exit(1);                                                           \
        }                                                                      \
    } while (0)
enum { ROWS = 32, IN = 16, OUT = 8 };
// The declaration gets the parameter as well.
__global__ void loss_kernel(float *loss, float *dy, const float *y,
                            const float *want, int n);
//      CHECK:                            const float *want, int n, float amp_seed_scale);
__device__ float difference(float a, float b) { return a - b; }
__global__ void loss_kernel(float *loss, float *dy, const float *y,
                            const float *want, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float d = difference(y[i], want[i]);
    dy[i] = 2.0f * d / n;
    atomicAdd(loss, d * d / n);
}
//      CHECK:    dy[i] = 2.0f * d / n * amp_seed_scale;
//      CHECK:    atomicAdd(loss, d * d / n);
__global__ void update_kernel(float *w, const float *dw, int n, float lr) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        w[i] -= lr * dw[i];
}
int main(void) {
    const float one = 1.0f, zero = 0.0f;
    float *x, *y, *want, *w, *dw, *dy, *loss, shown;
    float *host = (float *)malloc(ROWS * IN * sizeof(float));
    cublasHandle_t blas;
    for (int i = 0; i < ROWS * IN; i++)
        host[i] = (float)(i % 7) - 3.0f;
    CHECKED(cublasCreate(&blas));
    CHECKED(cudaMalloc(&x, ROWS * IN * sizeof(float)));
    CHECKED(cudaMalloc(&y, ROWS * OUT * sizeof(float)));
    CHECKED(cudaMalloc(&want, ROWS * OUT * sizeof(float)));
    CHECKED(cudaMalloc(&w, IN * OUT * sizeof(float)));
    //      CHECK:    CHECKED(amp_cuda_malloc(&w, IN * OUT * sizeof(float), AMP_PARAM, 0, "w"));
    CHECKED(cudaMalloc(&dw, IN * OUT * sizeof(float)));
    //      CHECK:    CHECKED(amp_cuda_malloc(&dw, IN * OUT * sizeof(float), AMP_GRAD, 0, "dw"));
    CHECKED(cudaMalloc(&dy, ROWS * OUT * sizeof(float)));
    //      CHECK:    CHECKED(cudaMalloc(&dy, ROWS * OUT * sizeof(float)));
    CHECKED(cudaMalloc(&loss, sizeof(float)));
    CHECKED(cudaMemcpy(x, host, ROWS * IN * sizeof(float), cudaMemcpyDefault));
    CHECKED(cudaMemcpy(want, host, ROWS * OUT * sizeof(float),
                       cudaMemcpyDefault));
    CHECKED(cudaMemcpy(w, host, IN * OUT * sizeof(float), cudaMemcpyDefault));
    for (int step = 0; step < 100; step++) {
        CHECKED(cudaMemset(loss, 0, sizeof(float)));
        CHECKED(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, OUT, ROWS, IN, &one,
                            w, OUT, x, IN, &zero, y, OUT));
        //      CHECK:        CHECKED(amp_cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, OUT, ROWS, IN, &one,
        loss_kernel<<<1, ROWS * OUT>>>(loss, dy, y, want, ROWS * OUT);
        //      CHECK:        loss_kernel<<<1, ROWS * OUT>>>(loss, dy, y, want, ROWS * OUT, amp_loss_scale(0));
        CHECKED(cudaMemcpy(&shown, loss, sizeof shown, cudaMemcpyDefault));
        printf("%g\n", shown);
        CHECKED(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_T, OUT, IN, ROWS, &one,
                            dy, OUT, x, IN, &zero, dw, OUT));
        update_kernel<<<1, IN * OUT>>>(w, dw, IN * OUT, 0.01f);
        //      CHECK:        if (amp_step_begin(0)) {
        // CHECK-NEXT:            update_kernel<<<1, IN * OUT>>>(w, dw, IN * OUT, 0.01f);
        //      CHECK:        }
        // CHECK-NEXT:        amp_step_end(0);
    }
    cudaFree(w);
    //      CHECK:    amp_cuda_free(w);
    cudaFree(dw);
    //      CHECK:    amp_cuda_free(dw);
    cudaFree(dy);
    //      CHECK:    cudaFree(dy);
    return 0;
}
