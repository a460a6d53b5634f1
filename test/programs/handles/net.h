#ifndef NET_H
#define NET_H

#include "tensor.h"

typedef struct stage {
    tensor *w, *b, *dw, *db; /* trained, and what moves them */
    tensor *out, *error;     /* of a batch */
} stage;

typedef struct net {
    size_t batch;
    stage hidden, last;
} net;

void net_make(net *n, size_t batch, const size_t sizes[3]);
void net_free(net *n);
tensor *net_forward(net *n, const tensor *x);
/* The error of the last stage is set. */
void net_backward(net *n, const tensor *x);
void net_update(net *n, float rate);

#endif
