/* product.h - matrix products on oneDNN: the only file that includes it.
 *
 * A product is made once per shape and thread and found again by its shape;
 * each thread keeps the last 256. Operands have the form of amp_operand_kind;
 * the sum is FP32, the result FP32 or, of bf16 operands, bf16.
 */
#ifndef AMP_PRODUCT_H
#define AMP_PRODUCT_H

#include <amp/amp.h>

#include "operand.h"
#include "worker.h"

typedef enum amp_product_types {
    AMP_PRODUCT_FP32,
    AMP_PRODUCT_BF16_TO_FP32, /* bf16 operands */
    AMP_PRODUCT_BF16          /* a bf16 result too; beta is 0 */
} amp_product_types;

/* Compared and hashed as bytes: set every field, start from {0}. */
typedef struct amp_product_shape {
    int64_t batch;
    int64_t m;
    int64_t n;
    int64_t k;
    int64_t lda;
    int64_t stridea;
    int64_t ldb;
    int64_t strideb;
    int64_t ldc;
    int64_t stridec;
    int32_t transa;   /* a is stored as [k,m] */
    int32_t transb;   /* b is stored as [n,k] */
    int32_t shared_a; /* one matrix for the whole batch */
    int32_t shared_b;
    amp_product_types types;
    int32_t bias;   /* adds bias[n] to each row */
    int32_t scaled; /* alpha is not 1 */
    uint32_t beta;  /* its bits */
} amp_product_shape;

typedef struct amp_product amp_product;

/* The form that operands of this half type take here. Decided at the first
 * call, when the library shows whether the machine grants it a bf16 unit. */
amp_status amp_product_operand(amp_dtype half, amp_operand_kind *kind);

/* Finds or makes the product and all memory it needs, so that running it
 * cannot run out. Valid until the thread has made 255 more. */
amp_status amp_product_prepare(amp_worker *w, const amp_product_shape *shape,
                               amp_product **product);

/* c = alpha * a * b + beta * c (+ bias). */
amp_status amp_product_run(amp_worker *w, amp_product *product, const void *a,
                           const void *b, const float *bias, float alpha,
                           void *c);

#endif
