// Memory that a loop adds to again and again.
// RUN: %amp-rewrite --dump-after=flows %s | %FileCheck %s

struct layer {
    float *w, *x, *dx, *bias, *db, *table, *rows, *col, *im, *y, *res;
};

/* dx[i] gathers over o. */
void back(struct layer *l, const float *d, int in, int out) {
    for (int o = 0; o < out; o++)
        for (int i = 0; i < in; i++)
            l->dx[i] += l->w[o * in + i] * d[o];
}
// CHECK: class layer.dx/1
// CHECK: accumulates invariant accumulate.c:12:13 in loop accumulate.c:10:5

/* A row pointer made in the loop stands for what it was made from. */
void sums(struct layer *l, const float *d, int batch, int out) {
    for (int b = 0; b < batch; b++) {
        const float *row = d + b * out;
        for (int o = 0; o < out; o++)
            l->db[o] = l->db[o] + row[o];
    }
}
// CHECK: class layer.db/1
// CHECK: accumulates invariant accumulate.c:22:13 in loop accumulate.c:19:5

void embed(struct layer *l, const int *token, int n, int width) {
    for (int t = 0; t < n; t++) {
        float *row = l->table + token[t] * width;
        for (int i = 0; i < width; i++)
            row[i] += l->rows[t * width + i];
    }
}
// CHECK: class layer.table/1
// CHECK: accumulates scatter accumulate.c:32:13

void fold(struct layer *l, int n, int taps, int stride) {
    for (int i = 0; i < n; i++)
        for (int k = 0; k < taps; k++)
            l->im[i * stride + k] += l->col[i * taps + k];
}
// CHECK: class layer.im/1
// CHECK: accumulates overlap accumulate.c:41:13

static void add(int n, const float *from, float *to) {
    for (int i = 0; i < n; i++)
        to[i] += from[i];
}

void batches(struct layer *l, int batch, int n) {
    for (int b = 0; b < batch; b++)
        add(n, l->x + b * n, l->y);
}
// CHECK: class layer.y/1
// CHECK: accumulates call accumulate.c:53:9 in loop accumulate.c:52:5

/* Each element once: no accumulator. */
void residual(struct layer *l, int batch, int n) {
    for (int b = 0; b < batch; b++) {
        float *r = l->res + b * n;
        for (int i = 0; i < n; i++)
            r[i] += l->x[b * n + i];
    }
    for (int b = 0; b < batch; b++)
        add(n, l->x, l->res + b * n);
}
// CHECK: class layer.res/1
// CHECK-NOT: accumulates
// CHECK: class back:d/1

/* What was added before, elsewhere, is no doing of the callee. */
float seen[8];
static void add_one(float *v, int n) {
    for (int i = 0; i < n; i++)
        v[i] += 1;
}
static float first_of(const float *v) { return v[0]; }
float look_often(int n) {
    float s = 0;
    add_one(seen, n);
    for (int k = 0; k < n; k++)
        s += first_of(seen);
    return s;
}
// CHECK: class seen/1 global
// CHECK-NEXT: slot seen/1
// CHECK-NEXT: sites
