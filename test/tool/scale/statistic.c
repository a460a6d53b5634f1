// A number that only adds up is a statistic, whatever loop it is in: no loop
// trains it. What is updated by the signs of gradients is not seen to be learned.
// RUN: %amp-rewrite %s --half=bf16 --dump-after=scale 2>&1 | %FileCheck %s
// RUN: %amp-rewrite %s --half=bf16 --dump-after=scale -- -DFITTED 2>&1 \
// RUN:   | %FileCheck %s --check-prefix=FITTED
#include <math.h>
#include <stdio.h>

enum { IN = 8, OUT = 4, ROWS = 32 };

struct net {
    float w[OUT * IN], slope[OUT * IN], pace[OUT * IN], out[OUT];
    float error;
    int seen;
};

static struct net n;
static float x[ROWS][IN], y[ROWS][OUT];

static void run(struct net *n, const float *in) {
    for (int o = 0; o < OUT; o++) {
        float sum = 0;
        for (int i = 0; i < IN; i++)
            sum += n->w[o * IN + i] * in[i];
        n->out[o] = tanhf(sum);
    }
}

static void judge(struct net *n, const float *in, const float *wanted) {
    for (int o = 0; o < OUT; o++) {
        float d = n->out[o] - wanted[o];
        n->error += d * d;
        n->seen++;
        for (int i = 0; i < IN; i++)
            n->slope[o * IN + i] += d * in[i];
    }
}

static void adapt(struct net *n) {
    for (int i = 0; i < IN * OUT; i++) {
        if (n->slope[i] < 0)
            n->w[i] += n->pace[i];
        else
            n->w[i] -= n->pace[i];
        n->pace[i] *= 0.9f;
        n->slope[i] = 0;
    }
}

#ifdef FITTED
/* One sample after the other: `scale` and `shift` lead to no array. */
static float scale, shift, total;

static void fit(void) {
    for (int epoch = 0; epoch < 20; epoch++) {
        for (int r = 0; r < ROWS; r++) {
            float d = scale * x[r][0] + shift - y[r][0];
            scale -= 0.1f * d * x[r][0];
            shift -= 0.1f * d;
            total += d * d;
        }
        printf("%f\n", total);
    }
}
#endif

int main(void) {
    fread(x, sizeof x, 1, stdin), fread(y, sizeof y, 1, stdin);
#ifdef FITTED
    fit();
#else
    for (int i = 0; i < IN * OUT; i++)
        n.w[i] = n.pace[i] = 0.01f;
    for (int epoch = 0; epoch < 20; epoch++) {
        n.error = 0;
        n.seen = 0;
        for (int r = 0; r < ROWS; r++) {
            run(&n, x[r]);
            judge(&n, x[r], y[r]);
        }
        adapt(&n);
        printf("%f\n", n.error / n.seen);
    }
#endif
    return 0;
}
// CHECK: no loop is seen to update parameters
// CHECK: loss scale: no training loop

// FITTED: training loop
// FITTED-DAG: cell scale: param
// FITTED-DAG: cell shift: param
// FITTED-DAG: cell total: loss, {{.*}} a sum that only reaches output
