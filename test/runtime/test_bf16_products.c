/* Products of bf16 operands, as they run where AMX is granted. oneDNN makes
 * them from AVX-512 on; elsewhere there is nothing to test. */
#include "check.h"
#include "operand.h"
#include "product.h"

static bool can_multiply_bf16(void) {
    amp_operand_kind kind;
    amp_product_shape s = {
        .batch = 1, .m = 32, .n = 32, .k = 32, .lda = 32, .ldb = 32, .ldc = 32};
    amp_product *p;
    s.types = AMP_PRODUCT_BF16_TO_FP32;
    return amp_product_operand(AMP_BF16, &kind) == AMP_OK &&
           amp_product_prepare(amp_worker_get(), &s, &p) == AMP_OK;
}

static uint16_t *bf16_of(const float *x, int64_t rows, int64_t cols,
                         int64_t batch) {
    amp_matrix m = {.data = x,
                    .rows = rows,
                    .cols = cols,
                    .ld = cols,
                    .batch = batch,
                    .stride = rows * cols};
    uint16_t *h = aligned_alloc(
        64, (amp_operand_bytes(&m, AMP_OPERAND_BF16) + 63u) & ~(size_t)63u);
    assert_non_null(h);
    amp_operand_cast(h, &m, AMP_OPERAND_BF16);
    return h;
}

static void check_shape(amp_product_shape s, float alpha, float beta) {
    float *a = random_floats((size_t)(s.batch * s.m * s.k), 1);
    float *b = random_floats((size_t)(s.batch * s.k * s.n), 2);
    float *c = random_floats((size_t)(s.batch * s.m * s.n), 3);
    float *before = random_floats((size_t)(s.batch * s.m * s.n), 3);
    uint16_t *ha = s.transa ? bf16_of(a, s.k, s.m, s.batch)
                            : bf16_of(a, s.m, s.k, s.batch);
    uint16_t *hb = s.transb ? bf16_of(b, s.n, s.k, s.batch)
                            : bf16_of(b, s.k, s.n, s.batch);
    amp_product *p;
    s.lda = s.transa ? s.m : s.k;
    s.ldb = s.transb ? s.k : s.n;
    s.ldc = s.n;
    s.stridea = s.batch == 1 ? 0 : s.m * s.k;
    s.strideb = s.batch == 1 ? 0 : s.k * s.n;
    s.stridec = s.batch == 1 ? 0 : s.m * s.n;
    s.types = AMP_PRODUCT_BF16_TO_FP32;
    s.scaled = alpha != 1.0f;
    s.beta = beta == 0.0f ? 0 : bits_of(beta);
    assert_int_equal(amp_product_prepare(amp_worker_get(), &s, &p), AMP_OK);
    assert_int_equal(
        amp_product_run(amp_worker_get(), p, ha, hb, NULL, alpha, c), AMP_OK);
    for (int64_t i = 0; i < s.batch; i++) {
        product want = {.transa = s.transa,
                        .transb = s.transb,
                        .m = s.m,
                        .n = s.n,
                        .k = s.k,
                        .alpha = alpha,
                        .beta = beta,
                        .a = a + i * s.m * s.k,
                        .lda = s.transa ? s.m : s.k,
                        .b = b + i * s.k * s.n,
                        .ldb = s.transb ? s.k : s.n,
                        .ldc = s.n};
        assert_true(product_error(&want, before + i * s.m * s.n,
                                  c + i * s.m * s.n) < BF16_BOUND);
    }
    free(a);
    free(b);
    free(c);
    free(before);
    free(ha);
    free(hb);
}

/* Half buffers where they lie, padded; a result in bf16 is the FP32 one,
 * rounded once. */
static void in_place(void **state) {
    (void)state;
    if (!can_multiply_bf16())
        skip();
    enum { M = 33, N = 40, K = 64, LD = 70, SIZE = 70 * 70 };
    float *a = random_floats(SIZE, 1);
    float *b = random_floats(SIZE, 2);
    uint16_t *ha = bf16_of(a, 70, 70, 1);
    uint16_t *hb = bf16_of(b, 70, 70, 1);
    float c[M * LD];
    uint16_t hc[M * LD];
    for (int t = 0; t < 4; t++) {
        amp_product_shape s = {.batch = 1,
                               .m = M,
                               .n = N,
                               .k = K,
                               .lda = LD,
                               .ldb = LD,
                               .ldc = LD,
                               .transa = t & 1,
                               .transb = t >> 1,
                               .types = AMP_PRODUCT_BF16_TO_FP32};
        amp_product *p;
        assert_int_equal(amp_product_prepare(amp_worker_get(), &s, &p), AMP_OK);
        assert_int_equal(
            amp_product_run(amp_worker_get(), p, ha, hb, NULL, 1.0f, c),
            AMP_OK);
        s.types = AMP_PRODUCT_BF16;
        assert_int_equal(amp_product_prepare(amp_worker_get(), &s, &p), AMP_OK);
        assert_int_equal(
            amp_product_run(amp_worker_get(), p, ha, hb, NULL, 1.0f, hc),
            AMP_OK);
        product want = {.transa = s.transa,
                        .transb = s.transb,
                        .m = M,
                        .n = N,
                        .k = K,
                        .alpha = 1.0f,
                        .a = a,
                        .lda = LD,
                        .b = b,
                        .ldb = LD,
                        .ldc = LD};
        assert_true(product_error(&want, NULL, c) < BF16_BOUND);
        for (int i = 0; i < M * LD; i++)
            if (i % LD < N)
                assert_int_equal(hc[i], amp_bf16_from_float(c[i]));
    }
    free(a);
    free(b);
    free(ha);
    free(hb);
}

static void layouts(void **state) {
    (void)state;
    if (!can_multiply_bf16())
        skip();
    for (int t = 0; t < 4; t++) {
        amp_product_shape s = {.batch = 1, .m = 33, .n = 40, .k = 64};
        s.transa = t & 1;
        s.transb = t >> 1;
        check_shape(s, 1.0f, 0.0f);
        check_shape(s, 0.5f, 1.0f);
        s.batch = 3;
        check_shape(s, 1.0f, 0.0f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts),
        cmocka_unit_test(in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
