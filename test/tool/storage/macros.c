// A macro whose use is one element is edited where it is used: its body stays.
// RUN: %same --exact %s --rules %S/Inputs/half.amp -O2 --loss-scale=none > %t.diff
// RUN: grep '^[+]' %t.diff | %FileCheck %s
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    float *h_out;
    float *full;
    int count;
} layer;

typedef struct {
    layer *layers;
} net;

#define COUNT(n, l) (n)->layers[l].count
#define OUT(n, l, i) (n)->layers[l].h_out[i]
#define FIRST(n, i) OUT(n, 0, i)
#define LAST(n, i) (OUT(n, 1, i))
#define BARE(n, i) n->layers[1].h_out[i]
#define AT(p, i) *((p) + (i))
#define BIAS h_bias[0]
#define FULL(n, l, i) (n)->layers[l].full[i]
#define LARGER(a, b) ((a) > (b) ? (a) : (b))

static float h_bias[2] = {0};

static void fill(net *n) {
    for (int i = 0; i < COUNT(n, 0); i++)
        OUT(n, 0, i) = (float)(i + 1);
        // CHECK: +        OUT(n, 0, i) = amp_to_half((float)(i + 1));
    FIRST(n, 0) = FIRST(n, 1) = 3;
    // CHECK: +    FIRST(n, 0) = amp_to_half(amp_to_float(FIRST(n, 1) = amp_to_half(3)));
    OUT(n, 0, 2) += OUT(n, 0, 1) * 0.5f;
    // CHECK: +    amp_half_add(&OUT(n, 0, 2), amp_to_float(OUT(n, 0, 1)) * 0.5f);
    LAST(n, (int)OUT(n, 0, 0) - 3) -= 2;
    // CHECK: +    amp_half_sub(&LAST(n, (int)amp_to_float(OUT(n, 0, 0)) - 3), 2);
    OUT(n, 1, 1)++;
    // CHECK: +    amp_half_post_add(&OUT(n, 1, 1), 1.0f);
    AT(n->layers[1].h_out, 2) = LARGER(OUT(n, 0, 0), FULL(n, 0, 0));
    // CHECK: +    AT(n->layers[1].h_out, 2) = amp_to_half(LARGER(amp_to_float(OUT(n, 0, 0)), FULL(n, 0, 0)));
    BIAS = BARE(n, 2) + AT(&FIRST(n, 1), 1);
    // CHECK: +    BIAS = amp_to_half(amp_to_float(BARE(n, 2)) + amp_to_float(AT(&FIRST(n, 1), 1)));
    FULL(n, 0, 1) = BIAS;
    // CHECK: +    FULL(n, 0, 1) = amp_to_float(BIAS);
}

// CHECK-NOT: +#define

int main(void) {
    layer layers[2];
    net n = {layers};
    for (int l = 0; l < 2; l++) {
        layers[l].count = 4;
        layers[l].h_out = calloc(4, sizeof(float));
        layers[l].full = calloc(4, sizeof(float));
    }
    fill(&n);
    for (int l = 0; l < 2; l++)
        for (int i = 0; i < COUNT(&n, l); i++)
            printf("%g %g\n", OUT(&n, l, i), FULL(&n, l, i));
    printf("%g\n", fabsf(BIAS));
    for (int l = 0; l < 2; l++) {
        free(layers[l].h_out);
        free(layers[l].full);
    }
    return 0;
}
