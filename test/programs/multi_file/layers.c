#include "net.h"

#include <math.h>
#include <string.h>

void net_create(net *n, size_t batch, const size_t *widths, int count)
{
    memset(n, 0, sizeof *n);
    n->count = count;
    n->batch = batch;
    for (int i = 0; i < count; i++) {
        layer *l = &n->layers[i];
        size_t in = widths[i], out = widths[i + 1];
        l->weight = mat_new(in, out);
        l->bias = mat_new(1, out);
        l->out = mat_new(batch, out);
        l->dweight = mat_new(in, out);
        l->dbias = mat_new(1, out);
        l->dout = mat_new(batch, out);
        l->vweight = mat_new(in, out);
        l->vbias = mat_new(1, out);
        mat_random(l->weight, sqrtf(6.0f / in));
    }
}

void net_destroy(net *n)
{
    for (int i = 0; i < n->count; i++) {
        layer *l = &n->layers[i];
        mat_free(&l->weight);
        mat_free(&l->bias);
        mat_free(&l->out);
        mat_free(&l->dweight);
        mat_free(&l->dbias);
        mat_free(&l->dout);
        mat_free(&l->vweight);
        mat_free(&l->vbias);
    }
}

void net_forward(net *n, matrix x)
{
    for (int i = 0; i < n->count; i++) {
        layer *l = &n->layers[i];
        mat_mul(1.0f, x, 0, l->weight, 0, 0.0f, l->out);
        for (size_t r = 0; r < l->out.rows; r++)
            for (size_t c = 0; c < l->out.cols; c++)
                AT(l->out, r, c) += l->bias.val[c];
        if (i + 1 < n->count)
            for (size_t k = 0; k < mat_size(l->out); k++)
                if (l->out.val[k] < 0.0f)
                    l->out.val[k] = 0.0f;
        x = l->out;
    }
}

void net_backward(net *n, matrix x)
{
    for (int i = n->count - 1; i >= 0; i--) {
        layer *l = &n->layers[i];
        matrix in = i > 0 ? n->layers[i - 1].out : x;
        if (i + 1 < n->count)
            for (size_t k = 0; k < mat_size(l->out); k++)
                if (l->out.val[k] <= 0.0f)
                    l->dout.val[k] = 0.0f;
        mat_mul(1.0f, in, 1, l->dout, 0, 0.0f, l->dweight);
        mat_fill(l->dbias, 0.0f);
        for (size_t r = 0; r < l->dout.rows; r++)
            for (size_t c = 0; c < l->dout.cols; c++)
                l->dbias.val[c] += AT(l->dout, r, c);
        if (i > 0)
            mat_mul(1.0f, l->dout, 0, l->weight, 1, 0.0f,
                    n->layers[i - 1].dout);
    }
}
