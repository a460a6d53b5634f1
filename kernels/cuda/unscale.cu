/* unscale.cu - divides gradients by the loss scale and looks for inf and NaN,
 * over many buffers in one launch.
 *
 * Numerics: the test is on the value before the product (exponent all ones);
 * the product is FP32. factor 1 writes nothing, so a check alone costs half
 * the traffic. Flags are written without atomics: every writer writes 1.
 *
 * One block of 256 threads per piece of at most 65536 elements, looping over
 * pieces; 16-byte access where the piece is aligned.
 */
#include "kernels_cuda.h"
#include "launch.cuh"

__global__ static void unscale(const amp_cuda_piece *pieces, uint32_t count,
                               float factor, uint32_t *flags) {
    for (uint32_t p = blockIdx.x; p < count; p += gridDim.x) {
        float *x = pieces[p].data;
        uint32_t n = pieces[p].n;
        uint32_t vectors = amp_aligned16(x) ? n / 4 : 0;
        bool bad = false;
        for (uint32_t i = threadIdx.x; i < vectors; i += blockDim.x) {
            float4 v = ((float4 *)x)[i];
            bad = bad || amp_not_finite(v.x) || amp_not_finite(v.y) ||
                  amp_not_finite(v.z) || amp_not_finite(v.w);
            if (factor != 1.0f)
                ((float4 *)x)[i] = make_float4(v.x * factor, v.y * factor,
                                               v.z * factor, v.w * factor);
        }
        for (uint32_t i = vectors * 4 + threadIdx.x; i < n; i += blockDim.x) {
            bad = bad || amp_not_finite(x[i]);
            if (factor != 1.0f)
                x[i] *= factor;
        }
        if (bad)
            flags[pieces[p].buffer] = 1;
    }
}

cudaError_t amp_cuda_launch_unscale(const amp_cuda_piece *pieces,
                                    uint32_t count, float factor,
                                    uint32_t *flags, cudaStream_t stream) {
    if (count == 0)
        return cudaSuccess;
    unsigned blocks = amp_blocks(count, 1);
    return AMP_LAUNCH(unscale, blocks, amp_threads, stream, pieces, count,
                      factor, flags);
}
