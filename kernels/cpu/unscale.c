/* unscale.c - multiply by a factor and look for inf and NaN, in one pass.
 *
 * The check is on the value before the product, as in torch: a finite
 * gradient that the product overflows is not an overflow of the loss scale.
 * The greatest magnitude is kept as an integer and looked at once at the end:
 * inf and NaN lie above FLT_MAX. Unlike arithmetic that shows the same (x - x),
 * integers raise no exception that a program may trap, and know no rounding
 * mode.
 */
#include "kernels.h"

#include <string.h>

static uint32_t not_finite(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return (u & 0x7f800000u) == 0x7f800000u ? 1u : 0u;
}

bool amp_unscale_portable(float *x, size_t n, float factor) {
    uint32_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        bad |= not_finite(x[i]);
        x[i] *= factor;
    }
    return bad == 0;
}

bool amp_finite_portable(const float *x, size_t n) {
    uint32_t bad = 0;
    for (size_t i = 0; i < n; i++)
        bad |= not_finite(x[i]);
    return bad == 0;
}

#if AMP_KERNELS_X86

#include <immintrin.h>

#define AVX2   __attribute__((target("avx2,f16c")))
#define AVX512 __attribute__((target("avx512f")))
#define AVX2_INLINE                                                            \
    __attribute__((target("avx2,f16c"), always_inline)) static inline
#define AVX512_INLINE                                                          \
    __attribute__((target("avx512f"), always_inline)) static inline

#define FLT_MAX_BITS 0x7f7fffff

AVX2_INLINE __m256i greater_8(__m256i most, __m256 x) {
    __m256i magnitude =
        _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7fffffff));
    return _mm256_max_epu32(most, magnitude);
}

AVX2_INLINE bool finite_8(__m256i most) {
    __m256i bad = _mm256_cmpgt_epi32(most, _mm256_set1_epi32(FLT_MAX_BITS));
    return _mm256_testz_si256(bad, bad);
}

AVX2 bool amp_unscale_avx2(float *x, size_t n, float factor) {
    const __m256 f = _mm256_set1_ps(factor);
    __m256i most0 = _mm256_setzero_si256();
    __m256i most1 = _mm256_setzero_si256();
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m256 a = _mm256_loadu_ps(x + i);
        __m256 b = _mm256_loadu_ps(x + i + 8);
        most0 = greater_8(most0, a);
        most1 = greater_8(most1, b);
        _mm256_storeu_ps(x + i, _mm256_mul_ps(a, f));
        _mm256_storeu_ps(x + i + 8, _mm256_mul_ps(b, f));
    }
    bool tail = amp_unscale_portable(x + i, n - i, factor);
    return finite_8(_mm256_max_epu32(most0, most1)) && tail;
}

AVX2 bool amp_finite_avx2(const float *x, size_t n) {
    __m256i most0 = _mm256_setzero_si256();
    __m256i most1 = _mm256_setzero_si256();
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        most0 = greater_8(most0, _mm256_loadu_ps(x + i));
        most1 = greater_8(most1, _mm256_loadu_ps(x + i + 8));
    }
    return finite_8(_mm256_max_epu32(most0, most1)) &&
           amp_finite_portable(x + i, n - i);
}

AVX512_INLINE __m512i greater_16(__m512i most, __m512 x) {
    __m512i magnitude =
        _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fffffff));
    return _mm512_max_epu32(most, magnitude);
}

AVX512_INLINE bool finite_16(__m512i most) {
    return _mm512_cmpgt_epu32_mask(most, _mm512_set1_epi32(FLT_MAX_BITS)) == 0;
}

AVX512 bool amp_unscale_avx512(float *x, size_t n, float factor) {
    const __m512 f = _mm512_set1_ps(factor);
    __m512i most = _mm512_setzero_si512();
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m512 a = _mm512_loadu_ps(x + i);
        most = greater_16(most, a);
        _mm512_storeu_ps(x + i, _mm512_mul_ps(a, f));
    }
    bool tail = amp_unscale_portable(x + i, n - i, factor);
    return finite_16(most) && tail;
}

AVX512 bool amp_finite_avx512(const float *x, size_t n) {
    __m512i most = _mm512_setzero_si512();
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        most = greater_16(most, _mm512_loadu_ps(x + i));
    return finite_16(most) && amp_finite_portable(x + i, n - i);
}

#endif
