// A local that points to memory of both precisions, and is not taken apart: all
// of it stays FP32.
// RUN: %amp-rewrite %s --rules %S/Inputs/half.amp -O2 --loss-scale=none --dump-after=solve 2>/dev/null | %FileCheck %s
#include <stdio.h>
#include <stdlib.h>

#define SHOW(e) printf(#e " %g\n", (double)(e))
#define AT(i) a[i]
static float h_1[4], h_2[4], h_3[4], h_4[4], h_5[4], h_6[4], h_7[4], h_8[4],
    h_9[4], h_10[4], h_11[4], h_12[4], h_13[4], h_split[4];
#pragma amp fp32
static float w[4];

// CHECK-DAG: fp32 h_1/1 {{.*}}: 'a' also points to memory that stays FP32 [{{.*}}:[[#@LINE+1]]:
static float param(float *a) {
    float s = a[0];
    a = h_1;
    return s + a[0];
}

// CHECK-DAG: fp32 h_2/1 {{.*}}: 'a' also points to memory that stays FP32, and its declaration is not taken apart [{{.*}}:[[#@LINE+3]]:
static float in_for(void) {
    float s = 0;
    for (float *a = h_2; s < 1; a = h_2) {
        s += a[0];
        a = w;
        s += a[0] + 1;
    }
    return s;
}

// CHECK-DAG: fp32 h_3/1 {{.*}}: 'a' also points to memory that stays FP32, and its declaration is not taken apart [{{.*}}:[[#@LINE+2]]:
static float restricted(void) {
    float *restrict a = h_3;
    float s = a[0];
    a = w;
    return s + a[0];
}

// CHECK-DAG: fp32 h_4/1 {{.*}}: 'a' also points to memory that stays FP32, and is named where no expression is read [{{.*}}:[[#@LINE+2]]:
static float shadowed(void) {
    float *a = h_4;
    float s = a[0];
    a = w;
    if (s > 1) {
        int a = 2;
        s += (float)a;
    }
    return s + a[0];
}

// CHECK-DAG: fp32 h_5/1 {{.*}}: 'a' also points to memory that stays FP32, and the text comes from a macro body [{{.*}}:[[#@LINE+2]]:
static float in_macro(void) {
    float *a = h_5;
    float s = AT(0);
    a = w;
    return s + a[0];
}

// CHECK-DAG: fp32 h_6/1 {{.*}}: 'a' also points to memory that stays FP32, and a macro turns the text into a string [{{.*}}:[[#@LINE+2]]:
static float shown(void) {
    float *a = h_6;
    SHOW(a == NULL);
    a = w;
    return a[0];
}

// CHECK-DAG: fp32 h_7/1 {{.*}}: 'a' also points to memory that stays FP32, and is named where no expression is read [{{.*}}:[[#@LINE+2]]:
static float left_out(void) {
    float *a = h_7;
    float s = a[0];
#ifdef ELSEWHERE
    a[1] = 2;
#endif
    a = w;
    return s + a[0];
}

// CHECK-DAG: fp32 h_8/1 {{.*}}: 'a' also points to memory that stays FP32, and it is not known to which at each place [{{.*}}:[[#@LINE+2]]:
static float unreached(void) {
    float *a = h_8;
    float s = a[0];
    a = w;
    return s + a[0];
    a[1] = 2;
}

// CHECK-DAG: fp32 h_9/1 {{.*}}: 'taken' also points to memory that stays FP32, and 'taken_half' is taken [{{.*}}:[[#@LINE+2]]:
static float named(void) {
    float *taken = h_9, taken_half = 3;
    float s = taken[0] * taken_half;
    taken = w;
    return s + taken[0];
}

// CHECK-DAG: fp32 h_10/1 {{.*}}: 'a' also points to memory that stays FP32, and a sum is made beside it [{{.*}}:[[#@LINE+2]]:
static float summed(void) {
    float *a = h_10;
    for (int i = 0; i < 4; i++)
        a[0] += w[i] * w[i];
    float s = a[0];
    a = w;
    return s + a[0];
}

// CHECK-DAG: fp32 h_11/1 {{.*}}: 'a' also points to memory that stays FP32, and its declaration is not taken apart [{{.*}}:[[#@LINE+2]]:
static float at_once(void) {
    float *a = h_11, *b = (a = w);
    float s = a[0] + b[1];
    a = h_11;
    return s + a[0];
}

// CHECK-DAG: fp32 h_12/1 {{.*}}: 'a' also points to memory that stays FP32, and is named where no expression is read [{{.*}}:[[#@LINE+2]]:
static float in_pragma(void) {
    float *a = h_12, s = 0;
    _Pragma("omp parallel for firstprivate(a) reduction(+ : s)")
    for (int i = 0; i < 3; i++) {
        a = h_12 + i;
        s += a[0];
    }
    a = w;
    return s + a[0];
}

// Addresses that are compared stay of one type.
// CHECK-DAG: fp32 h_13/1 {{.*}}: #pragma amp fp32
static float compared(void) {
    float *a = h_13;
    float s = a[0] + (float)(a == w);
    a = w;
    return s + a[0];
}

// CHECK-DAG: half h_split/1
static float split(void) {
    float *a = h_split;
    float s = a[0];
    a = w;
    return s + a[0];
}

int main(void) {
    printf("%g\n", param(w) + in_for() + restricted() + shadowed() +
                       in_macro() + shown() + left_out() + unreached() +
                       named() + summed() + at_once() + in_pragma() +
                       compared() + split());
    return 0;
}
