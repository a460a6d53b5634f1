/* ops.c - GEMM, batched GEMM, GEMV and linear layers in half precision.
 *
 * Each op checks its arguments, asks the threshold table, prepares products,
 * casts (or finds cast) operands, and only then writes: whatever is not AMP_OK
 * left the result as it was, so the caller can run the original.
 */
#include "gemm.h"
#include "mixed.h"
#include "profile.h"

static bool is_half(amp_dtype half) {
    return half == AMP_FP16 || half == AMP_BF16;
}

static amp_plane plane(const float *data, int64_t ld, int64_t stride,
                       bool trans) {
    return (amp_plane){amp_buffer_of_floats(data), ld, stride, trans};
}

/* ---- gemm -------------------------------------------------------------- */

static amp_status try_gemm(amp_dtype half, const amp_gemm *g, amp_op *o) {
    amp_status status = amp_gemm_check(g);
    if (status != AMP_OK)
        return status;
    amp_gemm_note_update(g);
    if (!amp_gemm_can_run(g) || !amp_gemm_pays(g))
        return AMP_DECLINED;
    status = amp_op_begin(o, half);
    return status == AMP_OK ? amp_gemm_run(o, g) : status;
}

static amp_status profiled_gemm(const char *name, amp_dtype half,
                                const amp_gemm *g) {
    amp_note_half(half);
    if (!is_half(half))
        return half == AMP_FP32 ? AMP_DECLINED : AMP_ERR_ARGUMENT;
    amp_op o = {0};
    double start = amp_profile_now();
    amp_status status = try_gemm(half, g, &o);
    amp_profile_key key = {name, g->batch, g->m, g->n, g->k, half};
    amp_profile_add(&key, status, amp_profile_now() - start, o.cast_seconds);
    return status;
}

amp_status amp_gemm_as(amp_dtype half, int transa, int transb, int64_t m,
                       int64_t n, int64_t k, float alpha, const float *a,
                       int64_t lda, const float *b, int64_t ldb, float beta,
                       float *c, int64_t ldc) {
    amp_gemm g = amp_gemm_of(m, n, k, alpha, plane(a, lda, 0, transa != 0),
                             plane(b, ldb, 0, transb != 0), beta,
                             plane(c, ldc, 0, false));
    return profiled_gemm("gemm", half, &g);
}

amp_status amp_gemm_strided_as(amp_dtype half, int transa, int transb,
                               int64_t m, int64_t n, int64_t k, float alpha,
                               const float *a, int64_t lda, int64_t stridea,
                               const float *b, int64_t ldb, int64_t strideb,
                               float beta, float *c, int64_t ldc,
                               int64_t stridec, int64_t batch) {
    amp_gemm g =
        amp_gemm_batch_of(m, n, k, alpha, plane(a, lda, stridea, transa != 0),
                          plane(b, ldb, strideb, transb != 0), beta,
                          plane(c, ldc, stridec, false), batch);
    return profiled_gemm("gemm_strided", half, &g);
}

/* x as an n x 1 matrix: ld carries the increment. A negative increment counts
 * from the far end, as in BLAS, which a row distance cannot say. */
amp_status amp_gemv_as(amp_dtype half, int trans, int64_t m, int64_t n,
                       float alpha, const float *a, int64_t lda, const float *x,
                       int64_t incx, float beta, float *y, int64_t incy) {
    amp_gemm g =
        amp_gemm_of(m, 1, n, alpha, plane(a, lda, 0, trans != 0),
                    plane(x, incx, 0, false), beta, plane(y, incy, 0, false));
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
    amp_gemm g = amp_gemm_of(rows, out_features, in_features, 1.0f,
                             plane(inp, in_features, 0, false),
                             plane(weight, in_features, 0, true), 0.0f,
                             plane(out, out_features, 0, false));
    g.bias = amp_buffer_of_floats(bias);
    return profiled_gemm("linear_forward", half, &g);
}

typedef struct linear_backward {
    amp_gemm dinp;
    amp_gemm dweight;
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

static amp_status run_backward(amp_op *o, const linear_backward *l) {
    const amp_gemm *dinp = l->dinp.result ? &l->dinp : NULL;
    const amp_gemm *dweight = l->dweight.result ? &l->dweight : NULL;
    amp_product *inp_product = NULL;
    amp_product *weight_product = NULL;
    amp_ready dout = {0};
    amp_ready weight = {0};
    amp_ready inp = {0};
    amp_status status = AMP_OK;
    if (dinp)
        status = amp_gemm_prepare(o, dinp, &inp_product);
    if (status == AMP_OK && dweight)
        status = amp_gemm_prepare(o, dweight, &weight_product);
    /* dout is cast once for both products. */
    const amp_matrix *dout_matrix = dinp ? &dinp->a : &l->dweight.a;
    if (status == AMP_OK)
        status = amp_ready_make(o, dout_matrix, AMP_SCRATCH_A, &dout);
    if (status == AMP_OK && dinp)
        status = amp_ready_make(o, &dinp->b, AMP_SCRATCH_B, &weight);
    if (status == AMP_OK && dweight)
        status = amp_ready_make(o, &dweight->b, AMP_SCRATCH_C, &inp);
    if (status == AMP_OK && dinp)
        status = amp_gemm_multiply(o, dinp, inp_product, &dout, &weight);
    if (status == AMP_OK && dweight)
        status = amp_gemm_multiply(o, dweight, weight_product, &dout, &inp);
    amp_cast_release(dout.cached);
    amp_cast_release(weight.cached);
    amp_cast_release(inp.cached);
    return status;
}

static amp_status try_backward(amp_dtype half, const linear_backward *l,
                               amp_op *o) {
    const amp_gemm *both[] = {&l->dinp, &l->dweight};
    if (!l->dinp.result && !l->dweight.result)
        return AMP_DECLINED;
    for (int i = 0; i < 2; i++) {
        if (!both[i]->result)
            continue;
        amp_status status = amp_gemm_check(both[i]);
        if (status != AMP_OK)
            return status;
        amp_gemm_note_update(both[i]);
        /* Together or not at all: a caller can only run the whole layer. */
        if (!amp_gemm_pays(both[i]))
            return AMP_DECLINED;
    }
    amp_status status = amp_op_begin(o, half);
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
        .dinp = amp_gemm_linear_dinp(
            amp_buffer_of_floats(dinp), amp_buffer_of_floats(dout),
            amp_buffer_of_floats(weight), rows, in, out),
        .dweight = amp_gemm_linear_dweight(
            amp_buffer_of_floats(dweight), amp_buffer_of_floats(dout),
            amp_buffer_of_floats(inp), rows, in, out),
        .dbias = dbias,
        .dout = dout,
        .rows = rows,
        .out_features = out};
    amp_note_half(half);
    if (!is_half(half))
        return half == AMP_FP32 ? AMP_DECLINED : AMP_ERR_ARGUMENT;
    amp_op o = {0};
    double start = amp_profile_now();
    amp_status status = try_backward(half, &l, &o);
    /* Two products of rows x in x out each. */
    int64_t products = (dinp != NULL) + (dweight != NULL);
    amp_profile_key key = {"linear_backward", products, rows, in, out, half};
    amp_profile_add(&key, status, amp_profile_now() - start, o.cast_seconds);
    return status;
}
