#include "mat.h"
#include <stdlib.h>
#include <string.h>

Mat shared;
Mat table[2] = {{0}, {.rows = 3, .cols = 4, .data = NULL}};

Mat by_value(Mat m) {
    Mat copy = m;
    copy.rows = m.rows;
    return copy;
}

Mat *make(int rows, int cols) {
    Mat *m = malloc(sizeof(Mat));
    if (!m)
        return (Mat *)NULL;
    *m = (Mat){.rows = rows, .cols = cols,
               .data = calloc((size_t)(rows * cols), sizeof(float))};
    return m;
}

void make_into(Mat **out, int rows, int cols) {
    *out = make(rows, cols);
}

void swap(struct mat *a, struct mat *b) {
    struct mat t;
    memcpy(&t, a, sizeof t);
    *a = *b;
    memcpy(b, &t, sizeof(struct mat));
}

float sum(const Mat *m) {
    float s = 0;
    for (int i = 0; i < m->rows * m->cols; i++)
        s += m->data[i];
    return s;
}

float first(MatP m) { return m->data[0]; }

void each(const Mat *m, void (*f)(Mat *), Mat *to) {
    f(to);
    to->data[0] += m->data[0];
}

void plus(Same *m, float v) {
    float *p = m->data;
    for (int i = 0; i < m->rows * m->cols; i++)
        *p++ += v;
}

void scale_by(Mat m, float v) {
    for (int i = 0; i < m.rows * m.cols; i++)
        m.data[i] *= v;
}

Mat *pick(int which, Mat *a, Mat *b) {
    return which ? a : b;
}
