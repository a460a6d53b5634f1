enum { B = 8, D = 16 };
float *named(int n);
void relu(float *v, int n);
void smooth(float *v, int n);
void scale(float *v, int n, float by);
void product(const float *a, const float *b, float *c, int n, int k, int m);
void *grab(unsigned long bytes);
