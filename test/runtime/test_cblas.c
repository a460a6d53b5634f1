/* The cblas wrappers, built once per half type: all orders and transposes
 * against cblas itself. In the neutral build the bits have to be the same. */
#include "check.h"

#include <amp/amp_cblas.h>

static double bound(void) {
    return AMP_HALF == AMP_FP32 ? 0.0 : bound_of(AMP_HALF);
}

/* Relative Frobenius distance; 0 only if every bit is equal. */
static double distance(const float *x, const float *y, size_t n) {
    double error = 0;
    double norm = 0;
    for (size_t i = 0; i < n; i++) {
        double d = (double)x[i] - (double)y[i];
        error += d * d;
        norm += (double)y[i] * (double)y[i];
    }
    return sqrt(error / norm);
}

static void check_gemm(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE ta,
                       enum CBLAS_TRANSPOSE tb, float beta) {
    enum { M = 30, N = 45, K = 60, LD = 70, SIZE = 70 * 70 };
    float *a = random_floats(SIZE, 1);
    float *b = random_floats(SIZE, 2);
    float *c = random_floats(SIZE, 3);
    float *d = random_floats(SIZE, 3);
    int m_read = 0;
    int a_read = 0;
#define COUNTED(counter, x) (counter++, (x))
    amp_cblas_sgemm(order, ta, tb, COUNTED(m_read, M), N, K, 0.5f,
                    COUNTED(a_read, a), LD, b, LD, beta, c, LD);
#undef COUNTED
    assert_true(m_read == 1 && a_read == 1);
    cblas_sgemm(order, ta, tb, M, N, K, 0.5f, a, LD, b, LD, beta, d, LD);
    assert_true(distance(c, d, SIZE) <= bound());
    if (AMP_HALF == AMP_FP32)
        assert_memory_equal(c, d, SIZE * sizeof *c);
    else
        assert_true(memcmp(c, d, SIZE * sizeof *c) != 0); /* it was in half */
    free(a);
    free(b);
    free(c);
    free(d);
}

static void gemm(void **state) {
    (void)state;
    const enum CBLAS_ORDER orders[] = {CblasRowMajor, CblasColMajor};
    const enum CBLAS_TRANSPOSE trans[] = {CblasNoTrans, CblasTrans,
                                          CblasConjTrans};
    for (int o = 0; o < 2; o++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                for (int beta = 0; beta < 2; beta++)
                    check_gemm(orders[o], trans[i], trans[j], (float)beta);
}

static void check_gemv(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE trans,
                       int incx, int incy) {
    enum { M = 40, N = 56, LD = 60, SIZE = 60 * 60 };
    float *a = random_floats(SIZE, 1);
    float *x = random_floats(SIZE, 2);
    float *y = random_floats(SIZE, 3);
    float *z = random_floats(SIZE, 3);
    amp_cblas_sgemv(order, trans, M, N, -1.0f, a, LD, x, incx, 0.25f, y, incy);
    cblas_sgemv(order, trans, M, N, -1.0f, a, LD, x, incx, 0.25f, z, incy);
    assert_true(distance(y, z, SIZE) <= bound());
    if (AMP_HALF == AMP_FP32)
        assert_memory_equal(y, z, SIZE * sizeof *y);
    free(a);
    free(x);
    free(y);
    free(z);
}

static void gemv(void **state) {
    (void)state;
    const enum CBLAS_ORDER orders[] = {CblasRowMajor, CblasColMajor};
    for (int o = 0; o < 2; o++)
        for (int t = 0; t < 2; t++)
            for (int inc = -2; inc <= 2; inc++)
                if (inc != 0)
                    check_gemv(orders[o], t ? CblasTrans : CblasNoTrans, inc,
                               3 - abs(inc));
}

/* ---- buffers of either type ---------------------------------------------- */

/* Half numbers, as floats and stored in half. */
static amp_half *both_forms(float *x, size_t n) {
    amp_half *h = malloc(n * sizeof *h);
    assert_non_null(h);
    for (size_t i = 0; i < n; i++) {
        h[i] = amp_to_half(x[i]);
        x[i] = amp_to_float(h[i]);
    }
    return h;
}

/* Of one rounding to half at the end, if the result is stored so. */
static void check_stored(const amp_half *got, const float *want, size_t n) {
    double unit = AMP_HALF == AMP_FP32   ? 0
                  : AMP_HALF == AMP_FP16 ? 0x1p-11
                                         : 0x1p-8;
    for (size_t i = 0; i < n; i++) {
        double x = (double)want[i];
        double off = fabs((double)amp_to_float(got[i]) - x);
        assert_true(off <= (unit == 0 ? 0 : fabs(x) * unit * 1.001 + 2e-5));
    }
}

static void check_mixed_gemm(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE ta,
                             enum CBLAS_TRANSPOSE tb, float beta) {
    enum { M = 30, N = 45, K = 60, LD = 70, SIZE = 70 * 70 };
    float *a = random_floats(SIZE, 1);
    float *b = random_floats(SIZE, 2);
    float *c = random_floats(SIZE, 3);
    amp_half *half_a = both_forms(a, SIZE);
    amp_half *half_b = both_forms(b, SIZE);
    amp_half *half_c = both_forms(c, SIZE);
    amp_cblas_sgemm_mixed(order, ta, tb, M, N, K, 0.5f, AMP_BUFFER(half_a), LD,
                          AMP_BUFFER(half_b), LD, beta, AMP_BUFFER(half_c), LD);
    float *d = malloc(SIZE * sizeof *d);
    assert_non_null(d);
    memcpy(d, c, SIZE * sizeof *d);
    cblas_sgemm(order, ta, tb, M, N, K, 0.5f, a, LD, b, LD, beta, d, LD);
    check_stored(half_c, d, SIZE);
    /* Two of them in FP32. */
    amp_cblas_sgemm_mixed(order, ta, tb, M, N, K, 0.5f, AMP_BUFFER(half_a), LD,
                          AMP_BUFFER(b), LD, beta, AMP_BUFFER(c), LD);
    assert_true(distance(c, d, SIZE) <= (AMP_HALF == AMP_FP32 ? 0 : 1e-6));
    free(a);
    free(b);
    free(c);
    free(d);
    free(half_a);
    free(half_b);
    free(half_c);
}

static void mixed_gemm(void **state) {
    (void)state;
    const enum CBLAS_ORDER orders[] = {CblasRowMajor, CblasColMajor};
    const enum CBLAS_TRANSPOSE trans[] = {CblasNoTrans, CblasTrans};
    for (int o = 0; o < 2; o++)
        for (int i = 0; i < 4; i++)
            for (int beta = 0; beta < 2; beta++)
                check_mixed_gemm(orders[o], trans[i & 1], trans[i >> 1],
                                 (float)beta);
}

/* A cblas may lack it: what it would do. */
static int batch_calls;

static void plain_batch(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE ta,
                        enum CBLAS_TRANSPOSE tb, AMP_CBLAS_INT m,
                        AMP_CBLAS_INT n, AMP_CBLAS_INT k, float alpha,
                        const float *a, AMP_CBLAS_INT lda,
                        AMP_CBLAS_INT stridea, const float *b,
                        AMP_CBLAS_INT ldb, AMP_CBLAS_INT strideb, float beta,
                        float *c, AMP_CBLAS_INT ldc, AMP_CBLAS_INT stridec,
                        AMP_CBLAS_INT batch) {
    batch_calls++;
    for (AMP_CBLAS_INT i = 0; i < batch; i++)
        cblas_sgemm(order, ta, tb, m, n, k, alpha, a + i * stridea, lda,
                    b + i * strideb, ldb, beta, c + i * stridec, ldc);
}
#define cblas_sgemm_batch_strided plain_batch

static void check_batch(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE ta,
                        enum CBLAS_TRANSPOSE tb) {
    enum { M = 30, N = 45, K = 60, LD = 70, ONE = 70 * 70, SIZE = 3 * ONE };
    float *a = random_floats(SIZE, 1);
    float *b = random_floats(SIZE, 2);
    float *c = random_floats(SIZE, 3);
    amp_half *half_a = both_forms(a, SIZE);
    amp_half *half_b = both_forms(b, SIZE);
    amp_half *half_c = both_forms(c, SIZE);
    float *d = malloc(SIZE * sizeof *d);
    assert_non_null(d);
    memcpy(d, c, SIZE * sizeof *d);
    plain_batch(order, ta, tb, M, N, K, 0.5f, a, LD, ONE, b, LD, ONE, 1.0f, d,
                LD, ONE, 3);
    batch_calls = 0;
    amp_cblas_sgemm_batch_strided(order, ta, tb, M, N, K, 0.5f, a, LD, ONE, b,
                                  LD, ONE, 1.0f, c, LD, ONE, 3);
    amp_cblas_sgemm_batch_strided_mixed(
        order, ta, tb, M, N, K, 0.5f, AMP_BUFFER(half_a), LD, ONE,
        AMP_BUFFER(half_b), LD, ONE, 1.0f, AMP_BUFFER(half_c), LD, ONE, 3);
    assert_int_equal(batch_calls, AMP_HALF == AMP_FP32 ? 2 : 0);
    assert_true(distance(c, d, SIZE) <= (AMP_HALF == AMP_FP32 ? 0 : 1e-6));
    check_stored(half_c, d, SIZE);
    free(a);
    free(b);
    free(c);
    free(d);
    free(half_a);
    free(half_b);
    free(half_c);
}

static void batches(void **state) {
    (void)state;
    const enum CBLAS_ORDER orders[] = {CblasRowMajor, CblasColMajor};
    const enum CBLAS_TRANSPOSE trans[] = {CblasNoTrans, CblasTrans};
    for (int o = 0; o < 2; o++)
        for (int i = 0; i < 4; i++)
            check_batch(orders[o], trans[i & 1], trans[i >> 1]);
}

static void check_mixed_gemv(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE trans,
                             int incx, int incy) {
    enum { M = 40, N = 56, LD = 60, SIZE = 60 * 60 };
    float *a = random_floats(SIZE, 1);
    float *x = random_floats(SIZE, 2);
    float *y = random_floats(SIZE, 3);
    amp_half *half_a = both_forms(a, SIZE);
    amp_half *half_x = both_forms(x, SIZE);
    amp_half *half_y = both_forms(y, SIZE);
    amp_cblas_sgemv_mixed(order, trans, M, N, -1.0f, AMP_BUFFER(half_a), LD,
                          AMP_BUFFER(half_x), incx, 0.25f, AMP_BUFFER(half_y),
                          incy);
    cblas_sgemv(order, trans, M, N, -1.0f, a, LD, x, incx, 0.25f, y, incy);
    check_stored(half_y, y, SIZE);
    free(a);
    free(x);
    free(y);
    free(half_a);
    free(half_x);
    free(half_y);
}

static void mixed_gemv(void **state) {
    (void)state;
    const enum CBLAS_ORDER orders[] = {CblasRowMajor, CblasColMajor};
    for (int o = 0; o < 2; o++)
        for (int t = 0; t < 2; t++)
            for (int inc = -2; inc <= 2; inc++)
                if (inc != 0)
                    check_mixed_gemv(orders[o], t ? CblasTrans : CblasNoTrans,
                                     inc, 3 - abs(inc));
}

static void check_level1(int incx, int incy) {
    enum { N = 50, SIZE = 160 };
    float *x = random_floats(SIZE, 1);
    float *y = random_floats(SIZE, 2);
    amp_half *half_x = both_forms(x, SIZE);
    amp_half *half_y = both_forms(y, SIZE);
    float dot = amp_cblas_sdot_mixed(N, AMP_BUFFER(half_x), incx,
                                     AMP_BUFFER(half_y), incy);
    float expected = cblas_sdot(N, x, incx, y, incy);
    assert_true(fabsf(dot - expected) <= 1e-5f * (float)N);
    amp_cblas_saxpy_mixed(N, 0.5f, AMP_BUFFER(x), incx, AMP_BUFFER(half_y),
                          incy);
    cblas_saxpy(N, 0.5f, x, incx, y, incy);
    check_stored(half_y, y, SIZE);
    amp_cblas_sscal_mixed(N, -3.0f, AMP_BUFFER(half_x), incx);
    cblas_sscal(N, -3.0f, x, incx);
    check_stored(half_x, x, SIZE);
    amp_cblas_scopy_mixed(N, AMP_BUFFER(half_x), incx, AMP_BUFFER(y), incy);
    for (int i = 0; i < N; i++) {
        int from = incx < 0 ? (i + 1 - N) * incx : i * incx;
        int to = incy < 0 ? (i + 1 - N) * incy : i * incy;
        assert_true(y[to] == amp_to_float(half_x[from])); /* nothing is lost */
    }
    free(x);
    free(y);
    free(half_x);
    free(half_y);
}

static void level1(void **state) {
    (void)state;
    for (int incx = -2; incx <= 2; incx++)
        for (int incy = -3; incy <= 3; incy += 2)
            if (incx != 0)
                check_level1(incx, incy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemm),       cmocka_unit_test(gemv),
        cmocka_unit_test(mixed_gemm), cmocka_unit_test(mixed_gemv),
        cmocka_unit_test(batches),    cmocka_unit_test(level1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
