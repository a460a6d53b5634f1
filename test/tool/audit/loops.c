// RUN: %amp-rewrite --audit %s | %FileCheck %s
// What a loop nest is called. A sum of products is a contraction only where
// each factor is used again for other targets.

// CHECK: [[#@LINE+3]]:5: contraction loop in product
void product(float *c, const float *a, const float *b, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float s = 0.0f;
            for (int k = 0; k < n; k++)
                s += a[i * n + k] * b[k * n + j];
            c[i * n + j] = s;
        }
}

// CHECK: [[#@LINE+3]]:5: contraction loop in through_rows
void through_rows(float *dx, const float *dy, const float *w, int n, int m)
{
    for (int r = 0; r < n; r++)
        for (int o = 0; o < m; o++) {
            const float *row = w + o * n;
            float *to = dx + r * n;
            float d = dy[r * m + o];
            for (int i = 0; i < n; i++)
                to[i] += row[i] * d;
        }
}

// CHECK: [[#@LINE+3]]:5: reduction loop in row_norms
void row_norms(float *norm, const float *x, int rows, int n)
{
    for (int r = 0; r < rows; r++) {
        float s = 0.0f;
        for (int i = 0; i < n; i++)
            s = s + x[r * n + i] * x[r * n + i];
        norm[r] = s;
    }
}

// CHECK: [[#@LINE+3]]:5: elementwise loop in step
void step(float *w, const float *g, float rate, int rows, int n)
{
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < n; i++)
            w[r * n + i] -= rate * g[r * n + i];
}

// CHECK: [[#@LINE+3]]:5: reduction loop in count
void count(float *bins, const int *bin, int n)
{
    for (int i = 0; i < n; i++)
        bins[bin[i]] += 1.0f;
}

// CHECK: [[#@LINE+3]]:5: reduction loop in walk
void walk(float *sum, const float *x, int n)
{
    while (n-- > 0)
        *sum += *x++;
}

// CHECK: [[#@LINE+3]]:5: elementwise loop in relu
void relu(float *y, const float *x, int n)
{
    for (int i = 0; i < n; i++)
        y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}
// CHECK: if 'product' is one GEMM or linear layer, name it in a rule
// CHECK: if 'through_rows' is one GEMM or linear layer, name it in a rule
// CHECK-NOT: if 'row_norms'
