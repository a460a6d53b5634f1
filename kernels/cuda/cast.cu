/* cast.cu - FP32 to half and back.
 *
 * Numerics: round to nearest even, overflow to inf, subnormals exact, NaN
 * becomes a quiet NaN (the hardware's, without the payload); the same values
 * as the CPU kernels give. Half to FP32 is exact.
 *
 * pack, compare: grid (chunks of 8 rows, columns, matrices), block (x, y) with
 * x * y = 256 and x the power of two that fits the column, so that short
 * columns share a block. One thread moves 8 elements: two 16-byte loads and
 * one 16-byte store where both are aligned, single elements otherwise and in
 * the last rows.
 * widen: grid over chunks of 8, the same access.
 */
#include "kernels_cuda.h"
#include "launch.cuh"

#define CHUNK 8

template <typename Half> struct convert;

template <> struct convert<__half> {
    __host__ __device__ static __half narrow(float x) {
        return __float2half_rn(x);
    }
    __host__ __device__ static uint16_t bits(float x) {
        return __half_as_ushort(narrow(x));
    }
    __host__ __device__ static float widen(__half x) {
        return __half2float(x);
    }
};

template <> struct convert<__nv_bfloat16> {
    __host__ __device__ static __nv_bfloat16 narrow(float x) {
        return __float2bfloat16_rn(x);
    }
    __host__ __device__ static uint16_t bits(float x) {
        return __bfloat16_as_ushort(narrow(x));
    }
    __host__ __device__ static float widen(__nv_bfloat16 x) {
        return __bfloat162float(x);
    }
};

template <typename Half> struct alignas(16) chunk {
    Half value[CHUNK];
};

/* Two halves in the order of memory. */
template <typename Half>
__host__ __device__ static inline uint32_t narrow2(float first, float second) {
    return convert<Half>::bits(first) | (uint32_t)convert<Half>::bits(second)
                                            << 16;
}

/* A plain store of a uint4 comes out as four. */
__host__ __device__ static inline void store16(void *dst, uint4 words) {
#ifdef __CUDA_ARCH__
    __stwb((uint4 *)dst, words);
#else
    *(uint4 *)dst = words;
#endif
}

/* Arrays indexed by a variable would live in memory, and a struct of halves
 * would be stored half by half: the full chunks are written out. */
template <typename Half>
__host__ __device__ static inline void narrow_chunk(Half *dst, const float *src,
                                                    int n) {
    if (n < CHUNK || !amp_aligned16(dst)) {
        for (int i = 0; i < n; i++)
            dst[i] = convert<Half>::narrow(src[i]);
        return;
    }
    float4 low, high;
    if (amp_aligned16(src)) {
        low = *(const float4 *)src;
        high = *(const float4 *)(src + 4);
    } else {
        low = make_float4(src[0], src[1], src[2], src[3]);
        high = make_float4(src[4], src[5], src[6], src[7]);
    }
    store16(dst,
            make_uint4(narrow2<Half>(low.x, low.y), narrow2<Half>(low.z, low.w),
                       narrow2<Half>(high.x, high.y),
                       narrow2<Half>(high.z, high.w)));
}

template <typename Half>
__host__ __device__ static inline bool same_chunk(const Half *dst,
                                                  const float *src, int n) {
    bool same = true;
    for (int i = 0; i < n; i++) {
        float kept = convert<Half>::widen(dst[i]);
        float fresh = convert<Half>::widen(convert<Half>::narrow(src[i]));
        /* Both NaN counts as the same. */
        same = same && (kept == fresh || (kept != kept && fresh != fresh));
    }
    return same;
}

/* What a thread of pack or compare works on: calls body(dst, src, n). */
template <typename Half, typename Body>
__device__ static inline void for_each_chunk(Half *dst, int64_t dst_ld,
                                             int64_t dst_stride,
                                             amp_cuda_matrices src, Body body) {
    int64_t chunks = (src.rows + CHUNK - 1) / CHUNK;
    int64_t x0 = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int64_t y0 = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    int64_t dx = (int64_t)gridDim.x * blockDim.x;
    int64_t dy = (int64_t)gridDim.y * blockDim.y;
    for (int64_t b = blockIdx.z; b < src.batch; b += gridDim.z)
        for (int64_t col = y0; col < src.cols; col += dy) {
            Half *to = dst + b * dst_stride + col * dst_ld;
            const float *from = src.data + b * src.stride + col * src.ld;
            for (int64_t c = x0; c < chunks; c += dx) {
                int64_t left = src.rows - c * CHUNK;
                int n = left < CHUNK ? (int)left : CHUNK;
                body(to + c * CHUNK, from + c * CHUNK, n);
            }
        }
}

template <typename Half> struct pack_body {
    __device__ void operator()(Half *dst, const float *src, int n) const {
        narrow_chunk(dst, src, n);
    }
};

template <typename Half> struct compare_body {
    uint32_t *differs;
    __device__ void operator()(const Half *dst, const float *src, int n) const {
        if (!same_chunk(dst, src, n))
            *differs = 1;
    }
};

template <typename Half>
__global__ void pack(Half *dst, int64_t dst_ld, int64_t dst_stride,
                     amp_cuda_matrices src) {
    for_each_chunk(dst, dst_ld, dst_stride, src, pack_body<Half>());
}

template <typename Half>
__global__ void compare(const Half *dst, int64_t dst_ld, int64_t dst_stride,
                        amp_cuda_matrices src, uint32_t *differs) {
    compare_body<Half> body = {differs};
    for_each_chunk(dst, dst_ld, dst_stride, src, body);
}

template <typename Half>
__global__ void widen(float *dst, const Half *src, size_t n) {
    size_t step = (size_t)gridDim.x * blockDim.x * CHUNK;
    size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * CHUNK;
    for (size_t i = first; i < n; i += step) {
        if (n - i >= CHUNK && amp_aligned16(dst + i) &&
            amp_aligned16(src + i)) {
            chunk<Half> packed = *(const chunk<Half> *)(src + i);
            float x[CHUNK];
            for (int k = 0; k < CHUNK; k++)
                x[k] = convert<Half>::widen(packed.value[k]);
            *(float4 *)(dst + i) = make_float4(x[0], x[1], x[2], x[3]);
            *(float4 *)(dst + i + 4) = make_float4(x[4], x[5], x[6], x[7]);
            continue;
        }
        for (size_t k = i; k < n && k < i + CHUNK; k++)
            dst[k] = convert<Half>::widen(src[k]);
    }
}

/* ---- launches ---------------------------------------------------------- */

static unsigned limit(int64_t blocks, unsigned most) {
    return blocks < (int64_t)most ? (unsigned)blocks : most;
}

static void pack_shape(const amp_cuda_matrices *src, dim3 *grid, dim3 *block) {
    int64_t chunks = (src->rows + CHUNK - 1) / CHUNK;
    unsigned x = 1;
    while (x < amp_threads && (int64_t)x < chunks)
        x *= 2;
    unsigned y = amp_threads / x;
    *block = dim3(x, y, 1);
    *grid = dim3(limit((chunks + x - 1) / x, amp_max_blocks),
                 limit((src->cols + y - 1) / y, amp_max_blocks),
                 limit(src->batch, 65535));
}

static bool nothing(const amp_cuda_matrices *src) {
    return src->rows <= 0 || src->cols <= 0 || src->batch <= 0;
}

/* Columns that follow each other without a gap are one long column. */
static void flatten(amp_cuda_matrices *src, int64_t *dst_ld,
                    int64_t dst_stride) {
    if (src->ld != src->rows || *dst_ld != src->rows)
        return;
    src->rows *= src->cols;
    src->cols = 1;
    src->ld = *dst_ld = src->rows;
    if (src->stride == src->rows && dst_stride == src->rows) {
        src->rows *= src->batch;
        src->ld = *dst_ld = src->rows;
        src->batch = 1;
    }
}

cudaError_t amp_cuda_launch_pack(amp_dtype half, uint16_t *dst, int64_t dst_ld,
                                 int64_t dst_stride,
                                 const amp_cuda_matrices *src,
                                 cudaStream_t stream) {
    if (nothing(src))
        return cudaSuccess;
    amp_cuda_matrices m = *src;
    flatten(&m, &dst_ld, dst_stride);
    dim3 grid, block;
    pack_shape(&m, &grid, &block);
    if (half == AMP_FP16)
        return AMP_LAUNCH(pack<__half>, grid, block, stream, (__half *)dst,
                          dst_ld, dst_stride, m);
    return AMP_LAUNCH(pack<__nv_bfloat16>, grid, block, stream,
                      (__nv_bfloat16 *)dst, dst_ld, dst_stride, m);
}

cudaError_t amp_cuda_launch_compare(amp_dtype half, const uint16_t *dst,
                                    int64_t dst_ld, int64_t dst_stride,
                                    const amp_cuda_matrices *src,
                                    uint32_t *differs, cudaStream_t stream) {
    if (nothing(src))
        return cudaSuccess;
    dim3 grid, block;
    pack_shape(src, &grid, &block);
    if (half == AMP_FP16)
        return AMP_LAUNCH(compare<__half>, grid, block, stream,
                          (const __half *)dst, dst_ld, dst_stride, *src,
                          differs);
    return AMP_LAUNCH(compare<__nv_bfloat16>, grid, block, stream,
                      (const __nv_bfloat16 *)dst, dst_ld, dst_stride, *src,
                      differs);
}

cudaError_t amp_cuda_launch_widen(amp_dtype half, float *dst,
                                  const uint16_t *src, size_t n,
                                  cudaStream_t stream) {
    if (n == 0)
        return cudaSuccess;
    unsigned blocks = amp_blocks(n, (size_t)amp_threads * CHUNK);
    if (half == AMP_FP16)
        return AMP_LAUNCH(widen<__half>, blocks, amp_threads, stream, dst,
                          (const __half *)src, n);
    return AMP_LAUNCH(widen<__nv_bfloat16>, blocks, amp_threads, stream, dst,
                      (const __nv_bfloat16 *)src, n);
}
