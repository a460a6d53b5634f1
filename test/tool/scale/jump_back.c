// A jump back in a function that makes data is no hindrance: what it changes
// must only be unscaled. Where a place of the scale would be done again, it is.
// RUN: %amp-rewrite %s --dump-after=scale 2>&1 | %FileCheck %s
// RUN: not %amp-rewrite %s --dump-after=scale -- -DSCALED 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=SCALED
// RUN: not %amp-rewrite %s --dump-after=scale -- -DELSEWHERE 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=ELSEWHERE
#include <stdio.h>

static float w[16], g[16], h[16], delta[16], t[16], other[16];

static void read_data(float *x) {
    int n = 0, tries = 0;
again:
    for (int i = 0; i < 16; i++)
        x[i] = (float)getchar();
#ifdef ELSEWHERE
    x = other;
#endif
    n += getchar();
    if (n < 100 && ++tries < 3)
        goto again;
}

int main(void) {
    for (int step = 0; step < 9; step++) {
        int rounds = 0;
        read_data(t);
        for (int i = 0; i < 16; i++)
            h[i] = w[i] * 2.0f;
        (void)rounds;
#ifdef SCALED
    back:
#endif
        for (int i = 0; i < 16; i++)
            delta[i] = h[i] - t[i];
#ifdef SCALED
        if (rounds++ < 2)
            goto back;
#endif
        for (int i = 0; i < 16; i++)
            g[i] = delta[i] * 2.0f;
        for (int i = 0; i < 16; i++)
            w[i] -= 0.1f * g[i];
        printf("%f\n", h[0]);
    }
    return 0;
}
// CHECK: loss scale: found
// CHECK: seed expression {{.*}}: h[i] - t[i]
// SCALED: jump_back.c:39:13: note: the loss-scale analysis was stopped here: a
// SCALED-SAME: jump back, over changes to float memory
// ELSEWHERE: jump_back.c:22:9: note: the loss-scale analysis was stopped here:
// ELSEWHERE-SAME: a jump back, with other pointers to float memory
