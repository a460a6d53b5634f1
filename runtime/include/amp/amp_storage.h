/* amp_storage.h - buffers that are stored in half: what a source rewritten at
 * a storage level is written with, beside amp.h.
 *
 * A half buffer is an array of amp_half. Nothing is computed in half: a value
 * is loaded (amp_to_float), used as a float, and stored (amp_to_half). Matrix
 * products take half buffers where they lie; files hold FP32.
 *
 * In the fp16 and bf16 builds amp_half is a struct, so that an access which
 * was not rewritten does not compile. In the neutral build it is float and
 * everything here is the identity, bit for bit: a store converts a double
 * once, as `x[i] = e` does; the compound functions are C's own operators; the
 * mixed products return AMP_DECLINED and the original runs; copies and file
 * functions are memcpy, fwrite and fread.
 *
 * The caller owns all buffers. For C99 and C++11 on; AMP_BUFFER needs the
 * _Generic of C11, which gcc and clang have in C99 as well.
 */
#ifndef AMP_AMP_STORAGE_H
#define AMP_AMP_STORAGE_H

#include <stdio.h>

#include <amp/amp.h>

/* Without <string.h>, whose many names a program may have for its own. */
#if defined(__GNUC__)
#define AMP_EXTENSION           __extension__
#define AMP_COPY_BITS(to, from) __builtin_memcpy(to, from, sizeof *(to))
#else
#include <string.h>
#define AMP_EXTENSION
#define AMP_COPY_BITS(to, from) memcpy(to, from, sizeof *(to))
#endif

/* ---- buffers of either type --------------------------------------------- */

/* Memory and the type of its elements: a matrix operand, or one side of a
 * copy. Made by AMP_BUFFER from a (const) float * or amp_half *. */
typedef struct amp_buffer {
    void *data;
    amp_dtype type;
} amp_buffer;

static inline amp_buffer amp_buffer_of_floats(const float *p) {
    amp_buffer b;
    b.data = (void *)(uintptr_t)p; /* only results are written */
    b.type = AMP_FP32;
    return b;
}

/* ---- one value ---------------------------------------------------------- */

#if defined(AMP_HALF_FP32)

typedef float amp_half;

static inline float amp_to_float(amp_half x) {
    return x;
}

static inline amp_half amp_to_half(float x) {
    return x;
}

/* x += e and its kin as expressions, for an x that cannot be written twice
 * (`*p++ += e`): they evaluate their arguments once and have the new value. */
#define amp_half_add(x, e) (*(x) += (e))
#define amp_half_sub(x, e) (*(x) -= (e))
#define amp_half_mul(x, e) (*(x) *= (e))
#define amp_half_div(x, e) (*(x) /= (e))

/* x++ (e is 1) and x-- (e is -1): has the old value. */
static inline float amp_half_post_add(amp_half *x, float e) {
    float before = *x;
    *x = before + e;
    return before;
}

#else

typedef struct amp_half {
    uint16_t bits;
} amp_half;

/* Conversions give the bits of amp_cast_to_fp16 and its kin: nearest even,
 * NaN quiet, subnormals exact whatever FTZ and DAZ say. They have no branches,
 * so that loops over them are vectorised. */

static inline uint32_t amp_bits_of_float(float x) {
    uint32_t u;
    AMP_COPY_BITS(&u, &x);
    return u;
}

static inline float amp_float_of_bits(uint32_t u) {
    float x;
    AMP_COPY_BITS(&x, &u);
    return x;
}

/* a if the condition is 1, b if it is 0. gcc moves work into the arms of a
 * ?:, and what might raise a floating-point flag cannot be moved back out. */
static inline uint32_t amp_select(int condition, uint32_t a, uint32_t b) {
    uint32_t mask = 0u - (uint32_t)condition;
    return (a & mask) | (b & ~mask);
}

static inline float amp_bf16_load(uint16_t x) {
    return amp_float_of_bits((uint32_t)x << 16);
}

static inline uint16_t amp_bf16_store(float x) {
    uint32_t u = amp_bits_of_float(x);
    int32_t magnitude = (int32_t)(u & 0x7fffffffu);
    uint32_t nearest = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
    uint32_t nan = (u >> 16) | 0x40u;
    return (uint16_t)amp_select(magnitude > 0x7f800000, nan, nearest);
}

#if defined(__F16C__) && defined(__FLT16_MAX__)

/* An instruction each. */
AMP_EXTENSION typedef _Float16 amp_native_fp16;

static inline float amp_fp16_load(uint16_t x) {
    amp_native_fp16 h;
    AMP_COPY_BITS(&h, &x);
    return (float)h;
}

static inline uint16_t amp_fp16_store(float x) {
    amp_native_fp16 h = (amp_native_fp16)x;
    uint16_t bits;
    AMP_COPY_BITS(&bits, &h);
    return bits;
}

#else

static inline float amp_fp16_load(uint16_t x) {
    int32_t magnitude = x & 0x7fff;
    uint32_t moved = (uint32_t)magnitude << 13;
    uint32_t sign = (uint32_t)(x & 0x8000u) << 16;
    /* Subnormal or zero: a multiple of 2^-24. */
    uint32_t small =
        amp_bits_of_float((float)magnitude * 5.9604644775390625e-8f);
    uint32_t normal = moved + 0x38000000u;
    uint32_t quiet = amp_select(magnitude > 0x7c00, 0x400000u, 0u);
    uint32_t special = moved | 0x7f800000u | quiet;
    uint32_t large = amp_select(magnitude >= 0x7c00, special, normal);
    return amp_float_of_bits(sign |
                             amp_select(magnitude < 0x400, small, large));
}

static inline uint16_t amp_fp16_store(float x) {
    uint32_t u = amp_bits_of_float(x);
    uint32_t absolute = u & 0x7fffffffu;
    int32_t magnitude = (int32_t)absolute;
    uint32_t sign = (u >> 16) & 0x8000u;
    /* Beside 0.5 the last bit of a float is 2^-24, as in a subnormal fp16. */
    uint32_t small =
        amp_bits_of_float(amp_float_of_bits(absolute) + 0.5f) - 0x3f000000u;
    uint32_t normal =
        (absolute - 0x38000000u + 0xfffu + ((absolute >> 13) & 1u)) >> 13;
    uint32_t nan = 0x7e00u | ((absolute >> 13) & 0x3ffu);
    uint32_t special = amp_select(magnitude > 0x7f800000, nan, 0x7c00u);
    uint32_t finite = amp_select(magnitude < 0x38800000, small, normal);
    /* From 65520 on it rounds past the largest, 65504. */
    return (uint16_t)(sign |
                      amp_select(magnitude < 0x477ff000, finite, special));
}

#endif

static inline float amp_to_float(amp_half x) {
    return AMP_HALF == AMP_BF16 ? amp_bf16_load(x.bits) : amp_fp16_load(x.bits);
}

static inline amp_half amp_to_half(float x) {
    amp_half h;
    h.bits = AMP_HALF == AMP_BF16 ? amp_bf16_store(x) : amp_fp16_store(x);
    return h;
}

/* C computes `x += e` in the wider type of both. In double a float e gives
 * the bits of FP32 arithmetic too: twice the digits and two more, rounded
 * again, is rounded once for each of these. */
#define AMP_DEFINE_COMPOUND(name, operator)                                    \
    static inline float name(amp_half *x, double e) {                          \
        *x = amp_to_half((float)((double)amp_to_float(*x) operator e));        \
        return amp_to_float(*x);                                               \
    }

AMP_DEFINE_COMPOUND(amp_half_add, +)
AMP_DEFINE_COMPOUND(amp_half_sub, -)
AMP_DEFINE_COMPOUND(amp_half_mul, *)
AMP_DEFINE_COMPOUND(amp_half_div, /)

#undef AMP_DEFINE_COMPOUND

static inline float amp_half_post_add(amp_half *x, float e) {
    float before = amp_to_float(*x);
    *x = amp_to_half(before + e);
    return before;
}

#endif

#endif
