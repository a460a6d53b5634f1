/* amp_cblas.h - cblas functions in half precision, with cblas' signatures.
 *
 * Each wrapper asks libamp for the op and runs the original function when it
 * gets anything but AMP_OK: the op declined, the build is neutral, or the
 * arguments are wrong, which cblas then reports its own way. Arguments are
 * evaluated once. Works with the cblas.h of OpenBLAS, netlib and ATLAS.
 */
#ifndef AMP_AMP_CBLAS_H
#define AMP_AMP_CBLAS_H

#include <cblas.h>

#include <amp/amp.h>

/* The integer of this cblas. */
#if defined(CBLAS_INT)
#define AMP_CBLAS_INT CBLAS_INT
#elif defined(OPENBLAS_CONFIG_H) || defined(OPENBLAS_VERSION)
#define AMP_CBLAS_INT blasint
#else
#define AMP_CBLAS_INT int
#endif

/* CblasConjNoTrans, which not every cblas has, does not transpose either. */
#define AMP_CBLAS_TRANS(t) ((t) == CblasTrans || (t) == CblasConjTrans)

static inline void
amp_cblas_sgemm(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE transa,
                enum CBLAS_TRANSPOSE transb, AMP_CBLAS_INT m, AMP_CBLAS_INT n,
                AMP_CBLAS_INT k, float alpha, const float *a, AMP_CBLAS_INT lda,
                const float *b, AMP_CBLAS_INT ldb, float beta, float *c,
                AMP_CBLAS_INT ldc) {
    int ta = AMP_CBLAS_TRANS(transa);
    int tb = AMP_CBLAS_TRANS(transb);
    /* A column-major matrix is its transpose, row-major. */
    amp_status status = AMP_ERR_ARGUMENT;
    if (order == CblasRowMajor)
        status = amp_gemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    else if (order == CblasColMajor)
        status = amp_gemm(tb, ta, n, m, k, alpha, b, ldb, a, lda, beta, c, ldc);
    if (status != AMP_OK)
        cblas_sgemm(order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta,
                    c, ldc);
}

/* a is stored m x n whatever transa says, as in BLAS. */
static inline void amp_cblas_sgemv(enum CBLAS_ORDER order,
                                   enum CBLAS_TRANSPOSE transa, AMP_CBLAS_INT m,
                                   AMP_CBLAS_INT n, float alpha, const float *a,
                                   AMP_CBLAS_INT lda, const float *x,
                                   AMP_CBLAS_INT incx, float beta, float *y,
                                   AMP_CBLAS_INT incy) {
    int trans = AMP_CBLAS_TRANS(transa);
    int stored_trans = order == CblasRowMajor ? trans : !trans;
    amp_status status = amp_gemv(stored_trans, trans ? n : m, trans ? m : n,
                                 alpha, a, lda, x, incx, beta, y, incy);
    if (status != AMP_OK)
        cblas_sgemv(order, transa, m, n, alpha, a, lda, x, incx, beta, y, incy);
}

/* Not every cblas has it: named only where the program calls it. */
typedef void (*amp_cblas_batch)(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE,
                                enum CBLAS_TRANSPOSE, AMP_CBLAS_INT,
                                AMP_CBLAS_INT, AMP_CBLAS_INT, float,
                                const float *, AMP_CBLAS_INT, AMP_CBLAS_INT,
                                const float *, AMP_CBLAS_INT, AMP_CBLAS_INT,
                                float, float *, AMP_CBLAS_INT, AMP_CBLAS_INT,
                                AMP_CBLAS_INT);

#define amp_cblas_sgemm_batch_strided(...)                                     \
    amp_cblas_sgemm_batch_or(cblas_sgemm_batch_strided, __VA_ARGS__)

static inline void amp_cblas_sgemm_batch_or(
    amp_cblas_batch original, enum CBLAS_ORDER order,
    enum CBLAS_TRANSPOSE transa, enum CBLAS_TRANSPOSE transb, AMP_CBLAS_INT m,
    AMP_CBLAS_INT n, AMP_CBLAS_INT k, float alpha, const float *a,
    AMP_CBLAS_INT lda, AMP_CBLAS_INT stridea, const float *b, AMP_CBLAS_INT ldb,
    AMP_CBLAS_INT strideb, float beta, float *c, AMP_CBLAS_INT ldc,
    AMP_CBLAS_INT stridec, AMP_CBLAS_INT batch) {
    int ta = AMP_CBLAS_TRANS(transa);
    int tb = AMP_CBLAS_TRANS(transb);
    amp_status status = AMP_ERR_ARGUMENT;
    if (order == CblasRowMajor)
        status = amp_gemm_strided(ta, tb, m, n, k, alpha, a, lda, stridea, b,
                                  ldb, strideb, beta, c, ldc, stridec, batch);
    else if (order == CblasColMajor)
        status = amp_gemm_strided(tb, ta, n, m, k, alpha, b, ldb, strideb, a,
                                  lda, stridea, beta, c, ldc, stridec, batch);
    if (status != AMP_OK)
        original(order, transa, transb, m, n, k, alpha, a, lda, stridea, b, ldb,
                 strideb, beta, c, ldc, stridec, batch);
}

/* The same for buffers that may be stored in half. */
#include <amp/amp_cblas_storage.h>

#endif
