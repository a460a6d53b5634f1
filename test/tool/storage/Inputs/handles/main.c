#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mat.h"

enum { B = 8, D = 16 };
static float x[4 * B][D], t[4 * B][D];
static Mat *w, *dw, *h, *dh, *other, *last;
static Mat value, back;
static struct { Mat in; Mat *list[2]; int n; } held;

static void relu(Mat m) {
    for (int i = 0; i < m.rows * m.cols; i++)
        if (m.data[i] < 0)
            m.data[i] = 0;
}

static void forward(int at) {
    for (int b = 0; b < B; b++)
        for (int j = 0; j < D; j++) {
            float s = 0;
            for (int k = 0; k < D; k++)
                s += x[at * B + b][k] * w->data[k * D + j];
            h->data[b * D + j] = s;
        }
    relu(*h);
    relu(by_value(*h));
    Mat *a = h, *b = other;
    for (int i = 0; i < B * D; i++)
        b->data[i] = a->data[i];
    Mat *p = pick(at & 1, h, other);
    p->data[0] += 1;
    (at & 2 ? h : other)->data[1] *= 0.5f;
    (at & 1 ? *h : *other).data[2] *= 0.5f;
    swap(h, other);
    plus(h, 0.25f);
    scale_by(by_value(*other), 1.5f);
    value = *h;
    back = value;
    Mat local[2] = {value, {B, D, back.data, NULL}};
    local[0].data[3] += local[1].data[4];
    held.in = local[1];
    held.list[0] = &held.in;
    held.list[1] = h;
    for (held.n = 0; held.n < 2; held.n++)
        held.list[held.n]->data[5 + held.n] = 1;
    for (Mat *q = local; q < local + 2; q++)
        q->data[6] = 1;
    float s = sum(h) + by_value(*h).data[7];
    memcpy(last->data, h->data, B * D * sizeof(float));
    last->data[0] = s * 0.001f;
}

static float step(int at) {
    float loss = 0;
    forward(at);
    for (int b = 0; b < B; b++)
        for (int j = 0; j < D; j++) {
            float d = h->data[b * D + j] + 0 * last->data[b * D + j] -
                      t[at * B + b][j];
            loss += d * d;
            dh->data[b * D + j] = d / B;
        }
    for (int b = 0; b < B * D; b++)
        dh->data[b] *= h->data[b] > 0;
    for (int k = 0; k < D; k++)
        for (int j = 0; j < D; j++) {
            float s = 0;
            for (int b = 0; b < B; b++)
                s += x[at * B + b][k] * dh->data[b * D + j];
            dw->data[k * D + j] = s;
        }
    for (int i = 0; i < D * D; i++)
        w->data[i] -= 0.1f * dw->data[i];
    return loss;
}

int main(void) {
    w = make(D, D);
    dw = make(D, D);
    h = make(B, D);
    make_into(&other, B, D);
    dh = make(B, D);
    make_into(&last, B, D);
    for (int i = 0; i < D * D; i++)
        w->data[i] = (float)rand() / 2e9f - 0.5f;
    for (int b = 0; b < 4 * B; b++)
        for (int j = 0; j < D; j++) {
            x[b][j] = (float)rand() / 2e9f;
            t[b][j] = (float)rand() / 2e9f;
        }
    for (int e = 0; e < 40; e++)
        printf("%f\n", step(e % 4));
    printf("%f %f\n", sum(w), sum(h));
    return 0;
}
