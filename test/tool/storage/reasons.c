// Each buffer with one precision and one reason.
// RUN: %amp-rewrite -O2 --dump-after=solve %s > %t 2>/dev/null
// RUN: %FileCheck %s < %t
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { B = 8, D = 16 };

float x[B * 4][D], t[B * 4][D];
// CHECK-DAG: storage fp32 x/2 (data): data stay FP32: level O2 (levels.amp) [{{.*}}reasons.c:{{[0-9]+}}:{{[0-9]+}}] to unlock: keep half role data;
float w[D][D], dw[D][D], v[D][D];
// CHECK-DAG: storage fp32 w/2 (param): parameters stay FP32: level O2 (levels.amp)
// CHECK-DAG: storage fp32 dw/2 (grad): parameter gradients stay FP32: level O2
// CHECK-DAG: storage fp32 v/2 (state): optimizer state stay FP32: level O2
float h[B][D], dh[B][D];
// CHECK-DAG: storage half h/2 (activation): activations: level O2 (levels.amp)
// CHECK-DAG: storage half dh/2 (activation): gradients of activations: level O2 (levels.amp)

// What exp gives, and what it is divided by.
float p[B][D];
// CHECK-DAG: storage fp32 p/2 (activation): holds what needs FP32: rule exp expf (libm.amp) [{{.*}}:[[#EXP:]]:{{.*}}] to unlock: keep half variable p;

// A mean is a statistic, what it is taken off is not.
float mean[B], centred[B][D];
// CHECK-DAG: storage fp32 mean/1 (activation): holds a statistic: a sum that is not one of products
// CHECK-DAG: storage half centred/2 (activation): activations

// A sum of products is what a layer computes.
float dots[B];
// CHECK-DAG: storage half dots/1 (activation): activations

// Added to in memory, again and again.
float column[D], above[D];
// CHECK-DAG: storage fp32 column/1 (activation): holds a statistic: a sum that is not one of products
// CHECK-DAG: storage fp32 above/1 (activation): a sum: a loop adds to the same element again and again, and no FP32 scratch can stand in for it ({{.*}}: the loop may not come to it) [{{.*}}] to unlock: add up in a local variable and store once

// Once each: no sum, also in two dimensions.
float twice[B][D];
// CHECK-DAG: storage half twice/2 (activation): activations

// Read as bits.
float bits[D];
// CHECK-DAG: storage fp32 bits/1 (activation): reinterpreted as int [{{.*}}] to unlock: give the other use memory of its own

// A mask that fp16 cannot hold, numbers that it cannot count.
float mask[D], epsilon[D], steps[D], choice[D], small[D];
// CHECK-DAG: storage fp32 mask/1 (activation): holds -1e+09, which fp16 cannot [
// CHECK-DAG: storage fp32 epsilon/1 (activation): holds 1e-08, which is 0 in fp16 [
// CHECK-DAG: storage fp32 steps/1 (activation): holds integers, which half has up to 2048 (bf16: 256) only [{{.*}}] to unlock: keep half variable steps;
// CHECK-DAG: storage fp32 choice/1 (activation): used as an integer [
// CHECK-DAG: storage half small/1 (activation): activations

// The best parameters so far are no activation; one that begins as a bias is.
float best[D][D], latest[D], biased[D], bias[D], dbias[D];
// CHECK-DAG: storage fp32 best/2 (activation): holds nothing but copies of parameters [{{.*}}] to unlock: keep half variable best;
// CHECK-DAG: storage fp32 latest/1 (activation): holds nothing but copies of parameters [
// CHECK-DAG: storage half biased/1 (activation): activations

// Passed to code that takes float.
float scaled[D];
// CHECK-DAG: storage fp32 scaled/1 (activation): 'cblas_sasum' takes float [{{.*}}] to unlock: give it a copy
void plot(float *values, int n);
float shown[D];
// CHECK-DAG: storage fp32 shown/1 (activation): its address is passed to 'plot' [{{.*}}] to unlock: exchange a copy

// Training knows nothing of these.
float tested[D];
// CHECK-DAG: storage fp32 tested/1 (no role): the training loop does not use it
float *never_called(int n) {
    float *q = malloc(n * sizeof(float));
    q[0] = 1;
    return q;
}
// CHECK-DAG: storage fp32 never_called:q/1 (no role): role unknown: no training loop is seen to use it to unlock: keep half variable q;

// An evaluation that calls the same functions in a loop is no sum; what is
// called again and again within the step is.
float shifted[B * D], piled[D];
// CHECK-DAG: storage half shifted/1 (activation): activations
// CHECK-DAG: storage fp32 piled/1 (activation): a sum: a call in a loop adds to it again and again [
static void shift(float *v, const float *by, int n) {
    for (int i = 0; i < n; i++)
        v[i] += by[i];
}
static void pile(float *v, const float *by, int n) {
    for (int i = 0; i < n; i++)
        v[i] += by[i];
}
static float evaluate(void) {
    float all = 0;
    for (int k = 0; k < 3; k++) {
        memcpy(shifted, h, sizeof shifted);
        shift(shifted, bias, D);
        all += shifted[k];
    }
    return all;
}

static float step(int n) {
    float loss = 0;
    // CHECK-DAG: storage fp32 step:loss/0 ({{.*}}): a single float, no buffer
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, B, D, D, 1, x[n * B],
                D, w[0], D, 0, h[0], D);
    for (int b = 0; b < B; b++) {
        float sum = 0, all = 0, dot = 0;
        for (int j = 0; j < D; j++) {
            h[b][j] = 1 / (1 + expf(-h[b][j]));
            all += h[b][j];
        }
        mean[b] = all / D;
        for (int j = 0; j < D; j++)
            centred[b][j] = h[b][j] - all / D;
        for (int j = 0; j < D; j++)
            dot += h[b][j] * centred[b][j];
        dots[b] = dot;
        for (int j = 0; j < D; j++)
// CHECK-DAG: {{.*}}reasons.c:[[#EXP]]:{{[0-9]+}}: exp expf deny
            sum += p[b][j] = expf(centred[b][j] + 0 * (dots[b] + mean[b]));
        for (int j = 0; j < D; j++) {
            p[b][j] /= sum;
            twice[b][j] = centred[b][j];
            twice[b][j] += h[b][j];
            loss -= t[n * B + b][j] * logf(p[b][j] + 1e-6f) + twice[b][j];
            dh[b][j] = p[b][j] - t[n * B + b][j];
        }
    }
    for (int j = 0; j < D; j++) {
        column[j] = 0;
        for (int b = 0; b < B; b++)
            column[j] += h[b][j];
        above[j] = 0;
        for (int b = 0; b < B; b++)
            if (h[b][j] > 0)
                above[j] += h[b][j] * w[b][j];
        loss += above[j];
        bits[j] = column[j];
        scaled[j] = column[j];
        shown[j] = column[j];
        mask[j] = j > n ? -1e9f : 0;
        epsilon[j] = 1e-8f;
        steps[j] = n;
        choice[j] = column[j];
        small[j] = j > n ? -1e4f : 1e-6f;
        loss += mask[j] + epsilon[j] + steps[j] + small[j] + (int)choice[j];
        loss += *(int *)&bits[j] & 1;
    }
    loss += cblas_sasum(D, scaled, 1);
    plot(shown, D);
    loss += scaled[0] + shown[0];
    if (loss < 1) {
        memcpy(best, w, sizeof w);
        for (int j = 0; j < D; j++)
            latest[j] = w[0][j];
    }
    memcpy(shifted, h, sizeof shifted);
    shift(shifted, bias, D);
    memset(piled, 0, sizeof piled);
    for (int b = 0; b < B; b++)
        pile(piled, h[b], D);
    loss += shifted[1] + piled[2];
    memcpy(biased, bias, sizeof bias);
    for (int j = 0; j < D; j++) {
        biased[j] += h[0][j];
        loss += biased[j];
        dbias[j] = dh[0][j];
    }
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, D, D, B, 1, x[n * B],
                D, dh[0], D, 0, dw[0], D);
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) {
            v[i][j] = 0.9f * v[i][j] + dw[i][j];
            w[i][j] -= 0.1f * v[i][j];
        }
    for (int j = 0; j < D; j++)
        bias[j] -= 0.1f * dbias[j];
    return loss;
}

int main(void) {
    for (int b = 0; b < 4 * B; b++)
        for (int j = 0; j < D; j++) {
            x[b][j] = (float)rand();
            t[b][j] = (float)rand();
        }
    for (int e = 0; e < 40; e++)
        printf("%f\n", step(e % 4));
    printf("%f\n", evaluate());
    for (int j = 0; j < D; j++)
        tested[j] = w[0][j] * x[0][j];
    printf("%f %f %f\n", tested[0], best[0][0], latest[0]);
    return 0;
}
// CHECK: storage {{[0-9]+}} of {{[0-9]+}} classes half
