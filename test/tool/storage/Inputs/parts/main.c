#include <stdio.h>
#include <stdlib.h>
#include "parts.h"
int main(void) {
    part p = {.h_out = h_room(8), .n = 8};
    p.w = malloc(8 * sizeof *p.w);
    for (int i = 0; i < p.n; i++) {
        p.w[i] = 0.5f;
        p.h_out[i] = (float)i - 4;
        h_shared[i] = p.h_out[i];
    }
    relu(p.h_out, p.n);
    for (int i = 0; i < p.n; i++)
        printf("%g ", p.h_out[i] * p.w[i] + h_shared[i]);
    printf("%g\n", first(&p.h_out[6]));
    free(p.h_out), free(p.w);
    return 0;
}
