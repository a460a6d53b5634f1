#include "gemm.h"

#include "buffers.h"
#include "kernels.h"
#include "profile.h"
#include "thresholds.h"

#include <string.h>

amp_status amp_op_begin(amp_op *o, amp_dtype half) {
    *o = (amp_op){.worker = amp_worker_get()};
    if (!o->worker)
        return AMP_ERR_MEMORY;
    return amp_product_operand(half, &o->kind);
}

static uint32_t bits_of(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

/* ---- description -------------------------------------------------------- */

/* Stored shape of an operand that is rows x cols once transposed or not. */
static amp_matrix stored(const amp_plane *p, int64_t rows, int64_t cols) {
    return (amp_matrix){.data = p->buffer.data,
                        .type = p->buffer.type,
                        .rows = p->trans ? cols : rows,
                        .cols = p->trans ? rows : cols,
                        .ld = p->ld,
                        .batch = 1,
                        .stride = p->stride};
}

amp_gemm amp_gemm_of(int64_t m, int64_t n, int64_t k, float alpha, amp_plane a,
                     amp_plane b, float beta, amp_plane c) {
    return (amp_gemm){.a = stored(&a, m, k),
                      .b = stored(&b, k, n),
                      .c = stored(&c, m, n),
                      .result = c.buffer.data,
                      .batch = 1,
                      .m = m,
                      .n = n,
                      .k = k,
                      .alpha = alpha,
                      .beta = beta,
                      .transa = a.trans,
                      .transb = b.trans};
}

amp_gemm amp_gemm_linear_dinp(amp_buffer dinp, amp_buffer dout,
                              amp_buffer weight, int64_t rows,
                              int64_t in_features, int64_t out_features) {
    return amp_gemm_of(rows, in_features, out_features, 1.0f,
                       (amp_plane){dout, out_features, 0, false},
                       (amp_plane){weight, in_features, 0, false}, 1.0f,
                       (amp_plane){dinp, in_features, 0, false});
}

amp_gemm amp_gemm_linear_dweight(amp_buffer dweight, amp_buffer dout,
                                 amp_buffer inp, int64_t rows,
                                 int64_t in_features, int64_t out_features) {
    return amp_gemm_of(out_features, in_features, rows, 1.0f,
                       (amp_plane){dout, out_features, 0, true},
                       (amp_plane){inp, in_features, 0, false}, 1.0f,
                       (amp_plane){dweight, in_features, 0, false});
}

amp_gemm amp_gemm_batch_of(int64_t m, int64_t n, int64_t k, float alpha,
                           amp_plane a, amp_plane b, float beta, amp_plane c,
                           int64_t batch) {
    amp_gemm g = amp_gemm_of(m, n, k, alpha, a, b, beta, c);
    g.a.batch = a.stride == 0 ? 1 : batch;
    g.b.batch = b.stride == 0 ? 1 : batch;
    g.c.batch = batch;
    g.batch = batch;
    return g;
}

static bool fits(const amp_gemm *g) {
    return amp_matrix_fits(&g->a) && amp_matrix_fits(&g->b) &&
           amp_matrix_fits(&g->c);
}

amp_status amp_gemm_check(const amp_gemm *g) {
    if (g->m < 0 || g->n < 0 || g->k < 0 || g->batch < 0)
        return AMP_ERR_ARGUMENT;
    if (g->m == 0 || g->n == 0 || g->k == 0 || g->batch == 0)
        return AMP_DECLINED;
    if (!g->a.data || !g->b.data || !g->c.data || g->a.ld < g->a.cols ||
        g->b.ld < g->b.cols || g->c.ld < g->n || g->a.stride < 0 ||
        g->b.stride < 0 || g->c.stride < 0 || !fits(g))
        return AMP_ERR_ARGUMENT;
    return AMP_OK;
}

void amp_gemm_note_update(const amp_gemm *g) {
    size_t bytes = amp_matrix_extent(&g->c);
    if (amp_buffers_touch_param(g->c.data, bytes))
        amp_cast_cache_written(g->c.data, bytes);
}

/* Results that share elements have an order that a batch does not keep. */
static bool results_apart(const amp_gemm *g) {
    const amp_matrix *c = &g->c;
    bool stacked = c->stride >= (g->m - 1) * c->ld + g->n;
    bool interleaved =
        c->stride >= g->n && c->ld >= (g->batch - 1) * c->stride + g->n;
    return g->batch == 1 || stacked || interleaved;
}

bool amp_gemm_can_run(const amp_gemm *g) {
    /* The same product many times over: the library has no such batch. */
    bool copies = g->batch > 1 && g->a.batch == 1 && g->b.batch == 1;
    /* alpha 0 must not read a and b. */
    return g->alpha != 0.0f && !copies && results_apart(g) && !g->reversed_b &&
           !g->reversed_c;
}

/* Without a cast in this call. */
static bool is_ready(const amp_matrix *m) {
    return m->type != AMP_FP32 ||
           amp_buffers_is_param(m->data, amp_matrix_extent(m));
}

bool amp_gemm_pays(const amp_gemm *g) {
    amp_work work = {.batch = g->batch,
                     .m = g->m,
                     .n = g->n,
                     .k = g->k,
                     .transa = g->transa,
                     .transb = g->transb,
                     .ready_a = is_ready(&g->a),
                     .ready_b = is_ready(&g->b)};
    return amp_pays(&work);
}

/* ---- running ------------------------------------------------------------ */

/* Does the product write c itself, or FP32 sums that are rounded after? With a
 * beta, bf16 would be read and written in the course of the sum. */
static bool writes_result(const amp_gemm *g, amp_operand_kind kind) {
    return g->c.type == AMP_FP32 ||
           (amp_operand_in_place(&g->c, kind) && g->beta == 0.0f);
}

static amp_product_types types_of(const amp_gemm *g, amp_operand_kind kind) {
    if (kind != AMP_OPERAND_BF16)
        return AMP_PRODUCT_FP32;
    return g->c.type != AMP_FP32 && writes_result(g, kind)
               ? AMP_PRODUCT_BF16
               : AMP_PRODUCT_BF16_TO_FP32;
}

/* As the product meets it: in place, or in the contiguous cast form. */
static void place(const amp_matrix *m, bool in_place, int64_t *ld,
                  int64_t *stride) {
    *ld = in_place ? m->ld : m->cols;
    *stride = in_place ? m->stride : m->rows * m->cols;
}

static amp_product_shape shape_of(const amp_gemm *g, amp_operand_kind kind) {
    amp_product_shape s = {
        .batch = g->batch,
        .m = g->m,
        .n = g->n,
        .k = g->k,
        .transa = g->transa,
        .transb = g->transb,
        .shared_a = g->batch != 1 && g->a.batch == 1,
        .shared_b = g->batch != 1 && g->b.batch == 1,
        .types = types_of(g, kind),
        .bias = g->bias.data != NULL,
        .scaled = bits_of(g->alpha) != bits_of(1.0f),
        /* -0 counts as 0: c is not read. */
        .beta = g->beta == 0.0f ? 0 : bits_of(g->beta),
    };
    place(&g->a, amp_operand_in_place(&g->a, kind), &s.lda, &s.stridea);
    place(&g->b, amp_operand_in_place(&g->b, kind), &s.ldb, &s.strideb);
    place(&g->c, writes_result(g, kind), &s.ldc, &s.stridec);
    if (g->batch == 1)
        s.stridea = s.strideb = s.stridec = 0;
    return s;
}

amp_status amp_ready_make(amp_op *o, const amp_matrix *m, amp_scratch_slot slot,
                          amp_ready *r) {
    if (amp_operand_in_place(m, o->kind)) {
        *r = (amp_ready){.data = m->data};
        return AMP_OK;
    }
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

amp_status amp_gemm_prepare(amp_op *o, const amp_gemm *g,
                            amp_product **product) {
    amp_product_shape shape = shape_of(g, o->kind);
    return amp_product_prepare(o->worker, &shape, product);
}

/* NULL without a bias; out of memory is told by *status. */
static const float *bias_of(amp_op *o, const amp_gemm *g, amp_status *status) {
    amp_matrix bias = {.data = g->bias.data,
                       .type = g->bias.type,
                       .rows = 1,
                       .cols = g->n,
                       .ld = g->n,
                       .batch = 1};
    if (!bias.data || bias.type == AMP_FP32)
        return bias.data;
    float *wide = amp_scratch(o->worker, AMP_SCRATCH_BIAS,
                              amp_operand_bytes(&bias, AMP_OPERAND_FP32));
    if (wide)
        amp_operand_cast(wide, &bias, AMP_OPERAND_FP32);
    else
        *status = AMP_ERR_MEMORY;
    return wide;
}

/* Where the product writes; with a beta, what it adds to is there. */
static void *open_result(amp_op *o, const amp_gemm *g) {
    if (writes_result(g, o->kind))
        return g->result;
    float *sums = amp_scratch(o->worker, AMP_SCRATCH_RESULT,
                              amp_operand_bytes(&g->c, AMP_OPERAND_FP32));
    if (sums && g->beta != 0.0f)
        amp_operand_cast(sums, &g->c, AMP_OPERAND_FP32);
    return sums;
}

amp_status amp_gemm_multiply(amp_op *o, const amp_gemm *g, amp_product *product,
                             const amp_ready *a, const amp_ready *b) {
    double start = amp_profile_now();
    amp_status status = AMP_OK;
    const float *bias = bias_of(o, g, &status);
    void *result = open_result(o, g);
    if (status != AMP_OK || !result)
        return AMP_ERR_MEMORY;
    double opened = amp_profile_now();
    status = amp_product_run(o->worker, product, a->data, b->data, bias,
                             g->alpha, result);
    double run = amp_profile_now();
    if (status == AMP_OK && result != g->result)
        amp_result_store(g->result, &g->c, result);
    o->cast_seconds += opened - start + (amp_profile_now() - run);
    return status;
}

amp_status amp_gemm_run(amp_op *o, const amp_gemm *g) {
    amp_product *product;
    amp_ready a = {0};
    amp_ready b = {0};
    amp_status status = amp_gemm_prepare(o, g, &product);
    if (status == AMP_OK)
        status = amp_ready_make(o, &g->a, AMP_SCRATCH_A, &a);
    if (status == AMP_OK)
        status = amp_ready_make(o, &g->b, AMP_SCRATCH_B, &b);
    if (status == AMP_OK)
        status = amp_gemm_multiply(o, g, product, &a, &b);
    amp_cast_release(a.cached);
    amp_cast_release(b.cached);
    return status;
}

/* ---- in loops ----------------------------------------------------------- */

static float load(const amp_matrix *m, int64_t at) {
    const uint16_t *halves = m->data;
    switch (m->type) {
    case AMP_FP32:
        return ((const float *)m->data)[at];
    case AMP_FP16:
        return amp_half_fp16_value(halves[at]);
    case AMP_BF16:
        break;
    }
    return amp_half_bf16_value(halves[at]);
}

static void store(void *to, const amp_matrix *m, int64_t at, float x) {
    uint16_t *halves = to;
    switch (m->type) {
    case AMP_FP32:
        ((float *)to)[at] = x;
        return;
    case AMP_FP16:
        halves[at] = amp_half_fp16_bits(x);
        return;
    case AMP_BF16:
        halves[at] = amp_half_bf16_bits(x);
        return;
    }
}

/* Where an element lies. A shared matrix has stride 0. */
static int64_t place_of(const amp_matrix *m, bool trans, bool reversed,
                        int64_t batch, int64_t row, int64_t col) {
    int64_t r = trans ? col : row;
    int64_t c = trans ? row : col;
    if (reversed)
        r = m->rows - 1 - r;
    return batch * m->stride + r * m->ld + c;
}

static float dot(const amp_gemm *g, int64_t batch, int64_t row, int64_t col) {
    float sum = 0.0f;
    if (g->alpha == 0.0f)
        return sum; /* a and b must not be read */
    for (int64_t i = 0; i < g->k; i++) {
        float a = load(&g->a, place_of(&g->a, g->transa, false, batch, row, i));
        float b = load(
            &g->b, place_of(&g->b, g->transb, g->reversed_b, batch, i, col));
        sum += a * b;
    }
    return g->alpha * sum;
}

static void plain_element(const amp_gemm *g, int64_t batch, int64_t row,
                          int64_t col) {
    amp_matrix bias = {.data = g->bias.data, .type = g->bias.type};
    int64_t at = place_of(&g->c, false, g->reversed_c, batch, row, col);
    float x = dot(g, batch, row, col);
    if (g->beta != 0.0f)
        x += g->beta * load(&g->c, at);
    if (bias.data)
        x += load(&bias, col);
    store(g->result, &g->c, at, x);
}

void amp_gemm_plain(const amp_gemm *g) {
    for (int64_t batch = 0; batch < g->batch; batch++)
        for (int64_t row = 0; row < g->m; row++)
            for (int64_t col = 0; col < g->n; col++)
                plain_element(g, batch, row, col);
}
