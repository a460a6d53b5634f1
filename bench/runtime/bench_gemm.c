/* amp_linear_forward's product with a cached weight over the raw oneDNN
 * primitive on operands that already have the type. The difference is the
 * cast of the input and libamp's own work. Target: 1.1 or less from 1024. */
#include "bench.h"

#include "product.h"

#include <amp/amp.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct raw {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t args[4];
    void *memory[4];
} raw;

typedef struct product {
    int64_t m;
    int64_t n;
    int64_t k;
    amp_dtype half;
    float *a;
    float *b;
    float *c;
    raw raw;
} product;

static void check(dnnl_status_t status) {
    if (status != dnnl_success) {
        fprintf(stderr, "oneDNN status %d\n", (int)status);
        exit(1);
    }
}

static void add_arg(raw *r, int i, int what, const dnnl_memory_desc_t *md) {
    dnnl_memory_t memory;
    size_t bytes = dnnl_memory_desc_get_size(md);
    r->memory[i] = bench_alloc(bytes ? bytes : 64);
    check(dnnl_memory_create(&memory, md, r->engine, r->memory[i]));
    r->args[i] = (dnnl_exec_arg_t){what, memory};
}

/* c[m,n] = a[m,k] * b[n,k]^T, plain layouts. */
static void make_raw(product *p, dnnl_data_type_t type) {
    raw *r = &p->raw;
    dnnl_memory_desc_t a, b, c;
    dnnl_matmul_desc_t matmul;
    dnnl_primitive_desc_t desc;
    dnnl_primitive_attr_t attr;
    dnnl_dims_t da = {p->m, p->k};
    dnnl_dims_t db = {p->k, p->n};
    dnnl_dims_t dc = {p->m, p->n};
    check(dnnl_engine_create(&r->engine, dnnl_cpu, 0));
    check(dnnl_stream_create(&r->stream, r->engine, dnnl_stream_in_order));
    check(dnnl_memory_desc_init_by_tag(&a, 2, da, type, dnnl_ab));
    check(dnnl_memory_desc_init_by_tag(&b, 2, db, type, dnnl_ba));
    check(dnnl_memory_desc_init_by_tag(&c, 2, dc, dnnl_f32, dnnl_ab));
    check(dnnl_matmul_desc_init(&matmul, &a, &b, NULL, &c));
    check(dnnl_primitive_attr_create(&attr));
    check(dnnl_primitive_attr_set_scratchpad_mode(attr,
                                                  dnnl_scratchpad_mode_user));
    check(dnnl_primitive_desc_create(&desc, &matmul, attr, r->engine, NULL));
    check(dnnl_primitive_create(&r->primitive, desc));
    add_arg(r, 0, DNNL_ARG_SRC, &a);
    add_arg(r, 1, DNNL_ARG_WEIGHTS, &b);
    add_arg(r, 2, DNNL_ARG_DST, &c);
    add_arg(r, 3, DNNL_ARG_SCRATCHPAD,
            dnnl_primitive_desc_query_md(desc, dnnl_query_scratchpad_md, 0));
    dnnl_primitive_desc_destroy(desc);
    dnnl_primitive_attr_destroy(attr);
}

static void free_raw(raw *r) {
    for (int i = 0; i < 4; i++) {
        dnnl_memory_destroy(r->args[i].memory);
        free(r->memory[i]);
    }
    dnnl_primitive_destroy(r->primitive);
    dnnl_stream_destroy(r->stream);
    dnnl_engine_destroy(r->engine);
}

static void run_raw(void *context) {
    product *p = context;
    check(dnnl_primitive_execute(p->raw.primitive, p->raw.stream, 4,
                                 p->raw.args));
    check(dnnl_stream_wait(p->raw.stream));
}

static void run_amp(void *context) {
    product *p = context;
    amp_status status = amp_gemm_as(p->half, 0, 1, p->m, p->n, p->k, 1.0f, p->a,
                                    p->k, p->b, p->k, 0.0f, p->c, p->n);
    if (status != AMP_OK) {
        fprintf(stderr, "amp_gemm: %s\n", amp_status_string(status));
        exit(1);
    }
}

static void run_shape(amp_dtype half, dnnl_data_type_t type,
                      const int64_t *shape) {
    product p = {.m = shape[0], .n = shape[1], .k = shape[2], .half = half};
    p.a = bench_alloc((size_t)(p.m * p.k) * sizeof *p.a);
    p.b = bench_alloc((size_t)(p.n * p.k) * sizeof *p.b);
    p.c = bench_alloc((size_t)(p.m * p.n) * sizeof *p.c);
    for (int64_t i = 0; i < p.m * p.k; i++)
        p.a[i] = (float)(i % 17) - 8.0f;
    for (int64_t i = 0; i < p.n * p.k; i++)
        p.b[i] = (float)(i % 13) - 6.0f;
    amp_register(p.b, (size_t)(p.n * p.k) * sizeof *p.b, AMP_PARAM, 0, "b");
    amp_params_changed();
    make_raw(&p, type);
    bench_result r = bench_compare((bench_work){run_amp, &p},
                                   (bench_work){run_raw, &p}, 1.0);
    double work = 2e-9 * (double)p.m * (double)p.n * (double)p.k;
    printf("%s %5lld x %5lld x %5lld  %8.1f %8.1f   %5.2f\n",
           half == AMP_FP16 ? "fp16" : "bf16", (long long)p.m, (long long)p.n,
           (long long)p.k, work / r.first, work / r.second, r.ratio);
    amp_unregister(p.b);
    free_raw(&p.raw);
    free(p.a);
    free(p.b);
    free(p.c);
}

void bench_gemm(void) {
    static const int64_t shapes[][3] = {{64, 256, 256},     {256, 768, 768},
                                        {1, 1024, 1024},    {32, 1024, 1024},
                                        {1024, 1024, 1024}, {1024, 1024, 4096},
                                        {2048, 2048, 2048}};
    for (int half = AMP_FP16; half <= AMP_BF16; half++) {
        amp_operand_kind kind;
        if (amp_product_operand((amp_dtype)half, &kind) != AMP_OK)
            exit(1);
        dnnl_data_type_t type = kind == AMP_OPERAND_BF16 ? dnnl_bf16 : dnnl_f32;
        printf("\noperands of the primitive: %s\n"
               "            m       n       k     libamp   oneDNN   time "
               "ratio (1.1)\n"
               "                                GFLOP/s  GFLOP/s\n",
               type == dnnl_bf16 ? "bf16" : "fp32 (rounded)");
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
            run_shape((amp_dtype)half, type, shapes[s]);
    }
}
