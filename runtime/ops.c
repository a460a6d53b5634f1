/* ops.c - GEMM, batched GEMM, GEMV and linear layers in half precision.
 *
 * Each op checks its arguments, asks the threshold table, prepares products,
 * casts (or finds cast) operands, and only then writes: whatever is not AMP_OK
 * left the result as it was, so the caller can run the original.
 */
#include <amp/amp.h>

#include "buffers.h"
#include "cast_cache.h"
#include "mixed.h"
#include "operand.h"
#include "product.h"
#include "profile.h"
#include "thresholds.h"
#include "worker.h"

#include <string.h>

/* One call in progress. */
typedef struct op {
    amp_worker *worker;
    amp_operand_kind kind;
    double cast_seconds;
} op;

/* An operand in the form that the product reads. */
typedef struct ready {
    const void *data;
    amp_cast *cached; /* to release, or NULL */
} ready;

static amp_status begin(op *o, amp_dtype half) {
    *o = (op){.worker = amp_worker_get()};
    if (!o->worker)
        return AMP_ERR_MEMORY;
    return amp_product_operand(half, &o->kind);
}

static bool is_half(amp_dtype half) {
    return half == AMP_FP16 || half == AMP_BF16;
}

static bool is_param(const amp_matrix *m) {
    return amp_buffers_is_param(m->data, amp_matrix_extent(m));
}

static amp_status make_ready(op *o, const amp_matrix *m, amp_scratch_slot slot,
                             ready *r) {
    double start = amp_profile_now();
    amp_status status;
    r->cached = amp_cast_cache_get(m, o->kind, &status);
    if (status != AMP_OK)
        return status;
    if (r->cached) {
        r->data = amp_cast_data(r->cached);
    } else {
        void *dst = amp_scratch(o->worker, slot, amp_operand_bytes(m, o->kind));
        if (!dst)
            return AMP_ERR_MEMORY;
        amp_operand_cast(dst, m, o->kind);
        r->data = dst;
    }
    o->cast_seconds += amp_profile_now() - start;
    return AMP_OK;
}

static uint32_t bits_of(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

/* ---- gemm -------------------------------------------------------------- */

typedef struct gemm {
    amp_matrix a; /* as stored */
    amp_matrix b;
    float *c;
    const float *bias;
    int64_t ldc;
    int64_t stridec;
    int64_t batch;
    int64_t m;
    int64_t n;
    int64_t k;
    float alpha;
    float beta;
    bool transa;
    bool transb;
} gemm;

/* One matrix of the argument list of amp_gemm_strided. */
typedef struct plane {
    const float *data;
    int64_t ld;
    int64_t stride;
    bool trans;
} plane;

/* Stored shape of an operand that is rows x cols once transposed or not. */
static amp_matrix stored(const plane *p, int64_t rows, int64_t cols) {
    return (amp_matrix){.data = p->data,
                        .rows = p->trans ? cols : rows,
                        .cols = p->trans ? rows : cols,
                        .ld = p->ld,
                        .batch = 1,
                        .stride = p->stride};
}

/* The result as a matrix, for its extent. */
static amp_matrix result_of(const gemm *g) {
    return (amp_matrix){.data = g->c,
                        .rows = g->m,
                        .cols = g->n,
                        .ld = g->ldc,
                        .batch = g->batch,
                        .stride = g->stridec};
}

static bool fits(const gemm *g) {
    amp_matrix c = result_of(g);
    return amp_matrix_fits(&g->a) && amp_matrix_fits(&g->b) &&
           amp_matrix_fits(&c);
}

static amp_status check_gemm(const gemm *g) {
    if (g->m < 0 || g->n < 0 || g->k < 0 || g->batch < 0)
        return AMP_ERR_ARGUMENT;
    if (g->m == 0 || g->n == 0 || g->k == 0 || g->batch == 0)
        return AMP_DECLINED;
    if (!g->a.data || !g->b.data || !g->c || g->a.ld < g->a.cols ||
        g->b.ld < g->b.cols || g->ldc < g->n || g->a.stride < 0 ||
        g->b.stride < 0 || g->stridec < 0 || !fits(g))
        return AMP_ERR_ARGUMENT;
    return AMP_OK;
}

/* A product that writes a parameter is its update, whoever runs it: copies
 * that were cast before are void. */
static void note_update(const gemm *g) {
    amp_matrix c = result_of(g);
    size_t bytes = amp_matrix_extent(&c);
    if (amp_buffers_touch_param(c.data, bytes))
        amp_cast_cache_written(c.data, bytes);
}

/* Results that share elements have an order that a batch does not keep. */
static bool results_apart(const gemm *g) {
    bool stacked = g->stridec >= (g->m - 1) * g->ldc + g->n;
    bool interleaved =
        g->stridec >= g->n && g->ldc >= (g->batch - 1) * g->stridec + g->n;
    return g->batch == 1 || stacked || interleaved;
}

static bool pays(const gemm *g) {
    amp_work work = {.batch = g->batch,
                     .m = g->m,
                     .n = g->n,
                     .k = g->k,
                     .transa = g->transa,
                     .transb = g->transb,
                     .param_a = is_param(&g->a),
                     .param_b = is_param(&g->b)};
    return amp_pays(&work);
}

static amp_product_shape shape_of(const gemm *g, amp_operand_kind kind) {
    return (amp_product_shape){
        .batch = g->batch,
        .m = g->m,
        .n = g->n,
        .k = g->k,
        .ldc = g->ldc,
        .stridec = g->batch == 1 ? 0 : g->stridec,
        .transa = g->transa,
        .transb = g->transb,
        .shared_a = g->batch != 1 && g->a.batch == 1,
        .shared_b = g->batch != 1 && g->b.batch == 1,
        .bf16 = kind == AMP_OPERAND_BF16,
        .bias = g->bias != NULL,
        .scaled = bits_of(g->alpha) != bits_of(1.0f),
        /* -0 counts as 0: c is not read. */
        .beta = g->beta == 0.0f ? 0 : bits_of(g->beta),
    };
}

static amp_status run_gemm(op *o, const gemm *g) {
    amp_product_shape shape = shape_of(g, o->kind);
    amp_product *product;
    ready a = {0};
    ready b = {0};
    amp_status status = amp_product_prepare(o->worker, &shape, &product);
    if (status == AMP_OK)
        status = make_ready(o, &g->a, AMP_SCRATCH_A, &a);
    if (status == AMP_OK)
        status = make_ready(o, &g->b, AMP_SCRATCH_B, &b);
    if (status == AMP_OK)
        status = amp_product_run(o->worker, product, a.data, b.data, g->bias,
                                 g->alpha, g->c);
    amp_cast_release(a.cached);
    amp_cast_release(b.cached);
    return status;
}

static amp_status try_gemm(amp_dtype half, const gemm *g, op *o) {
    amp_status status = check_gemm(g);
    if (status != AMP_OK)
        return status;
    note_update(g);
    /* The same product many times over: the library has no such batch. */
    bool copies = g->batch > 1 && g->a.batch == 1 && g->b.batch == 1;
    /* alpha 0 must not read a and b. */
    if (g->alpha == 0.0f || copies || !results_apart(g) || !pays(g))
        return AMP_DECLINED;
    status = begin(o, half);
    return status == AMP_OK ? run_gemm(o, g) : status;
}

static amp_status profiled_gemm(const char *name, amp_dtype half,
                                const gemm *g) {
    amp_note_half(half);
    if (!is_half(half))
        return half == AMP_FP32 ? AMP_DECLINED : AMP_ERR_ARGUMENT;
    op o = {0};
    double start = amp_profile_now();
    amp_status status = try_gemm(half, g, &o);
    amp_profile_key key = {name, g->batch, g->m, g->n, g->k, half};
    amp_profile_add(&key, status, amp_profile_now() - start, o.cast_seconds);
    return status;
}

static gemm product_of(int64_t m, int64_t n, int64_t k, float alpha, plane a,
                       plane b, float beta, float *c, int64_t ldc) {
    return (gemm){.a = stored(&a, m, k),
                  .b = stored(&b, k, n),
                  .c = c,
                  .ldc = ldc,
                  .batch = 1,
                  .m = m,
                  .n = n,
                  .k = k,
                  .alpha = alpha,
                  .beta = beta,
                  .transa = a.trans,
                  .transb = b.trans};
}

amp_status amp_gemm_as(amp_dtype half, int transa, int transb, int64_t m,
                       int64_t n, int64_t k, float alpha, const float *a,
                       int64_t lda, const float *b, int64_t ldb, float beta,
                       float *c, int64_t ldc) {
    gemm g = product_of(m, n, k, alpha, (plane){a, lda, 0, transa != 0},
                        (plane){b, ldb, 0, transb != 0}, beta, c, ldc);
    return profiled_gemm("gemm", half, &g);
}

amp_status amp_gemm_strided_as(amp_dtype half, int transa, int transb,
                               int64_t m, int64_t n, int64_t k, float alpha,
                               const float *a, int64_t lda, int64_t stridea,
                               const float *b, int64_t ldb, int64_t strideb,
                               float beta, float *c, int64_t ldc,
                               int64_t stridec, int64_t batch) {
    gemm g = product_of(m, n, k, alpha, (plane){a, lda, stridea, transa != 0},
                        (plane){b, ldb, strideb, transb != 0}, beta, c, ldc);
    /* Stride 0: the whole batch reads one matrix. */
    g.a.batch = stridea == 0 ? 1 : batch;
    g.b.batch = strideb == 0 ? 1 : batch;
    g.stridec = stridec;
    g.batch = batch;
    return profiled_gemm("gemm_strided", half, &g);
}

/* x as an n x 1 matrix: ld carries the increment. A negative increment counts
 * from the far end, as in BLAS, which a row distance cannot say. */
amp_status amp_gemv_as(amp_dtype half, int trans, int64_t m, int64_t n,
                       float alpha, const float *a, int64_t lda, const float *x,
                       int64_t incx, float beta, float *y, int64_t incy) {
    gemm g = product_of(m, 1, n, alpha, (plane){a, lda, 0, trans != 0},
                        (plane){x, incx, 0, false}, beta, y, incy);
    if (is_half(half) && (incx == 0 || incy == 0))
        return AMP_ERR_ARGUMENT;
    if (is_half(half) && (incx < 0 || incy < 0))
        return AMP_DECLINED;
    return profiled_gemm("gemv", half, &g);
}

/* ---- linear ------------------------------------------------------------ */

amp_status amp_linear_forward_as(amp_dtype half, float *out, const float *inp,
                                 const float *weight, const float *bias,
                                 int64_t rows, int64_t in_features,
                                 int64_t out_features) {
    gemm g = product_of(rows, out_features, in_features, 1.0f,
                        (plane){inp, in_features, 0, false},
                        (plane){weight, in_features, 0, true}, 0.0f, out,
                        out_features);
    g.bias = bias;
    return profiled_gemm("linear_forward", half, &g);
}

typedef struct linear_backward {
    gemm dinp;
    gemm dweight;
    float *dbias;
    const float *dout;
    int64_t rows;
    int64_t out_features;
} linear_backward;

/* The order of the loop it replaces: rows from first to last. */
static void add_column_sums(const linear_backward *l) {
    if (!l->dbias)
        return;
    for (int64_t r = 0; r < l->rows; r++) {
        const float *row = l->dout + r * l->out_features;
        for (int64_t o = 0; o < l->out_features; o++)
            l->dbias[o] += row[o];
    }
}

static amp_status run_backward(op *o, const linear_backward *l) {
    const gemm *dinp = l->dinp.c ? &l->dinp : NULL;
    const gemm *dweight = l->dweight.c ? &l->dweight : NULL;
    amp_product *inp_product = NULL;
    amp_product *weight_product = NULL;
    ready dout = {0};
    ready weight = {0};
    ready inp = {0};
    amp_status status = AMP_OK;
    if (dinp) {
        amp_product_shape shape = shape_of(dinp, o->kind);
        status = amp_product_prepare(o->worker, &shape, &inp_product);
    }
    if (status == AMP_OK && dweight) {
        amp_product_shape shape = shape_of(dweight, o->kind);
        status = amp_product_prepare(o->worker, &shape, &weight_product);
    }
    /* dout is cast once for both products. */
    const amp_matrix *dout_matrix = dinp ? &dinp->a : &l->dweight.a;
    if (status == AMP_OK)
        status = make_ready(o, dout_matrix, AMP_SCRATCH_A, &dout);
    if (status == AMP_OK && dinp)
        status = make_ready(o, &dinp->b, AMP_SCRATCH_B, &weight);
    if (status == AMP_OK && dweight)
        status = make_ready(o, &dweight->b, AMP_SCRATCH_C, &inp);
    if (status == AMP_OK && dinp)
        status = amp_product_run(o->worker, inp_product, dout.data, weight.data,
                                 NULL, 1.0f, dinp->c);
    if (status == AMP_OK && dweight)
        status = amp_product_run(o->worker, weight_product, dout.data, inp.data,
                                 NULL, 1.0f, dweight->c);
    amp_cast_release(dout.cached);
    amp_cast_release(weight.cached);
    amp_cast_release(inp.cached);
    return status;
}

static amp_status try_backward(amp_dtype half, const linear_backward *l,
                               op *o) {
    const gemm *both[] = {&l->dinp, &l->dweight};
    if (!l->dinp.c && !l->dweight.c)
        return AMP_DECLINED;
    for (int i = 0; i < 2; i++) {
        if (!both[i]->c)
            continue;
        amp_status status = check_gemm(both[i]);
        if (status != AMP_OK)
            return status;
        note_update(both[i]);
        /* Together or not at all: a caller can only run the whole layer. */
        if (!pays(both[i]))
            return AMP_DECLINED;
    }
    amp_status status = begin(o, half);
    if (status == AMP_OK)
        status = run_backward(o, l);
    if (status == AMP_OK)
        add_column_sums(l);
    return status;
}

amp_status amp_linear_backward_as(amp_dtype half, float *dinp, float *dweight,
                                  float *dbias, const float *dout,
                                  const float *inp, const float *weight,
                                  int64_t rows, int64_t in_features,
                                  int64_t out_features) {
    int64_t in = in_features;
    int64_t out = out_features;
    linear_backward l = {
        .dinp = product_of(rows, in, out, 1.0f, (plane){dout, out, 0, false},
                           (plane){weight, in, 0, false}, 1.0f, dinp, in),
        .dweight = product_of(out, in, rows, 1.0f, (plane){dout, out, 0, true},
                              (plane){inp, in, 0, false}, 1.0f, dweight, in),
        .dbias = dbias,
        .dout = dout,
        .rows = rows,
        .out_features = out};
    amp_note_half(half);
    if (!is_half(half))
        return half == AMP_FP32 ? AMP_DECLINED : AMP_ERR_ARGUMENT;
    op o = {0};
    double start = amp_profile_now();
    amp_status status = try_backward(half, &l, &o);
    /* Two products of rows x in x out each. */
    int64_t products = (dinp != NULL) + (dweight != NULL);
    amp_profile_key key = {"linear_backward", products, rows, in, out, half};
    amp_profile_add(&key, status, amp_profile_now() - start, o.cast_seconds);
    return status;
}
