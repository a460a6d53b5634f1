/* bench.h - ratios of two ways to do the same thing, measured in turns.
 *
 * On a shared machine a time means little, but two things timed right after
 * each other see the same machine. So both run alternately and the median of
 * the ratios is reported. */
#ifndef AMP_BENCH_H
#define AMP_BENCH_H

#include <stddef.h>

typedef struct bench_work {
    void (*run)(void *context);
    void *context;
} bench_work;

typedef struct bench_result {
    double first; /* median seconds of one run */
    double second;
    double ratio; /* median of first / second */
} bench_result;

/* Runs both in turns for about `seconds`. */
bench_result bench_compare(bench_work first, bench_work second, double seconds);

void *bench_alloc(size_t bytes);

void bench_kernels(void);
void bench_gemm(void);

#endif
