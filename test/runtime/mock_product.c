/* In place of runtime/product.c, for a machine that grants AMX: bf16 operands
 * for bf16, products in loops over what the shape says. So what is done with
 * operands in place, and with results in bf16, is tested on any machine; what
 * oneDNN does with them is not (test_bf16_products.c does, where it can). */
#include "product.h"

#include <stdlib.h>
#include <string.h>

struct amp_product {
    amp_product_shape shape;
};

amp_status amp_product_operand(amp_dtype half, amp_operand_kind *kind) {
    *kind = half == AMP_BF16 ? AMP_OPERAND_BF16 : AMP_OPERAND_ROUNDED_FP16;
    return AMP_OK;
}

amp_status amp_product_prepare(amp_worker *w, const amp_product_shape *shape,
                               amp_product **product) {
    static _Thread_local amp_product last[2]; /* an op has two at most */
    static _Thread_local unsigned turn;
    (void)w;
    *product = &last[turn++ % 2];
    (*product)->shape = *shape;
    return AMP_OK;
}

/* Where an operand's element lies. */
static int64_t at(int64_t start, int64_t ld, int32_t trans, int64_t row,
                  int64_t col) {
    return start + (trans ? col * ld + row : row * ld + col);
}

static float load(const void *data, bool bf16, int64_t i) {
    return bf16 ? amp_float_from_bf16(((const uint16_t *)data)[i])
                : ((const float *)data)[i];
}

static void store(void *data, bool bf16, int64_t i, float x) {
    if (bf16)
        ((uint16_t *)data)[i] = amp_bf16_from_float(x);
    else
        ((float *)data)[i] = x;
}

static float sum_of(const amp_product_shape *s, const void *a, const void *b,
                    int64_t batch, int64_t row, int64_t col) {
    bool bf16 = s->types != AMP_PRODUCT_FP32;
    int64_t first_a = s->shared_a ? 0 : batch * s->stridea;
    int64_t first_b = s->shared_b ? 0 : batch * s->strideb;
    float sum = 0;
    for (int64_t i = 0; i < s->k; i++)
        sum += load(a, bf16, at(first_a, s->lda, s->transa, row, i)) *
               load(b, bf16, at(first_b, s->ldb, s->transb, i, col));
    return sum;
}

amp_status amp_product_run(amp_worker *w, amp_product *product, const void *a,
                           const void *b, const float *bias, float alpha,
                           void *c) {
    const amp_product_shape *s = &product->shape;
    bool bf16 = s->types == AMP_PRODUCT_BF16;
    float beta;
    memcpy(&beta, &s->beta, sizeof beta);
    (void)w;
    if ((bf16 && beta != 0.0f) || (bias != NULL) != (s->bias != 0) ||
        (alpha != 1.0f) != (s->scaled != 0))
        abort(); /* an error would be made good in FP32, and not be seen */
    for (int64_t l = 0; l < s->batch; l++) {
        for (int64_t i = 0; i < s->m; i++) {
            for (int64_t j = 0; j < s->n; j++) {
                int64_t to = at(l * s->stridec, s->ldc, 0, i, j);
                float x = alpha * sum_of(s, a, b, l, i, j);
                if (beta != 0.0f)
                    x += beta * load(c, bf16, to);
                store(c, bf16, to, bias ? x + bias[j] : x);
            }
        }
    }
    return AMP_OK;
}
