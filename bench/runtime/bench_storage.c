/* What storing in half costs and saves: amp_gemm_mixed with half operands
 * where they lie over amp_gemm with FP32 operands, and a loop over half
 * buffers (see bench_loop.c) over the same loop over floats. */
#include "bench.h"

#include <amp/amp_storage.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- products ----------------------------------------------------------- */

typedef struct operands {
    int64_t n;
    amp_dtype half;
    amp_buffer a;
    amp_buffer b;
    amp_buffer c;
} operands;

static void check(amp_status status) {
    if (status != AMP_OK) {
        fprintf(stderr, "%s\n", amp_status_string(status));
        exit(1);
    }
}

static void run_mixed(void *context) {
    operands *o = context;
    check(amp_gemm_mixed_as(o->half, 0, 1, o->n, o->n, o->n, 1.0f, o->a, o->n,
                            o->b, o->n, 0.0f, o->c, o->n));
}

static void run_fp32(void *context) {
    operands *o = context;
    check(amp_gemm_as(o->half, 0, 1, o->n, o->n, o->n, 1.0f, o->a.data, o->n,
                      o->b.data, o->n, 0.0f, o->c.data, o->n));
}

static amp_buffer fill(int64_t n, amp_dtype type) {
    size_t cells = (size_t)(n * n);
    amp_buffer b = {bench_alloc(cells * sizeof(float)), type};
    float *x = bench_alloc(cells * sizeof *x);
    for (size_t i = 0; i < cells; i++)
        x[i] = (float)(i % 17) - 8.0f;
    amp_copy(b, amp_buffer_of_floats(x), cells);
    free(x);
    return b;
}

static void drop(operands *o) {
    free(o->a.data);
    free(o->b.data);
    free(o->c.data);
}

static void compare_products(amp_dtype half, int64_t n) {
    operands in_half = {.n = n, .half = half};
    operands floats = {.n = n, .half = half};
    in_half.a = fill(n, half);
    in_half.b = fill(n, half);
    in_half.c = fill(n, half);
    floats.a = fill(n, AMP_FP32);
    floats.b = fill(n, AMP_FP32);
    floats.c = fill(n, AMP_FP32);
    bench_result r =
        bench_compare((bench_work){run_mixed, &in_half},
                      (bench_work){run_fp32, &floats}, n > 1024 ? 4.0 : 1.0);
    double work = 2e-9 * (double)(n * n * n);
    printf("%s %5lld^3  %8.1f %8.1f   %5.2f\n",
           half == AMP_FP16 ? "fp16" : "bf16", (long long)n, work / r.first,
           work / r.second, r.ratio);
    drop(&in_half);
    drop(&floats);
}

/* ---- loops -------------------------------------------------------------- */

static const struct variant {
    const char *name;
    void (*half)(void *context);
    void (*floats)(void *context);
} variants[] = {
    {"fp16", bench_loop_fp16, bench_loop_fp32},
    {"bf16", bench_loop_bf16, bench_loop_fp32},
#if defined(__x86_64__)
    {"fp16, -mavx2 -mf16c", bench_loop_fp16_avx2, bench_loop_fp32_avx2},
    {"bf16, -mavx2 -mf16c", bench_loop_bf16_avx2, bench_loop_fp32_avx2},
#endif
};

static void compare_loops(const struct variant *v, size_t n) {
    bench_loop half = {.n = n, .scale = 0.5f, .shift = 1.0f};
    half.from = bench_alloc(n * sizeof(uint16_t));
    half.to = bench_alloc(n * sizeof(uint16_t));
    bench_loop floats = half;
    floats.from = bench_alloc(n * sizeof(float));
    floats.to = bench_alloc(n * sizeof(float));
    bench_result r = bench_compare((bench_work){v->half, &half},
                                   (bench_work){v->floats, &floats}, 0.4);
    printf("%-20s %9zu  %6.2f %6.2f   %5.2f\n", v->name, n,
           r.first / (double)n * 1e9, r.second / (double)n * 1e9, r.ratio);
    free(half.from);
    free(half.to);
    free(floats.from);
    free(floats.to);
}

void bench_storage(void) {
    printf("\nproduct, half operands and result over FP32\n"
           "               half     FP32   time ratio\n"
           "            GFLOP/s  GFLOP/s\n");
    for (int half = AMP_FP16; half <= AMP_BF16; half++)
        for (int64_t n = 1024; n <= 2048; n *= 2)
            compare_products((amp_dtype)half, n);
    static const size_t sizes[] = {16 << 10, 16 << 20};
    printf("\nload, x * s + t, store  elements    half   FP32   time ratio\n"
           "                                      ns     ns\n");
    bool avx2 = bench_cpu_has("avx2") && bench_cpu_has("f16c");
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++)
        for (size_t s = 0; s < 2 && (i < 2 || avx2); s++)
            compare_loops(&variants[i], sizes[s]);
}
