/* cast.c - FP32 to and from fp16 and bf16.
 *
 * Numerics: round to nearest even; a NaN keeps its sign and the payload bits
 * that fit and becomes quiet; overflow gives inf; subnormals are exact in both
 * directions, whatever MXCSR's FTZ and DAZ say. vcvtps2ph does all that in
 * hardware. vcvtneps2bf16 does not (it flushes subnormal inputs), so bf16 is
 * rounded with integers everywhere.
 */
#include "kernels.h"

#include <string.h>

static uint32_t bits_of(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static float float_of(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* ---- the definition ---------------------------------------------------- */

/* Drops the low `shift` bits of m, rounding to nearest even. */
static uint32_t shift_right_even(uint32_t m, unsigned shift) {
    uint32_t kept = m >> shift;
    uint32_t rest = m & ((1u << shift) - 1u);
    uint32_t tie = 1u << (shift - 1u);
    return kept + (rest > tie || (rest == tie && (kept & 1u)) ? 1u : 0u);
}

uint16_t amp_half_fp16_bits(float x) {
    uint32_t u = bits_of(x);
    uint32_t sign = (u >> 16) & 0x8000u;
    uint32_t magnitude = u & 0x7fffffffu;
    uint32_t h;
    if (magnitude > 0x7f800000u) {
        h = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
    } else if (magnitude >= 0x477ff000u) { /* 65520: rounds past 65504 */
        h = 0x7c00u;
    } else if (magnitude >= 0x38800000u) { /* 2^-14: normal */
        h = shift_right_even(magnitude - 0x38000000u, 13);
    } else if (magnitude > 0x33000000u) { /* above half the least subnormal */
        uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
        h = shift_right_even(mantissa, 126u - (magnitude >> 23));
    } else {
        h = 0;
    }
    return (uint16_t)(sign | h);
}

uint16_t amp_half_bf16_bits(float x) {
    uint32_t u = bits_of(x);
    if ((u & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)((u >> 16) | 0x40u);
    return (uint16_t)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

float amp_half_fp16_value(uint16_t x) {
    uint32_t sign = (uint32_t)(x & 0x8000u) << 16;
    uint32_t exponent = (x >> 10) & 0x1fu;
    uint32_t mantissa = x & 0x3ffu;
    if (exponent == 0x1fu) {
        uint32_t quiet = mantissa ? 0x400000u : 0u;
        return float_of(sign | 0x7f800000u | quiet | (mantissa << 13));
    }
    if (exponent != 0)
        return float_of(sign | ((exponent + 112u) << 23) | (mantissa << 13));
    if (mantissa == 0)
        return float_of(sign);
    unsigned top = 31u - (unsigned)__builtin_clz(mantissa);
    uint32_t fraction = (mantissa << (23u - top)) & 0x7fffffu;
    return float_of(sign | ((top + 103u) << 23) | fraction);
}

float amp_half_bf16_value(uint16_t x) {
    return float_of((uint32_t)x << 16);
}

/* ---- portable ---------------------------------------------------------- */

/* Widening loops are written once and inlined per format. */
typedef enum half_format { FP16, BF16 } half_format;

static inline float value_of(uint16_t x, half_format format) {
    switch (format) {
    case FP16:
        return amp_half_fp16_value(x);
    case BF16:
        break;
    }
    return amp_half_bf16_value(x);
}

void amp_to_fp16_portable(uint16_t *dst, const float *src, size_t n) {
    for (size_t i = 0; i < n; i++)
        dst[i] = amp_half_fp16_bits(src[i]);
}

void amp_to_bf16_portable(uint16_t *dst, const float *src, size_t n) {
    for (size_t i = 0; i < n; i++)
        dst[i] = amp_half_bf16_bits(src[i]);
}

static void widen_portable(float *dst, const uint16_t *src, size_t n,
                           half_format format) {
    for (size_t i = 0; i < n; i++)
        dst[i] = value_of(src[i], format);
}

void amp_from_fp16_portable(float *dst, const uint16_t *src, size_t n) {
    widen_portable(dst, src, n, FP16);
}

void amp_from_bf16_portable(float *dst, const uint16_t *src, size_t n) {
    widen_portable(dst, src, n, BF16);
}

void amp_round_fp16_portable(float *dst, const float *src, size_t n) {
    for (size_t i = 0; i < n; i++)
        dst[i] = amp_half_fp16_value(amp_half_fp16_bits(src[i]));
}

void amp_round_bf16_portable(float *dst, const float *src, size_t n) {
    for (size_t i = 0; i < n; i++)
        dst[i] = amp_half_bf16_value(amp_half_bf16_bits(src[i]));
}

#if AMP_KERNELS_X86

#include <immintrin.h>

/* Above this many elements a widened result will not stay in cache, and
 * writing around it saves reading the target's lines first. A narrowed one is
 * half as large, is read next, and gained nothing from it. */
#define STREAM_FROM ((size_t)4 << 20)

#define NEAREST (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)

/* ---- AVX2 and F16C ----------------------------------------------------- */

#define AVX2 __attribute__((target("avx2,f16c")))
/* Called from more than one loop, so the compiler would not inline it. */
#define AVX2_INLINE                                                            \
    __attribute__((target("avx2,f16c"), always_inline)) static inline

/* Elements to do one by one until dst is aligned for streaming stores; n if
 * the result is small. */
static size_t stream_head(const float *dst, size_t n) {
    size_t off = (size_t)((uintptr_t)dst & 31u);
    if (n < STREAM_FROM || off % sizeof *dst != 0)
        return n;
    return off == 0 ? 0 : (32u - off) / sizeof *dst;
}

AVX2_INLINE __m128i fp16_of_8(const float *src) {
    return _mm256_cvtps_ph(_mm256_loadu_ps(src), NEAREST);
}

/* Right for all but NaN. */
AVX2_INLINE __m256i bf16_rounded(__m256i u) {
    __m256i odd =
        _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    __m256i bias = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));
    return _mm256_add_epi32(u, bias);
}

AVX2_INLINE __m256i bf16_quieted(__m256 x, __m256i rounded) {
    __m256i quiet =
        _mm256_or_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x400000));
    __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    return _mm256_blendv_epi8(rounded, quiet, nan);
}

AVX2_INLINE __m256i upper_halves(__m256i a, __m256i b) {
    __m256i packed =
        _mm256_packus_epi32(_mm256_srli_epi32(a, 16), _mm256_srli_epi32(b, 16));
    return _mm256_permute4x64_epi64(packed, 0xd8);
}

typedef struct bf16_32 {
    __m256i lo;
    __m256i hi;
} bf16_32;

/* 32 at a time, with one test for NaN, which is rare. Written out, because
 * arrays would be kept in memory. */
AVX2_INLINE bf16_32 bf16_of_32(const float *src) {
    __m256 x0 = _mm256_loadu_ps(src);
    __m256 x1 = _mm256_loadu_ps(src + 8);
    __m256 x2 = _mm256_loadu_ps(src + 16);
    __m256 x3 = _mm256_loadu_ps(src + 24);
    __m256 nan = _mm256_or_ps(_mm256_cmp_ps(x0, x1, _CMP_UNORD_Q),
                              _mm256_cmp_ps(x2, x3, _CMP_UNORD_Q));
    __m256i r0 = bf16_rounded(_mm256_castps_si256(x0));
    __m256i r1 = bf16_rounded(_mm256_castps_si256(x1));
    __m256i r2 = bf16_rounded(_mm256_castps_si256(x2));
    __m256i r3 = bf16_rounded(_mm256_castps_si256(x3));
    if (__builtin_expect(_mm256_movemask_ps(nan), 0)) {
        r0 = bf16_quieted(x0, r0);
        r1 = bf16_quieted(x1, r1);
        r2 = bf16_quieted(x2, r2);
        r3 = bf16_quieted(x3, r3);
    }
    return (bf16_32){upper_halves(r0, r1), upper_halves(r2, r3)};
}

AVX2 void amp_to_fp16_avx2(uint16_t *dst, const float *src, size_t n) {
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        _mm_storeu_si128((__m128i *)(void *)(dst + i), fp16_of_8(src + i));
        _mm_storeu_si128((__m128i *)(void *)(dst + i + 8),
                         fp16_of_8(src + i + 8));
    }
    amp_to_fp16_portable(dst + i, src + i, n - i);
}

AVX2 void amp_to_bf16_avx2(uint16_t *dst, const float *src, size_t n) {
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        bf16_32 h = bf16_of_32(src + i);
        _mm256_storeu_si256((__m256i *)(void *)(dst + i), h.lo);
        _mm256_storeu_si256((__m256i *)(void *)(dst + i + 16), h.hi);
    }
    amp_to_bf16_portable(dst + i, src + i, n - i);
}

AVX2_INLINE __m256 floats_of_8(const uint16_t *src, half_format format) {
    __m128i h = _mm_loadu_si128((const __m128i *)(const void *)src);
    switch (format) {
    case FP16:
        return _mm256_cvtph_ps(h);
    case BF16:
        break;
    }
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}

AVX2_INLINE void widen_avx2(float *dst, const uint16_t *src, size_t n,
                            half_format format) {
    size_t i = 0;
    size_t head = stream_head(dst, n);
    if (head < n) {
        widen_portable(dst, src, head, format);
        for (i = head; i + 8 <= n; i += 8)
            _mm256_stream_ps(dst + i, floats_of_8(src + i, format));
        _mm_sfence();
    }
    for (; i + 16 <= n; i += 16) {
        _mm256_storeu_ps(dst + i, floats_of_8(src + i, format));
        _mm256_storeu_ps(dst + i + 8, floats_of_8(src + i + 8, format));
    }
    widen_portable(dst + i, src + i, n - i, format);
}

AVX2 void amp_from_fp16_avx2(float *dst, const uint16_t *src, size_t n) {
    widen_avx2(dst, src, n, FP16);
}

AVX2 void amp_from_bf16_avx2(float *dst, const uint16_t *src, size_t n) {
    widen_avx2(dst, src, n, BF16);
}

AVX2 void amp_round_fp16_avx2(float *dst, const float *src, size_t n) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m128i h = _mm256_cvtps_ph(_mm256_loadu_ps(src + i), NEAREST);
        _mm256_storeu_ps(dst + i, _mm256_cvtph_ps(h));
    }
    amp_round_fp16_portable(dst + i, src + i, n - i);
}

AVX2 void amp_round_bf16_avx2(float *dst, const float *src, size_t n) {
    const __m256i upper = _mm256_set1_epi32((int)0xffff0000u);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256 x = _mm256_loadu_ps(src + i);
        __m256i r = bf16_quieted(x, bf16_rounded(_mm256_castps_si256(x)));
        _mm256_storeu_ps(dst + i,
                         _mm256_castsi256_ps(_mm256_and_si256(r, upper)));
    }
    amp_round_bf16_portable(dst + i, src + i, n - i);
}

/* ---- AVX-512 ----------------------------------------------------------- */

#define AVX512 __attribute__((target("avx512f")))
#define AVX512_INLINE                                                          \
    __attribute__((target("avx512f"), always_inline)) static inline

AVX512_INLINE __m512i bf16_words(__m512 x) {
    __m512i u = _mm512_castps_si512(x);
    __m512i odd =
        _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
    __m512i r =
        _mm512_add_epi32(u, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    return _mm512_mask_or_epi32(r, nan, u, _mm512_set1_epi32(0x400000));
}

AVX512 void amp_to_fp16_avx512(uint16_t *dst, const float *src, size_t n) {
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        _mm256_storeu_si256((__m256i *)(void *)(dst + i),
                            _mm512_cvtps_ph(_mm512_loadu_ps(src + i), NEAREST));
    amp_to_fp16_portable(dst + i, src + i, n - i);
}

AVX512 void amp_to_bf16_avx512(uint16_t *dst, const float *src, size_t n) {
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m512i w = bf16_words(_mm512_loadu_ps(src + i));
        _mm256_storeu_si256((__m256i *)(void *)(dst + i),
                            _mm512_cvtepi32_epi16(_mm512_srli_epi32(w, 16)));
    }
    amp_to_bf16_portable(dst + i, src + i, n - i);
}

AVX512_INLINE __m512 floats_of_16(const uint16_t *src, half_format format) {
    __m256i h = _mm256_loadu_si256((const __m256i *)(const void *)src);
    switch (format) {
    case FP16:
        return _mm512_cvtph_ps(h);
    case BF16:
        break;
    }
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

AVX512_INLINE void widen_avx512(float *dst, const uint16_t *src, size_t n,
                                half_format format) {
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        _mm512_storeu_ps(dst + i, floats_of_16(src + i, format));
    widen_portable(dst + i, src + i, n - i, format);
}

AVX512 void amp_from_fp16_avx512(float *dst, const uint16_t *src, size_t n) {
    widen_avx512(dst, src, n, FP16);
}

AVX512 void amp_from_bf16_avx512(float *dst, const uint16_t *src, size_t n) {
    widen_avx512(dst, src, n, BF16);
}

AVX512 void amp_round_fp16_avx512(float *dst, const float *src, size_t n) {
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m256i h = _mm512_cvtps_ph(_mm512_loadu_ps(src + i), NEAREST);
        _mm512_storeu_ps(dst + i, _mm512_cvtph_ps(h));
    }
    amp_round_fp16_portable(dst + i, src + i, n - i);
}

AVX512 void amp_round_bf16_avx512(float *dst, const float *src, size_t n) {
    const __m512i upper = _mm512_set1_epi32((int)0xffff0000u);
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m512i w = bf16_words(_mm512_loadu_ps(src + i));
        _mm512_storeu_ps(dst + i,
                         _mm512_castsi512_ps(_mm512_and_si512(w, upper)));
    }
    amp_round_bf16_portable(dst + i, src + i, n - i);
}

#endif
