/* kernels_cuda.h - the number loops of libamp's CUDA side.
 *
 * Each function puts one kernel on `stream` and returns what the launch said;
 * none waits, allocates or keeps state. Pointers are device pointers with the
 * alignment of their type; 16-byte alignment makes them fast. Counts are in
 * elements. One .cu file per op; its header comment tells grid and numerics.
 */
#ifndef AMP_KERNELS_CUDA_H
#define AMP_KERNELS_CUDA_H

#include <amp/amp.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A batch of column-major FP32 matrices, as the BLAS sees one operand. */
typedef struct amp_cuda_matrices {
    const float *data;
    int64_t rows;
    int64_t cols;
    int64_t ld;     /* elements between columns, >= rows */
    int64_t stride; /* elements between matrices */
    int64_t batch;
} amp_cuda_matrices;

/* Narrows to half columns that start dst_ld apart and matrices that start
 * dst_stride apart. half is AMP_FP16 or AMP_BF16. */
cudaError_t amp_cuda_launch_pack(amp_dtype half, uint16_t *dst, int64_t dst_ld,
                                 int64_t dst_stride,
                                 const amp_cuda_matrices *src,
                                 cudaStream_t stream);

/* Widens n halves, exactly. */
cudaError_t amp_cuda_launch_widen(amp_dtype half, float *dst,
                                  const uint16_t *src, size_t n,
                                  cudaStream_t stream);

/* *differs = 1 if packing src now would not give the bits that are in dst.
 * *differs is device memory and is never cleared here. */
cudaError_t amp_cuda_launch_compare(amp_dtype half, const uint16_t *dst,
                                    int64_t dst_ld, int64_t dst_stride,
                                    const amp_cuda_matrices *src,
                                    uint32_t *differs, cudaStream_t stream);

/* x *= factor. */
cudaError_t amp_cuda_launch_scale(float *x, size_t n, float factor,
                                  cudaStream_t stream);

/* A piece of a gradient: at most AMP_CUDA_PIECE elements of buffer number
 * `buffer`. */
#define AMP_CUDA_PIECE ((size_t)1 << 16)
typedef struct amp_cuda_piece {
    float *data;
    uint32_t n;
    uint32_t buffer;
} amp_cuda_piece;

/* For all pieces (a table in device memory) in one launch: x *= factor, and
 * flags[buffer] = 1 where an x was inf or NaN before. factor 1 only checks.
 * flags is device memory, cleared by the caller. */
cudaError_t amp_cuda_launch_unscale(const amp_cuda_piece *pieces,
                                    uint32_t count, float factor,
                                    uint32_t *flags, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
