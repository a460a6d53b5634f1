#include "pair.h"
#include <stdlib.h>

static float *fresh(size_t n) {
    return malloc(n * sizeof(float));
}

void pair_open(struct pair *p) {
    p->left = fresh(8);
    p->right = fresh(8);
}
