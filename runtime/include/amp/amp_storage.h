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
#define AMP_CLEAR_BYTES(p, n)   ((void)__builtin_memset(p, 0, n))
#else
#include <string.h>
#define AMP_EXTENSION
#define AMP_COPY_BITS(to, from) memcpy(to, from, sizeof *(to))
#define AMP_CLEAR_BYTES(p, n)   ((void)memset(p, 0, n))
#endif

/* ---- one value ---------------------------------------------------------- */

#if defined(AMP_HALF_FP32)

typedef float amp_half;

static inline float amp_to_float(amp_half x) {
    return x;
}

static inline amp_half amp_to_half(float x) {
    return x;
}

/* In the initialiser of what is there from the start: the number, and its bits
 * as fp16 and as bf16, where C has no constant that converts it. */
#define AMP_HALF_CONST(x, fp16, bf16) (x)

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

/* a if the condition is 1, b (or 0) if it is 0. gcc moves work into the arms
 * of a ?:, and what might raise a floating-point flag not out again. */
static inline uint32_t amp_select(int condition, uint32_t a, uint32_t b) {
    uint32_t mask = 0u - (uint32_t)condition;
    return (a & mask) | (b & ~mask);
}

static inline uint32_t amp_when(int condition, uint32_t a) {
    return a & (0u - (uint32_t)condition);
}

static inline float amp_bf16_load(uint16_t x) {
    return amp_float_of_bits((uint32_t)x << 16);
}

/* A NaN is made quiet and not rounded, or it might carry into -0. */
static inline uint16_t amp_bf16_store(float x) {
    uint32_t u = amp_bits_of_float(x);
    int nan = (int32_t)(u & 0x7fffffffu) > 0x7f800000;
    uint32_t quiet = u | amp_when(nan, 0x400000u);
    uint32_t rounding = amp_when(!nan, 0x7fffu + ((u >> 16) & 1u));
    return (uint16_t)((quiet + rounding) >> 16);
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

/* Exponents move up by 112, those of inf and NaN to the top. A subnormal or
 * zero gets a leading 1, worth 2^-14, which is subtracted again; of the others
 * 0 is, which makes a NaN quiet. */
static inline float amp_fp16_load(uint16_t x) {
    int32_t magnitude = x & 0x7fff;
    int subnormal = magnitude < 0x400;
    uint32_t u = ((uint32_t)magnitude << 13) + 0x38000000u +
                 amp_when(subnormal, 0x800000u) +
                 amp_when(magnitude >= 0x7c00, 0x38000000u);
    float leading = amp_float_of_bits(amp_when(subnormal, 0x38800000u));
    uint32_t absolute = amp_bits_of_float(amp_float_of_bits(u) - leading);
    return amp_float_of_bits(absolute | (uint32_t)(x & 0x8000u) << 16);
}

#if defined(__GNUC__) && !defined(__clang__)
/* 0, which the compiler does not know: of `v > 0 ? v : 0` gcc would convert
 * the 0 itself and leave v to a branch, and such a loop is not vectorised.
 * Constants it may convert. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif
extern const uint32_t amp_no_bits;
#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#define AMP_UNKNOWN_ZERO(x) (__builtin_constant_p(x) ? 0u : amp_no_bits)
#else
#define AMP_UNKNOWN_ZERO(x) 0u
#endif

/* Added to the power of two whose last bit is worth as much as the fp16's, x
 * is rounded to fp16, and what the sum's bits are more than that power's is
 * x's mantissa, the leading 1 included: it counts as an exponent. */
static inline uint16_t amp_fp16_store(float x) {
    uint32_t u = amp_bits_of_float(x) | AMP_UNKNOWN_ZERO(x);
    uint32_t absolute = u & 0x7fffffffu;
    int32_t magnitude = (int32_t)absolute;
    int32_t exponent = magnitude & 0x7f800000;
    exponent = exponent > 0x38800000 ? exponent : 0x38800000; /* 2^-14 */
    uint32_t power = (uint32_t)exponent + (13u << 23);
    float sum = amp_float_of_bits(absolute) + amp_float_of_bits(power);
    uint32_t finite = amp_bits_of_float(sum) - power +
                      (((uint32_t)exponent - 0x38800000u) >> 13);
    uint32_t nan = 0x200u | ((absolute >> 13) & 0x3ffu);
    uint32_t special = 0x7c00u | amp_when(magnitude > 0x7f800000, nan);
    /* Below 65536; what rounds past 65504 has carried into 0x7c00. */
    uint32_t h = amp_select(magnitude < 0x47800000, finite, special);
    return (uint16_t)(h | ((u >> 16) & 0x8000u));
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

#define AMP_HALF_CONST(x, fp16, bf16) {AMP_HALF == AMP_BF16 ? bf16 : fp16}

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

/* ---- buffers of either type --------------------------------------------- */

/* Memory and the type of its elements: a matrix operand, or one side of a
 * copy. */
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

static inline amp_buffer amp_buffer_of_halves(const amp_half *p) {
    amp_buffer b;
    b.data = (void *)(uintptr_t)p;
    b.type = AMP_HALF;
    return b;
}

/* From float *, amp_half * or an array of either; their pointees may be const.
 * Anything else, void * too, does not compile. p is evaluated once. */
#if defined(__cplusplus)
#define AMP_BUFFER(p) amp_buffer_of(p)
static inline amp_buffer amp_buffer_of(const float *p) {
    return amp_buffer_of_floats(p);
}
#if !defined(AMP_HALF_FP32)
static inline amp_buffer amp_buffer_of(const amp_half *p) {
    return amp_buffer_of_halves(p);
}
#endif
#elif defined(AMP_HALF_FP32)
#define AMP_BUFFER(p)                                                          \
    (AMP_EXTENSION _Generic((p),                                               \
         float *: amp_buffer_of_floats,                                        \
         const float *: amp_buffer_of_floats)(p))
#else
#define AMP_BUFFER(p)                                                          \
    (AMP_EXTENSION _Generic((p),                                               \
         float *: amp_buffer_of_floats,                                        \
         const float *: amp_buffer_of_floats,                                  \
         amp_half *: amp_buffer_of_halves,                                     \
         const amp_half *: amp_buffer_of_halves)(p))
#endif

/* For a null pointer constant, which has no such type: no bias, say. */
#define AMP_NO_BUFFER amp_buffer_of_floats(0)

#if defined(AMP_HALF_FP32)

/* Sums in the row itself; see below. */
static inline float *amp_sum_open(amp_buffer row, int64_t n) {
    (void)n;
    return (float *)row.data;
}

static inline void amp_sum_close(float *sums, amp_buffer row, int64_t n) {
    (void)sums;
    (void)row;
    (void)n;
}

#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* memcpy of n elements, converting: to half to nearest even, once. The two
 * must not overlap. */
void amp_copy(amp_buffer to, amp_buffer from, size_t n);

#if !defined(AMP_HALF_FP32)

/* For a loop that adds to the same n elements again and again: the row's
 * elements as floats, to be added up in, and back into the row, each rounded
 * once. What is stored to the row in between is lost. A thread closes what it
 * opened, in any order; without memory the program is stopped. n may be 0 or
 * less, for a loop that does not run: the row is not looked at then. */
float *amp_sum_open(amp_buffer row, int64_t n);
void amp_sum_close(float *sums, amp_buffer row, int64_t n);

#endif

/* ---- ops on buffers of either type --------------------------------------
 *
 * As the ops of amp.h, each operand in FP32 or in half. Half operands are read
 * where they lie, FP32 ones cast as there; sums are FP32, also those with what
 * beta adds to; a result in half is rounded once.
 *
 * In the neutral build they return AMP_DECLINED. In the half builds, where no
 * original could take the operands, they do not decline: what does not pay
 * in half, or fails in it, is computed from FP32 copies, and without memory
 * for those in a plain loop. So they return AMP_OK or, after logging it and
 * with nothing written, AMP_ERR_ARGUMENT. */

amp_status amp_gemm_mixed_as(amp_dtype half, int transa, int transb, int64_t m,
                             int64_t n, int64_t k, float alpha, amp_buffer a,
                             int64_t lda, amp_buffer b, int64_t ldb, float beta,
                             amp_buffer c, int64_t ldc);
#define amp_gemm_mixed(...) amp_gemm_mixed_as(AMP_HALF, __VA_ARGS__)

amp_status amp_gemm_strided_mixed_as(amp_dtype half, int transa, int transb,
                                     int64_t m, int64_t n, int64_t k,
                                     float alpha, amp_buffer a, int64_t lda,
                                     int64_t stridea, amp_buffer b, int64_t ldb,
                                     int64_t strideb, float beta, amp_buffer c,
                                     int64_t ldc, int64_t stridec,
                                     int64_t batch);
#define amp_gemm_strided_mixed(...)                                            \
    amp_gemm_strided_mixed_as(AMP_HALF, __VA_ARGS__)

/* Increments may be negative, as in BLAS. */
amp_status amp_gemv_mixed_as(amp_dtype half, int trans, int64_t m, int64_t n,
                             float alpha, amp_buffer a, int64_t lda,
                             amp_buffer x, int64_t incx, float beta,
                             amp_buffer y, int64_t incy);
#define amp_gemv_mixed(...) amp_gemv_mixed_as(AMP_HALF, __VA_ARGS__)

/* A buffer whose data is NULL is one that is not wanted: bias here, any of
 * dinp, dweight and dbias below. */
amp_status amp_linear_forward_mixed_as(amp_dtype half, amp_buffer out,
                                       amp_buffer inp, amp_buffer weight,
                                       amp_buffer bias, int64_t rows,
                                       int64_t in_features,
                                       int64_t out_features);
#define amp_linear_forward_mixed(...)                                          \
    amp_linear_forward_mixed_as(AMP_HALF, __VA_ARGS__)

amp_status amp_linear_backward_mixed_as(amp_dtype half, amp_buffer dinp,
                                        amp_buffer dweight, amp_buffer dbias,
                                        amp_buffer dout, amp_buffer inp,
                                        amp_buffer weight, int64_t rows,
                                        int64_t in_features,
                                        int64_t out_features);
#define amp_linear_backward_mixed(...)                                         \
    amp_linear_backward_mixed_as(AMP_HALF, __VA_ARGS__)

/* ---- allocations that are handed out in parts -----------------------------
 */

/* The room, in floats, of n elements of `size` bytes: parts that are laid out
 * so lie at multiples of sizeof(float), and in the neutral build where n
 * floats would. */
static inline size_t amp_arena_floats(size_t n, size_t size) {
    return (n * size + sizeof(float) - 1) / sizeof(float);
}

/* Sets a pointer to elements of either type, given by its address. */
static inline void amp_arena_point(void *pointer, void *memory) {
    AMP_COPY_BITS((void **)pointer, &memory);
}

#if defined(AMP_HALF_FP32)

#define amp_arena_part(pointer, memory, n, size)                               \
    amp_arena_point(pointer, memory)
#define amp_arena_clear(memory, bytes) AMP_CLEAR_BYTES(memory, bytes)

#else

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* Remembers that n elements of `size` bytes lie there; what was known of that
 * memory before is void. Without memory to do so it stops the program. */
void amp_arena_note(void *memory, size_t n, size_t size);

/* Zeroes what `bytes` from here on would be if all parts were floats: whole
 * parts, and the first elements of one. The memory has to be the start of a
 * part that is known, and what follows to be known too, or the program is
 * stopped. */
void amp_arena_clear(void *memory, size_t bytes);

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

/* amp_arena_point of a part that may be cleared by amp_arena_clear. */
static inline void amp_arena_part(void *pointer, void *memory, size_t n,
                                  size_t size) {
    amp_arena_point(pointer, memory);
    amp_arena_note(memory, n, size);
}

#endif

/* ---- files and loss scale, of half buffers ------------------------------- */

/* fwrite and fread of n items of `size` bytes, counted as in the file, which
 * holds FP32: each 4 bytes are one element of x. What they return, and how
 * much of a short file or onto a full disk gets through, is as for an array of
 * floats. Nothing is allocated. */
size_t amp_fwrite_as(amp_dtype half, const void *x, size_t size, size_t n,
                     FILE *file);
size_t amp_fread_as(amp_dtype half, void *x, size_t size, size_t n, FILE *file);

/* scanf into half buffers: amp_scanned(scanf("%f", amp_scan(&x[i]))). Gives
 * the float that scanf is to fill; what it filled is stored, rounded once, and
 * what it did not reach stays as it was. At most AMP_SCANS of one call, which
 * may have no other of this kind within its arguments. Returns n. */
#define AMP_SCANS 16
float *amp_scan_as(amp_dtype half, void *x);
int amp_scanned(int n);

/* FP32 products, rounded once; what overflows is found at the step. */
amp_status amp_scale_half_as(amp_dtype half, int group, void *x, size_t bytes);
amp_status amp_scale_buffer_half_as(amp_dtype half, int group, void *x);

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

static inline size_t amp_fwrite(const amp_half *x, size_t size, size_t n,
                                FILE *file) {
    return amp_fwrite_as(AMP_HALF, x, size, n, file);
}

static inline size_t amp_fread(amp_half *x, size_t size, size_t n, FILE *file) {
    return amp_fread_as(AMP_HALF, x, size, n, file);
}

static inline float *amp_scan(amp_half *x) {
    return amp_scan_as(AMP_HALF, x);
}

/* amp_scale and amp_scale_buffer of a half buffer; bytes are its own. */
static inline amp_status amp_scale_half(int group, amp_half *x, size_t bytes) {
    return amp_scale_half_as(AMP_HALF, group, x, bytes);
}

static inline amp_status amp_scale_buffer_half(int group, amp_half *x) {
    return amp_scale_buffer_half_as(AMP_HALF, group, x);
}

#endif
