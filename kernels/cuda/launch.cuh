/* launch.cuh - what the kernels share: the launch and 16-byte access.
 *
 * AMP_LAUNCH is a macro so that the tests can compile the same files for the
 * host and run a kernel as nested loops (test/cuda/harness). No kernel here
 * needs a barrier.
 */
#ifndef AMP_LAUNCH_CUH
#define AMP_LAUNCH_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef AMP_LAUNCH
template <typename T> struct amp_same {
    typedef T type;
};

/* Unlike <<<>>>, tells what this launch met, and leaves an error that the
 * program has not looked at yet where it is. */
template <typename... Parameters>
static inline cudaError_t
amp_launch(void (*kernel)(Parameters...), dim3 grid, dim3 block,
           cudaStream_t stream,
           typename amp_same<Parameters>::type... arguments) {
    void *pointers[] = {(void *)&arguments...};
    return cudaLaunchKernel((const void *)kernel, grid, block, pointers, 0,
                            stream);
}
#define AMP_LAUNCH(kernel, grid, block, stream, ...)                           \
    amp_launch(kernel, grid, block, stream, __VA_ARGS__)
#endif

static const unsigned amp_threads = 256;
/* Kernels loop over what a grid of this many blocks does not cover: enough to
 * fill the largest chips several times over. */
static const unsigned amp_max_blocks = 4096;

static inline unsigned amp_blocks(size_t items, size_t per_block) {
    size_t blocks = (items + per_block - 1) / per_block;
    if (blocks == 0)
        return 1;
    return blocks < amp_max_blocks ? (unsigned)blocks : amp_max_blocks;
}

__host__ __device__ static inline bool amp_aligned16(const void *p) {
    return ((uintptr_t)p & 15u) == 0;
}

/* Exponent all ones: inf or NaN. */
__host__ __device__ static inline bool amp_not_finite(float x) {
#ifdef __CUDA_ARCH__
    uint32_t bits = __float_as_uint(x);
#else
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
#endif
    return (bits & 0x7f800000u) == 0x7f800000u;
}

#endif
