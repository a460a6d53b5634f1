// A buffer that is not written as a whole keeps what the iteration before left
// in it, which was scaled by another scale by then.
// RUN: not %amp-rewrite %s --dump-after=scale 2>&1 | %FileCheck %s
// RUN: %amp-rewrite %s --dump-after=scale -- -DRENEWED 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=RENEWED
#include <stdio.h>

static float w[16], g[16], h[16], delta[16], t[16];
static int seen[16];

int main(void) {
    fread(t, sizeof t, 1, stdin);
    for (int i = 0; i < 16; i++)
        seen[i] = getchar() == 'y';
    for (int step = 0; step < 9; step++) {
#ifndef RENEWED
        for (int i = 0; i < 16; i++)
            seen[i] = getchar() == 'y';
#endif
        for (int i = 0; i < 16; i++)
            h[i] = w[i] * 2.0f;
        for (int i = 0; i < 16; i++)
            if (seen[i])
                delta[i] = h[i] - t[i];
        for (int i = 0; i < 16; i++)
            g[i] = delta[i] * 2.0f;
        for (int i = 0; i < 16; i++)
            w[i] -= 0.1f * g[i];
        printf("%f\n", h[0]);
    }
    return 0;
}
// CHECK: stale.c:23:13: error: 'delta' may still hold here what the iteration
// CHECK-SAME: before left in it
// CHECK: stale.c:24:17: note: that was written here
// RENEWED: loss scale: found
// RENEWED: seed expression {{.*}}:24:28
