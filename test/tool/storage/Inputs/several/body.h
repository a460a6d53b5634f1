struct net {
    real *w;
    float *h_scale;
    int n;
};

#ifndef WHOLE_NUMBERS
#define CLEAR(x, i) ((x)[i] = 0)

void clear(struct net *a) {
    for (int i = 0; i < a->n; i++) {
        CLEAR(a->h_scale, i);
        a->w[i] = 0;
    }
}
#endif
