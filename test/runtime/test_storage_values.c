/* amp_half and its inline conversions, built once per half type and once more
 * with F16C: all halves, and floats of every kind, against the library. */
#include "check.h"

#include <amp/amp_simd.h>
#include <amp/amp_storage.h>

#define RANDOM_FLOATS 4000000

/* Volatile, so that the compiler does not compute in advance. */
static volatile double tenth = 0.1;

#if defined(AMP_HALF_FP32)

static void values_are_kept(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < RANDOM_FLOATS; i++) {
        uint32_t u = (uint32_t)next_random(&seed);
        assert_int_equal(bits_of(amp_to_float(amp_to_half(float_of(u)))), u);
    }
    assert_int_equal(sizeof(amp_half), sizeof(float));
}

#else

static uint16_t expected_half(float x) {
    return AMP_HALF == AMP_BF16 ? amp_bf16_from_float(x)
                                : amp_fp16_from_float(x);
}

static float expected_float(uint16_t x) {
    return AMP_HALF == AMP_BF16 ? amp_float_from_bf16(x)
                                : amp_float_from_fp16(x);
}

static void check_store(uint32_t u) {
    float x = float_of(u);
    if (amp_to_half(x).bits != expected_half(x))
        fail_msg("%08x is stored as %04x, not %04x", u, amp_to_half(x).bits,
                 expected_half(x));
}

static void every_half_loads(void **state) {
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        amp_half x = {(uint16_t)h};
        assert_int_equal(bits_of(amp_to_float(x)),
                         bits_of(expected_float((uint16_t)h)));
    }
}

/* Each half, the tie above it, and their neighbours, with either sign. */
static void ties_and_neighbours_store(void **state) {
    (void)state;
    for (uint32_t h = 0; h < 65535; h++) {
        uint32_t low = bits_of(expected_float((uint16_t)h));
        uint32_t high = bits_of(expected_float((uint16_t)(h + 1)));
        uint32_t tie = bits_of(0.5f * float_of(low) + 0.5f * float_of(high));
        for (uint32_t d = 0; d < 5; d++) {
            check_store(low + d - 2);
            check_store(tie + d - 2);
        }
    }
}

static void any_float_stores(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < RANDOM_FLOATS; i++)
        check_store((uint32_t)next_random(&seed));
    /* Around the exponents that fp16 has, and subnormal floats. */
    for (int i = 0; i < RANDOM_FLOATS; i++) {
        uint32_t u = (uint32_t)next_random(&seed);
        check_store((u & 0x81ffffffu) + 0x32000000u + (u >> 1 & 0x0e000000u));
    }
    for (int i = 0; i < 100000; i++)
        check_store((uint32_t)next_random(&seed) & 0x807fffffu);
}

/* As loops that the compiler may turn into vector code: the same bits. */
static void loops(void **state) {
    (void)state;
    enum { N = 65536 };
    static float floats[N];
    static amp_half halves[N];
    static amp_half scaled[N];
    for (uint32_t i = 0; i < N; i++)
        halves[i].bits = (uint16_t)i;
    for (int i = 0; i < N; i++)
        scaled[i] = amp_to_half(amp_to_float(halves[i]) * 0.37f);
    for (int i = 0; i < N; i++)
        floats[i] = amp_to_float(halves[i]);
    for (uint32_t i = 0; i < N; i++) {
        float x = expected_float((uint16_t)i);
        assert_int_equal(bits_of(floats[i]), bits_of(x));
        assert_int_equal(scaled[i].bits, expected_half(x * 0.37f));
    }
}

/* The processor's modes that take subnormal floats for 0, which -ffast-math
 * sets at start-up. */
static void flushing_modes_do_not_matter(void **state) {
    (void)state;
#if defined(__x86_64__)
    unsigned before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before | 0x8040u); /* FTZ and DAZ */
    int loads = 0;
    int stores = 0;
    for (uint32_t h = 0; h < 65536; h++) {
        amp_half x = {(uint16_t)h};
        float wide = expected_float((uint16_t)h);
        loads += bits_of(amp_to_float(x)) == bits_of(wide);
        stores += amp_to_half(wide).bits == expected_half(wide);
    }
    __builtin_ia32_ldmxcsr(before);
    assert_int_equal(loads, 65536);
    assert_int_equal(stores, 65536);
#else
    skip();
#endif
}

#endif

/* ---- compound operations: against C's on the loaded value ---------------- */

/* What `x operator e` leaves in x and is worth. */
#define CHECK_COMPOUND(function, operator, start, e)                           \
    do {                                                                       \
        amp_half x[2] = {amp_to_half(start), amp_to_half(7.0f)};               \
        amp_half *at = x;                                                      \
        float want = amp_to_float(x[0]);                                       \
        want operator(e);                                                      \
        want = amp_to_float(amp_to_half(want));                                \
        float got = function(at++, e);                                         \
        assert_int_equal(bits_of(got), bits_of(want));                         \
        assert_int_equal(bits_of(amp_to_float(x[0])), bits_of(want));          \
        assert_true(at == x + 1);                                              \
        assert_true(amp_to_float(x[1]) == 7.0f);                               \
    } while (0)

#define CHECK_COMPOUNDS(start, e)                                              \
    do {                                                                       \
        CHECK_COMPOUND(amp_half_add, +=, start, e);                            \
        CHECK_COMPOUND(amp_half_sub, -=, start, e);                            \
        CHECK_COMPOUND(amp_half_mul, *=, start, e);                            \
        CHECK_COMPOUND(amp_half_div, /=, start, e);                            \
    } while (0)

/* C warns of the same conversions. */
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"

static void compounds(void **state) {
    (void)state;
    uint64_t seed = 2;
    for (int i = 0; i < 20000; i++) {
        float start = (float)(int32_t)next_random(&seed) * 0x1p-28f;
        float e = (float)(int32_t)next_random(&seed) * 0x1p-30f;
        int k = (int)(next_random(&seed) % 2000) + 1;
        CHECK_COMPOUNDS(start, e);
        CHECK_COMPOUNDS(start, (double)e * tenth);
        CHECK_COMPOUNDS(start, k);
    }
}

/* The operand is a double constant: FP32 arithmetic would round twice. */
static void double_operands_count_in_full(void **state) {
    (void)state;
    int differ = 0;
    for (int i = 1; i < 1000; i++) {
        float start = (float)i * 0.37f;
        float in_double = start;
        in_double *= tenth;
        differ += in_double != start * (float)tenth;
        amp_half x = amp_to_half(start);
        float loaded = amp_to_float(x);
        loaded *= tenth;
        assert_true(amp_half_mul(&x, tenth) ==
                    amp_to_float(amp_to_half(loaded)));
    }
    assert_true(differ > 0);
}

static void post_increment(void **state) {
    (void)state;
    amp_half x[2] = {amp_to_half(2.5f), amp_to_half(-1.0f)};
    amp_half *at = x;
    assert_true(amp_half_post_add(at++, 1) == 2.5f);
    assert_true(amp_half_post_add(at, -1) == -1.0f);
    assert_true(amp_to_float(x[0]) == 3.5f);
    assert_true(amp_to_float(x[1]) == -2.0f);
}

#if defined(__SSE2__)
static void vectors(void **state) {
    (void)state;
    float from[17], to[17] = {0};
    amp_half h[17], stored[17];
    for (int i = 0; i < 17; i++) {
        from[i] = (float)i * 0.37f - 2;
        h[i] = amp_to_half(from[i]);
        stored[i] = amp_to_half(-9);
    }
    _mm_storeu_ps(to, amp_mm_loadu_ps(h + 1));
    amp_mm_storeu_ps(stored + 1, _mm_loadu_ps(from + 1));
#if defined(__AVX__)
    _mm256_storeu_ps(to + 5, amp_mm256_loadu_ps(h + 6));
    amp_mm256_storeu_ps(stored + 6, _mm256_loadu_ps(from + 6));
#endif
    for (int i = 0; i < 12; i++) {
        int is_there = i < 4;
#if defined(__AVX__)
        is_there |= i >= 5 && i < 5 + 8;
#endif
        assert_true(to[i] == (is_there ? amp_to_float(h[i + 1]) : 0.0f));
        assert_true(amp_to_float(stored[i + 1]) ==
                    (is_there ? amp_to_float(h[i + 1]) : -9.0f));
    }
    assert_true(_mm_cvtss_f32(amp_mm_load_ss(h + 3)) == amp_to_float(h[3]));
    _mm_storeu_ps(to, amp_mm_load1_ps(h + 2));
    assert_true(to[0] == amp_to_float(h[2]) && to[3] == to[0]);
    amp_mm_store_ss(stored, _mm_set_ss(1.5f));
    assert_true(amp_to_float(stored[0]) == 1.5f);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
#if defined(__SSE2__)
        cmocka_unit_test(vectors),
#endif
#if defined(AMP_HALF_FP32)
        cmocka_unit_test(values_are_kept),
#else
        cmocka_unit_test(every_half_loads),
        cmocka_unit_test(ties_and_neighbours_store),
        cmocka_unit_test(any_float_stores),
        cmocka_unit_test(loops),
        cmocka_unit_test(flushing_modes_do_not_matter),
#endif
        cmocka_unit_test(compounds),
        cmocka_unit_test(double_operands_count_in_full),
        cmocka_unit_test(post_increment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
