/* fake.h - control of the fake CUDA runtime and cuBLAS (fake_cudart.c,
 * fake_cublas.c).
 *
 * The fakes implement the calls that libamp_cuda and test/programs/cuda_mlp
 * make, at once and in order, on host memory. Fresh memory is filled with NaN.
 * cuBLAS products are plain loops with an FP32 sum in fixed order. What they
 * do not know they refuse. Single-threaded.
 */
#ifndef AMP_FAKE_H
#define AMP_FAKE_H

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fake_state {
    /* What happened. */
    size_t allocations; /* live */
    size_t mallocs;     /* ever */
    size_t launches;
    size_t synchronisations;
    size_t sgemm; /* FP32 products, one per call */
    size_t gemm_ex;
    cudaStream_t last_stream; /* of a launch or product */
    unsigned max_block;       /* threads of the largest block launched */
    int last_lda;             /* of a GemmEx */
    cudaDataType last_type;
    cublasComputeType_t last_compute;
    /* What shall happen. */
    size_t fail_malloc_after; /* this many succeed first; (size_t)-1: all */
    bool fail_launch;
    cublasStatus_t gemm_ex_status; /* SUCCESS: it works */
    bool capturing;
    bool recycle; /* the next cudaMalloc returns the block freed last */
    int device;
} fake_state;

extern fake_state fake;

/* Back to the start, keeping live allocations. */
void fake_reset(void);

/* Notes a launch, or says why it shall not run. */
cudaError_t fake_launch(dim3 grid, dim3 block, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
