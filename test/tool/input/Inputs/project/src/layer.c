#include "layer.h"

void forward(const float *x, const float *w, float *y)
{
    mm(0, ROWS, OUT, IN, x, w, y);
}

void backward(const float *x, const float *dy, float *dw)
{
    mm(1, IN, OUT, ROWS, x, dy, dw);
}
