/* scale.cu - x *= factor, for a loss gradient that is a whole buffer.
 *
 * Numerics: one FP32 product per element; exact for powers of two short of
 * overflow and underflow.
 *
 * Grid over groups of 4 elements, 256 threads, looping. One thread moves 4
 * elements with 16-byte access where x is aligned.
 */
#include "kernels_cuda.h"
#include "launch.cuh"

__global__ static void scale(float *x, size_t n, float factor) {
    size_t step = (size_t)gridDim.x * blockDim.x * 4;
    size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 4;
    bool aligned = amp_aligned16(x);
    for (size_t i = first; i < n; i += step) {
        if (aligned && n - i >= 4) {
            float4 v = *(float4 *)(x + i);
            *(float4 *)(x + i) = make_float4(v.x * factor, v.y * factor,
                                             v.z * factor, v.w * factor);
            continue;
        }
        for (size_t k = i; k < n && k < i + 4; k++)
            x[k] *= factor;
    }
}

cudaError_t amp_cuda_launch_scale(float *x, size_t n, float factor,
                                  cudaStream_t stream) {
    if (n == 0)
        return cudaSuccess;
    unsigned blocks = amp_blocks(n, (size_t)amp_threads * 4);
    return AMP_LAUNCH(scale, blocks, amp_threads, stream, x, n, factor);
}
