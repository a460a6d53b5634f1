#include <stddef.h>

#ifndef LATE_GUARD_H
#define LATE_GUARD_H

static inline float late_sum(const float *x, size_t n) {
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

#ifdef LATE_DOUBLE
static inline double late_double(double x) {
    return x;
}
#endif

#endif
