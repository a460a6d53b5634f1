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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemm),
        cmocka_unit_test(gemv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
