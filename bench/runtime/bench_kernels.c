/* Casts and unscale over memcpy moving the same number of bytes (read and
 * written). Target: 0.8 or more of memcpy's bandwidth. */
#include "bench.h"

#include "kernels.h"

#include <amp/amp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct buffers {
    float *floats;
    uint16_t *halves;
    char *from;
    char *to;
    size_t n;
    size_t bytes; /* of memcpy: half of what the loop moves */
} buffers;

static void copy(void *p) {
    buffers *b = p;
    memcpy(b->to, b->from, b->bytes);
    /* Or the compiler sees that nobody reads it. */
    __asm__ volatile("" : : "r"(b->to) : "memory");
}

static void to_fp16(void *p) {
    buffers *b = p;
    amp_kernels_get()->to_fp16(b->halves, b->floats, b->n);
}

static void to_bf16(void *p) {
    buffers *b = p;
    amp_kernels_get()->to_bf16(b->halves, b->floats, b->n);
}

static void from_fp16(void *p) {
    buffers *b = p;
    amp_kernels_get()->from_fp16(b->floats, b->halves, b->n);
}

static void from_bf16(void *p) {
    buffers *b = p;
    amp_kernels_get()->from_bf16(b->floats, b->halves, b->n);
}

static void unscale(void *p) {
    buffers *b = p;
    amp_kernels_get()->unscale(b->floats, b->n, -1.0f);
}

static const struct loop {
    const char *name;
    void (*run)(void *context);
    size_t bytes; /* per element, read and written */
} loops[] = {
    {"fp32 -> fp16", to_fp16, 6},    {"fp32 -> bf16", to_bf16, 6},
    {"fp16 -> fp32", from_fp16, 6},  {"bf16 -> fp32", from_bf16, 6},
    {"unscale + check", unscale, 8},
};

static void run_loop(const struct loop *loop, size_t n) {
    buffers b = {.n = n, .bytes = n * loop->bytes / 2};
    b.floats = bench_alloc(n * sizeof *b.floats);
    b.halves = bench_alloc(n * sizeof *b.halves);
    b.from = bench_alloc(b.bytes);
    b.to = bench_alloc(b.bytes);
    for (size_t i = 0; i < n; i++)
        b.floats[i] = (float)(i % 1000) * 0.37f - 100.0f;
    amp_kernels_get()->to_fp16(b.halves, b.floats, n);
    bench_result r =
        bench_compare((bench_work){copy, &b}, (bench_work){loop->run, &b}, 0.4);
    double moved = (double)(n * loop->bytes) * 1e-9;
    printf("%-16s %9zu  %7.1f %7.1f   %5.2f\n", loop->name, n, moved / r.first,
           moved / r.second, r.ratio);
    free(b.floats);
    free(b.halves);
    free(b.from);
    free(b.to);
}

void bench_kernels(void) {
    static const size_t sizes[] = {8 << 10, 256 << 10, 4 << 20, 64 << 20};
    printf("\none thread          elements   memcpy    loop   ratio (0.8)\n"
           "                                GB/s    GB/s\n");
    for (size_t l = 0; l < sizeof loops / sizeof loops[0]; l++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
            run_loop(&loops[l], sizes[s]);
}
