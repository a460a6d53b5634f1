#ifndef MATRIX_H
#define MATRIX_H

#include <stddef.h>

typedef struct matrix {
    size_t rows;
    size_t cols;
    float *val;
} matrix;

#define AT(m, r, c) ((m).val[(r) * (m).cols + (c)])

matrix mat_new(size_t rows, size_t cols);
void mat_free(matrix *m);
void mat_fill(matrix m, float v);
void mat_random(matrix m, float scale);
float random_unit(void);

/* c = alpha * op(a) * op(b) + beta * c; ta, tb: transpose */
void mat_mul(float alpha, matrix a, int ta, matrix b, int tb, float beta,
             matrix c);

static inline size_t mat_size(matrix m)
{
    return m.rows * m.cols;
}

#endif
