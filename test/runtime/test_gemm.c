/* amp_gemm, amp_gemm_strided and amp_gemv against products in double. Runs
 * with AMP_MIN_MNK=0, so that small shapes are not declined. */
#include "check.h"
#include "kernels.h"

static const amp_dtype halves[] = {AMP_FP16, AMP_BF16};

/* The same product, its operands rounded beforehand. */
static float *rounded(const float *x, size_t n, amp_dtype half) {
    float *r = malloc(n * sizeof *r);
    assert_non_null(r);
    if (half == AMP_FP16)
        amp_kernels_get()->round_fp16(r, x, n);
    else
        amp_kernels_get()->round_bf16(r, x, n);
    return r;
}

/* Padded leading dimensions; checks that the padding of c is left alone. */
static void check_product(amp_dtype half, int transa, int transb, int64_t m,
                          int64_t n, int64_t k, float alpha, float beta) {
    const int64_t pad = 3;
    product p = {.transa = transa,
                 .transb = transb,
                 .m = m,
                 .n = n,
                 .k = k,
                 .alpha = alpha,
                 .beta = beta,
                 .lda = (transa ? m : k) + pad,
                 .ldb = (transb ? k : n) + pad,
                 .ldc = n + pad};
    size_t na = (size_t)((transa ? k : m) * p.lda);
    size_t nb = (size_t)((transb ? n : k) * p.ldb);
    size_t nc = (size_t)(m * p.ldc);
    float *a = random_floats(na, 1);
    float *b = random_floats(nb, 2);
    float *c = random_floats(nc, 3);
    float *before = malloc(nc * sizeof *before);
    assert_non_null(before);
    if (beta == 0.0f)
        for (int64_t i = 0; i < m * p.ldc; i++)
            if (i % p.ldc < n)
                c[i] = NAN; /* must not be read */
    memcpy(before, c, nc * sizeof *c);
    p.a = a;
    p.b = b;
    assert_int_equal(amp_gemm_as(half, transa, transb, m, n, k, alpha, a, p.lda,
                                 b, p.ldb, beta, c, p.ldc),
                     AMP_OK);
    assert_true(product_error(&p, before, c) < bound_of(half));
    /* All of that error is the rounding of the operands. */
    float *ra = rounded(a, na, half);
    float *rb = rounded(b, nb, half);
    p.a = ra;
    p.b = rb;
    assert_true(product_error(&p, before, c) < FP32_BOUND);
    for (int64_t i = 0; i < m * p.ldc; i++)
        if (i % p.ldc >= n)
            assert_true(c[i] == before[i]);
    free(a);
    free(b);
    free(c);
    free(before);
    free(ra);
    free(rb);
}

static void shapes_and_layouts(void **state) {
    (void)state;
    const int64_t shapes[][3] = {{1, 1, 1},    {1, 64, 64},  {64, 1, 33},
                                 {17, 31, 5},  {64, 64, 64}, {96, 80, 128},
                                 {33, 129, 70}};
    for (size_t h = 0; h < 2; h++)
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
            for (int t = 0; t < 4; t++)
                check_product(halves[h], t & 1, t >> 1, shapes[s][0],
                              shapes[s][1], shapes[s][2], 1.0f, 0.0f);
}

static void alpha_and_beta(void **state) {
    (void)state;
    const float alphas[] = {1.0f, -1.0f, 0.3f};
    const float betas[] = {0.0f, -0.0f, 1.0f, 0.5f, -2.0f};
    for (size_t h = 0; h < 2; h++)
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < 5; j++)
                check_product(halves[h], 0, 1, 20, 24, 40, alphas[i], betas[j]);
}

/* 256^3 and up run on a team of threads. */
static void large_product(void **state) {
    (void)state;
    check_product(AMP_FP16, 0, 1, 150, 170, 400, 1.0f, 1.0f);
    check_product(AMP_BF16, 1, 0, 150, 170, 400, 1.0f, 1.0f);
}

/* More shapes than a thread keeps; the first has to work again. */
static void more_shapes_than_are_kept(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 300; n++)
        check_product(AMP_FP16, 0, 0, 2, n, 3, 1.0f, 0.0f);
    check_product(AMP_FP16, 0, 0, 2, 1, 3, 1.0f, 0.0f);
}

static void special_values_pass_through(void **state) {
    (void)state;
    float a[4] = {1.0f, 0.0f, 0.0f, 1.0f};
    float b[4] = {65520.0f, 2.0f, NAN, -70000.0f};
    float c[4] = {0};
    assert_int_equal(
        amp_gemm_as(AMP_FP16, 0, 0, 2, 1, 2, 1.0f, a, 2, b, 1, 0.0f, c, 1),
        AMP_OK);
    assert_true(isinf(c[0]) || isnan(c[0])); /* 65520 is inf in fp16 */
    assert_int_equal(
        amp_gemm_as(AMP_FP16, 0, 0, 1, 1, 1, 1.0f, a, 1, b + 2, 1, 0.0f, c, 1),
        AMP_OK);
    assert_true(isnan(c[0]));
    assert_int_equal(
        amp_gemm_as(AMP_FP16, 0, 0, 1, 1, 1, 1.0f, a, 1, b + 3, 1, 0.0f, c, 1),
        AMP_OK);
    assert_true(isinf(c[0]) && c[0] < 0);
}

static void declines_and_errors_write_nothing(void **state) {
    (void)state;
    float a[16] = {1};
    float c[16];
    for (int i = 0; i < 16; i++)
        c[i] = (float)i;
#define LEAVES_C(want, call)                                                   \
    do {                                                                       \
        assert_int_equal(call, want);                                          \
        for (int i = 0; i < 16; i++)                                           \
            assert_true(c[i] == (float)i);                                     \
    } while (0)
    LEAVES_C(AMP_DECLINED,
             amp_gemm_as(AMP_FP32, 0, 0, 4, 4, 4, 1, a, 4, a, 4, 0, c, 4));
    LEAVES_C(AMP_DECLINED,
             amp_gemm_as(AMP_FP16, 0, 0, 4, 4, 0, 1, a, 4, a, 4, 0, c, 4));
    LEAVES_C(AMP_DECLINED,
             amp_gemm_as(AMP_FP16, 0, 0, 4, 4, 4, 0, a, 4, a, 4, 0, c, 4));
    LEAVES_C(AMP_ERR_ARGUMENT,
             amp_gemm_as(AMP_FP16, 0, 0, 4, 4, 4, 1, a, 3, a, 4, 0, c, 4));
    LEAVES_C(AMP_ERR_ARGUMENT,
             amp_gemm_as(AMP_FP16, 0, 0, 4, 4, 4, 1, a, 4, a, 4, 0, c, 3));
    LEAVES_C(AMP_ERR_ARGUMENT,
             amp_gemm_as(AMP_FP16, 0, 0, -1, 4, 4, 1, a, 4, a, 4, 0, c, 4));
    LEAVES_C(AMP_ERR_ARGUMENT,
             amp_gemm_as(AMP_FP16, 0, 0, 4, 4, 4, 1, NULL, 4, a, 4, 0, c, 4));
    LEAVES_C(AMP_ERR_ARGUMENT,
             amp_gemm_as((amp_dtype)9, 0, 0, 4, 4, 4, 1, a, 4, a, 4, 0, c, 4));
#undef LEAVES_C
}

/* Sizes that no memory could have must not wrap around into small ones. */
static void impossible_sizes(void **state) {
    (void)state;
    const int64_t huge = INT64_C(1) << 40;
    float a[4] = {1};
    float c[4] = {7, 7, 7, 7};
    assert_int_equal(
        amp_gemm_as(AMP_FP16, 0, 0, huge, 1, huge, 1, a, huge, a, 1, 0, c, 1),
        AMP_ERR_ARGUMENT);
    assert_int_equal(
        amp_gemm_as(AMP_FP16, 0, 0, 2, 1, 1, 1, a, INT64_MAX, a, 1, 0, c, 1),
        AMP_ERR_ARGUMENT);
    assert_int_equal(
        amp_gemm_as(AMP_FP16, 0, 0, 2, 1, 1, 1, a, 1, a, 1, 0, c, INT64_MAX),
        AMP_ERR_ARGUMENT);
    assert_int_equal(amp_gemm_strided_as(AMP_FP16, 0, 0, 1, 1, 1, 1, a, 1,
                                         INT64_MAX, a, 1, 1, 0, c, 1, 1, 3),
                     AMP_ERR_ARGUMENT);
    assert_int_equal(
        amp_linear_forward_as(AMP_BF16, c, a, a, NULL, huge, huge, 2),
        AMP_ERR_ARGUMENT);
    assert_true(c[0] == 7 && c[1] == 7 && c[2] == 7 && c[3] == 7);
}

/* Nothing to do is no error, even without memory to do it in. */
static void empty_calls(void **state) {
    (void)state;
    assert_int_equal(
        amp_gemm_as(AMP_FP16, 0, 0, 0, 4, 4, 1, NULL, 4, NULL, 4, 0, NULL, 4),
        AMP_DECLINED);
    assert_int_equal(amp_gemm_as((amp_dtype)40, 0, 0, 0, 4, 4, 1, NULL, 4, NULL,
                                 4, 0, NULL, 4),
                     AMP_ERR_ARGUMENT);
    assert_int_equal(amp_linear_backward_as(AMP_FP16, NULL, NULL, NULL, NULL,
                                            NULL, NULL, 0, 4, 4),
                     AMP_DECLINED);
    amp_cast_to_fp16(NULL, NULL, 0);
    amp_cast_from_bf16(NULL, NULL, 0);
    assert_int_equal(amp_scale_as(AMP_FP16, 0, NULL, 0), AMP_OK);
}

/* ---- batches ------------------------------------------------------------ */

typedef struct batch {
    int64_t stridea;
    int64_t strideb;
    int64_t stridec;
    int64_t lda;
    int64_t ldb;
    int64_t ldc;
    int64_t count;
} batch;

static void check_batch(amp_dtype half, const batch *s, int transb) {
    enum { M = 24, N = 20, K = 36, ROOM = 40000 };
    float *a = random_floats(ROOM, 4);
    float *b = random_floats(ROOM, 5);
    float *c = random_floats(ROOM, 6);
    float *before = malloc(ROOM * sizeof *before);
    assert_non_null(before);
    memcpy(before, c, ROOM * sizeof *c);
    assert_int_equal(amp_gemm_strided_as(half, 0, transb, M, N, K, 1.0f, a,
                                         s->lda, s->stridea, b, s->ldb,
                                         s->strideb, 1.0f, c, s->ldc,
                                         s->stridec, s->count),
                     AMP_OK);
    for (int64_t i = 0; i < s->count; i++) {
        product p = {.transb = transb,
                     .m = M,
                     .n = N,
                     .k = K,
                     .alpha = 1.0f,
                     .beta = 1.0f,
                     .a = a + i * s->stridea,
                     .lda = s->lda,
                     .b = b + i * s->strideb,
                     .ldb = s->ldb,
                     .ldc = s->ldc};
        assert_true(product_error(&p, before + i * s->stridec,
                                  c + i * s->stridec) < bound_of(half));
    }
    free(a);
    free(b);
    free(c);
    free(before);
}

static void batches(void **state) {
    (void)state;
    const batch stacked = {24 * 36, 20 * 36, 24 * 20, 36, 36, 20, 7};
    /* Heads side by side in one row, as attention stores them. */
    const batch heads = {36, 36, 20, 36 * 5, 36 * 5, 20 * 5, 5};
    const batch shared_b = {24 * 36, 0, 24 * 20, 36, 36, 20, 7};
    const batch shared_a = {0, 20 * 36, 24 * 20, 36, 36, 20, 7};
    const batch one = {0, 0, 0, 36, 36, 20, 1};
    for (size_t h = 0; h < 2; h++) {
        check_batch(halves[h], &stacked, 1);
        check_batch(halves[h], &heads, 1);
        check_batch(halves[h], &shared_b, 1);
        check_batch(halves[h], &shared_a, 1);
        check_batch(halves[h], &one, 1);
        batch plain = stacked;
        plain.ldb = 20;
        check_batch(halves[h], &plain, 0);
    }
}

/* Results that overlap depend on the order of the products. */
static void odd_batches_are_declined(void **state) {
    (void)state;
    float a[64] = {0};
    float c[64] = {0};
    /* One product many times over. */
    assert_int_equal(amp_gemm_strided_as(AMP_FP16, 0, 0, 4, 4, 4, 1, a, 4, 0, a,
                                         4, 0, 1, c, 4, 16, 3),
                     AMP_DECLINED);
    assert_int_equal(amp_gemm_strided_as(AMP_FP16, 0, 0, 4, 4, 4, 1, a, 4, 16,
                                         a, 4, 16, 1, c, 4, 0, 3),
                     AMP_DECLINED);
    assert_int_equal(amp_gemm_strided_as(AMP_FP16, 0, 0, 4, 4, 4, 1, a, 4, 16,
                                         a, 4, 16, 1, c, 4, 8, 3),
                     AMP_DECLINED);
}

/* ---- vectors ------------------------------------------------------------ */

static void check_gemv(amp_dtype half, int trans, int64_t incx, int64_t incy) {
    enum { M = 70, N = 45 };
    int64_t lda = (trans ? M : N) + 2;
    float *a = random_floats((size_t)((trans ? N : M) * lda), 8);
    float *x = random_floats((size_t)(N * incx), 9);
    float *y = random_floats((size_t)(M * incy), 10);
    float before[M * 3];
    memcpy(before, y, (size_t)(M * incy) * sizeof *y);
    product p = {.transa = trans,
                 .m = M,
                 .n = 1,
                 .k = N,
                 .alpha = 0.5f,
                 .beta = -1.0f,
                 .a = a,
                 .lda = lda,
                 .b = x,
                 .ldb = incx,
                 .ldc = incy};
    assert_int_equal(
        amp_gemv_as(half, trans, M, N, 0.5f, a, lda, x, incx, -1.0f, y, incy),
        AMP_OK);
    assert_true(product_error(&p, before, y) < bound_of(half));
    for (int64_t i = 0; i < M * incy; i++)
        if (i % incy != 0)
            assert_true(y[i] == before[i]);
    free(a);
    free(x);
    free(y);
}

static void vectors(void **state) {
    (void)state;
    for (size_t h = 0; h < 2; h++)
        for (int t = 0; t < 2; t++)
            for (int64_t inc = 1; inc <= 3; inc++)
                check_gemv(halves[h], t, inc, 4 - inc);
}

static void odd_increments(void **state) {
    (void)state;
    float a[4] = {1, 2, 3, 4};
    float y[2] = {5, 6};
    assert_int_equal(amp_gemv_as(AMP_FP16, 0, 2, 2, 1, a, 2, a, 0, 0, y, 1),
                     AMP_ERR_ARGUMENT);
    assert_int_equal(amp_gemv_as(AMP_FP16, 0, 2, 2, 1, a, 2, a, -1, 0, y, 1),
                     AMP_DECLINED);
    assert_true(y[0] == 5 && y[1] == 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_and_layouts),
        cmocka_unit_test(alpha_and_beta),
        cmocka_unit_test(large_product),
        cmocka_unit_test(more_shapes_than_are_kept),
        cmocka_unit_test(special_values_pass_through),
        cmocka_unit_test(declines_and_errors_write_nothing),
        cmocka_unit_test(impossible_sizes),
        cmocka_unit_test(empty_calls),
        cmocka_unit_test(batches),
        cmocka_unit_test(odd_batches_are_declined),
        cmocka_unit_test(vectors),
        cmocka_unit_test(odd_increments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
