/* amp_cblas_storage.h - cblas functions on buffers that may be stored in half.
 *
 * As those of amp_cblas.h, with an amp_buffer (AMP_BUFFER of amp_storage.h) for
 * each vector and matrix. In the neutral build, where all of them are FP32,
 * cblas runs. In the half builds it does only to report wrong arguments its own
 * way, if all are FP32; otherwise libamp's log tells.
 */
#ifndef AMP_AMP_CBLAS_STORAGE_H
#define AMP_AMP_CBLAS_STORAGE_H

#include <amp/amp_cblas.h>
#include <amp/amp_storage.h>

static inline int amp_cblas_all_floats(amp_buffer a, amp_buffer b,
                                       amp_buffer c) {
    return a.type == AMP_FP32 && b.type == AMP_FP32 && c.type == AMP_FP32;
}

static inline void amp_cblas_sgemm_mixed(
    enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE transa,
    enum CBLAS_TRANSPOSE transb, AMP_CBLAS_INT m, AMP_CBLAS_INT n,
    AMP_CBLAS_INT k, float alpha, amp_buffer a, AMP_CBLAS_INT lda, amp_buffer b,
    AMP_CBLAS_INT ldb, float beta, amp_buffer c, AMP_CBLAS_INT ldc) {
    int ta = AMP_CBLAS_TRANS(transa);
    int tb = AMP_CBLAS_TRANS(transb);
    /* A column-major matrix is its transpose, row-major. */
    amp_status status = AMP_ERR_ARGUMENT;
    if (order == CblasRowMajor)
        status = amp_gemm_mixed(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c,
                                ldc);
    else if (order == CblasColMajor)
        status = amp_gemm_mixed(tb, ta, n, m, k, alpha, b, ldb, a, lda, beta, c,
                                ldc);
    if (status != AMP_OK && amp_cblas_all_floats(a, b, c))
        cblas_sgemm(order, transa, transb, m, n, k, alpha, (float *)a.data, lda,
                    (float *)b.data, ldb, beta, (float *)c.data, ldc);
}

/* a is stored m x n whatever transa says, as in BLAS. */
static inline void amp_cblas_sgemv_mixed(
    enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE transa, AMP_CBLAS_INT m,
    AMP_CBLAS_INT n, float alpha, amp_buffer a, AMP_CBLAS_INT lda, amp_buffer x,
    AMP_CBLAS_INT incx, float beta, amp_buffer y, AMP_CBLAS_INT incy) {
    int trans = AMP_CBLAS_TRANS(transa);
    int stored_trans = order == CblasRowMajor ? trans : !trans;
    amp_status status =
        amp_gemv_mixed(stored_trans, trans ? n : m, trans ? m : n, alpha, a,
                       lda, x, incx, beta, y, incy);
    if (status != AMP_OK && amp_cblas_all_floats(a, x, y))
        cblas_sgemv(order, transa, m, n, alpha, (float *)a.data, lda,
                    (float *)x.data, incx, beta, (float *)y.data, incy);
}

#define amp_cblas_sgemm_batch_strided_mixed(...)                               \
    amp_cblas_sgemm_batch_mixed_or(cblas_sgemm_batch_strided, __VA_ARGS__)

static inline void amp_cblas_sgemm_batch_mixed_or(
    amp_cblas_batch original, enum CBLAS_ORDER order,
    enum CBLAS_TRANSPOSE transa, enum CBLAS_TRANSPOSE transb, AMP_CBLAS_INT m,
    AMP_CBLAS_INT n, AMP_CBLAS_INT k, float alpha, amp_buffer a,
    AMP_CBLAS_INT lda, AMP_CBLAS_INT stridea, amp_buffer b, AMP_CBLAS_INT ldb,
    AMP_CBLAS_INT strideb, float beta, amp_buffer c, AMP_CBLAS_INT ldc,
    AMP_CBLAS_INT stridec, AMP_CBLAS_INT batch) {
    int ta = AMP_CBLAS_TRANS(transa);
    int tb = AMP_CBLAS_TRANS(transb);
    amp_status status = AMP_ERR_ARGUMENT;
    if (order == CblasRowMajor)
        status =
            amp_gemm_strided_mixed(ta, tb, m, n, k, alpha, a, lda, stridea, b,
                                   ldb, strideb, beta, c, ldc, stridec, batch);
    else if (order == CblasColMajor)
        status =
            amp_gemm_strided_mixed(tb, ta, n, m, k, alpha, b, ldb, strideb, a,
                                   lda, stridea, beta, c, ldc, stridec, batch);
    if (status != AMP_OK && amp_cblas_all_floats(a, b, c))
        original(order, transa, transb, m, n, k, alpha, (float *)a.data, lda,
                 stridea, (float *)b.data, ldb, strideb, beta, (float *)c.data,
                 ldc, stridec, batch);
}

/* ---- level 1 -------------------------------------------------------------
 *
 * Element by element: each is read as float, and what is written is rounded
 * once. Sums are double. With FP32 buffers only, cblas runs. */

static inline float amp_cblas_get(amp_buffer x, ptrdiff_t i) {
    return x.type == AMP_FP32 ? ((const float *)x.data)[i]
                              : amp_to_float(((const amp_half *)x.data)[i]);
}

static inline void amp_cblas_set(amp_buffer x, ptrdiff_t i, float value) {
    if (x.type == AMP_FP32)
        ((float *)x.data)[i] = value;
    else
        ((amp_half *)x.data)[i] = amp_to_half(value);
}

/* A vector with a negative increment begins at its end. */
static inline ptrdiff_t amp_cblas_first(AMP_CBLAS_INT n, AMP_CBLAS_INT inc) {
    return inc < 0 ? ((ptrdiff_t)1 - n) * inc : 0;
}

static inline void amp_cblas_scopy_mixed(AMP_CBLAS_INT n, amp_buffer x,
                                         AMP_CBLAS_INT incx, amp_buffer y,
                                         AMP_CBLAS_INT incy) {
    if (amp_cblas_all_floats(x, y, y)) {
        cblas_scopy(n, (float *)x.data, incx, (float *)y.data, incy);
        return;
    }
    ptrdiff_t ix = amp_cblas_first(n, incx), iy = amp_cblas_first(n, incy);
    for (AMP_CBLAS_INT i = 0; i < n; i++, ix += incx, iy += incy)
        amp_cblas_set(y, iy, amp_cblas_get(x, ix));
}

static inline void amp_cblas_saxpy_mixed(AMP_CBLAS_INT n, float alpha,
                                         amp_buffer x, AMP_CBLAS_INT incx,
                                         amp_buffer y, AMP_CBLAS_INT incy) {
    if (amp_cblas_all_floats(x, y, y)) {
        cblas_saxpy(n, alpha, (float *)x.data, incx, (float *)y.data, incy);
        return;
    }
    ptrdiff_t ix = amp_cblas_first(n, incx), iy = amp_cblas_first(n, incy);
    for (AMP_CBLAS_INT i = 0; i < n; i++, ix += incx, iy += incy)
        amp_cblas_set(y, iy,
                      alpha * amp_cblas_get(x, ix) + amp_cblas_get(y, iy));
}

static inline void amp_cblas_sscal_mixed(AMP_CBLAS_INT n, float alpha,
                                         amp_buffer x, AMP_CBLAS_INT incx) {
    if (x.type == AMP_FP32) {
        cblas_sscal(n, alpha, (float *)x.data, incx);
        return;
    }
    ptrdiff_t ix = 0;
    for (AMP_CBLAS_INT i = 0; incx > 0 && i < n; i++, ix += incx)
        amp_cblas_set(x, ix, alpha * amp_cblas_get(x, ix));
}

static inline float amp_cblas_sdot_mixed(AMP_CBLAS_INT n, amp_buffer x,
                                         AMP_CBLAS_INT incx, amp_buffer y,
                                         AMP_CBLAS_INT incy) {
    if (amp_cblas_all_floats(x, y, y))
        return cblas_sdot(n, (float *)x.data, incx, (float *)y.data, incy);
    ptrdiff_t ix = amp_cblas_first(n, incx), iy = amp_cblas_first(n, incy);
    double sum = 0;
    for (AMP_CBLAS_INT i = 0; i < n; i++, ix += incx, iy += incy)
        sum += (double)amp_cblas_get(x, ix) * (double)amp_cblas_get(y, iy);
    return (float)sum;
}

#endif
