#!/usr/bin/env python3
"""Writes a training program of about N lines, to see how the tool's time
grows: make_source.py N [heap] > big.c

Each layer has functions of its own, so that nothing is shared and every line
counts: a product by cblas, loops over its result, a loop over its gradients.
"""

import sys

HEAD = """\
#include <cblas.h>
#include <math.h>
#include <stdio.h>

#define BATCH 16
#define WIDTH 32

static float x[BATCH * WIDTH], dx[BATCH * WIDTH];
"""

LAYER = """
/* ---- layer {n} ---- */

static float w{n}[WIDTH * WIDTH], b{n}[WIDTH];
static float dw{n}[WIDTH * WIDTH], db{n}[WIDTH], mw{n}[WIDTH * WIDTH];
static float z{n}[BATCH * WIDTH], dz{n}[BATCH * WIDTH];

static void forward{n}(const float *in, float *out) {{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, BATCH, WIDTH, WIDTH,
                1.0f, in, WIDTH, w{n}, WIDTH, 0.0f, out, WIDTH);
    for (int i = 0; i < BATCH; i++) {{
        for (int j = 0; j < WIDTH; j++) {{
            float v = out[i * WIDTH + j] + b{n}[j];
            out[i * WIDTH + j] = v > 0.0f ? v : 0.1f * v;
        }}
    }}
}}

static void backward{n}(const float *in, const float *out, float *dout,
                       float *din) {{
    for (int i = 0; i < BATCH * WIDTH; i++)
        if (out[i] < 0.0f)
            dout[i] *= 0.1f;
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, WIDTH, WIDTH, BATCH,
                1.0f, dout, WIDTH, in, WIDTH, 0.0f, dw{n}, WIDTH);
    for (int j = 0; j < WIDTH; j++) {{
        float sum = 0.0f;
        for (int i = 0; i < BATCH; i++)
            sum += dout[i * WIDTH + j];
        db{n}[j] = sum;
    }}
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, BATCH, WIDTH, WIDTH,
                1.0f, dout, WIDTH, w{n}, WIDTH, 0.0f, din, WIDTH);
}}

static void update{n}(float rate) {{
    for (int i = 0; i < WIDTH * WIDTH; i++) {{
        mw{n}[i] = 0.9f * mw{n}[i] + dw{n}[i];
        w{n}[i] -= rate * mw{n}[i];
    }}
    for (int j = 0; j < WIDTH; j++)
        b{n}[j] -= rate * db{n}[j];
}}
"""

MAIN = """
int main(void) {{
    unsigned seed = 1;
{init}
    for (int step = 0; step < 20; step++) {{
        float loss = 0.0f;
        for (int i = 0; i < BATCH * WIDTH; i++)
            x[i] = sinf((float)(i + step));
{forward}
        for (int i = 0; i < BATCH * WIDTH; i++) {{
            float d = z{last}[i] - x[BATCH * WIDTH - 1 - i];
            loss += d * d;
            dz{last}[i] = 2.0f * d / (BATCH * WIDTH);
        }}
{backward}
{update}
        printf("step %d loss %g\\n", step, loss / (BATCH * WIDTH));
    }}
    return 0;
}}
"""

INIT = """\
    for (int i = 0; i < WIDTH * WIDTH; i++) {{
        seed = seed * 1664525u + 1013904223u;
        w{n}[i] = ((float)(seed >> 8) / 16777216.0f - 0.5f) * 0.6f;
    }}"""


def make_source(lines):
    each = sum(t.format(n=0).count("\n") for t in (LAYER, INIT)) + 4
    layers = range(max(1, (lines - 35) // each))

    def each_layer(text, order=layers):
        return "\n".join(text.format(
            n=n, x=f"z{n - 1}" if n else "x",
            dx=f"dz{n - 1}" if n else "dx") for n in order)
    return (HEAD + "".join(LAYER.format(n=n) for n in layers)
            + MAIN.format(
                last=layers[-1], init=each_layer(INIT),
                forward=each_layer("        forward{n}({x}, z{n});"),
                backward=each_layer("        backward{n}({x}, z{n}, dz{n}, "
                                    "{dx});", reversed(layers)),
                update=each_layer("        update{n}(0.01f);")))


# Buffers on the heap, in structs, through an allocator and a copy that are
# called with both precisions at -O2; byte counts in variables.
HEAP_HEAD = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 16
#define WIDTH 32

static float x[BATCH * WIDTH], dx[BATCH * WIDTH];

static float *vec(size_t n) {
    float *v = calloc(n, sizeof *v);
    if (!v)
        exit(1);
    return v;
}

static void copy(float *to, const float *from, int n) {
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}
"""

HEAP_LAYER = """
/* ---- layer {n} ---- */

struct layer{n} {{
    float *w, *dw, *z, *dz, *in;
    size_t size;
}};
static struct layer{n} l{n};

static void make{n}(struct layer{n} *l, int batch) {{
    size_t bytes = batch * WIDTH * sizeof(float);
    l->size = WIDTH * WIDTH;
    l->w = malloc(l->size * sizeof(float));
    l->dw = vec(l->size);
    l->z = malloc(bytes);
    l->dz = vec(batch * WIDTH);
    l->in = vec(batch * WIDTH);
    memset(l->z, 0, bytes);
    for (size_t i = 0; i < l->size; i++)
        l->w[i] = (rand() % 100 - 50) * 0.002f;
}}

static void forward{n}(struct layer{n} *l, const float *in, int batch) {{
    for (int b = 0; b < batch; b++)
        for (int j = 0; j < WIDTH; j++) {{
            float sum = 0.0f;
            for (int k = 0; k < WIDTH; k++)
                sum += l->w[j * WIDTH + k] * in[b * WIDTH + k];
            l->z[b * WIDTH + j] = sum > 0.0f ? sum : 0.1f * sum;
        }}
    copy(l->in, in, batch * WIDTH);
}}

static void backward{n}(struct layer{n} *l, float *din, int batch) {{
    for (int j = 0; j < WIDTH; j++)
        for (int k = 0; k < WIDTH; k++) {{
            float sum = 0.0f;
            for (int b = 0; b < batch; b++)
                sum += l->dz[b * WIDTH + j] * l->in[b * WIDTH + k];
            l->dw[j * WIDTH + k] = sum;
        }}
    for (int b = 0; b < batch; b++)
        for (int k = 0; k < WIDTH; k++) {{
            float sum = 0.0f;
            for (int j = 0; j < WIDTH; j++)
                sum += l->dz[b * WIDTH + j] * l->w[j * WIDTH + k];
            din[b * WIDTH + k] = sum;
        }}
}}

static void update{n}(struct layer{n} *l, float rate) {{
    for (size_t i = 0; i < l->size; i++)
        l->w[i] -= rate * l->dw[i];
}}
"""

HEAP_MAIN = """
int main(void) {{
{init}
    for (int step = 0; step < 20; step++) {{
        float loss = 0.0f;
        for (int i = 0; i < BATCH * WIDTH; i++)
            x[i] = rand() % 10;
{forward}
        for (int i = 0; i < BATCH * WIDTH; i++) {{
            float d = l{last}.z[i] - 1.0f;
            loss += d * d;
            l{last}.dz[i] = 2.0f * d / (BATCH * WIDTH);
        }}
{backward}
{update}
        printf("step %d loss %g\\n", step, loss / (BATCH * WIDTH));
    }}
    return 0;
}}
"""


def make_heap_source(lines):
    each = HEAP_LAYER.format(n=0).count("\n") + 4
    layers = range(max(1, (lines - 45) // each))

    def each_layer(text, order=layers):
        return "\n".join(text.format(
            n=n, x=f"l{n - 1}.z" if n else "x",
            dx=f"l{n - 1}.dz" if n else "dx") for n in order)
    return (HEAP_HEAD + "".join(HEAP_LAYER.format(n=n) for n in layers)
            + HEAP_MAIN.format(
                last=layers[-1], init=each_layer("    make{n}(&l{n}, BATCH);"),
                forward=each_layer("        forward{n}(&l{n}, {x}, BATCH);"),
                backward=each_layer("        backward{n}(&l{n}, {dx}, BATCH);",
                                    reversed(layers)),
                update=each_layer("        update{n}(&l{n}, 0.01f);")))


if __name__ == "__main__":
    kinds = {"": make_source, "heap": make_heap_source}
    kind = sys.argv[2] if len(sys.argv) == 3 else ""
    if (len(sys.argv) not in (2, 3) or not sys.argv[1].isdigit()
            or kind not in kinds):
        sys.exit("usage: make_source.py LINES [heap] > FILE")
    sys.stdout.write(kinds[kind](int(sys.argv[1])))
