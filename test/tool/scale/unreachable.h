/* The whole backward pass of unreachable.c. */
static void backward(float *g, const float *h, const float *t, const float *x,
                     int n) {
    for (int i = 0; i < n; i++) {
        float d;
        d = h[i] - t[i];
        g[i] = d * x[i];
    }
}
