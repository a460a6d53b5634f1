/* amp_cuda.h - libamp for CUDA: what programs rewritten from .cu link against,
 * on top of amp.h.
 *
 * Ops. The amp_cublas* functions take the arguments of the cuBLAS functions
 * and return cublasStatus_t, so that the program's own checks stay. Operands
 * are cast on the stream of the handle and multiplied with FP32 accumulation,
 * FP32 alpha and beta (in the handle's pointer mode) and an FP32 result. If
 * that cannot be done (no memory for the casts, no such unit), nothing was
 * written, the log says why, and the FP32 original runs. In the neutral build
 * the original runs, so its bits are the program's own.
 *
 * Buffers. Device buffers with a role are registered here; host buffers in
 * amp.h; a group may have both and steps or skips as one. Names are kept by
 * pointer and have to outlive the buffer. The gradients of one group lie on
 * one device.
 *
 * Streams. Casts are ordered as the product they are for; a cast copy is kept
 * per handle and stream, so what the program ordered stays ordered. Kept
 * copies of parameters become void at amp_cuda_step_end and
 * amp_cuda_params_changed, never by themselves: a program that writes
 * parameters elsewhere has to say so. While a stream is captured into a graph
 * the cast becomes part of the graph; run once outside first. The seed is
 * scaled on AMP_CUDA_STREAM. amp_cuda_unscale, amp_cuda_step_begin and
 * amp_cuda_carry_in wait for the device.
 *
 * The loss scale is a host number: multiply by amp_loss_scale(group) on the
 * host, pass it as a kernel argument, or scale the seed buffer with
 * amp_cuda_scale. It changes at amp_cuda_step_end only.
 *
 * Errors. No function aborts. Each failure of CUDA or cuBLAS is logged with
 * the call and its place in libamp and becomes a status; amp_cuda_status has
 * the first one that a function without a status met.
 */
#ifndef AMP_AMP_CUDA_H
#define AMP_AMP_CUDA_H

#include <amp/amp.h>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* The stream of the scale and cast calls below; define it before the include
 * if the program works on a stream that does not wait for the default one. */
#ifndef AMP_CUDA_STREAM
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define AMP_CUDA_STREAM cudaStreamPerThread
#else
#define AMP_CUDA_STREAM cudaStreamLegacy
#endif
#endif

/* ---- ops --------------------------------------------------------------- */

/* Column-major, as in cuBLAS. */
cublasStatus_t amp_cublasSgemm_as(amp_dtype half, cublasHandle_t handle,
                                  cublasOperation_t transa,
                                  cublasOperation_t transb, int m, int n, int k,
                                  const float *alpha, const float *A, int lda,
                                  const float *B, int ldb, const float *beta,
                                  float *C, int ldc);
#define amp_cublasSgemm(...) amp_cublasSgemm_as(AMP_HALF, __VA_ARGS__)

cublasStatus_t amp_cublasSgemmStridedBatched_as(
    amp_dtype half, cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const float *alpha,
    const float *A, int lda, long long int strideA, const float *B, int ldb,
    long long int strideB, const float *beta, float *C, int ldc,
    long long int strideC, int batchCount);
#define amp_cublasSgemmStridedBatched(...)                                     \
    amp_cublasSgemmStridedBatched_as(AMP_HALF, __VA_ARGS__)

/* ---- buffers ----------------------------------------------------------- */

/* cudaMalloc that registers what it returns. The result is cudaMalloc's; a
 * failed registration has the consequences that it has with amp_malloc. */
cudaError_t amp_cuda_malloc(void **p, size_t bytes, amp_role role, int group,
                            const char *name);
/* cudaFree; accepts every pointer that cudaFree accepts. */
cudaError_t amp_cuda_free(void *p);

/* As amp_register, amp_unregister, amp_mark, for device (or managed) memory.
 * The memory belongs to the current device. amp_mark itself takes addresses in
 * buffers that are registered here, too. */
amp_status amp_cuda_register(void *p, size_t bytes, amp_role role, int group,
                             const char *name);
amp_status amp_cuda_unregister(void *p);
amp_status amp_cuda_mark(void *p, amp_role role, int group, const char *name);

/* ---- loss scale -------------------------------------------------------- */

/* Multiplies the floats in x..x+bytes (device memory) by the loss scale. */
amp_status amp_cuda_scale_as(amp_dtype half, int group, float *x, size_t bytes,
                             cudaStream_t stream);
#define amp_cuda_scale(group, x, bytes)                                        \
    amp_cuda_scale_as(AMP_HALF, group, x, bytes, AMP_CUDA_STREAM)
/* The same for the registered or tracked buffer that holds x. amp_scale_buffer
 * takes device addresses, too, but waits for the device. */
amp_status amp_cuda_scale_buffer_as(amp_dtype half, int group, float *x,
                                    cudaStream_t stream);
#define amp_cuda_scale_buffer(group, x)                                        \
    amp_cuda_scale_buffer_as(AMP_HALF, group, x, AMP_CUDA_STREAM)

/* The calls of amp.h; they serve the group's device buffers and host buffers
 * alike. One state machine, one scale per group. */
#define amp_cuda_carry_in(group)   amp_carry_in(group)
#define amp_cuda_unscale(group)    amp_unscale(group)
#define amp_cuda_step_begin(group) amp_step_begin(group)
#define amp_cuda_step_end(group)   amp_step_end(group)
#define amp_cuda_stepped(group)    amp_stepped(group)
#define amp_cuda_params_changed()  amp_params_changed()

/* ---- casts ------------------------------------------------------------- */

/* Device memory; n elements; source and target must not overlap. Values as
 * amp_cast_to_fp16 and so on, except that a NaN loses its payload. */
amp_status amp_cuda_cast_to_fp16(uint16_t *dst, const float *src, size_t n,
                                 cudaStream_t stream);
amp_status amp_cuda_cast_to_bf16(uint16_t *dst, const float *src, size_t n,
                                 cudaStream_t stream);
amp_status amp_cuda_cast_from_fp16(float *dst, const uint16_t *src, size_t n,
                                   cudaStream_t stream);
amp_status amp_cuda_cast_from_bf16(float *dst, const uint16_t *src, size_t n,
                                   cudaStream_t stream);

/* ---- housekeeping ------------------------------------------------------ */

/* The first error since the last call, then AMP_OK again. */
amp_status amp_cuda_status(void);

typedef struct amp_cuda_stats {
    uint64_t half_products; /* ran in half */
    uint64_t fp32_products; /* could not, see the log; or the neutral build */
    uint64_t casts;         /* operands cast */
    uint64_t cached;        /* operands found already cast */
    uint64_t bytes;         /* device memory held for casts now */
} amp_cuda_stats;

amp_cuda_stats amp_cuda_stats_get(void);

/* Gives back the device memory held for casts and checks. The handles' streams
 * must be idle and no product or step may run meanwhile; later ones allocate
 * again. */
void amp_cuda_release(void);

#ifdef __cplusplus
}

/* cudaMalloc(&x, n) takes any pointer's address in C++; so does this. */
template <typename T>
static inline cudaError_t amp_cuda_malloc(T **p, size_t bytes, amp_role role,
                                          int group, const char *name) {
    return amp_cuda_malloc((void **)(void *)p, bytes, role, group, name);
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#endif
