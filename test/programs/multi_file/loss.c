#include "net.h"

#include <math.h>

/* mean cross entropy of the softmax of the last layer; fills its dout */
float cross_entropy(net *n, const int *label)
{
    layer *l = &n->layers[n->count - 1];
    size_t classes = l->out.cols;
    float loss = 0.0f;

    for (size_t r = 0; r < n->batch; r++) {
        float *z = &AT(l->out, r, 0);
        float *g = &AT(l->dout, r, 0);
        float top = z[0], sum = 0.0f;
        for (size_t c = 1; c < classes; c++)
            top = z[c] > top ? z[c] : top;
        for (size_t c = 0; c < classes; c++)
            sum += expf(z[c] - top);
        loss += logf(sum) - (z[label[r]] - top);
        for (size_t c = 0; c < classes; c++)
            g[c] = expf(z[c] - top) / sum / (float)n->batch;
        g[label[r]] -= 1.0f / (float)n->batch;
    }
    return loss / (float)n->batch;
}
