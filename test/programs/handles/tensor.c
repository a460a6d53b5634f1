#include "tensor.h"

#include <cblas.h>
#include <stdlib.h>

tensor *tensor_new(size_t rows, size_t cols)
{
    tensor *t = (tensor *)malloc(sizeof(tensor));
    *t = (tensor){.rows = rows, .cols = cols};
    t->at = (float *)calloc(rows * cols, sizeof(float));
    return t;
}

void tensor_free(tensor *t)
{
    free(t->at);
    free(t);
}

size_t tensor_size(const tensor *t)
{
    return t->rows * t->cols;
}

/* Not copied: the rows of t. */
tensor tensor_rows(const tensor *t, size_t first, size_t count)
{
    tensor part = *t;
    part.rows = count;
    part.at = t->at + first * t->cols;
    return part;
}

float uniform(void)
{
    static unsigned long state = 99;
    state = (state * 69069UL + 1UL) & 0xffffffffUL;
    return (float)(state >> 8) / 16777216.0f;
}

void tensor_randomise(tensor *t, float range)
{
    for (size_t i = 0; i < t->rows * t->cols; i++)
        t->at[i] = range * (2 * uniform() - 1);
}

void tensor_multiply(const tensor *a, enum orientation ta, const tensor *b,
                     enum orientation tb, tensor *c)
{
    cblas_sgemm(CblasRowMajor, ta == TURNED ? CblasTrans : CblasNoTrans,
                tb == TURNED ? CblasTrans : CblasNoTrans, (int)c->rows,
                (int)c->cols, (int)(ta == TURNED ? a->rows : a->cols), 1,
                a->at, (int)a->cols, b->at, (int)b->cols, 0, c->at,
                (int)c->cols);
}

void tensor_add_bias(tensor *t, tensor bias)
{
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++)
            t->at[i * t->cols + j] += bias.at[j];
}

void tensor_sum_rows(const tensor *t, tensor *sums)
{
    for (size_t j = 0; j < t->cols; j++) {
        float sum = 0;
        for (size_t i = 0; i < t->rows; i++)
            sum += t->at[i * t->cols + j];
        sums->at[j] = sum;
    }
}

void tensor_clip(tensor *t)
{
    float *p = t->at, *end = t->at + tensor_size(t);
    for (; p < end; p++)
        if (*p < 0)
            *p = 0;
}

void tensor_pass_clipped(tensor *error, const tensor *output)
{
    for (size_t i = 0; i < tensor_size(error); i++)
        error->at[i] = output->at[i] > 0 ? error->at[i] : 0;
}

void tensor_write(const tensor *t, FILE *file)
{
    fwrite(t->at, sizeof(float), tensor_size(t), file);
}
