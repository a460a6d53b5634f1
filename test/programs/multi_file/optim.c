#include "net.h"

static void apply(const struct sgd *opt, matrix w, matrix v, matrix g)
{
    for (size_t i = 0; i < mat_size(w); i++) {
        v.val[i] = opt->momentum * v.val[i] - opt->rate * g.val[i];
        w.val[i] += v.val[i];
    }
}

void sgd_step(const struct sgd *opt, net *n)
{
    for (int i = 0; i < n->count; i++) {
        layer *l = &n->layers[i];
        apply(opt, l->weight, l->vweight, l->dweight);
        apply(opt, l->bias, l->vbias, l->dbias);
    }
}
