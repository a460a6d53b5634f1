#include "net.h"

#include <math.h>

static void stage_make(stage *s, size_t batch, size_t from, size_t to)
{
    s->w = tensor_new(from, to);
    s->b = tensor_new(1, to);
    s->dw = tensor_new(from, to);
    s->db = tensor_new(1, to);
    s->out = tensor_new(batch, to);
    s->error = tensor_new(batch, to);
    tensor_randomise(s->w, sqrtf(6.0f / (float)(from + to)));
}

static void stage_free(stage *s)
{
    tensor *all[] = {s->w, s->b, s->dw, s->db};
    for (int k = 0; k < 4; k++)
        tensor_free(all[k]);
    tensor_free(s->out);
    tensor_free(s->error);
}

void net_make(net *n, size_t batch, const size_t sizes[3])
{
    n->batch = batch;
    stage_make(&n->hidden, batch, sizes[0], sizes[1]);
    stage_make(&n->last, batch, sizes[1], sizes[2]);
}

void net_free(net *n)
{
    stage_free(&n->hidden);
    stage_free(&n->last);
}

tensor *net_forward(net *n, const tensor *x)
{
    tensor_multiply(x, AS_IS, n->hidden.w, AS_IS, n->hidden.out);
    tensor_add_bias(n->hidden.out, *n->hidden.b);
    tensor_clip(n->hidden.out);
    tensor_multiply(n->hidden.out, AS_IS, n->last.w, AS_IS, n->last.out);
    tensor_add_bias(n->last.out, *n->last.b);
    return n->last.out;
}

void net_backward(net *n, const tensor *x)
{
    stage *low = &n->hidden, *high = &n->last;
    tensor_sum_rows(high->error, high->db);
    tensor_multiply(low->out, TURNED, high->error, AS_IS, high->dw);
    tensor_multiply(high->error, AS_IS, high->w, TURNED, low->error);
    tensor_pass_clipped(low->error, low->out);
    tensor_sum_rows(low->error, low->db);
    tensor_multiply(x, TURNED, low->error, AS_IS, low->dw);
}

static void move(tensor *t, const tensor *by, float rate)
{
    for (size_t i = 0; i < tensor_size(t); i++)
        t->at[i] -= rate * by->at[i];
}

void net_update(net *n, float rate)
{
    move(n->hidden.w, n->hidden.dw, rate);
    move(n->hidden.b, n->hidden.db, rate);
    move(n->last.w, n->last.dw, rate);
    move(n->last.b, n->last.db, rate);
}
