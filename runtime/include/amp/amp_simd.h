/* amp_simd.h - vector loads and stores of half buffers: what a rewritten source
 * has for `_mm_loadu_ps(x)` where x is stored in half.
 *
 * A vector holds floats, converted as by amp_to_float and amp_to_half; nothing
 * needs to be aligned. In the neutral build they are the intrinsics. Each is
 * there if the compiler has the vector type.
 */
#ifndef AMP_AMP_SIMD_H
#define AMP_AMP_SIMD_H

#include <amp/amp_storage.h>

#if defined(__SSE2__)
#include <immintrin.h>

#if defined(AMP_HALF_FP32)

#define AMP_DEFINE_VECTOR(prefix, vector, count)                               \
    static inline vector amp##prefix##_loadu_ps(const amp_half *x) {           \
        return prefix##_loadu_ps(x);                                           \
    }                                                                          \
    static inline void amp##prefix##_storeu_ps(amp_half *x, vector v) {        \
        prefix##_storeu_ps(x, v);                                              \
    }

#else

#define AMP_DEFINE_VECTOR(prefix, vector, count)                               \
    static inline vector amp##prefix##_loadu_ps(const amp_half *x) {           \
        float floats[count];                                                   \
        for (int i = 0; i < count; i++)                                        \
            floats[i] = amp_to_float(x[i]);                                    \
        return prefix##_loadu_ps(floats);                                      \
    }                                                                          \
    static inline void amp##prefix##_storeu_ps(amp_half *x, vector v) {        \
        float floats[count];                                                   \
        prefix##_storeu_ps(floats, v);                                         \
        for (int i = 0; i < count; i++)                                        \
            x[i] = amp_to_half(floats[i]);                                     \
    }

#endif

AMP_DEFINE_VECTOR(_mm, __m128, 4)
#if defined(__AVX__)
AMP_DEFINE_VECTOR(_mm256, __m256, 8)
#endif
#if defined(__AVX512F__)
AMP_DEFINE_VECTOR(_mm512, __m512, 16)
#endif

#undef AMP_DEFINE_VECTOR

/* One element, in all places or in the first. */
static inline __m128 amp_mm_load1_ps(const amp_half *x) {
    return _mm_set1_ps(amp_to_float(*x));
}

static inline __m128 amp_mm_load_ss(const amp_half *x) {
    return _mm_set_ss(amp_to_float(*x));
}

static inline void amp_mm_store_ss(amp_half *x, __m128 v) {
    *x = amp_to_half(_mm_cvtss_f32(v));
}

#if defined(__AVX__)
static inline __m256 amp_mm256_broadcast_ss(const amp_half *x) {
    return _mm256_set1_ps(amp_to_float(*x));
}
#endif

#endif

#endif
