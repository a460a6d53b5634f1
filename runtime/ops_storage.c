/* ops_storage.c - the ops of amp_storage.h, on buffers of either type.
 *
 * The caller has no original to run, so each product goes down until one way
 * works: in half, in FP32 by the library, in a loop. A call counts as declined
 * in the profile unless it ran in half.
 */
#include <amp/amp_storage.h>

#include "gemm.h"
#include "log.h"
#include "mixed.h"
#include "profile.h"
#include "storage.h"

#include <inttypes.h>
#include <string.h>

static bool is_type(amp_dtype type, amp_dtype half) {
    return type == AMP_FP32 || type == half;
}

static amp_plane plane(amp_buffer buffer, int64_t ld, int64_t stride,
                       bool trans) {
    return (amp_plane){buffer, ld, stride, trans};
}

/* A sum without terms leaves beta * c: a and b may be anything. */
static amp_status check_mixed(amp_dtype half, const amp_gemm *g) {
    if ((half != AMP_FP16 && half != AMP_BF16) || !is_type(g->a.type, half) ||
        !is_type(g->b.type, half) || !is_type(g->c.type, half) ||
        !is_type(g->bias.type, half))
        return AMP_ERR_ARGUMENT;
    amp_status status = amp_gemm_check(g);
    bool only_c =
        status == AMP_DECLINED && g->m != 0 && g->n != 0 && g->batch != 0;
    if (!only_c)
        return status;
    return g->c.data && g->c.ld >= g->n && g->c.stride >= 0 &&
                   amp_matrix_fits(&g->c)
               ? AMP_OK
               : AMP_ERR_ARGUMENT;
}

/* Said once, since it may be in each step. */
static void warn_of_loop(const amp_gemm *g) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (amp_once(&said))
        amp_log(AMP_LOG_WARN,
                "a product of %" PRId64 " x %" PRId64 " x %" PRId64
                " runs in a plain loop: out of memory, or an error of the "
                "library",
                g->m, g->n, g->k);
}

/* AMP_OK: in half; AMP_DECLINED: in FP32. */
static amp_status multiply(amp_dtype half, const amp_gemm *g, amp_op *o) {
    amp_gemm_note_update(g);
    bool can = g->k != 0 && amp_gemm_can_run(g);
    if (can && amp_gemm_pays(g) && amp_op_begin(o, half) == AMP_OK &&
        amp_gemm_run(o, g) == AMP_OK)
        return AMP_OK;
    o->worker = amp_worker_get();
    o->kind = AMP_OPERAND_FP32;
    if (can && o->worker && amp_gemm_run(o, g) == AMP_OK)
        return AMP_DECLINED;
    if (can)
        warn_of_loop(g);
    amp_gemm_plain(g);
    return AMP_DECLINED;
}

/* Code that was rewritten does not look at the status. */
static amp_status answer(const char *name, amp_status status) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (status == AMP_OK || status == AMP_DECLINED)
        return AMP_OK;
    if (amp_once(&said))
        amp_log(AMP_LOG_ERROR, "%s: %s", name, amp_status_string(status));
    return status;
}

static amp_status mixed_gemm(const char *name, amp_dtype half,
                             const amp_gemm *g) {
    amp_note_half(half);
    if (half == AMP_FP32)
        return AMP_DECLINED;
    amp_op o = {0};
    double start = amp_profile_now();
    amp_status status = check_mixed(half, g);
    if (status == AMP_OK)
        status = multiply(half, g, &o);
    amp_profile_key key = {name, g->batch, g->m, g->n, g->k, half};
    amp_profile_add(&key, status, amp_profile_now() - start, o.cast_seconds);
    return answer(name, status);
}

amp_status amp_gemm_mixed_as(amp_dtype half, int transa, int transb, int64_t m,
                             int64_t n, int64_t k, float alpha, amp_buffer a,
                             int64_t lda, amp_buffer b, int64_t ldb, float beta,
                             amp_buffer c, int64_t ldc) {
    amp_gemm g = amp_gemm_of(m, n, k, alpha, plane(a, lda, 0, transa != 0),
                             plane(b, ldb, 0, transb != 0), beta,
                             plane(c, ldc, 0, false));
    return mixed_gemm("gemm_mixed", half, &g);
}

amp_status amp_gemm_strided_mixed_as(amp_dtype half, int transa, int transb,
                                     int64_t m, int64_t n, int64_t k,
                                     float alpha, amp_buffer a, int64_t lda,
                                     int64_t stridea, amp_buffer b, int64_t ldb,
                                     int64_t strideb, float beta, amp_buffer c,
                                     int64_t ldc, int64_t stridec,
                                     int64_t batch) {
    amp_gemm g =
        amp_gemm_batch_of(m, n, k, alpha, plane(a, lda, stridea, transa != 0),
                          plane(b, ldb, strideb, transb != 0), beta,
                          plane(c, ldc, stridec, false), batch);
    return mixed_gemm("gemm_strided_mixed", half, &g);
}

static int64_t distance(int64_t increment) {
    return increment < 0 && increment >= -INT64_MAX ? -increment : increment;
}

amp_status amp_gemv_mixed_as(amp_dtype half, int trans, int64_t m, int64_t n,
                             float alpha, amp_buffer a, int64_t lda,
                             amp_buffer x, int64_t incx, float beta,
                             amp_buffer y, int64_t incy) {
    amp_gemm g = amp_gemm_of(m, 1, n, alpha, plane(a, lda, 0, trans != 0),
                             plane(x, distance(incx), 0, false), beta,
                             plane(y, distance(incy), 0, false));
    g.reversed_b = incx < 0;
    g.reversed_c = incy < 0;
    return mixed_gemm("gemv_mixed", half, &g);
}

/* ---- linear ------------------------------------------------------------ */

amp_status amp_linear_forward_mixed_as(amp_dtype half, amp_buffer out,
                                       amp_buffer inp, amp_buffer weight,
                                       amp_buffer bias, int64_t rows,
                                       int64_t in_features,
                                       int64_t out_features) {
    amp_gemm g = amp_gemm_of(rows, out_features, in_features, 1.0f,
                             plane(inp, in_features, 0, false),
                             plane(weight, in_features, 0, true), 0.0f,
                             plane(out, out_features, 0, false));
    g.bias = bias;
    return mixed_gemm("linear_forward_mixed", half, &g);
}

typedef struct linear_backward {
    amp_gemm dinp;
    amp_gemm dweight;
    amp_buffer dbias;
    amp_buffer dout;
    int64_t rows;
    int64_t out_features;
} linear_backward;

/* Rows from first to last, as the loop it replaces; a dbias in half is rounded
 * once. */
static void add_column_sums(const linear_backward *l) {
    float sums[AMP_STORAGE_CHUNK];
    float room[AMP_STORAGE_CHUNK];
    size_t cols = (size_t)l->out_features;
    for (size_t from = 0; from < cols; from += AMP_STORAGE_CHUNK) {
        size_t n = cols - from;
        if (n > AMP_STORAGE_CHUNK)
            n = AMP_STORAGE_CHUNK;
        memcpy(sums, amp_storage_read(l->dbias, from, n, sums),
               n * sizeof *sums);
        for (int64_t r = 0; r < l->rows; r++) {
            size_t at = (size_t)r * cols + from;
            const float *row = amp_storage_read(l->dout, at, n, room);
            for (size_t i = 0; i < n; i++)
                sums[i] += row[i];
        }
        amp_storage_write(l->dbias, from, sums, n);
    }
}

/* Everything is checked before anything is written. */
static amp_status check_backward(amp_dtype half, const linear_backward *l) {
    const amp_gemm *both[] = {&l->dinp, &l->dweight};
    for (int i = 0; i < 2; i++) {
        if (!both[i]->result)
            continue;
        amp_status status = check_mixed(half, both[i]);
        if (status != AMP_OK && status != AMP_DECLINED)
            return status;
    }
    if (!l->dbias.data)
        return AMP_OK;
    amp_matrix dout = {.data = l->dout.data,
                       .rows = l->rows,
                       .cols = l->out_features,
                       .ld = l->out_features,
                       .batch = 1};
    bool right = is_type(l->dbias.type, half) && is_type(l->dout.type, half) &&
                 l->rows >= 0 && l->out_features >= 0 &&
                 (dout.data || l->rows == 0 || l->out_features == 0) &&
                 amp_matrix_fits(&dout);
    return right ? AMP_OK : AMP_ERR_ARGUMENT;
}

/* AMP_OK if all that it has to do ran in half. */
static amp_status run_backward(amp_dtype half, const linear_backward *l,
                               amp_op *o) {
    const amp_gemm *both[] = {&l->dinp, &l->dweight};
    amp_status status = AMP_OK;
    for (int i = 0; i < 2; i++) {
        amp_op one = {0};
        if (!both[i]->result || check_mixed(half, both[i]) != AMP_OK)
            continue;
        if (multiply(half, both[i], &one) != AMP_OK)
            status = AMP_DECLINED;
        o->cast_seconds += one.cast_seconds;
    }
    if (l->dbias.data)
        add_column_sums(l);
    return status;
}

amp_status amp_linear_backward_mixed_as(amp_dtype half, amp_buffer dinp,
                                        amp_buffer dweight, amp_buffer dbias,
                                        amp_buffer dout, amp_buffer inp,
                                        amp_buffer weight, int64_t rows,
                                        int64_t in_features,
                                        int64_t out_features) {
    int64_t in = in_features;
    int64_t out = out_features;
    linear_backward l = {
        .dinp = amp_gemm_linear_dinp(dinp, dout, weight, rows, in, out),
        .dweight = amp_gemm_linear_dweight(dweight, dout, inp, rows, in, out),
        .dbias = dbias,
        .dout = dout,
        .rows = rows,
        .out_features = out};
    amp_note_half(half);
    if (half == AMP_FP32)
        return AMP_DECLINED;
    amp_op o = {0};
    double start = amp_profile_now();
    amp_status status = check_backward(half, &l);
    if (status == AMP_OK)
        status = run_backward(half, &l, &o);
    /* Two products of rows x in x out each. */
    int64_t products = (dinp.data != NULL) + (dweight.data != NULL);
    amp_profile_key key = {
        "linear_backward_mixed", products, rows, in, out, half};
    amp_profile_add(&key, status, amp_profile_now() - start, o.cast_seconds);
    return answer(key.op, status);
}
