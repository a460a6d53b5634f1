void fill(float *x, int n, float value);
