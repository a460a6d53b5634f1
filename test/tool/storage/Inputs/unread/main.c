#include "fill.h"
#include <stdio.h>

static float h_x[4];

int main(void) {
    fill(h_x, 4, 2);
    printf("%g\n", h_x[3]);
    return 0;
}
