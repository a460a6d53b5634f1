// A role rule decides whether what is updated is a parameter or state, and
// what of that the update reads as a gradient. What a rule says against the
// program is told.
// RUN: echo 'role param v; role state w; role state h;' > %t.amp
// RUN: %amp-rewrite %s --rules %t.amp --dump-after=scale > %t.out 2>&1
// RUN: %FileCheck %s < %t.out
// RUN: %amp-rewrite %s --dump-after=scale 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=FREE
#include <stdio.h>

static float v[16], w[16], g[16], gv[16], h[16], x[16];

int main(void) {
    fread(x, sizeof x, 1, stdin);
    for (int step = 0; step < 9; step++) {
        float y = 0;
        for (int i = 0; i < 16; i++)
            h[i] = v[i] * x[i];
        for (int i = 0; i < 16; i++)
            y += w[i] * h[i];
        for (int i = 0; i < 16; i++) {
            g[i] = (y - 1.0f) * h[i];
            gv[i] = h[i] - 1.0f;
        }
        printf("%f\n", y);
        for (int i = 0; i < 16; i++) {
            v[i] -= 0.1f * gv[i];
            w[i] -= 0.1f * g[i];
        }
    }
    return 0;
}
// CHECK: role_rules.c:18:13: note: a rule in '{{.*}}.amp' calls 'h' state, but the
// CHECK-SAME: program uses it as activation
// CHECK: role_rules.c.tmp.amp:{{[0-9]+}}:{{[0-9]+}}: note: the rule is here
// CHECK-NOT: calls 'v'
// CHECK: grad gv
// CHECK-NOT: grad g{{$}}
// CHECK: cell v: param
// CHECK: cell w: state
// FREE-NOT: a rule in
// FREE-DAG: grad g{{$}}
// FREE-DAG: cell w: param
