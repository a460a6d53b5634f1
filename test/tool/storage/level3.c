// -O3: parameters, gradients and state in half, but for what half would spoil.
// RUN: %amp-rewrite -O3 --dump-after=solve %s -v > %t 2> %t.err
// RUN: %FileCheck %s < %t
// RUN: %FileCheck %s --check-prefix=SAYS < %t.err
// RUN: %amp-rewrite -O3 --loss-scale=1 %s 2>&1 >/dev/null \
// RUN:   | %FileCheck %s --check-prefix=MEANT --implicit-check-not=AMP707
// RUN: %amp-rewrite -O3 --half=bf16 %s 2>&1 >/dev/null \
// RUN:   | %FileCheck %s --check-prefix=MEANT --implicit-check-not=AMP707
// MEANT: AMP701
// RUN: %amp-rewrite -O3 --strict-o3 --dump-after=solve %s > %t 2> %t.err
// RUN: %FileCheck %s --check-prefix=STRICT < %t
// RUN: %FileCheck %s --check-prefix=BREAKS < %t.err
// RUN: %amp-rewrite -O3 --keep-batchnorm-fp32 --dump-after=solve %s \
// RUN:   2>/dev/null | %FileCheck %s --check-prefix=NORM
// RUN: echo 'role norm variable head;' > %t.amp
// RUN: %amp-rewrite -O3 --keep-batchnorm-fp32 --rules %t.amp \
// RUN:   --dump-after=solve %s 2>/dev/null | %FileCheck %s --check-prefix=ROLE
// RUN: %amp-rewrite -O3 --master-weights --dump-after=solve %s 2>/dev/null \
// RUN:   | %FileCheck %s --check-prefix=MASTER
// RUN: %amp-rewrite -O3 --loss-scale=dynamic --dump-after=solve %s \
// RUN:   2>/dev/null | %FileCheck %s --check-prefix=SCALED
// RUN: %amp-rewrite -O2 --master-weights=no --dump-after=solve %s 2>/dev/null \
// RUN:   | %FileCheck %s --check-prefix=TWO
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { B = 8, D = 16 };

static float x[B * 4][D], t[B * 4][D];
// CHECK-DAG: storage fp32 x/2 (data): data stay FP32: level O3 (levels.amp)
static float w[D][D], dw[D][D];
// CHECK-DAG: storage half w/2 (param): parameters: level O3 (levels.amp) [{{.*}}]
// CHECK-DAG: storage half dw/2 (grad): parameter gradients: level O3 (levels.amp)
// TWO-DAG: storage half w/2 (param): parameters: --master-weights=no
// TWO-DAG: storage fp32 dw/2 (grad): parameter gradients stay FP32: level O2
// MASTER-DAG: storage fp32 w/2 (param): parameters stay FP32: --master-weights=yes
// MASTER-DAG: storage fp32 dw/2 (grad): parameter gradients stay FP32: the loss scale is taken out of them in place
// SCALED-DAG: storage half w/2 (param)
// SCALED-DAG: storage fp32 dw/2 (grad): parameter gradients stay FP32: the loss scale is taken out of them in place, and half would flush what is left

// Adam: the second moment is a sum of squares.
static float m[D][D], v[D][D];
// CHECK-DAG: storage half m/2 (state): optimizer state: level O3 (levels.amp)
// CHECK-DAG: storage fp32 v/2 (state): a sum of squares: in fp16 those of numbers below 2^-12 are 0, in bf16 a decay of 0.999 changes nothing [{{.*}}level3.c:{{[0-9]+}}:{{[0-9]+}}] to unlock: --strict-o3
// STRICT-DAG: storage half v/2 (state): optimizer state: level O3
// STRICT-DAG: storage half slow/1 (state)
// BREAKS-DAG: warning: 'v/2' is stored in half: a sum of squares: {{.*}} [AMP702-half-state]

// A scale and a shift of a normalised value; so many samples are a statistic.
static float gain[D], shift[D], dgain[D], dshift[D];
// CHECK-DAG: storage half gain/1 (param+norm): parameters: level O3 (levels.amp)
// NORM-DAG: storage half w/2 (param): parameters: level O3
// NORM-DAG: storage fp32 shift/1 (param+norm): parameters of norm layers stay FP32: --keep-batchnorm-fp32=yes
// TWO-DAG: storage fp32 gain/1 (param+norm): parameters of norm layers stay FP32: level O2

// Statistics, also those that are averaged over the steps.
static float mean[D], rstd[D], running[D];
// CHECK-DAG: storage fp32 mean/1 (activation): holds a statistic
// CHECK-DAG: storage fp32 running/1 (loss): losses stay FP32

// One second moment for a row: the average of a statistic.
static float head[D][D], dhead[D][D], rows[D];
// NORM-DAG: storage half head/2 (param): parameters: level O3
// ROLE-DAG: storage fp32 head/2 (param+norm): parameters of norm layers stay FP32: --keep-batchnorm-fp32=yes
// CHECK-DAG: storage fp32 rows/1 (state): holds a statistic: a sum that is not one of products
// STRICT-DAG: storage fp32 rows/1 (state): holds a statistic: a sum that is not one of products

// Momentum: .9 is fine, .999 is below half an ulp of bf16.
static float fast[D], slow[D];
// CHECK-DAG: storage half fast/1 (state): optimizer state: level O3
// CHECK-DAG: storage fp32 slow/1 (state): decays by 0.001 a step, less than half an ulp of bf16 (2^-9)

static float h[B][D], n[B][D], y[B][D], z[B][D];
static float dz[B][D], dy[B][D], dn[B][D], dh[B][D];
// CHECK-DAG: storage half n/2 (activation)

static void adam(float rate, float beta1, float beta2) {
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) {
            float g = dw[i][j];
            m[i][j] = beta1 * m[i][j] + (1 - beta1) * g;
            // SAYS-DAG: level3.c:[[@LINE+1]]:13: remark: 'v/2' stays FP32: a sum of squares
            v[i][j] += (1 - beta2) * (g * g - v[i][j]);
            // SAYS-DAG: level3.c:[[@LINE+1]]:13: warning: 'w/2' has no FP32 masters at -O3: an update below half an ulp, 2^-12 of the value in fp16, 2^-9 in bf16, is lost [AMP701-half-parameters]
            w[i][j] -= rate * m[i][j] / (sqrtf(v[i][j]) + 1e-8f);
        }
}

static void adam_of_rows(float rate) {
    for (int i = 0; i < D; i++) {
        float squares = 0;
        for (int j = 0; j < D; j++)
            squares += dhead[i][j] * dhead[i][j];
        rows[i] = 0.99f * rows[i] + 0.01f * squares / D;
        for (int j = 0; j < D; j++)
            head[i][j] -= rate * dhead[i][j] / (sqrtf(rows[i]) + 1e-8f);
    }
}

static void momentum(float rate, float slowest) {
    for (int j = 0; j < D; j++) {
        fast[j] = 0.9f * fast[j] + dgain[j];
        gain[j] -= rate * fast[j];
        slow[j] = slowest * slow[j] + (1 - slowest) * dshift[j];
        shift[j] -= rate * slow[j];
    }
}

static float step(int at) {
    float loss = 0;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, B, D, D, 1, x[at],
                D, w[0], D, 0, h[0], D);
    for (int j = 0; j < D; j++) {
        float sum = 0, squares = 0;
        for (int b = 0; b < B; b++)
            sum += h[b][j];
        mean[j] = sum / B;
        for (int b = 0; b < B; b++)
            squares += (h[b][j] - mean[j]) * (h[b][j] - mean[j]);
        rstd[j] = 1 / sqrtf(squares / B + 1e-5f);
        running[j] = 0.9f * running[j] + 0.1f * mean[j];
        for (int b = 0; b < B; b++) {
            n[b][j] = (h[b][j] - mean[j]) * rstd[j];
            // NORM-DAG: storage fp32 gain/1 {{.*}}level3.c:[[@LINE+1]]:33]
            y[b][j] = n[b][j] * gain[j] + shift[j];
        }
    }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, B, D, D, 1, y[0], D,
                head[0], D, 0, z[0], D);
    for (int b = 0; b < B; b++)
        for (int j = 0; j < D; j++) {
            float e = z[b][j] - t[at + b][j];
            loss += e * e;
            dz[b][j] = e / B;
        }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, B, D, D, 1, dz[0], D,
                head[0], D, 0, dy[0], D);
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, D, D, B, 1, y[0], D,
                dz[0], D, 0, dhead[0], D);
    for (int j = 0; j < D; j++) {
        float a = 0, c = 0;
        for (int b = 0; b < B; b++) {
            a += dy[b][j] * n[b][j];
            c += dy[b][j];
        }
        dgain[j] = a;
        dshift[j] = c;
        for (int b = 0; b < B; b++) {
            dn[b][j] = dy[b][j] * gain[j];
            dh[b][j] = (dn[b][j] - (c + n[b][j] * a) * gain[j] / B) * rstd[j];
        }
    }
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, D, D, B, 1, x[at], D,
                dh[0], D, 0, dw[0], D);
    adam(0.01f, 0.9f, 0.999f);
    adam_of_rows(0.01f);
    momentum(0.01f, 0.999f);
    return loss;
}

int main(void) {
    for (int i = 0; i < D; i++) {
        gain[i] = 1;
        for (int j = 0; j < D; j++)
            w[i][j] = head[i][j] = 0.1f * ((float)(rand() % 100) / 100 - 0.5f);
    }
    fread(x, sizeof x, 1, stdin);
    fread(t, sizeof t, 1, stdin);
    // SAYS-DAG: level3.c:[[@LINE+1]]:5: warning: -O3 does not scale the loss: in fp16 gradients below 2^-25 are 0, and nothing looks for inf and NaN [AMP707-unscaled]
    for (int i = 0; i < 20; i++)
        printf("%f\n", (double)step(i % 4 * B));
    fwrite(w, sizeof w, 1, stdout);
    fwrite(gain, sizeof gain, 1, stdout);
    return 0;
}
