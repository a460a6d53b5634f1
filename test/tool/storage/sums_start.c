// A sum that is set in front of its loop is none from one call, or from one
// iteration of the loops outside, to the next.
// RUN: %amp-rewrite -O2 --loss-scale=1 --dump-after=solve %s 2>/dev/null | %FileCheck %s
// RUN: %same %s -O2 --loss-scale=1 > %t.diff
#include <stdio.h>
#include <stdlib.h>

enum { B = 8, IN = 6, H = 8, OUT = 3 };

typedef struct layer {
    float *w, *dw;
    int in, out;
} layer;

// CHECK-DAG: storage half main:h/1 (activation): activations
// CHECK-DAG: storage half main:y/1 (activation): activations
static void forward(const layer *l, const float *x, float *y) {
    for (int i = 0; i < l->out; i++)
        y[i] = 0;
    for (int j = 0; j < l->in; j++)
        for (int i = 0; i < l->out; i++)
            y[i] += x[j] * l->w[j * l->out + i];
}

// CHECK-DAG: storage half main:dh/1 (activation): activations
static void backward(layer *l, const float *x, const float *dy, float *dx) {
    for (int j = 0; j < l->in; j++) {
        if (dx)
            dx[j] = 0;
        for (int i = 0; i < l->out; i++) {
            l->dw[j * l->out + i] += dy[i] * x[j];
            if (dx)
                dx[j] += dy[i] * l->w[j * l->out + i];
        }
    }
}

// Never set, set in part, set to what it was, another element set.
// CHECK-DAG: storage fp32 main:kept/1 (activation): a sum: a call in a loop adds to it again and again
// CHECK-DAG: storage fp32 main:part/1 (activation): a sum: a call in a loop adds to it again and again
// CHECK-DAG: storage fp32 main:same/1 (activation): a sum: a call in a loop adds to it again and again
// CHECK-DAG: storage fp32 main:moved/1 (activation): a sum: a call in a loop adds to it again and again
static void unset(const layer *l, const float *x, float *kept, float *part,
                  float *same, float *moved) {
    int at = 0;
    moved[at] = 0;
    at = 1;
    for (int j = 0; j < l->in; j++)
        moved[at] += x[j] * l->w[j];
    for (int i = 0; i < l->out - 1; i++)
        part[i] = 0;
    for (int i = 0; i < l->out; i++)
        same[i] = same[i] / 2;
    for (int j = 0; j < l->in; j++)
        for (int i = 0; i < l->out; i++) {
            kept[i] += x[j] * l->w[j * l->out + i];
            part[i] += x[j] * l->w[j * l->out + i];
            same[i] += x[j] * l->w[j * l->out + i];
        }
}

// Not each element is set, or perhaps none.
// CHECK-DAG: storage fp32 main:skips/1 (activation): a sum: a call in a loop adds to it again and again
// CHECK-DAG: storage fp32 main:never/1 (activation): a sum: a call in a loop adds to it again and again
static void missed(const layer *l, const float *x, float *skips, float *never,
                   int rounds) {
    for (int i = 0; i < l->out; i++) {
        if (i == 1)
            continue;
        skips[i] = 0;
    }
    for (int k = 0; k < rounds; k++)
        for (int i = 0; i < l->out; i++)
            never[i] = 0;
    for (int j = 0; j < l->in; j++)
        for (int i = 0; i < l->out; i++) {
            skips[i] += x[j] * l->w[j * l->out + i];
            never[i] += x[j] * l->w[j * l->out + i];
        }
}

// Variables of the file.
// CHECK-DAG: storage half anew/1 (activation): activations
// CHECK-DAG: storage fp32 on/1 (activation): a sum: a call in a loop adds to it again and again
static float anew[OUT], on[OUT];
static void in_file(const layer *l, const float *x) {
    for (int i = 0; i < l->out; i++)
        anew[i] = 0;
    for (int j = 0; j < l->in; j++)
        for (int i = 0; i < l->out; i++) {
            anew[i] += x[j] * l->w[j * l->out + i];
            on[i] += x[j] * l->w[j * l->out + i];
        }
}

static void make(layer *l, int in, int out) {
    l->in = in;
    l->out = out;
    l->w = malloc((size_t)in * (size_t)out * sizeof(float));
    l->dw = calloc((size_t)in * (size_t)out, sizeof(float));
    for (int i = 0; i < in * out; i++)
        l->w[i] = (float)(i % 7 - 3) / 8;
}

static void step(layer *l) {
    for (int i = 0; i < l->in * l->out; i++) {
        l->w[i] -= 0.01f * l->dw[i];
        l->dw[i] = 0;
    }
}

int main(void) {
    layer a, b;
    make(&a, IN, H);
    make(&b, H, OUT);
    float x[IN], h[H], y[OUT], dy[OUT], dh[H];
    float kept[OUT] = {0}, part[OUT] = {0}, same[OUT] = {0};
    float moved[OUT] = {0}, skips[OUT] = {0}, never[OUT] = {0};
    // CHECK-DAG: storage half main:gate/1 (activation): activations
    // CHECK-DAG: storage fp32 main:late/1 (activation): a sum: a loop adds to the same element again and again, and no FP32 scratch
    float gate[OUT], late[OUT] = {0};
    for (int e = 0; e < 20; e++) {
        float loss = 0;
        for (int s = 0; s < B; s++) {
            for (int i = 0; i < IN; i++)
                x[i] = (float)((i * 7 + s) % 11) / 8;
            forward(&a, x, h);
            forward(&b, h, y);
            unset(&b, h, kept, part, same, moved);
            missed(&b, h, skips, never, 0);
            in_file(&b, h);
            for (int i = 0; i < OUT; i++)
                gate[i] = 0;
            for (int j = 0; j < H; j++)
                for (int i = 0; i < OUT; i++)
                    gate[i] += h[j] * b.w[j * OUT + i];
            for (int j = 0; j < H; j++)
                for (int i = 0; i < OUT; i++)
                    late[i] += h[j] * b.w[j * OUT + i];
            for (int i = 0; i < OUT; i++)
                loss += late[i] * 0.001f;
            for (int i = 0; i < OUT; i++) {
                dy[i] = y[i] + gate[i] - (float)(i == s % OUT);
                loss += dy[i] * dy[i] + kept[i] + part[i] + same[i] +
                        moved[i] + skips[i] + never[i] + anew[i] + on[i];
            }
            backward(&b, h, dy, dh);
            backward(&a, x, dh, NULL);
        }
        for (int i = 0; i < OUT; i++)
            kept[i] = part[i] = same[i] = late[i] = moved[i] = skips[i] =
                never[i] = on[i] = 0;
        step(&a);
        step(&b);
        printf("%d %.9g\n", e, loss);
    }
    free(a.w);
    free(a.dw);
    free(b.w);
    free(b.dw);
    return 0;
}
