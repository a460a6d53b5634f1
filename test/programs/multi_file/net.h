#ifndef NET_H
#define NET_H

#include "matrix.h"

#define MAX_LAYERS 4

typedef struct layer {
    matrix weight;  /* in x out */
    matrix bias;    /* 1 x out */
    matrix out;     /* batch x out */
    matrix dweight;
    matrix dbias;
    matrix dout;
    matrix vweight; /* velocity */
    matrix vbias;
} layer;

typedef struct net {
    int count;
    size_t batch;
    layer layers[MAX_LAYERS];
} net;

struct sgd {
    float rate;
    float momentum;
};

void net_create(net *n, size_t batch, const size_t *widths, int count);
void net_destroy(net *n);
void net_forward(net *n, matrix x);
void net_backward(net *n, matrix x);

float cross_entropy(net *n, const int *label);

void sgd_step(const struct sgd *opt, net *n);

#endif
