/* worker.h - what each calling thread owns: grow-only scratch memory, rows of
 * sums and its oneDNN primitives.
 *
 * Nothing here is shared, so nothing is locked; it is freed when the thread
 * ends. Scratch never shrinks: after warm-up no call allocates.
 */
#ifndef AMP_WORKER_H
#define AMP_WORKER_H

#include <stdbool.h>
#include <stddef.h>

typedef enum amp_scratch_slot {
    AMP_SCRATCH_A,       /* cast left operand */
    AMP_SCRATCH_B,       /* cast right operand */
    AMP_SCRATCH_C,       /* a third operand, of linear backward */
    AMP_SCRATCH_RESULT,  /* FP32 sums of a result in half */
    AMP_SCRATCH_BIAS,    /* FP32 form of a bias in half */
    AMP_SCRATCH_LIBRARY, /* oneDNN's scratchpad */
    AMP_SCRATCH_CHECK    /* cast of AMP_CHECK_CASTS */
} amp_scratch_slot;

#define AMP_SCRATCH_SLOTS 7

/* Rows of sums that one thread has open at a time, as a rule; what is open
 * beyond that is allocated and freed. */
#define AMP_SUM_ROWS 4

typedef struct amp_sum_row {
    float *data;
    size_t n;
    bool open;
} amp_sum_row;

struct amp_products; /* product.c */

typedef struct amp_worker {
    struct {
        void *data;
        size_t bytes;
    } scratch[AMP_SCRATCH_SLOTS];
    amp_sum_row rows[AMP_SUM_ROWS];
    struct amp_products *products;
    void (*free_products)(struct amp_products *products);
} amp_worker;

/* The calling thread's; NULL when out of memory. */
amp_worker *amp_worker_get(void);

/* At least `bytes` bytes, 64-byte aligned; what was there is lost when it has
 * to grow. NULL when out of memory. */
void *amp_scratch(amp_worker *w, amp_scratch_slot slot, size_t bytes);

#endif
