// memcmp tells whether numbers are the same, of memory in half as of floats.
// RUN: %same --exact %s --rules %S/Inputs/half.amp -O2 --loss-scale=none > %t.diff
// RUN: grep '^[+]' %t.diff | %FileCheck %s
#include <stdio.h>
#include <string.h>

static int is_same(const float *h_a, const float *h_b, int n) {
    return memcmp(h_a, h_b, n * sizeof(float)) == 0;
    // CHECK: +    return memcmp(h_a, h_b, n * sizeof(amp_half)) == 0;
}

int main(void) {
    float h_x[4] = {0}, h_y[4] = {0}, h_z[2][4] = {{0}};
    size_t bytes = 4 * sizeof(float);
    // CHECK: +    size_t bytes = 4 * sizeof(amp_half);
    h_x[3] = 1;
    h_z[1][3] = 1;
    if (memcmp(h_x, h_y, bytes) && !memcmp(h_x, h_z[1], sizeof h_x))
        printf("differ\n");
    h_y[3] = 1;
    printf("%d\n", is_same(h_x, h_y, 4));
    return 0;
}
