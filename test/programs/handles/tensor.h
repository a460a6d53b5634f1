#ifndef TENSOR_H
#define TENSOR_H

#include <stddef.h>
#include <stdio.h>

/* Everything the network holds: weights, gradients, outputs and data. */
typedef struct tensor tensor;

struct tensor {
    size_t rows, cols;
    float *at, *spare; /* spare: for an update to come, or NULL */
};

enum orientation { AS_IS, TURNED };

tensor *tensor_new(size_t rows, size_t cols);
void tensor_free(tensor *t);
size_t tensor_size(const tensor *t);
tensor tensor_rows(const tensor *t, size_t first, size_t count);
void tensor_randomise(tensor *t, float range);
float uniform(void);

/* c = a * b */
void tensor_multiply(const tensor *a, enum orientation ta, const tensor *b,
                     enum orientation tb, tensor *c);
void tensor_add_bias(tensor *t, tensor bias);
void tensor_sum_rows(const tensor *t, tensor *sums);
void tensor_clip(tensor *t);
void tensor_pass_clipped(tensor *error, const tensor *output);
void tensor_write(const tensor *t, FILE *file);

#endif
