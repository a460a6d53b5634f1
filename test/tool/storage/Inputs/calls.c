#include "pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

float w[D * D], dw[D * D];
float h[B * D], g[B * D], s[B * D], tested[B * D];

int main(void) {
    float *x = grab(B * D * sizeof(float));
    float *kept = grab(B * D * sizeof(float));
    float *made = named(B * D), *other = named(D * D);
    for (int i = 0; i < B * D; i++)
        x[i] = (float)rand();
    for (int i = 0; i < D * D; i++)
        other[i] = (float)rand();
    for (int e = 0; e < 10; e++) {
        float loss = 0;
        product(x, w, h, B, D, D);
        relu(h, B * D);
        for (int i = 0; i < B * D; i++)
            s[i] = h[i];
        scale(s, B * D, 0.5f);
        for (int i = 0; i < B * D; i++) {
            kept[i] = s[i] + x[i];
            made[i] = kept[i] - other[i];
            loss += made[i] * made[i];
            g[i] = made[i] * (h[i] > 0);
        }
        product(x, g, dw, D, B, D);
        for (int i = 0; i < D * D; i++)
            w[i] -= 0.1f * dw[i];
        scale(w, D * D, 0.99f);
        printf("%f\n", loss);
    }
    product(x, w, tested, B, D, D);
    relu(tested, B * D);
    smooth(tested, B * D);
    printf("%f\n", tested[3]);
    return 0;
}
