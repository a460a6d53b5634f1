// Loops that add to one element or row again and again, in memory that is
// stored in half: the sums are made in FP32 and rounded once. The numbers fit
// into both half types at the end, not on the way there: 1 + 2^-12 is 1 in half.
// RUN: %same --exact %s --rules %S/Inputs/half.amp -O2 --loss-scale=none -- -fopenmp > %t.diff
// RUN: grep '^[+]' %t.diff | %FileCheck %s --implicit-check-not=amp_half_add --implicit-check-not='amp_to_half(amp_to_float'
#include <stdio.h>
#include <stdlib.h>

enum { MANY = 8192, ROWS = 3, N = 4 };
#define TINY (1.0f / 4096)
#define LENGTH N
#define SUM(x) ((x) + (x))

typedef struct layer {
    float *h_out;
    float h_in[ROWS][N];
    int rows, n;
} layer;

static void show(const char *what, const float *h_v, int n) {
    printf("%s", what);
    for (int i = 0; i < n; i++)
        printf(" %g", h_v[i]);
    printf("\n");
}

static float twice(float v) {
    float sum = v;
    if (v > 0)
        sum += v;
    return sum;
}

static void elements(float *h_x, layer *l, int n) {
    for (int i = 0; i < N; i++)
        for (int k = 0; k < MANY; k++)
            h_x[i] += TINY;
    // CHECK: +        float h_x_sum = amp_to_float(h_x[i]);
    // CHECK: +            h_x_sum += TINY;
    // CHECK: +        h_x[i] = amp_to_half(h_x_sum);
    for (int i = 0; i < N; i++) {
        for (int k = n - 1; k >= 0; k--) // backwards
            *(h_x + i) = TINY + *(h_x + i);
        // CHECK: +        float h_x_sum2 = n - 1 >= 0 ? amp_to_float(*(h_x + i)) : 0.0f;
        // CHECK: +            h_x_sum2 = TINY + h_x_sum2;
        // CHECK: +        if (n - 1 >= 0)
        // CHECK: +            *(h_x + i) = amp_to_half(h_x_sum2);
    }
    show("elements", h_x, N);
    for (int r = 0; r < l->rows; r++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < LENGTH; j++)
                l->h_out[r] -= twice(TINY / 8);
    // CHECK: +        float h_out_sum = n > 0 ? amp_to_float(l->h_out[r]) : 0.0f;
    // CHECK: +                h_out_sum -= twice(TINY / 8);
    // CHECK: +        if (n > 0)
    // CHECK: +            l->h_out[r] = amp_to_half(h_out_sum);
    show("field", l->h_out, ROWS);
    float last = 0;
    if (n)
        for (int k = 0; k < n; k++)
            last = l->h_in[1][2] += TINY;
    // CHECK: +    if (n) {
    // CHECK: +        float h_in_sum = n > 0 ? amp_to_float(l->h_in[1][2]) : 0.0f;
    // CHECK: +            last = h_in_sum += TINY;
    // CHECK: +        if (n > 0)
    // CHECK: +            l->h_in[1][2] = amp_to_half(h_in_sum);
    // CHECK: +    }
    printf("%g %g\n", last, l->h_in[1][2]);
}

static void rows(float *h_y, layer *l, int n, int length) {
    for (int b = 0; b < ROWS; b++) {
        float *h_row = h_y + b * N;
        for (int k = 0; k < n; k++)
            for (int i = 0; i < length; i++)
                h_row[i] += TINY;
    }
    // CHECK: +        float *h_row_sum = n > 0 ? amp_sum_open(AMP_BUFFER(h_row), length) : 0;
    // CHECK: +                h_row_sum[i] += TINY;
    // CHECK: +        if (n > 0)
    // CHECK: +            amp_sum_close(h_row_sum, AMP_BUFFER(h_row), length);
    for (int b = 0; b < ROWS; b++)
        for (int k = 0; k < MANY; k++) {
            for (int i = 0; i <= N - 1; ++i)
                h_y[b * N + i] += TINY;
            for (int j = 0; N - 1 >= j; j += 1)
                h_y[j + b * N] += TINY;
        }
    // CHECK: +        float *h_y_sum = amp_sum_open(AMP_BUFFER(&h_y[b * N]), N - 1 + 1);
    // CHECK: +                h_y_sum[i] += TINY;
    // CHECK: +                h_y_sum[j] += TINY;
    show("rows", h_y, ROWS * N);
    for (int k = 0; k < MANY; k++) {
        for (int j = 0; j < l->n - N; j++)
            l->h_out[1] += TINY;
        l->h_out[1] += TINY;
    }
    // CHECK: +    float h_out_sum = amp_to_float(l->h_out[1]);
    show("field", l->h_out, ROWS);
    for (int r = 0; r < ROWS; r++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < 2; j++)
                for (int i = 0; i < LENGTH; i++)
                    l->h_in[r][i] = l->h_in[r][i] + TINY;
    // CHECK: +        float *h_in_sum = n > 0 ? amp_sum_open(AMP_BUFFER(l->h_in[r]), LENGTH) : 0;
    // CHECK: +                    h_in_sum[i] = h_in_sum[i] + TINY;
    for (int r = 0; r < ROWS; r++)
        show("field", l->h_in[r], N);
}

// In a loop that runs in several threads each has rows of its own; what the
// loop of the sum reads besides is converted as ever.
static void threads(float *h_a, float *h_b, const float *h_w, int n) {
#pragma omp parallel for collapse(2)
    for (int r = 0; r < ROWS; r++)
        for (int half = 0; half < 2; half++) {
            float *h_p = h_a + r * N + half * 2, *h_q = h_b + r * N + half * 2;
            for (int k = 0; k < n; k++) {
                float d = h_w[k % N];
#pragma omp simd
                for (int i = 0; i < 2; i++)
                    h_p[i] += d * TINY;
                for (int i = 0; i < 2; i++)
                    h_q[i] += SUM(TINY) - 0 * h_p[i];
            }
        }
    // CHECK: +            float *h_p_sum = n > 0 ? amp_sum_open(AMP_BUFFER(h_p), 2) : 0;
    // CHECK: +            float *h_q_sum = n > 0 ? amp_sum_open(AMP_BUFFER(h_q), 2) : 0;
    // CHECK: +                float d = amp_to_float(h_w[k % N]);
    // CHECK: +                    h_p_sum[i] += d * TINY;
    // CHECK: +                    h_q_sum[i] += SUM(TINY) - 0 * h_p_sum[i];
    // CHECK: +            if (n > 0)
    // CHECK: +                amp_sum_close(h_p_sum, AMP_BUFFER(h_p), 2);
    // CHECK: +            if (n > 0)
    // CHECK: +                amp_sum_close(h_q_sum, AMP_BUFFER(h_q), 2);
    show("threads", h_a, ROWS * N);
    show("threads", h_b, ROWS * N);
}

// Without an iteration there need be no memory. Counts may be negative.
static void nothing(float *h_none, int n, int length) {
    for (int k = 0; k < n; k++)
        h_none[0] += TINY;
    // CHECK: +    float h_none_sum = n > 0 ? amp_to_float(h_none[0]) : 0.0f;
    for (int k = 0; k < N; k++)
        for (int i = 0; i < length; i++)
            h_none[i + 1] += TINY;
    for (int k = 0; k < n; k++)
        if (h_none != NULL)
            h_none[2] += TINY;
    // CHECK-DAG: +    float h_none_sum3 = n > 0 && h_none != NULL ? amp_to_float(h_none[2]) : 0.0f;
    // CHECK-DAG: +    if (n > 0 && h_none != NULL)
    // CHECK-DAG: +    float *h_none_sum2 = amp_sum_open(AMP_BUFFER(&h_none[1]), length);
}

// Where the row has no element, what it is reached by need not be there.
static void no_row(const layer *l, int n, int length) {
    for (int k = 0; k < n; k++)
        for (int i = 0; i < length; i++)
            l->h_out[i] += TINY;
    // CHECK-DAG: +    float *h_out_sum = n > 0 && length > 0 ? amp_sum_open(AMP_BUFFER(l->h_out), length) : 0;
    // CHECK-DAG: +    if (n > 0 && length > 0)
    // CHECK-DAG: +        amp_sum_close(h_out_sum, AMP_BUFFER(l->h_out), length);
}

// A version in half has the scratch, the text in FP32 has none.
static void add_all(float *to, const float *from, const float *by, int n) {
    for (int k = 0; k < n; k++)
        for (int i = 0; i < N; i++)
            to[i] += from[i] * by[k % N];
}
// CHECK: +static void add_all_half(amp_half *to, const float *from, const float *by, int n) {
// CHECK: +    float *to_sum = n > 0 ? amp_sum_open(AMP_BUFFER(to), N) : 0;
// CHECK: +            to_sum[i] += from[i] * by[k % N];
// CHECK: +    if (n > 0)
    // CHECK: +        amp_sum_close(to_sum, AMP_BUFFER(to), N);

int main(void) {
    float h_x[N] = {1, 2, 3, 4};
    float *h_y = calloc(ROWS * N, sizeof(float));
    float *h_a = calloc(ROWS * N, sizeof(float));
    float *h_b = calloc(ROWS * N, sizeof(float));
    float h_w[N] = {1, 2, 2, 1}, plain[N] = {1, 1, 1, 1};
    float by[N] = {1, 1, 1, 1}, from[N] = {TINY, TINY, 2 * TINY, 2 * TINY};
    layer l = {.h_out = calloc(ROWS, sizeof(float)), .rows = ROWS, .n = N};
    l.h_in[1][2] = 1;
    for (int i = 0; i < ROWS; i++)
        l.h_out[i] = 1;
    for (int i = 0; i < ROWS * N; i++)
        h_y[i] = 1, h_a[i] = 1, h_b[i] = 1;
    elements(h_x, &l, MANY);
    rows(h_y, &l, MANY, N);
    threads(h_a, h_b, h_w, MANY);
    nothing(NULL, 0, -1);
    no_row(NULL, 1, 0);
    add_all(h_x, from, by, MANY);
    add_all(plain, from, by, MANY);
    show("versions", h_x, N);
    printf("%g %g\n", plain[0], plain[3]);
    free(h_y);
    free(h_a);
    free(h_b);
    free(l.h_out);
    return 0;
}
