/* gradients.h - what a step does to the host gradients of a group.
 *
 * The device's are behind device.h. Which gradients there are is asked of
 * buffers.h in each call.
 */
#ifndef AMP_GRADIENTS_H
#define AMP_GRADIENTS_H

#include <amp/amp.h>

#include <stdbool.h>

/* x *= factor, over a team of threads; true if all were finite before. By 1
 * nothing is written. */
bool amp_multiply(float *x, size_t n, float factor);

/* Without a copy no step can be undone. */
typedef enum amp_carry_copies {
    AMP_CARRY_SAVE,
    AMP_CARRY_NO_COPY
} amp_carry_copies;

/* AMP_GRAD_CARRY: saves the contents, then multiplies by scale. After
 * AMP_ERR_MEMORY some were multiplied. */
amp_status amp_gradients_carry_in(int group, float scale,
                                  amp_carry_copies copies);

/* The step is skipped. AMP_GRAD_CARRY: puts back what was saved; AMP_GRAD:
 * zeroes. */
void amp_gradients_undo(int group);

/* What was saved is no longer wanted. */
void amp_gradients_forget(int group);

#endif
