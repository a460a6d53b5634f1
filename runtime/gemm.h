/* gemm.h - a matrix product as the ops describe it, and how it is run.
 *
 * Operands and result are FP32 or half, in any mixture. Casting (or finding
 * the cast of) operands comes before the product, and only then is the result
 * written: whatever is not AMP_OK left it as it was.
 */
#ifndef AMP_GEMM_H
#define AMP_GEMM_H

#include <amp/amp.h>
#include <amp/amp_storage.h>

#include "cast_cache.h"
#include "operand.h"
#include "product.h"
#include "worker.h"

#include <stdbool.h>

/* One call in progress. */
typedef struct amp_op {
    amp_worker *worker;
    amp_operand_kind kind;
    double cast_seconds;
} amp_op;

/* Finds the form that operands of this half type take. */
amp_status amp_op_begin(amp_op *o, amp_dtype half);

/* One matrix of the argument list of amp_gemm_strided. */
typedef struct amp_plane {
    amp_buffer buffer;
    int64_t ld;
    int64_t stride;
    bool trans;
} amp_plane;

typedef struct amp_gemm {
    amp_matrix a; /* as stored */
    amp_matrix b;
    amp_matrix c;
    void *result; /* c.data, to be written */
    amp_buffer bias;
    int64_t batch;
    int64_t m;
    int64_t n;
    int64_t k;
    float alpha;
    float beta;
    bool transa;
    bool transb;
    bool reversed_b; /* rows from the last to the first, as a vector with a */
    bool reversed_c; /* negative increment has its elements */
} amp_gemm;

/* One product, without bias. */
amp_gemm amp_gemm_of(int64_t m, int64_t n, int64_t k, float alpha, amp_plane a,
                     amp_plane b, float beta, amp_plane c);

/* What the backward pass of a linear layer adds to the gradients of its input
 * and of its weight (amp_linear_backward_as has the shapes). */
amp_gemm amp_gemm_linear_dinp(amp_buffer dinp, amp_buffer dout,
                              amp_buffer weight, int64_t rows,
                              int64_t in_features, int64_t out_features);
amp_gemm amp_gemm_linear_dweight(amp_buffer dweight, amp_buffer dout,
                                 amp_buffer inp, int64_t rows,
                                 int64_t in_features, int64_t out_features);

/* `batch` of them, at the strides of the planes. Stride 0: the whole batch
 * reads one matrix. */
amp_gemm amp_gemm_batch_of(int64_t m, int64_t n, int64_t k, float alpha,
                           amp_plane a, amp_plane b, float beta, amp_plane c,
                           int64_t batch);

/* AMP_ERR_ARGUMENT, or AMP_DECLINED if a dimension is 0. */
amp_status amp_gemm_check(const amp_gemm *g);

/* A product that writes a parameter is its update, whoever runs it: copies
 * that were cast before are void. */
void amp_gemm_note_update(const amp_gemm *g);

/* Can the library's product stand for it? Not if its operands must not be
 * read, nor for reversed vectors and some batches. */
bool amp_gemm_can_run(const amp_gemm *g);

/* Is it worth half precision? */
bool amp_gemm_pays(const amp_gemm *g);

amp_status amp_gemm_run(amp_op *o, const amp_gemm *g);

/* The same in loops over the elements: slow, but for every product that
 * amp_gemm_check does not object to, without the library or memory, and it
 * cannot fail. */
void amp_gemm_plain(const amp_gemm *g);

/* ---- its steps, for ops that share an operand --------------------------- */

/* An operand in the form that the product reads. */
typedef struct amp_ready {
    const void *data;
    amp_cast *cached; /* to release, or NULL */
} amp_ready;

amp_status amp_ready_make(amp_op *o, const amp_matrix *m, amp_scratch_slot slot,
                          amp_ready *r);

amp_status amp_gemm_prepare(amp_op *o, const amp_gemm *g,
                            amp_product **product);

amp_status amp_gemm_multiply(amp_op *o, const amp_gemm *g, amp_product *product,
                             const amp_ready *a, const amp_ready *b);

#endif
