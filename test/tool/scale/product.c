// The gradient of b is made from a buffer that already holds the gradient of a:
// its degree would be 2. No factor is exact, and the place is named.
// RUN: not %amp-rewrite %s --half=fp16 --dump-after=scale 2>&1 | %FileCheck %s
// No op of it runs in half, so nothing is to be scaled unless asked for.
// RUN: %amp-rewrite %s -O1 2>&1 | \
// RUN:     %FileCheck %s --check-prefix=UNASKED --implicit-check-not=error
// RUN: not %amp-rewrite %s -O1 --loss-scale=dynamic 2>&1 | %FileCheck %s
// UNASKED: warning: no op of this program can run in half
#include <stdio.h>

static float a[8], b[8], ga[8], gb[8], q[8], k[8], d[8];

int main(void) {
    fread(a, sizeof a, 1, stdin), fread(b, sizeof b, 1, stdin);
    for (int step = 0; step < 9; step++) {
        for (int i = 0; i < 8; i++) {
            q[i] = a[i] * 2.0f;
            k[i] = b[i] * 3.0f;
            d[i] = q[i] * k[i] - 1.0f;
        }
        printf("%f\n", d[0] * d[0]);
        for (int i = 0; i < 8; i++)
            q[i] = d[i] * k[i];
        for (int i = 0; i < 8; i++)
            k[i] = q[i] * q[i];
        for (int i = 0; i < 8; i++) {
            ga[i] = q[i] * 2.0f;
            gb[i] = k[i] * 3.0f;
        }
        for (int i = 0; i < 8; i++) {
            a[i] -= 0.1f * ga[i];
            b[i] -= 0.1f * gb[i];
        }
    }
    return 0;
}
// CHECK: product.c:25:20: error: two values that both carry the loss scale
// CHECK: product.c:23:13: note: 'q' got its value here
// CHECK: product.c:30:9: error: no place found
// CHECK-SAME: give the gradient that overwrites it a buffer of its own
