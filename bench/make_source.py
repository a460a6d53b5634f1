#!/usr/bin/env python3
"""Writes a training program of about N lines, to see how the tool's time
grows: make_source.py N > big.c

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


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].isdigit():
        sys.exit("usage: make_source.py LINES > FILE")
    sys.stdout.write(make_source(int(sys.argv[1])))
