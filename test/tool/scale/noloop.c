// Nothing is learned here: an image is brightened in place.
// RUN: %amp-rewrite %s --dump-after=scale 2>&1 | %FileCheck %s
#include <stdio.h>

static float image[64];

int main(void) {
    for (int round = 0; round < 4; round++)
        for (int i = 0; i < 64; i++)
            image[i] = image[i] * 1.1f + 0.5f;
    printf("%f\n", image[3]);
    return 0;
}
// CHECK: loss scale: no training loop
