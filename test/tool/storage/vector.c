// Loads and stores of vectors convert; what the vectors do stays as it is.
// RUN: %same --exact %s --rules %S/Inputs/half.amp -O2 --loss-scale=none > %t.diff
// RUN: grep '^[+]' %t.diff | %FileCheck %s
#include <stdio.h>

// CHECK: +#include <amp/amp_simd.h>
#if defined(__SSE2__)
#include <emmintrin.h>

static float dot(const float *h_x, const float *w, int n) {
    __m128 sum = _mm_setzero_ps();
    float parts[4], rest = 0;
    int i;
    for (i = 0; i + 4 <= n; i += 4)
        sum = _mm_add_ps(sum, _mm_mul_ps(_mm_loadu_ps(&h_x[i]),
                                         _mm_loadu_ps(w + i)));
        // CHECK: +{{.*}}_mm_mul_ps(amp_mm_loadu_ps(&h_x[i]),
        // CHECK-NOT: amp_mm_loadu_ps(w
    _mm_storeu_ps(parts, sum);
    for (; i < n; i++)
        rest += h_x[i] * w[i];
    return parts[0] + parts[1] + parts[2] + parts[3] + rest;
}

static void twice(float *h_y, const float *h_x, int n) {
    for (int i = 0; i + 4 <= n; i += 4) {
        __m128 v = _mm_loadu_ps(h_x + i);
        // CHECK: +        __m128 v = amp_mm_loadu_ps(h_x + i);
        _mm_storeu_ps(h_y + i, _mm_add_ps(v, v));
        // CHECK: +        amp_mm_storeu_ps(h_y + i, _mm_add_ps(v, v));
    }
    _mm_store_ss(h_y + 8, _mm_add_ss(_mm_load_ss(h_x), _mm_load1_ps(&h_x[1])));
    // CHECK: +    amp_mm_store_ss(h_y + 8, _mm_add_ss(amp_mm_load_ss(h_x), amp_mm_load1_ps(&h_x[1])));
}
#else
static float dot(const float *h_x, const float *w, int n) {
    return h_x[0] + w[0] + n;
}
static void twice(float *h_y, const float *h_x, int n) {
    h_y[0] = h_x[0] + n;
}
#endif

int main(void) {
    float h_x[9], h_y[9] = {0}, w[9];
    for (int i = 0; i < 9; i++) {
        h_x[i] = (float)i;
        w[i] = 0.5f;
    }
    twice(h_y, h_x, 8);
    for (int i = 0; i < 9; i++)
        printf("%g ", h_y[i]);
    printf("%g\n", dot(h_x, w, 9));
    return 0;
}
