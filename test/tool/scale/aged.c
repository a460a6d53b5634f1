// What is made from leftovers is one, however new the buffer is that it is
// written to.
// RUN: not %amp-rewrite %s --dump-after=scale 2>&1 | %FileCheck %s
// RUN: %amp-rewrite %s --dump-after=scale -- -DRENEWED 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=RENEWED
#include <stdio.h>

static float w[16], g[16], h[16], old[16], delta[16], t[16];
static int seen[16];

int main(int argc, char **argv) {
    (void)argv;
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
                old[i] = h[i] - t[i];
        if (argc > 1)
            for (int i = 0; i < 16; i++)
                delta[i] = old[i] * 3.0f;
        else
            for (int i = 0; i < 16; i++)
                delta[i] = old[i];
        for (int i = 0; i < 16; i++)
            g[i] = delta[i] * 2.0f;
        for (int i = 0; i < 16; i++)
            w[i] -= 0.1f * g[i];
        printf("%f\n", h[0]);
    }
    return 0;
}
// CHECK: error: 'old' may still hold here what the iteration before left in it
// RENEWED: loss scale: found
