// Declarations of what is stored in half: groups that half of their members
// leave, aliases of float, arrays, structs, prototypes, results, casts.
// RUN: %same --exact %s --rules %S/Inputs/declare.amp -O2 --loss-scale=none > %t.diff
// RUN: grep '^[+]' %t.diff | %FileCheck %s
#include <stdio.h>
#include <stdlib.h>

typedef float real;
#define NUMBER float
#define N 4

float *h_made(int n);
// CHECK: +amp_half *h_made(int n);
static float h_a[N], b[N], h_c[2][N];
// CHECK-NEXT: +static amp_half h_a[N];
// CHECK-NEXT: +static float b[N];
// CHECK-NEXT: +static amp_half h_c[2][N];
static real h_d[N];
// CHECK-NEXT: +static amp_half h_d[N];
static NUMBER const *h_e = h_d, *f = b;
// CHECK-NEXT: +static amp_half const *h_e = h_d;
// CHECK-NEXT: +static NUMBER const *f = b;
static const float *g = b,
                   *volatile h_v = h_a;
// CHECK-NEXT: +static const float *g = b;
// CHECK-NEXT: +                   static const amp_half *volatile h_v = h_a;

typedef struct layer {
    float *h_out, /* what it gives */
        *weight,
        *h_delta;
    // CHECK-NEXT: +    amp_half *h_out; /* what it gives */
    // CHECK-NEXT: +        float *weight;
    // CHECK-NEXT: +        amp_half *h_delta;
    float bias, h_part[N];
    // CHECK-NEXT: +    float bias;
    // CHECK-NEXT: +    amp_half h_part[N];
    struct { float *h_x, *y; } in;
    // CHECK-NEXT: +    struct { amp_half *h_x; float *y; } in;
} layer;

float *h_made(int n) {
    // CHECK-NEXT: +amp_half *h_made(int n) {
    return (float *)calloc(n, sizeof(float));
    // CHECK-NEXT: +    return (amp_half *)calloc(n, sizeof(amp_half));
}

static float total(const real *restrict h_x, NUMBER *y, int n) {
    // CHECK-NEXT: +static float total(const amp_half *restrict h_x, NUMBER *y, int n) {
    float s = 0, *h_p;
    // CHECK-NEXT: +    float s = 0;
    // CHECK-NEXT: +    amp_half *h_p;
    const float *q = y, *h_q = h_x;
    // CHECK-NEXT: +    const float *q = y;
    // CHECK-NEXT: +    const amp_half *h_q = h_x;
    h_p = (real *)h_x;
    // CHECK-NEXT: +    h_p = (amp_half *)h_x;
    for (int i = 0; i < n; i++)
        s += h_q[i] * q[i] + h_p[i];
    // CHECK-NEXT: +        s += amp_to_float(h_q[i]) * q[i] + amp_to_float(h_p[i]);
    return s;
}

static float rows(float h_m[][N], float (*h_n)[N]) {
    // CHECK-NEXT: +static float rows(amp_half h_m[][N], amp_half (*h_n)[N]) {
    return h_m[1][2] + (*h_n)[0];
    // CHECK-NEXT: +    return amp_to_float(h_m[1][2]) + amp_to_float((*h_n)[0]);
}

int main(void) {
    layer l = {.h_out = h_made(N), .weight = b, .h_delta = h_c[0]};
    float **h_tab = (float **)malloc(2 * sizeof(float *)), *x = b;
    // CHECK-NEXT: +    amp_half **h_tab = (amp_half **)malloc(2 * sizeof(float *));
    // CHECK-NEXT: +    float *x = b;
    float h_vla[l.weight ? N : 1], *w = malloc(sizeof(float) * N);
    // CHECK-NEXT: +    amp_half h_vla[l.weight ? N : 1];
    // CHECK-NEXT: +    float *w = malloc(sizeof(float) * N);
    float **h_list = (float *[]){h_a, h_d};
    // CHECK-NEXT: +    amp_half **h_list = (amp_half *[]){h_a, h_d};
    const float *h_zero = (const float[N]){0};
    // CHECK-NEXT: +    const amp_half *h_zero = (const amp_half[N]){0};
    extern float h_later[];
    // CHECK-NEXT: +    extern amp_half h_later[];
    h_tab[0] = l.h_out;
    h_tab[1] = l.in.h_x = h_vla;
    l.in.y = w;
    for (int i = 0; i < N; i++) {
        h_a[i] = h_d[i] = (float)i;
        x[i] = w[i] = 2;
        h_c[1][i] = h_tab[0][i] = h_tab[1][i] = 1;
        l.h_part[i] = l.h_delta[i] = 3;
    }
    // CHECK: +        l.h_part[i] = amp_to_half(amp_to_float(l.h_delta[i] = amp_to_half(3)));
    printf("%g %g %g %g\n", total(h_d, b, N), total(h_a, w, N),
           total(l.h_part, b, N), total(l.h_out, l.in.y, N));
    printf("%g %g %g %g %g\n", rows(h_c, &h_c[1]), h_e[1], f[1], g[0] + h_v[2],
           h_vla[3]);
    printf("%g %g %g\n", h_list[1][2], h_zero[1], h_later[0]);
    free(h_tab);
    free(l.h_out);
    free(w);
    return 0;
}

float h_later[2];
// CHECK: +amp_half h_later[2];
