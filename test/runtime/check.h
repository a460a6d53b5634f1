/* check.h - what the runtime tests share: numbers, and products in double. */
#ifndef AMP_TEST_CHECK_H
#define AMP_TEST_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <amp/amp.h>

/* Relative Frobenius bounds: operands rounded to half, FP32 sums. Measured on
 * uniform data: 2.9e-4 for fp16 and 2.4e-3 for bf16. */
#define FP16_BOUND 5e-4
#define BF16_BOUND 4e-3
/* FP32 sums alone, against double on the same operands. */
#define FP32_BOUND 1e-6

static inline uint64_t next_random(uint64_t *state) {
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline float float_of(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline uint32_t bits_of(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

/* n floats, uniform in -1..1. The caller frees them. */
static inline float *random_floats(size_t n, uint64_t seed) {
    float *x = malloc(n * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)((double)(next_random(&seed) >> 40) / 8388608.0 - 1.0);
    return x;
}

/* One matrix product as amp_gemm takes it. */
typedef struct product {
    int transa;
    int transb;
    int64_t m;
    int64_t n;
    int64_t k;
    float alpha;
    float beta;
    const float *a;
    int64_t lda;
    const float *b;
    int64_t ldb;
    int64_t ldc;
} product;

static inline double exact_element(const product *p, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t l = 0; l < p->k; l++) {
        double a = (double)p->a[p->transa ? l * p->lda + i : i * p->lda + l];
        double b = (double)p->b[p->transb ? j * p->ldb + l : l * p->ldb + j];
        sum += a * b;
    }
    return sum;
}

/* Relative Frobenius distance of c from alpha * a * b + beta * before. */
static inline double product_error(const product *p, const float *before,
                                   const float *c) {
    double error = 0;
    double norm = 0;
    for (int64_t i = 0; i < p->m; i++) {
        for (int64_t j = 0; j < p->n; j++) {
            int64_t at = i * p->ldc + j;
            double want = (double)p->alpha * exact_element(p, i, j);
            if (p->beta != 0.0f)
                want += (double)p->beta * (double)before[at];
            double d = (double)c[at] - want;
            error += d * d;
            norm += want * want;
        }
    }
    return sqrt(error / norm);
}

static inline double bound_of(amp_dtype half) {
    return half == AMP_FP16 ? FP16_BOUND : BF16_BOUND;
}

#endif
