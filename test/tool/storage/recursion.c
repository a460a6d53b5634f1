// What goes on to a function that has one text has one precision, too.
// RUN: %same --exact %s --rules %S/Inputs/half.amp -O2 --loss-scale=none > %t.diff
// RUN: grep '^[+]' %t.diff | %FileCheck %s
#include <stdio.h>
#include <string.h>

static float h_a[8], h_b[8], h_c[8], from[8];

// CHECK: +static void each(amp_half *h_x, const float *y, int n) {
static void each(float *h_x, const float *y, int n) {
    if (n > 1) {
        each(h_x, y, n / 2);
        each(h_x + n / 2, y + n / 2, n - n / 2);
        return;
    }
    *h_x = *y + 1;
}

// CHECK: +static void whole(amp_half *h_x, const float *h_y) {
static void whole(float *h_x, const float *h_y) {
    each(h_x, h_y, 8);
    h_x[1] = 2;
}

static float first(const float *h_x) {
    return h_x[0];
}

// CHECK: +static float second(const amp_half *h_x) {
static float second(const float *h_x) {
    return first(h_x + 1);
}

int main(void) {
    for (int i = 0; i < 8; i++)
        from[i] = i;
    float *p = from;
    if (memcmp((const int *)p + 1, from, 4) == 0)
        return 1;
    whole(h_a, from);
    for (int i = 0; i < 8; i++)
        h_c[i] = h_b[i] = h_a[i];
    each(h_b, from, 4);
    printf("%g %g %g %g\n", h_a[1], h_a[7], h_b[3], second(h_c) + first(from));
    return 0;
}
