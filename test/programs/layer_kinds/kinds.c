/* A network as a table of layers by value, each with its own functions: a
 * dense layer, a bend, one that divides by the length of a row, one that masks
 * in the buffers of the layer below, and two losses. One loss builds its error
 * in steps and takes its cost from it; its gradient joins what comes from the
 * layers above. The layer that divides keeps a factor in the error buffer of
 * the layer below before it multiplies the error into it. */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 32, WIDTH = 24, CLASSES = 6, STEPS = 150 };

struct layer;

struct net {
    struct layer *layers;
    int n;
    float *input, *delta, *truth, *scratch;
    const int *label;
    float rate;
};

struct layer {
    int in, out;
    float *w, *b, *dw, *db;
    float *y, *delta, *length, *cost;
    void (*forward)(struct layer, struct net);
    void (*backward)(struct layer, struct net);
    void (*update)(struct layer, struct net);
};

static unsigned seed_now = 7;

static float uniform(void) {
    seed_now = seed_now * 1664525u + 1013904223u;
    return (float)(seed_now >> 8) / 16777216.0f - 0.5f;
}

static void fill(int n, float value, float *x) {
    for (int i = 0; i < n; i++)
        x[i] = value;
}

static void add(int n, const float *x, float *y) {
    for (int i = 0; i < n; i++)
        y[i] += x[i];
}

/* ---- dense --------------------------------------------------------------- */

static void dense_forward(struct layer l, struct net net) {
    for (int r = 0; r < BATCH; r++)
        memcpy(l.y + r * l.out, l.b, (size_t)l.out * sizeof(float));
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, BATCH, l.out, l.in,
                1.0f, net.input, l.in, l.w, l.in, 1.0f, l.y, l.out);
}

static void dense_backward(struct layer l, struct net net) {
    for (int r = 0; r < BATCH; r++)
        add(l.out, l.delta + r * l.out, l.db);
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, l.out, l.in, BATCH,
                1.0f, l.delta, l.out, net.input, l.in, 1.0f, l.dw, l.in);
    if (net.delta)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, BATCH, l.in,
                    l.out, 1.0f, l.delta, l.out, l.w, l.in, 1.0f, net.delta,
                    l.in);
}

/* The gradients carry the momentum. */
static void dense_update(struct layer l, struct net net) {
    cblas_saxpy(l.in * l.out, -net.rate, l.dw, 1, l.w, 1);
    cblas_sscal(l.in * l.out, 0.8f, l.dw, 1);
    cblas_saxpy(l.out, -net.rate, l.db, 1, l.b, 1);
    cblas_sscal(l.out, 0.8f, l.db, 1);
}

static struct layer make_dense(int in, int out) {
    struct layer l = {0};
    l.in = in;
    l.out = out;
    l.w = calloc((size_t)(in * out), sizeof(float));
    l.dw = calloc((size_t)(in * out), sizeof(float));
    l.b = calloc((size_t)out, sizeof(float));
    l.db = calloc((size_t)out, sizeof(float));
    l.y = calloc((size_t)(BATCH * out), sizeof(float));
    l.delta = calloc((size_t)(BATCH * out), sizeof(float));
    for (int i = 0; i < in * out; i++)
        l.w[i] = uniform() * 1.5f / sqrtf((float)in);
    l.forward = dense_forward;
    l.backward = dense_backward;
    l.update = dense_update;
    return l;
}

/* ---- bend ---------------------------------------------------------------- */

static void bend_forward(struct layer l, struct net net) {
    for (int i = 0; i < BATCH * l.out; i++)
        l.y[i] = tanhf(net.input[i]);
}

static void bend_backward(struct layer l, struct net net) {
    for (int i = 0; i < BATCH * l.out; i++)
        net.delta[i] += l.delta[i] * (1.0f - l.y[i] * l.y[i]);
}

static struct layer make_bend(int size) {
    struct layer l = {0};
    l.in = l.out = size;
    l.y = calloc((size_t)(BATCH * size), sizeof(float));
    l.delta = calloc((size_t)(BATCH * size), sizeof(float));
    l.forward = bend_forward;
    l.backward = bend_backward;
    return l;
}

/* ---- divide -------------------------------------------------------------- */

static void divide_forward(struct layer l, struct net net) {
    for (int r = 0; r < BATCH; r++) {
        float sum = 1.0f;
        for (int i = 0; i < l.out; i++)
            sum += net.input[r * l.out + i] * net.input[r * l.out + i];
        for (int i = 0; i < l.out; i++) {
            l.length[r * l.out + i] = sum / (float)l.out;
            l.y[r * l.out + i] =
                net.input[r * l.out + i] * powf(l.length[r * l.out + i], -0.5f);
        }
    }
}

static void powers(int n, const float *x, float exponent, float *y) {
    for (int i = 0; i < n; i++)
        y[i] = powf(x[i], exponent);
}

static void multiply(int n, const float *x, float *y) {
    for (int i = 0; i < n; i++)
        y[i] *= x[i];
}

/* The length is taken as a constant. */
static void divide_backward(struct layer l, struct net net) {
    powers(BATCH * l.out, l.length, -0.5f, net.delta);
    multiply(BATCH * l.out, l.delta, net.delta);
}

static struct layer make_divide(int size) {
    struct layer l = {0};
    l.in = l.out = size;
    l.y = calloc((size_t)(BATCH * size), sizeof(float));
    l.delta = calloc((size_t)(BATCH * size), sizeof(float));
    l.length = calloc((size_t)(BATCH * size), sizeof(float));
    l.forward = divide_forward;
    l.backward = divide_backward;
    return l;
}

/* ---- mask, in the buffers of the layer below ----------------------------- */

static void mask_forward(struct layer l, struct net net) {
    for (int i = 0; i < BATCH * l.out; i++)
        if (i % 7 == 3)
            net.input[i] = 0.0f;
}

static void mask_backward(struct layer l, struct net net) {
    for (int i = 0; i < BATCH * l.out; i++)
        if (i % 7 == 3)
            net.delta[i] = 0.0f;
}

static struct layer make_mask(int size) {
    struct layer l = {0};
    l.in = l.out = size;
    l.forward = mask_forward;
    l.backward = mask_backward;
    return l;
}

/* ---- losses: what goes in comes out -------------------------------------- */

static float sum_of_squares(int n, const float *x) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}

static void fit_forward(struct layer l, struct net net) {
    memcpy(l.y, net.input, (size_t)(BATCH * l.out) * sizeof(float));
    memset(l.delta, 0, (size_t)(BATCH * l.out) * sizeof(float));
    for (int r = 0; r < BATCH; r++) {
        for (int i = 0; i < l.out; i++)
            l.delta[r * l.out + i] = 0.02f * l.y[r * l.out + i];
        for (int i = 0; i < l.out; i++) {
            if (net.truth[r * l.out + i] == 0.0f)
                continue;
            l.delta[r * l.out + i] =
                0.2f * (l.y[r * l.out + i] - net.truth[r * l.out + i]);
        }
    }
    l.cost[0] = sum_of_squares(BATCH * l.out, l.delta);
    if (!isfinite(l.cost[0]))
        fprintf(stderr, "the cost is not finite\n");
}

static void pass_down(struct layer l, struct net net) {
    add(BATCH * l.out, l.delta, net.delta);
}

static struct layer make_fit(int size) {
    struct layer l = {0};
    l.in = l.out = size;
    l.y = calloc((size_t)(BATCH * size), sizeof(float));
    l.delta = calloc((size_t)(BATCH * size), sizeof(float));
    l.cost = calloc(1, sizeof(float));
    l.forward = fit_forward;
    l.backward = pass_down;
    return l;
}

static void class_forward(struct layer l, struct net net) {
    float cost = 0.0f;
    for (int r = 0; r < BATCH; r++) {
        float *y = l.y + r * l.out, *x = net.input + r * l.out;
        float top = x[0], sum = 0.0f;
        for (int i = 1; i < l.out; i++)
            if (x[i] > top)
                top = x[i];
        for (int i = 0; i < l.out; i++)
            sum += y[i] = expf(x[i] - top);
        for (int i = 0; i < l.out; i++)
            y[i] /= sum;
        for (int i = 0; i < l.out; i++)
            l.delta[r * l.out + i] =
                (y[i] - (i == net.label[r] ? 1.0f : 0.0f)) / BATCH;
        cost -= logf(y[net.label[r]] + 1e-6f);
    }
    l.cost[0] = cost / BATCH;
}

static void class_backward(struct layer l, struct net net) {
    add(BATCH * l.out, l.delta, net.delta);
}

static struct layer make_class(int size) {
    struct layer l = make_fit(size);
    l.forward = class_forward;
    l.backward = class_backward;
    return l;
}

/* ---- the network --------------------------------------------------------- */

static float forward(struct net *to) {
    struct net net = *to;
    float cost = 0.0f;
    for (int i = 0; i < net.n; i++) {
        struct layer l = net.layers[i];
        if (l.delta)
            fill(BATCH * l.out, 0.0f, l.delta);
        l.forward(l, net);
        net.input = l.y;
    }
    for (int i = 0; i < net.n; i++)
        if (net.layers[i].cost)
            cost += net.layers[i].cost[0];
    return cost;
}

static void backward(struct net *to) {
    struct net net = *to;
    struct net whole = net;
    for (int i = net.n - 1; i >= 0; i--) {
        struct layer l = net.layers[i];
        if (i == 0) {
            net = whole;
        } else {
            struct layer below = net.layers[i - 1];
            net.input = below.y;
            net.delta = below.delta;
        }
        l.backward(l, net);
    }
}

static void update(struct net *to) {
    for (int i = 0; i < to->n; i++) {
        struct layer l = to->layers[i];
        if (l.update)
            l.update(l, *to);
    }
}

static int right(const struct net *net) {
    const struct layer *last = &net->layers[net->n - 1];
    int count = 0;
    for (int r = 0; r < BATCH; r++) {
        int best = 0;
        for (int i = 1; i < CLASSES; i++)
            if (last->y[r * CLASSES + i] > last->y[r * CLASSES + best])
                best = i;
        count += best == net->label[r];
    }
    return count;
}

static void make_batch(float *x, float *truth, int *label) {
    for (int r = 0; r < BATCH; r++) {
        label[r] = (int)((uniform() + 0.5f) * CLASSES) % CLASSES;
        for (int i = 0; i < WIDTH; i++)
            x[r * WIDTH + i] =
                0.5f * uniform() + (i % CLASSES == label[r] ? 0.6f : 0.0f);
        for (int i = 0; i < CLASSES; i++)
            truth[r * CLASSES + i] = i == label[r] ? 2.0f : 0.0f;
    }
}

int main(int argc, char **argv) {
    static const char *const plan[] = {"dense", "bend", "divide", "mask",
                                       "dense", "bend", "top",    "fit",
                                       "class"};
    static float x[BATCH * WIDTH], truth[BATCH * CLASSES];
    static int label[BATCH];
    struct net net = {0};
    net.n = (int)(sizeof plan / sizeof *plan);
    net.layers = calloc((size_t)net.n, sizeof(struct layer));
    net.truth = truth;
    net.label = label;
    for (int i = 0; i < net.n; i++) {
        struct layer l = {0};
        if (strcmp(plan[i], "dense") == 0) {
            l = make_dense(WIDTH, WIDTH);
        } else if (strcmp(plan[i], "top") == 0) {
            l = make_dense(WIDTH, CLASSES);
        } else if (strcmp(plan[i], "bend") == 0) {
            l = make_bend(WIDTH);
        } else if (strcmp(plan[i], "divide") == 0) {
            l = make_divide(WIDTH);
        } else if (strcmp(plan[i], "fit") == 0) {
            l = make_fit(CLASSES);
        } else if (strcmp(plan[i], "class") == 0) {
            l = make_class(CLASSES);
        } else {
            l = make_mask(WIDTH);
            l.y = net.layers[i - 1].y;
            l.delta = net.layers[i - 1].delta;
        }
        net.layers[i] = l;
    }
    int seen = 0, hits = 0;
    float cost = 0.0f;
    for (int step = 0; step < STEPS; step++) {
        make_batch(x, truth, label);
        net.input = x;
        net.rate = 0.05f;
        cost = forward(&net);
        backward(&net);
        update(&net);
        if (step >= STEPS - 20) {
            hits += right(&net);
            seen += BATCH;
        }
        if (step % 10 == 0)
            printf("step %d loss %.6f\n", step, (double)cost);
    }
    printf("final loss %.6f accuracy %.4f\n", (double)cost,
           (double)hits / seen);
    FILE *out = argc > 1 ? fopen(argv[1], "wb") : NULL;
    for (int i = 0; out && i < net.n; i++)
        if (net.layers[i].w) {
            fwrite(net.layers[i].w, sizeof(float),
                   (size_t)(net.layers[i].in * net.layers[i].out), out);
            fwrite(net.layers[i].b, sizeof(float), (size_t)net.layers[i].out,
                   out);
        }
    if (out)
        fclose(out);
    return 0;
}
