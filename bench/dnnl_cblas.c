/* cblas_sgemm on oneDNN, to link in front of a BLAS: the FP32 baseline of a
 * program whose rewrite multiplies with oneDNN, so that a ratio shows what
 * half precision gains and not what a library does. */
#include <cblas.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>

static char letter(enum CBLAS_TRANSPOSE t) {
    return t == CblasTrans || t == CblasConjTrans ? 'T' : 'N';
}

void cblas_sgemm(const enum CBLAS_ORDER order, const enum CBLAS_TRANSPOSE ta,
                 const enum CBLAS_TRANSPOSE tb, const blasint m,
                 const blasint n, const blasint k, const float alpha,
                 const float *a, const blasint lda, const float *b,
                 const blasint ldb, const float beta, float *c,
                 const blasint ldc) {
    /* A column-major matrix is its transpose, row-major. */
    dnnl_status_t status =
        order == CblasRowMajor
            ? dnnl_sgemm(letter(ta), letter(tb), m, n, k, alpha, a, lda, b, ldb,
                         beta, c, ldc)
            : dnnl_sgemm(letter(tb), letter(ta), n, m, k, alpha, b, ldb, a, lda,
                         beta, c, ldc);
    if (status != dnnl_success) {
        fprintf(stderr, "dnnl_sgemm: status %d\n", (int)status);
        exit(1);
    }
}
