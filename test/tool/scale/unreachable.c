// The only place for the scale is in a header that stays as it is: the message
// says so, and a run that rewrites the header finds it.
// RUN: rm -rf %t && mkdir -p %t && cp %s %t/main.c && cp %S/unreachable.h %t
// RUN: not %amp-rewrite %t/main.c --dump-after=scale 2>&1 | %FileCheck %s
// RUN: echo '[{"directory": "%t", "file": "main.c", "command": "cc -c main.c"}]' \
// RUN:     > %t/compile_commands.json
// RUN: %amp-rewrite -p %t --root %t --dump-after=scale 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=BOTH
#include "unreachable.h"
#include <stdio.h>

static float w[16], g[16], h[16], x[16], t[16];

int main(void) {
    fread(x, sizeof x, 1, stdin);
    fread(t, sizeof t, 1, stdin);
    for (int step = 0; step < 9; step++) {
        for (int i = 0; i < 16; i++)
            h[i] = w[i] * x[i];
        backward(g, h, t, x, 16);
        for (int i = 0; i < 16; i++)
            w[i] -= 0.1f * g[i];
        printf("%f\n", h[0]);
    }
    return 0;
}
// CHECK: unreachable.h:{{[0-9]+}}:{{[0-9]+}}: note: the scale could enter here, but
// CHECK-SAME: this text is not rewritten
// CHECK: main.c:21:9: error: no place found
// CHECK-SAME: rewrite that file as well
// BOTH: loss scale: found
// BOTH: seed expression {{.*}}unreachable.h:6:13 in backward
