// Calls that are given what is stored in half: own functions take it as it is,
// redirected ops take it with its type, and a matrix that is left out stays so.
// RUN: %same --exact %s --rules %S/Inputs/op_calls.amp -O2 --loss-scale=none > %t.diff
// RUN: grep '^[+]' %t.diff | %FileCheck %s
#include <stdio.h>

#define N 4

// CHECK: +/* product on matrices of either precision */
// CHECK-NEXT: +static inline void product_amp_mixed(amp_buffer a, amp_buffer b, amp_buffer c,
// CHECK-NEXT: +                                     int n, int k, int m)
// CHECK-NEXT: +{
// CHECK-NEXT: +    if (amp_gemm_mixed(0, 0, n, m, k, 1.0f, a, k, b, m, 1.0f, c,
// CHECK-NEXT: +                       m) == AMP_DECLINED)
// CHECK-NEXT: +        product(a.data, b.data, c.data, n, k, m);
// CHECK-NEXT: +}
static void product(const float *a, const float *b, float *c, int n, int k,
                    int m) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int l = 0; l < k; l++)
                c[i * m + j] += a[i * k + l] * b[l * m + j];
}

// CHECK: +/* affine on matrices of either precision */
static void affine(float *y, const float *x, const float *w, const float *bias,
                   int rows, int in_n, int out_n) {
    for (int r = 0; r < rows; r++)
        for (int o = 0; o < out_n; o++) {
            float s = bias ? bias[o] : 0;
            for (int i = 0; i < in_n; i++)
                s += x[r * in_n + i] * w[o * in_n + i];
            y[r * out_n + o] = s;
        }
}

static float sum(const float *h_x, int n) {
    return n ? *h_x + sum(h_x + 1, n - 1) : 0;
    // CHECK: +    return n ? amp_to_float(*h_x) + sum(h_x + 1, n - 1) : 0;
}

static void fill(float *h_x, int n, float first) {
    for (int i = 0; i < n; i++)
        h_x[i] = first + (float)(i % 3);
}

static float *larger(float *h_x, float *h_y) {
    // CHECK: +static amp_half *larger(amp_half *h_x, amp_half *h_y) {
    return h_x[0] > h_y[0] ? h_x : h_y;
}

int main(void) {
    static float h_a[N * N], h_c[N * N], b[N * N], w[N * N], h_y[N * N];
    float bias[N] = {1, 2, 3, 4};
    fill(h_a, N * N, 1);
    fill(larger(h_c, h_y), N, 2);
    for (int i = 0; i < N * N; i++)
        b[i] = w[i] = (float)(i % 4);
    product(h_a, b, h_c, N, N, N);
    // CHECK: +    product_amp_mixed(AMP_BUFFER(h_a), AMP_BUFFER(b), AMP_BUFFER(h_c), N, N, N);
    product(h_a + N, &b[N], h_c, 2, N / 2, 2);
    // CHECK-NEXT: +    product_amp_mixed(AMP_BUFFER(h_a + N), AMP_BUFFER(&b[N]), AMP_BUFFER(h_c), 2, N / 2, 2);
    product(w, b, w, 1, 1, 1);
    // CHECK-NEXT: +    product_amp(w, b, w, 1, 1, 1);
    affine(h_y, h_a, w, bias, N, N, N);
    // CHECK-NEXT: +    affine_amp_mixed(AMP_BUFFER(h_y), AMP_BUFFER(h_a), AMP_BUFFER(w), AMP_BUFFER(bias), N, N, N);
    printf("%g %g %g\n", sum(h_a, N * N), sum(h_c, N * N), sum(h_y, N * N));
    affine(b, h_c, w, NULL, N, N, N);
    // CHECK: +    affine_amp_mixed(AMP_BUFFER(b), AMP_BUFFER(h_c), AMP_BUFFER(w), AMP_NO_BUFFER, N, N, N);
    for (int i = 0; i < N * N; i++)
        printf("%g %g %g\n", h_c[i], h_y[i], b[i]);
    return 0;
}
