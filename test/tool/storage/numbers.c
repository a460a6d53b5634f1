// Numbers that half spoils, where a rule asks for half all the same; and sizes
// of products that do not suit it.
// RUN: echo 'keep half variable mask, eps, count, p, mean, total, fine;' > %t.amp
// RUN: %amp-rewrite -O2 --rules %t.amp --dump-after=solve -v %s > %t 2> %t.err
// RUN: %FileCheck %s < %t.err --implicit-check-not=AMP70
// RUN: %FileCheck %s --check-prefix=HALF < %t
// RUN: %amp-rewrite -O2 --dump-after=solve %s 2>&1 \
// RUN:   | %FileCheck %s --check-prefix=KEPT --implicit-check-not=AMP704
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { B = 64, D = 64, CLASSES = 10 };
static const int wide = 2 * D;

static float x[B][D], w[D][D], dw[D][D], h[B][D], dh[B][D], t[B][D];
static float v[D][CLASSES], o[B][CLASSES], big[2 * D][2 * D];
static float mask[D], eps[D], count[D], p[D], mean[B], total[D], fine[D];
// HALF-DAG: storage half mask/1
// HALF-DAG: storage half eps/1
// HALF-DAG: storage half count/1
// HALF-DAG: storage half p/1
// HALF-DAG: storage half mean/1
// HALF-DAG: storage half total/1
// KEPT-DAG: storage fp32 mask/1 {{.*}}: holds -1e+09, which fp16 cannot
// KEPT-DAG: storage fp32 eps/1 {{.*}}: holds 1e-08, which is 0 in fp16
// KEPT-DAG: storage fp32 count/1 {{.*}}: holds integers
// KEPT-DAG: storage fp32 total/1 {{.*}}: holds a statistic: a sum that is not one of products

static float step(int n) {
    float loss = 0;
    // CHECK-DAG: numbers.c:[[@LINE+1]]:{{[0-9]+}}: remark: 'cblas_sgemm' is too small here for half to pay for its casts (m = 64, k = 64, n = 10): libamp runs it in FP32 [AMP705-small-product]
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, B, CLASSES, D, 1,
                h[0], D, v[0], CLASSES, 0, o[0], CLASSES);
    // CHECK-DAG: numbers.c:[[@LINE+1]]:{{[0-9]+}}: remark: 'cblas_sgemm' has sizes that are no multiples of 8 (m = 1001): tensor units pad them or stand idle [AMP706-odd-sizes]
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 1001, wide, D + D, 1,
                big[0], D, big[0], D, 0, big[0], D);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, D, D, 1, x[0], D,
                w[0], D, 0, h[0], D);
    for (int j = 0; j < D; j++) {
        // CHECK-DAG: numbers.c:[[@LINE+1]]:9: warning: 'mask/1' is stored in half by a rule: holds -1e+09, which fp16 cannot [AMP704-half-value]
        mask[j] = j < n ? 0 : -1e9f;
        // CHECK-DAG: numbers.c:[[@LINE+1]]:9: warning: 'eps/1' is stored in half by a rule: holds 1e-08, which is 0 in fp16
        eps[j] = 1e-8f;
        // CHECK-DAG: numbers.c:[[@LINE+1]]:9: warning: 'count/1' is stored in half by a rule: holds integers, which half has up to 2048 (bf16: 256) only
        count[j] = n;
        // CHECK-DAG: numbers.c:[[@LINE+1]]:9: warning: 'p/1' is stored in half by a rule: holds what needs FP32: rule exp expf (libm.amp)
        p[j] = expf(h[0][j] + mask[j] + eps[j] + count[j]);
        fine[j] = h[0][j] * 0.5f;
    }
    for (int b = 0; b < B; b++) {
        float sum = 0;
        for (int j = 0; j < D; j++)
            sum += h[b][j];
        // CHECK-DAG: numbers.c:[[@LINE+1]]:9: warning: 'mean/1' is stored in half by a rule: holds a statistic: a sum that is not one of products
        mean[b] = sum / D;
    }
    memset(total, 0, sizeof total);
    for (int b = 0; b < B; b++)
        for (int j = 0; j < D; j++)
            // CHECK-DAG: numbers.c:[[@LINE+1]]:13: warning: 'total/1' is stored in half by a rule: holds a statistic: a sum that is not one of products
            total[j] += h[b][j] - mean[b];
    for (int b = 0; b < B; b++)
        for (int j = 0; j < D; j++) {
            float e = h[b][j] + p[j] + fine[j] + total[j] - t[b][j];
            loss += e * e;
            dh[b][j] = e / B;
        }
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, D, D, n, 1, x[0], D,
                dh[0], D, 0, dw[0], D);
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++)
            w[i][j] -= 0.1f * dw[i][j];
    return loss;
}

int main(void) {
    fread(x, sizeof x, 1, stdin);
    fread(t, sizeof t, 1, stdin);
    fread(w, sizeof w, 1, stdin);
    for (int i = 0; i < 20; i++)
        printf("%f\n", (double)step(B - i));
    return 0;
}
