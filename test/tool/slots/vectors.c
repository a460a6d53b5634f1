// A vector that is read, added to and stored back is an update.
// RUN: %amp-rewrite --dump-after=flows %s | %FileCheck %s
#if defined(__SSE2__)
#include <emmintrin.h>

float sums[8], inner[8], copies[8];

void add_up(const float *w, int n, int m) {
    for (int i = 0; i < m; i++)
        for (int k = 0; k < n; k += 4) {
            __m128 v = _mm_loadu_ps(&sums[k]);
            _mm_storeu_ps(&sums[k], _mm_add_ps(v, _mm_loadu_ps(w + i)));
        }
}
// CHECK: class sums/1
// CHECK: accumulates call vectors.c:[[#@LINE-4]]:13 in loop vectors.c:[[#@LINE-7]]:5

static void add(float *to, const float *from, int n) {
    for (int k = 0; k < n; k += 4)
        _mm_storeu_ps(to + k,
                      _mm_add_ps(_mm_loadu_ps(to + k), _mm_loadu_ps(from + k)));
}

void calls(const float *w, int m) {
    for (int i = 0; i < m; i++)
        add(inner, w + 8 * i, 8);
}
// CHECK: class inner/1
// CHECK: accumulates call vectors.c:[[#@LINE-3]]:9 in loop vectors.c:[[#@LINE-4]]:5

void copy(const float *w, int n, int m) {
    for (int i = 0; i < m; i++)
        for (int k = 0; k < n; k += 4)
            _mm_storeu_ps(&copies[k], _mm_loadu_ps(w + k));
}
// CHECK: class copies/1
// CHECK-NOT: accumulates
// CHECK: class add_up:w/1
#endif
