/* unscale.c - multiply by a factor and look for inf and NaN, in one pass.
 *
 * The check is on the value before the product, as in torch: a finite
 * gradient that the product overflows is not an overflow of the loss scale.
 * x - x is +0 for finite x and NaN otherwise, so the bits of the differences
 * are collected with OR and looked at once at the end.
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

AVX2 bool amp_unscale_avx2(float *x, size_t n, float factor) {
    const __m256 f = _mm256_set1_ps(factor);
    __m256 bad0 = _mm256_setzero_ps();
    __m256 bad1 = _mm256_setzero_ps();
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m256 a = _mm256_loadu_ps(x + i);
        __m256 b = _mm256_loadu_ps(x + i + 8);
        bad0 = _mm256_or_ps(bad0, _mm256_sub_ps(a, a));
        bad1 = _mm256_or_ps(bad1, _mm256_sub_ps(b, b));
        _mm256_storeu_ps(x + i, _mm256_mul_ps(a, f));
        _mm256_storeu_ps(x + i + 8, _mm256_mul_ps(b, f));
    }
    __m256i bad = _mm256_castps_si256(_mm256_or_ps(bad0, bad1));
    bool tail = amp_unscale_portable(x + i, n - i, factor);
    return _mm256_testz_si256(bad, bad) && tail;
}

AVX2 bool amp_finite_avx2(const float *x, size_t n) {
    __m256 bad0 = _mm256_setzero_ps();
    __m256 bad1 = _mm256_setzero_ps();
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m256 a = _mm256_loadu_ps(x + i);
        __m256 b = _mm256_loadu_ps(x + i + 8);
        bad0 = _mm256_or_ps(bad0, _mm256_sub_ps(a, a));
        bad1 = _mm256_or_ps(bad1, _mm256_sub_ps(b, b));
    }
    __m256i bad = _mm256_castps_si256(_mm256_or_ps(bad0, bad1));
    return _mm256_testz_si256(bad, bad) && amp_finite_portable(x + i, n - i);
}

AVX512 bool amp_unscale_avx512(float *x, size_t n, float factor) {
    const __m512 f = _mm512_set1_ps(factor);
    __m512i bad = _mm512_setzero_si512();
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m512 a = _mm512_loadu_ps(x + i);
        bad = _mm512_or_si512(bad, _mm512_castps_si512(_mm512_sub_ps(a, a)));
        _mm512_storeu_ps(x + i, _mm512_mul_ps(a, f));
    }
    bool tail = amp_unscale_portable(x + i, n - i, factor);
    return _mm512_test_epi32_mask(bad, bad) == 0 && tail;
}

AVX512 bool amp_finite_avx512(const float *x, size_t n) {
    __m512i bad = _mm512_setzero_si512();
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m512 a = _mm512_loadu_ps(x + i);
        bad = _mm512_or_si512(bad, _mm512_castps_si512(_mm512_sub_ps(a, a)));
    }
    return _mm512_test_epi32_mask(bad, bad) == 0 &&
           amp_finite_portable(x + i, n - i);
}

#endif
