#include "product.h"

#include "log.h"
#include "threads.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <oneapi/dnnl/dnnl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define KEPT    256
#define BUCKETS 512

/* Below this many multiply-adds waking a team costs more than it saves. */
#define ONE_THREAD_BELOW 0x1p18

struct amp_product {
    amp_product_shape shape;
    struct amp_product *next; /* in its bucket */
    uint64_t used;            /* the thread's clock at the last use */
    dnnl_primitive_t primitive;
    dnnl_memory_t a;
    dnnl_memory_t b;
    dnnl_memory_t c;
    dnnl_memory_t bias;
    dnnl_memory_t alpha;
    dnnl_memory_t scratchpad;
    size_t scratchpad_bytes;
    int threads; /* 0: as many as there are */
};

struct amp_products {
    dnnl_stream_t stream;
    amp_product *buckets[BUCKETS];
    size_t count;
    uint64_t clock;
};

/* ---- library ----------------------------------------------------------- */

static struct {
    pthread_once_t once;
    dnnl_engine_t engine;
    amp_status status;
    bool bf16_unit;
} library = {.once = PTHREAD_ONCE_INIT};

static amp_status backend(dnnl_status_t status, const char *what) {
    if (status == dnnl_success)
        return AMP_OK;
    if (status == dnnl_out_of_memory)
        return AMP_ERR_MEMORY;
    /* Per call it would be said in each step again. */
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (amp_once(&said))
        amp_log(AMP_LOG_ERROR, "oneDNN: %s failed with status %d", what,
                (int)status);
    return AMP_ERR_BACKEND;
}

/* Making a bf16 primitive is what makes oneDNN ask the kernel for AMX. CPUID
 * alone does not tell whether it was granted. */
static bool bf16_unit_granted(void) {
    dnnl_dims_t dims = {32, 32};
    dnnl_memory_desc_t half, full;
    dnnl_matmul_desc_t matmul;
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    if (dnnl_memory_desc_init_by_tag(&half, 2, dims, dnnl_bf16, dnnl_ab) !=
            dnnl_success ||
        dnnl_memory_desc_init_by_tag(&full, 2, dims, dnnl_f32, dnnl_ab) !=
            dnnl_success ||
        dnnl_matmul_desc_init(&matmul, &half, &half, NULL, &full) !=
            dnnl_success ||
        dnnl_primitive_desc_create(&desc, &matmul, NULL, library.engine,
                                   NULL) != dnnl_success)
        return false;
    bool made = dnnl_primitive_create(&primitive, desc) == dnnl_success;
    if (made)
        dnnl_primitive_destroy(primitive);
    dnnl_primitive_desc_destroy(desc);
    unsigned amx = dnnl_cpu_isa_avx512_core_amx;
    return made && ((unsigned)dnnl_get_effective_cpu_isa() & amx) == amx;
}

/* A CPU with AMX that the process may not use is worth a look. */
static const char *why_no_amx(void) {
#if defined(__x86_64__)
    unsigned a, b, c, d;
    const unsigned amx_bf16 = 1u << 22;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & amx_bf16))
        return " (the CPU has one: a sandbox, a small sigaltstack or "
               "ONEDNN_MAX_CPU_ISA keeps it from this process)";
#endif
    return "";
}

static void open_library(void) {
    library.status = backend(dnnl_engine_create(&library.engine, dnnl_cpu, 0),
                             "engine_create");
    if (library.status == AMP_OK)
        library.bf16_unit = bf16_unit_granted();
}

amp_status amp_product_operand(amp_dtype half, amp_operand_kind *kind) {
    static atomic_flag said_bf16 = ATOMIC_FLAG_INIT;
    static atomic_flag said_fp16 = ATOMIC_FLAG_INIT;
    pthread_once(&library.once, open_library);
    if (half == AMP_FP16) {
        *kind = AMP_OPERAND_ROUNDED_FP16;
        if (amp_once(&said_fp16))
            amp_log(AMP_LOG_WARN,
                    "no CPU library multiplies fp16 with FP32 sums: operands "
                    "are rounded to fp16 and multiplied in FP32, which saves "
                    "no time");
        return library.status;
    }
    *kind = library.bf16_unit ? AMP_OPERAND_BF16 : AMP_OPERAND_ROUNDED_BF16;
    if (!library.bf16_unit && amp_once(&said_bf16))
        amp_log(AMP_LOG_WARN,
                "this machine grants no AMX unit%s: operands are rounded to "
                "bf16 and multiplied in FP32, which saves no time",
                why_no_amx());
    return library.status;
}

/* ---- making a product -------------------------------------------------- */

static float beta_of(const amp_product_shape *s) {
    float beta;
    memcpy(&beta, &s->beta, sizeof beta);
    return beta;
}

/* How the elements of a matrix lie. */
typedef struct layout {
    int64_t batch;
    int64_t rows;
    int64_t cols;
    int64_t row; /* distance between rows */
    int64_t col;
    int64_t stride;
} layout;

static layout layout_of(int64_t batch, int64_t rows, int64_t cols, int64_t ld,
                        int64_t stride, int trans) {
    return (layout){.batch = batch,
                    .rows = rows,
                    .cols = cols,
                    .row = trans ? 1 : ld,
                    .col = trans ? ld : 1,
                    .stride = stride};
}

static dnnl_status_t matrix_desc(dnnl_memory_desc_t *md,
                                 const amp_product_shape *s, layout l,
                                 dnnl_data_type_t type) {
    if (s->batch == 1) {
        dnnl_dims_t dims = {l.rows, l.cols};
        dnnl_dims_t strides = {l.row, l.col};
        return dnnl_memory_desc_init_by_strides(md, 2, dims, type, strides);
    }
    dnnl_dims_t dims = {l.batch, l.rows, l.cols};
    dnnl_dims_t strides = {l.stride, l.row, l.col};
    return dnnl_memory_desc_init_by_strides(md, 3, dims, type, strides);
}

static dnnl_status_t bias_desc(dnnl_memory_desc_t *md,
                               const amp_product_shape *s) {
    dnnl_dims_t dims = {1, s->n};
    return dnnl_memory_desc_init_by_tag(md, 2, dims, dnnl_f32, dnnl_ab);
}

static dnnl_status_t set_attributes(dnnl_primitive_attr_t attr,
                                    const amp_product_shape *s) {
    /* The library's own scratchpad is shared between threads and gives wrong
     * results there. */
    dnnl_status_t status = dnnl_primitive_attr_set_scratchpad_mode(
        attr, dnnl_scratchpad_mode_user);
    if (status == dnnl_success && s->scaled) {
        float later = DNNL_RUNTIME_F32_VAL;
        status = dnnl_primitive_attr_set_output_scales(attr, 1, 0, &later);
    }
    float beta = beta_of(s);
    if (status != dnnl_success || beta == 0.0f)
        return status;
    dnnl_post_ops_t ops;
    status = dnnl_post_ops_create(&ops);
    if (status != dnnl_success)
        return status;
    status = dnnl_post_ops_append_sum(ops, beta);
    if (status == dnnl_success)
        status = dnnl_primitive_attr_set_post_ops(attr, ops);
    dnnl_post_ops_destroy(ops);
    return status;
}

typedef struct product_descs {
    dnnl_memory_desc_t a;
    dnnl_memory_desc_t b;
    dnnl_memory_desc_t c;
    dnnl_memory_desc_t bias;
} product_descs;

static dnnl_status_t init_descs(product_descs *d, dnnl_matmul_desc_t *matmul,
                                const amp_product_shape *s) {
    layout a = layout_of(s->shared_a ? 1 : s->batch, s->m, s->k, s->lda,
                         s->stridea, s->transa);
    layout b = layout_of(s->shared_b ? 1 : s->batch, s->k, s->n, s->ldb,
                         s->strideb, s->transb);
    layout c = layout_of(s->batch, s->m, s->n, s->ldc, s->stridec, 0);
    dnnl_data_type_t operands =
        s->types == AMP_PRODUCT_FP32 ? dnnl_f32 : dnnl_bf16;
    dnnl_data_type_t result =
        s->types == AMP_PRODUCT_BF16 ? dnnl_bf16 : dnnl_f32;
    dnnl_status_t status = matrix_desc(&d->a, s, a, operands);
    if (status == dnnl_success)
        status = matrix_desc(&d->b, s, b, operands);
    if (status == dnnl_success)
        status = matrix_desc(&d->c, s, c, result);
    if (status == dnnl_success && s->bias)
        status = bias_desc(&d->bias, s);
    if (status != dnnl_success)
        return status;
    return dnnl_matmul_desc_init(matmul, &d->a, &d->b,
                                 s->bias ? &d->bias : NULL, &d->c);
}

static dnnl_status_t make_memory(amp_product *p, const product_descs *d,
                                 const dnnl_memory_desc_t *scratchpad) {
    dnnl_memory_desc_t one;
    dnnl_dims_t dims = {1};
    dnnl_status_t status =
        dnnl_memory_desc_init_by_tag(&one, 1, dims, dnnl_f32, dnnl_a);
    const struct {
        dnnl_memory_t *memory;
        const dnnl_memory_desc_t *desc;
        bool wanted;
    } all[] = {
        {&p->a, &d->a, true},
        {&p->b, &d->b, true},
        {&p->c, &d->c, true},
        {&p->bias, &d->bias, p->shape.bias != 0},
        {&p->alpha, &one, p->shape.scaled != 0},
        {&p->scratchpad, scratchpad, true},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (status == dnnl_success && all[i].wanted)
            status = dnnl_memory_create(all[i].memory, all[i].desc,
                                        library.engine, DNNL_MEMORY_NONE);
    return status;
}

static dnnl_status_t make_primitive(amp_product *p) {
    product_descs descs;
    dnnl_matmul_desc_t matmul;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t desc;
    dnnl_status_t status = init_descs(&descs, &matmul, &p->shape);
    if (status != dnnl_success)
        return status;
    status = dnnl_primitive_attr_create(&attr);
    if (status != dnnl_success)
        return status;
    status = set_attributes(attr, &p->shape);
    if (status == dnnl_success)
        status = dnnl_primitive_desc_create(&desc, &matmul, attr,
                                            library.engine, NULL);
    dnnl_primitive_attr_destroy(attr);
    if (status != dnnl_success)
        return status;
    const dnnl_memory_desc_t *scratchpad =
        dnnl_primitive_desc_query_md(desc, dnnl_query_scratchpad_md, 0);
    status = dnnl_primitive_create(&p->primitive, desc);
    if (status == dnnl_success)
        status = make_memory(p, &descs, scratchpad);
    p->scratchpad_bytes = dnnl_memory_desc_get_size(scratchpad);
    dnnl_primitive_desc_destroy(desc);
    return status;
}

static void destroy(amp_product *p) {
    dnnl_memory_t all[] = {p->a, p->b, p->c, p->bias, p->alpha, p->scratchpad};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i])
            dnnl_memory_destroy(all[i]);
    if (p->primitive)
        dnnl_primitive_destroy(p->primitive);
    free(p);
}

/* ---- the thread's products --------------------------------------------- */

static size_t bucket_of(const amp_product_shape *s) {
    const unsigned char *bytes = (const unsigned char *)s;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < sizeof *s; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof word);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return (size_t)h % BUCKETS;
}

_Static_assert(sizeof(amp_product_shape) % sizeof(uint64_t) == 0,
               "hashed in words; padding would break the comparison");

static void free_products(struct amp_products *ps) {
    for (size_t i = 0; i < BUCKETS; i++) {
        while (ps->buckets[i]) {
            amp_product *p = ps->buckets[i];
            ps->buckets[i] = p->next;
            destroy(p);
        }
    }
    if (ps->stream)
        dnnl_stream_destroy(ps->stream);
    free(ps);
}

static amp_status open_products(amp_worker *w) {
    if (w->products)
        return AMP_OK;
    pthread_once(&library.once, open_library);
    if (library.status != AMP_OK)
        return library.status;
    struct amp_products *ps = calloc(1, sizeof *ps);
    if (!ps)
        return AMP_ERR_MEMORY;
    amp_status status = backend(
        dnnl_stream_create(&ps->stream, library.engine, dnnl_stream_in_order),
        "stream_create");
    if (status != AMP_OK) {
        free(ps);
        return status;
    }
    w->products = ps;
    w->free_products = free_products;
    return AMP_OK;
}

static void forget_oldest(struct amp_products *ps) {
    amp_product **oldest = NULL;
    for (size_t i = 0; i < BUCKETS; i++)
        for (amp_product **l = &ps->buckets[i]; *l; l = &(*l)->next)
            if (!oldest || (*l)->used < (*oldest)->used)
                oldest = l;
    if (!oldest)
        return;
    amp_product *p = *oldest;
    *oldest = p->next;
    destroy(p);
    ps->count--;
}

static amp_status make(struct amp_products *ps, const amp_product_shape *shape,
                       amp_product **made) {
    amp_product *p = calloc(1, sizeof *p);
    if (!p)
        return AMP_ERR_MEMORY;
    p->shape = *shape;
    double work = (double)shape->batch * (double)shape->m * (double)shape->n *
                  (double)shape->k;
    p->threads = work < ONE_THREAD_BELOW ? 1 : 0;
    amp_status status = backend(make_primitive(p), "making a matmul");
    if (status != AMP_OK) {
        destroy(p);
        return status;
    }
    if (ps->count == KEPT)
        forget_oldest(ps);
    size_t bucket = bucket_of(shape);
    p->next = ps->buckets[bucket];
    ps->buckets[bucket] = p;
    ps->count++;
    *made = p;
    return AMP_OK;
}

amp_status amp_product_prepare(amp_worker *w, const amp_product_shape *shape,
                               amp_product **product) {
    amp_status status = open_products(w);
    if (status != AMP_OK)
        return status;
    struct amp_products *ps = w->products;
    amp_product *p = ps->buckets[bucket_of(shape)];
    while (p && memcmp(&p->shape, shape, sizeof *shape) != 0)
        p = p->next;
    if (!p)
        status = make(ps, shape, &p);
    if (status != AMP_OK)
        return status;
    p->used = ++ps->clock;
    if (p->scratchpad_bytes > 0 &&
        !amp_scratch(w, AMP_SCRATCH_LIBRARY, p->scratchpad_bytes))
        return AMP_ERR_MEMORY;
    *product = p;
    return AMP_OK;
}

/* oneDNN takes non-const handles for what it only reads. */
static dnnl_status_t point(dnnl_memory_t memory, const void *data) {
    return dnnl_memory_set_data_handle(memory, (void *)(uintptr_t)data);
}

amp_status amp_product_run(amp_worker *w, amp_product *p, const void *a,
                           const void *b, const float *bias, float alpha,
                           void *c) {
    dnnl_exec_arg_t args[6];
    int n = 0;
    dnnl_status_t status = point(p->a, a);
    args[n++] = (dnnl_exec_arg_t){DNNL_ARG_SRC, p->a};
    if (status == dnnl_success)
        status = point(p->b, b);
    args[n++] = (dnnl_exec_arg_t){DNNL_ARG_WEIGHTS, p->b};
    if (status == dnnl_success)
        status = point(p->c, c);
    args[n++] = (dnnl_exec_arg_t){DNNL_ARG_DST, p->c};
    if (status == dnnl_success)
        status = point(p->scratchpad, w->scratch[AMP_SCRATCH_LIBRARY].data);
    args[n++] = (dnnl_exec_arg_t){DNNL_ARG_SCRATCHPAD, p->scratchpad};
    if (p->bias) {
        if (status == dnnl_success)
            status = point(p->bias, bias);
        args[n++] = (dnnl_exec_arg_t){DNNL_ARG_BIAS, p->bias};
    }
    if (p->alpha) {
        if (status == dnnl_success)
            status = point(p->alpha, &alpha);
        args[n++] = (dnnl_exec_arg_t){DNNL_ARG_ATTR_OUTPUT_SCALES, p->alpha};
    }
    if (status != dnnl_success)
        return backend(status, "setting a data handle");
    int before = p->threads ? amp_thread_limit(p->threads) : 0;
    status = dnnl_primitive_execute(p->primitive, w->products->stream, n, args);
    if (status == dnnl_success)
        status = dnnl_stream_wait(w->products->stream);
    if (p->threads)
        amp_thread_limit(before);
    return backend(status, "running a matmul");
}
