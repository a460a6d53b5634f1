typedef struct {
    double *w;
    int n;
} net;

double sum(const net *a, float rate) {
    double s = 0;
    for (int i = 0; i < a->n; i++)
        s += a->w[i];
    return s * rate;
}
