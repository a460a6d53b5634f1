/* The table of shapes that pay, row by row, and that a declined op writes
 * nothing. */
#include "check.h"
#include "thresholds.h"

static amp_work work(int64_t m, int64_t n, int64_t k, bool transa,
                     bool transb) {
    return (amp_work){
        .batch = 1, .m = m, .n = n, .k = k, .transa = transa, .transb = transb};
}

static void short_sums_never_pay(void **state) {
    (void)state;
    amp_work w = work(4096, 4096, 31, false, true);
    assert_false(amp_pays(&w));
    w.k = 32;
    assert_true(amp_pays(&w));
}

static void work_per_matrix(void **state) {
    (void)state;
    amp_work w = work(64, 64, 63, false, true);
    assert_false(amp_pays(&w));
    w.batch = 1000; /* a batch of small ones stays small */
    assert_false(amp_pays(&w));
    w.k = 64;
    assert_true(amp_pays(&w));
}

static void parameters_lower_the_limit(void **state) {
    (void)state;
    amp_work w = work(64, 64, 32, false, true);
    assert_false(amp_pays(&w));
    w.ready_b = true;
    assert_true(amp_pays(&w));
    w.transb = false;
    assert_false(amp_pays(&w));
    /* The same product with its operands swapped, as column-major callers
     * pass it. */
    w = work(64, 64, 32, false, true);
    w.ready_a = true;
    assert_true(amp_pays(&w));
    w.transa = true;
    assert_false(amp_pays(&w));
}

static void few_rows(void **state) {
    (void)state;
    amp_work w = work(1, 1024, 1024, false, true);
    assert_false(amp_pays(&w));
    w.ready_b = true;
    assert_true(amp_pays(&w));
    w.transb = false;
    assert_false(amp_pays(&w));
    w.m = 8;
    assert_true(amp_pays(&w));
    w.ready_b = false;
    assert_false(amp_pays(&w));
    w.m = 16;
    assert_true(amp_pays(&w));
}

static void huge_shapes_do_not_wrap(void **state) {
    (void)state;
    amp_work w =
        work((int64_t)1 << 40, (int64_t)1 << 40, (int64_t)1 << 40, false, true);
    assert_true(amp_pays(&w));
}

static void declined_op_writes_nothing(void **state) {
    (void)state;
    float a[64] = {1};
    float c[64];
    memset(c, 0x5a, sizeof c);
    float before[64];
    memcpy(before, c, sizeof c);
    assert_int_equal(
        amp_gemm_as(AMP_BF16, 0, 0, 8, 8, 8, 1, a, 8, a, 8, 0, c, 8),
        AMP_DECLINED);
    assert_memory_equal(c, before, sizeof c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_sums_never_pay),
        cmocka_unit_test(work_per_matrix),
        cmocka_unit_test(parameters_lower_the_limit),
        cmocka_unit_test(few_rows),
        cmocka_unit_test(huge_shapes_do_not_wrap),
        cmocka_unit_test(declined_op_writes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
