#include "matrix.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

matrix mat_new(size_t rows, size_t cols)
{
    matrix m;
    m.rows = rows;
    m.cols = cols;
    m.val = calloc(rows * cols, sizeof *m.val);
    if (!m.val) {
        fputs("matrix: out of memory\n", stderr);
        exit(1);
    }
    return m;
}

void mat_free(matrix *m)
{
    free(m->val);
    m->val = NULL;
    m->rows = m->cols = 0;
}

void mat_fill(matrix m, float v)
{
    for (size_t i = 0; i < mat_size(m); i++)
        m.val[i] = v;
}

static unsigned int state = 1u;

float random_unit(void)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) / 16777216.0f;
}

void mat_random(matrix m, float scale)
{
    for (size_t i = 0; i < mat_size(m); i++)
        m.val[i] = scale * (2.0f * random_unit() - 1.0f);
}

void mat_mul(float alpha, matrix a, int ta, matrix b, int tb, float beta,
             matrix c)
{
    int k = (int)(ta ? a.rows : a.cols);
    cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans,
                tb ? CblasTrans : CblasNoTrans, (int)c.rows, (int)c.cols, k,
                alpha, a.val, (int)a.cols, b.val, (int)b.cols, beta, c.val,
                (int)c.cols);
}
