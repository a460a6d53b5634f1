void fill(float *x, int n, float value) {
    for (int i = 0; i < n; i++)
        x[i] = value;
}
