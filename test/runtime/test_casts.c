/* Casts: against an independent definition, and every path against the
 * portable one. test_casts_all covers all 2^32 inputs; this one samples. */
#include "check.h"
#include "kernels.h"

#include <fenv.h>

#define CHUNK 4096

/* ---- an independent definition: the nearest of all 2^16 values ---------- */

/* The value of a half pattern by its format, in double. */
static double value_of(uint32_t h, int exponent_bits, int mantissa_bits) {
    uint32_t exponents = 1u << exponent_bits;
    uint32_t mantissa = h & ((1u << mantissa_bits) - 1u);
    uint32_t exponent = (h >> mantissa_bits) & (exponents - 1u);
    int bias = (int)(exponents / 2) - 1;
    double sign = h & 0x8000u ? -1.0 : 1.0;
    if (exponent == exponents - 1u)
        return mantissa ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp((double)mantissa, 1 - bias - mantissa_bits);
    double significand = (double)(mantissa | (1u << mantissa_bits));
    return sign * ldexp(significand, (int)exponent - bias - mantissa_bits);
}

/* Magnitude pattern nearest to x >= 0, ties to even: bisection over patterns,
 * which grow with their values. Inf stands for the next power of two. */
static uint32_t nearest_pattern(double x, int exponent_bits,
                                int mantissa_bits) {
    uint32_t inf = ((1u << exponent_bits) - 1u) << mantissa_bits;
    double top = ldexp(1.0, 1 << (exponent_bits - 1));
    uint32_t lo = 0;
    uint32_t hi = inf;
    while (hi - lo > 1) {
        uint32_t mid = (lo + hi) / 2;
        if (value_of(mid, exponent_bits, mantissa_bits) <= x)
            lo = mid;
        else
            hi = mid;
    }
    double below = value_of(lo, exponent_bits, mantissa_bits);
    double above = hi == inf ? top : value_of(hi, exponent_bits, mantissa_bits);
    double to_lo = x - below;
    double to_hi = above - x;
    if (to_lo == to_hi)
        return lo & 1u ? hi : lo;
    return to_lo < to_hi ? lo : hi;
}

static uint16_t expected(float x, int exponent_bits, int mantissa_bits) {
    uint32_t sign = signbit(x) ? 0x8000u : 0u;
    uint32_t h;
    if (isinf(x))
        h = ((1u << exponent_bits) - 1u) << mantissa_bits;
    else
        h = nearest_pattern(fabs((double)x), exponent_bits, mantissa_bits);
    return (uint16_t)(sign | h);
}

/* ---- inputs ------------------------------------------------------------- */

/* All around every half value and every midpoint of two, plus random bits. */
static size_t edge_inputs(float **inputs) {
    size_t n = 0;
    uint64_t seed = 7;
    float *x = malloc(((size_t)65536 * 2 * 5 + 500000) * sizeof *x);
    assert_non_null(x);
    for (uint32_t h = 0; h < 65536; h++) {
        uint32_t around[2] = {h << 16, 0};
        uint32_t next = bits_of(amp_float_from_fp16((uint16_t)h));
        around[1] = next;
        for (int w = 0; w < 2; w++) {
            uint32_t half_step = w == 0 ? 0x8000u : 0x1000u;
            x[n++] = float_of(around[w]);
            x[n++] = float_of(around[w] + half_step);
            x[n++] = float_of(around[w] + half_step - 1u);
            x[n++] = float_of(around[w] + half_step + 1u);
            x[n++] = float_of(around[w] - 1u);
        }
    }
    for (int i = 0; i < 500000; i++)
        x[n++] = float_of((uint32_t)next_random(&seed));
    *inputs = x;
    return n;
}

static void to_half_is_nearest_even(void **state) {
    (void)state;
    float *x;
    size_t n = edge_inputs(&x);
    for (size_t i = 0; i < n; i++) {
        uint16_t f = amp_fp16_from_float(x[i]);
        uint16_t b = amp_bf16_from_float(x[i]);
        if (isnan(x[i])) {
            assert_true((f & 0x7e00u) == 0x7e00u);
            assert_true((b & 0x7fc0u) == 0x7fc0u);
            continue;
        }
        assert_int_equal(f, expected(x[i], 5, 10));
        assert_int_equal(b, expected(x[i], 8, 7));
    }
    free(x);
}

static void from_half_is_exact(void **state) {
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        float f = amp_float_from_fp16((uint16_t)h);
        float b = amp_float_from_bf16((uint16_t)h);
        double fw = value_of(h, 5, 10);
        double bw = value_of(h, 8, 7);
        assert_true(isnan(fw) ? isnan(f) : (double)f == fw);
        assert_true(isnan(bw) ? isnan(b) : (double)b == bw);
        assert_int_equal(signbit(f) != 0, h >> 15);
        assert_int_equal(signbit(b) != 0, h >> 15);
        if (isnan(fw))
            assert_true(bits_of(f) & 0x400000u);
    }
}

static void round_trip_is_identity(void **state) {
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        float f = amp_float_from_fp16((uint16_t)h);
        float b = amp_float_from_bf16((uint16_t)h);
        if (!isnan(f))
            assert_int_equal(amp_fp16_from_float(f), h);
        if (!isnan(b))
            assert_int_equal(amp_bf16_from_float(b), h);
    }
}

/* ---- every path against the portable one -------------------------------- */

static void compare_casts(const amp_kernels *k, const float *x, size_t n) {
    const amp_kernels *p = amp_kernels_of(AMP_ISA_PORTABLE);
    uint16_t h[2][CHUNK];
    float f[2][CHUNK];
    p->to_fp16(h[0], x, n);
    k->to_fp16(h[1], x, n);
    assert_memory_equal(h[0], h[1], n * sizeof h[0][0]);
    p->from_fp16(f[0], h[0], n);
    k->from_fp16(f[1], h[0], n);
    assert_memory_equal(f[0], f[1], n * sizeof f[0][0]);
    k->round_fp16(f[1], x, n);
    assert_memory_equal(f[0], f[1], n * sizeof f[0][0]);
    p->to_bf16(h[0], x, n);
    k->to_bf16(h[1], x, n);
    assert_memory_equal(h[0], h[1], n * sizeof h[0][0]);
    p->from_bf16(f[0], h[0], n);
    k->from_bf16(f[1], h[0], n);
    assert_memory_equal(f[0], f[1], n * sizeof f[0][0]);
    k->round_bf16(f[1], x, n);
    assert_memory_equal(f[0], f[1], n * sizeof f[0][0]);
}

static void paths_give_equal_bits(void **state) {
    (void)state;
    float *x;
    size_t n = edge_inputs(&x);
    for (int isa = AMP_ISA_AVX2; isa < AMP_ISA_COUNT; isa++) {
        const amp_kernels *k = amp_kernels_of((amp_isa)isa);
        if (!k) {
            print_message("instruction set %d not on this CPU\n", isa);
            continue;
        }
        for (size_t at = 0; at + CHUNK <= n; at += CHUNK)
            compare_casts(k, x + at, CHUNK);
    }
    free(x);
}

/* Lengths around the vector width, at every alignment of a float. */
static void tails_and_alignment(void **state) {
    (void)state;
    uint64_t seed = 3;
    float x[128];
    for (size_t i = 0; i < 128; i++)
        x[i] = float_of((uint32_t)next_random(&seed));
    const amp_kernels *k = amp_kernels_get();
    for (size_t at = 0; at < 16; at++)
        for (size_t n = 0; n <= 70; n++)
            compare_casts(k, x + at, n);
}

static void nothing_past_the_end(void **state) {
    (void)state;
    float x[40] = {0};
    uint16_t h[40];
    float f[40];
    const amp_kernels *k = amp_kernels_get();
    for (size_t n = 0; n < 39; n++) {
        memset(h, 0x5a, sizeof h);
        k->to_bf16(h, x, n);
        assert_int_equal(h[n], 0x5a5a);
        k->to_fp16(h, x, n);
        assert_int_equal(h[n], 0x5a5a);
        f[n] = 77.0f;
        k->from_fp16(f, h, n);
        k->round_bf16(f, x, n);
        assert_true(f[n] == 77.0f);
    }
}

/* Above the size where results are written around the cache, with a target
 * that is not aligned for it at first, and over several threads. */
static void large_casts(void **state) {
    (void)state;
    size_t n = ((size_t)9 << 20) + 37;
    float *x = random_floats(n, 11);
    uint16_t *h = malloc((n + 3) * sizeof *h);
    float *all = malloc((n + 1) * sizeof *all);
    assert_non_null(h);
    assert_non_null(all);
    float *f = all + 1;
    amp_cast_to_fp16(h + 3, x, n);
    amp_cast_from_fp16(f, h + 3, n);
    for (size_t i = 0; i < n; i++)
        assert_true(f[i] == amp_float_from_fp16(amp_fp16_from_float(x[i])));
    amp_cast_to_bf16(h + 3, x, n);
    amp_cast_from_bf16(f, h + 3, n);
    for (size_t i = 0; i < n; i++)
        assert_true(f[i] == amp_float_from_bf16(amp_bf16_from_float(x[i])));
    free(x);
    free(h);
    free(all);
}

/* ---- unscale ------------------------------------------------------------ */

static void unscale_finds_each_bad_place(void **state) {
    (void)state;
    const float bad[] = {INFINITY, -INFINITY, NAN};
    for (int isa = 0; isa < AMP_ISA_COUNT; isa++) {
        const amp_kernels *k = amp_kernels_of((amp_isa)isa);
        if (!k)
            continue;
        for (size_t n = 1; n < 70; n++) {
            for (size_t at = 0; at < n; at++) {
                float x[70];
                for (size_t i = 0; i < n; i++)
                    x[i] = (float)i - 20.0f;
                assert_true(k->finite(x, n));
                x[at] = bad[(n + at) % 3];
                assert_false(k->finite(x, n));
                assert_false(k->unscale(x, n, 0.25f));
                for (size_t i = 0; i < n; i++)
                    assert_true(i == at ? !isfinite(x[i])
                                        : x[i] == ((float)i - 20.0f) * 0.25f);
            }
        }
    }
}

/* The largest float is not an overflow, nor is a product that becomes one. */
static void unscale_checks_before_the_product(void **state) {
    (void)state;
    for (int isa = 0; isa < AMP_ISA_COUNT; isa++) {
        const amp_kernels *k = amp_kernels_of((amp_isa)isa);
        if (!k)
            continue;
        float x[17];
        for (size_t i = 0; i < 17; i++)
            x[i] = 3.4028235e38f;
        assert_true(k->unscale(x, 17, 2.0f));
        assert_true(isinf(x[0]) && isinf(x[16]));
    }
}

/* A program may trap exceptions or round another way. */
static void check_is_not_arithmetic(void **state) {
    (void)state;
    float x[70];
    for (size_t i = 0; i < 70; i++)
        x[i] = (float)i * 0.3f;
    for (int isa = 0; isa < AMP_ISA_COUNT; isa++) {
        const amp_kernels *k = amp_kernels_of((amp_isa)isa);
        if (!k)
            continue;
        x[7] = 1.0f;
        fesetround(FE_DOWNWARD);
        bool finite = k->finite(x, 70) && k->unscale(x, 70, 1.0f);
        fesetround(FE_TONEAREST);
        assert_true(finite);
        x[7] = INFINITY;
        feclearexcept(FE_ALL_EXCEPT);
        finite = k->finite(x, 70) || k->unscale(x, 70, 1.0f);
        int raised = fetestexcept(FE_ALL_EXCEPT);
        assert_false(finite);
        assert_int_equal(raised, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(to_half_is_nearest_even),
        cmocka_unit_test(from_half_is_exact),
        cmocka_unit_test(round_trip_is_identity),
        cmocka_unit_test(paths_give_equal_bits),
        cmocka_unit_test(tails_and_alignment),
        cmocka_unit_test(nothing_past_the_end),
        cmocka_unit_test(large_casts),
        cmocka_unit_test(unscale_finds_each_bad_place),
        cmocka_unit_test(unscale_checks_before_the_product),
        cmocka_unit_test(check_is_not_arithmetic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
