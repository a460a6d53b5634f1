/* bench.h - ratios of two ways to do the same thing, measured in turns.
 *
 * On a shared machine a time means little, but two things timed right after
 * each other see the same machine. So both run alternately and the median of
 * the ratios is reported. */
#ifndef AMP_BENCH_H
#define AMP_BENCH_H

#include <stdbool.h>
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

/* Is the flag among those of /proc/cpuinfo? */
bool bench_cpu_has(const char *flag);

void bench_kernels(void);
void bench_gemm(void);
void bench_storage(void);

/* The loops of bench_loop.c; from and to are of its half type. */
typedef struct bench_loop {
    void *from;
    void *to;
    size_t n;
    float scale;
    float shift;
} bench_loop;

void bench_loop_fp32(void *loop);
void bench_loop_fp16(void *loop);
void bench_loop_bf16(void *loop);
void bench_loop_fp32_avx2(void *loop);
void bench_loop_fp16_avx2(void *loop);
void bench_loop_bf16_avx2(void *loop);

#endif
