// Two variables that a loop steps are not the same index: the first half of
// what `delta[j]` reads was written by the iteration of the step before.
// RUN: not %amp-rewrite %s --dump-after=scale 2>&1 | %FileCheck %s
// RUN: %amp-rewrite %s --dump-after=scale -- -DAPART 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=APART
// The same holds for what an ascending loop reads one element ahead; what it
// reads one element back was written in this iteration.
// RUN: not %amp-rewrite %s --dump-after=scale -- -DBY=1 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=AHEAD
// RUN: %amp-rewrite %s --dump-after=scale -- -DBY=-1 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=APART
// Unless the counter goes both ways: then no side is behind it.
// RUN: not %amp-rewrite %s --dump-after=scale -- -DBY=-1 -DBACK 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=BOTH
#include <stdio.h>

static float w[16], g[16], h[16], delta[16], t[16];

int main(void) {
    fread(t, sizeof t, 1, stdin);
    for (int step = 0; step < 9; step++) {
        for (int i = 0; i < 16; i++)
            h[i] = w[i] * 2.0f;
#ifdef APART
        for (int i = 0; i < 16; i++)
            delta[i] = h[i] - t[i];
        for (int i = 0, j = 15; i < 16; i++, j--)
            g[i] = delta[j] * 2.0f;
#elif defined BY
        for (int i = 1; i < 15; i++) {
            delta[i] = h[i] - t[i];
            g[i] = delta[i + BY] * 2.0f;
#ifdef BACK
            if (i > 2 && getchar() == 'b')
                i--;
#endif
        }
#else
        for (int i = 0, j = 15; i < 16; i++, j--) {
            delta[i] = h[i] - t[i];
            g[i] = delta[j] * 2.0f;
        }
#endif
        for (int i = 0; i < 16; i++)
            w[i] -= 0.1f * g[i];
        printf("%f\n", h[0]);
    }
    return 0;
}
// CHECK: two_counters.c:39:9: error: 'delta' may still hold here what the
// AHEAD: two_counters.c:30:9: error: 'delta' may still hold here what the
// BOTH: two_counters.c:30:9: error: 'delta' may still hold here what the
// APART: loss scale: found
