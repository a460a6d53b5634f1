// RUN: %amp-rewrite --half=bf16 %s 2>%t.err | %FileCheck %s
// RUN: %FileCheck --check-prefix=ERR --input-file=%t.err %s
// RUN: %amp-rewrite -v --half=bf16 %s 2>&1 >/dev/null | %FileCheck --check-prefix=REMARK %s
// A pragma keeps one op in FP32; a misspelled one is told.

void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta,
                 float *c, int ldc);

void forward(float *y, const float *x, const float *w, int n)
{
    // CHECK: {{^[+]}}    amp_cblas_sgemm(101
    cblas_sgemm(101, 111, 111, n, n, n, 1.0f, x, n, w, n, 0.0f, y, n);
    // CHECK-NOT: {{^[+]}}    amp_cblas_sgemm(102
#pragma amp fp32
    // REMARK: [[#@LINE+1]]:5: remark: 'cblas_sgemm' stays FP32: #pragma amp fp32 [AMP302-op-fp32]
    cblas_sgemm(102, 111, 111, n, n, n, 1.0f, x, n, w, n, 0.0f, y, n);
    // ERR: [[#@LINE+1]]:1: warning: unknown '#pragma amp fp23' [AMP106-unknown-pragma]
#pragma amp fp23
    cblas_sgemm(103, 111, 111, n, n, n, 1.0f, x, n, w, n, 0.0f, y, n);
}
