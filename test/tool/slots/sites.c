// What can be rewritten is a site and pins nothing.
// RUN: %amp-rewrite --dump-after=flows %s | %FileCheck %s
// RUN: %amp-rewrite --dump-after=flows %s | %FileCheck %s --check-prefix=NONE
// NONE-NOT: {{^  pin}}
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>

static float scale[3] = {1.0f, 0.5f, 0.25f};
// CHECK-DAG: site declaration sites.c:[[#@LINE-1]]:8 scale/1
// CHECK-DAG: site initialiser sites.c:[[#@LINE-2]]:25 scale/1

void print(const float *v) {
    printf("%f %f\n", v[1], (double)v[2] * 2);
}
// CHECK-DAG: site printed sites.c:[[#@LINE-2]]:23 print:v/1

int read(float *v, FILE *f) {
    return fscanf(f, "%f", &v[3]);
}
// CHECK-DAG: site address-of sites.c:[[#@LINE-2]]:28 read:v/1
// CHECK-DAG: site scanned sites.c:[[#@LINE-3]]:28 read:v/1

void save(const float *v, size_t n, FILE *f) {
    fwrite(v, sizeof(float), n, f);
}
// CHECK-DAG: site file sites.c:[[#@LINE-2]]:5 save:v/1
// CHECK-DAG: site sizeof sites.c:[[#@LINE-3]]:15 save:v/1

void four(float *v) {
    __m128 x = _mm_loadu_ps(v);
    _mm_storeu_ps(v + 4, x);
}
// CHECK-DAG: site call sites.c:[[#@LINE-3]]:29 four:v/1

#define AT(p, i) ((p)[i])
#define CLEAR_FIRST(p) p[0] = 0.0f

float macros(float *v, int k) {
    CLEAR_FIRST(v);
    return AT(v, k) + AT(scale, (int)v[2]);
}
// CHECK-DAG: site store sites.c:[[#@LINE-3]]:5 macros:v/1 (macro body)
// CHECK-DAG: site load sites.c:[[#@LINE-3]]:38 macros:v/1 (macro argument)

void set(float *v) {
    float *w = (float *)malloc(4 * sizeof(float));
    w[1] = 1e-8f;
    v[0] += w[1];
    free(w);
}
// CHECK-DAG: site cast sites.c:[[#@LINE-5]]:16 set:w/1
// CHECK-DAG: site allocation sites.c:[[#@LINE-6]]:25 set:w/1
// CHECK-DAG: site literal sites.c:[[#@LINE-6]]:12 set:w/1
// CHECK-DAG: site store sites.c:[[#@LINE-7]]:5 set:w/1
// CHECK-DAG: site compound sites.c:[[#@LINE-7]]:5 set:v/1
// CHECK-DAG: site load sites.c:[[#@LINE-8]]:13 set:w/1

void group(void) {
    float one = 1.0f, *two = NULL, three[2];
    three[0] = one;
    (void)two;
}
// CHECK-DAG: site declaration sites.c:[[#@LINE-4]]:5 group:three/1
