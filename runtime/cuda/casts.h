/* casts.h - half copies of product operands, per handle and stream.
 *
 * A lane is one (device, handle, stream). It owns two workspaces that only
 * grow and the kept copies of parameters; casts and products of a lane are
 * enqueued under its lock, so stream order makes reuse safe. Copies are packed
 * with the leading dimension rounded up to 8 elements, which keeps every
 * column aligned for tensor cores.
 *
 * A kept copy is used only under the generation it was made in (see
 * runtime/cast_cache.h). In a stream that is being captured it is cast again,
 * so that the cast becomes part of the graph. AMP_CHECK_CASTS=1 compares on
 * each hit.
 */
#ifndef AMP_CUDA_CASTS_H
#define AMP_CUDA_CASTS_H

#include "kernels_cuda.h"

#include <amp/amp_cuda.h>

typedef struct amp_cuda_lane amp_cuda_lane;

typedef enum amp_cuda_slot { AMP_CUDA_SLOT_A, AMP_CUDA_SLOT_B } amp_cuda_slot;
#define AMP_CUDA_SLOTS 2

/* A cast operand, as cublasGemmEx takes it. Good until the lane is left. */
typedef struct amp_cuda_operand {
    const void *data;
    int ld;
    long long stride; /* 0 for a batch of one */
} amp_cuda_operand;

/* Bytes from the first element to the end of the last. */
size_t amp_cuda_extent(const amp_cuda_matrices *m);

/* Enters the lane of the handle's stream; leave it after the product has been
 * enqueued. *lane is NULL unless AMP_OK. */
amp_status amp_cuda_lane_enter(cublasHandle_t handle, amp_cuda_lane **lane);
void amp_cuda_lane_leave(amp_cuda_lane *lane);

amp_status amp_cuda_operand_get(amp_cuda_lane *lane, amp_cuda_slot slot,
                                amp_dtype half, const amp_cuda_matrices *m,
                                amp_cuda_operand *operand);

/* start..start+bytes is no parameter any more. */
void amp_cuda_casts_drop(const void *start, size_t bytes);

/* Products are counted by their entry points. */
typedef enum amp_cuda_product {
    AMP_CUDA_PRODUCT_HALF,
    AMP_CUDA_PRODUCT_FP32
} amp_cuda_product;
void amp_cuda_count_product(amp_cuda_product product);

#endif
