// What is stored to memory that is not known must not carry the scale: whoever
// owns that memory reads it as it is. The unscale goes before the store.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
#include <stdio.h>
#include <stdlib.h>

float *lent(int n);

int main(void) {
    enum { N = 16 };
    float *w = calloc(N, sizeof(float)), *g = calloc(N, sizeof(float));
    float *d = calloc(N, sizeof(float));
    float *shared = lent(N);
    for (int step = 0; step < 50; step++) {
        for (int i = 0; i < N; i++)
            d[i] = w[i] * 2.0f - 1.0f;
        for (int i = 0; i < N; i++)
            g[i] = d[i] * 2.0f;
        for (int i = 0; i < N; i++)
            shared[i] = g[i];
        for (int i = 0; i < N; i++)
            w[i] -= 0.01f * g[i];
    }
    printf("%g\n", w[0]);
    return 0;
}
// CHECK: loss scale: found
// CHECK: unscale before {{.*}}nowhere.c:19:9
