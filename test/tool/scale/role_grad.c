// A velocity that is updated in a statement before the parameters is state of
// the step, not a gradient that outlives it; a role rule makes it one, and then
// it carries momentum from step to step. What cannot be a gradient is told.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s --check-prefix=FREE
// RUN: echo 'role grad v; role grad h; role grad w;' > %t.amp
// RUN: %amp-rewrite %s --rules %t.amp --dump-after=scale > %t.out 2>&1
// RUN: %FileCheck %s < %t.out
#include <stdio.h>

static float w[16], v[16], g[16], h[16], x[16], t[16];

int main(void) {
    fread(x, sizeof x, 1, stdin);
    fread(t, sizeof t, 1, stdin);
    for (int step = 0; step < 9; step++) {
        for (int i = 0; i < 16; i++)
            h[i] = w[i] * x[i];
        for (int i = 0; i < 16; i++)
            g[i] = (h[i] - t[i]) * x[i];
        for (int i = 0; i < 16; i++)
            v[i] = 0.9f * v[i] + g[i];
        for (int i = 0; i < 16; i++)
            w[i] -= 0.1f * v[i];
        printf("loss %f\n", h[0]);
    }
    return 0;
}
// FREE: grad g
// FREE: seed expression {{.*}}:19:20
// FREE-NOT: carry
// FREE: step {{.*}}:20:9 to {{.*}}:22:9
// FREE: cell v: state, degree 0
// CHECK-NOT: calls 'v'
// CHECK-DAG: note: a rule in '{{.*}}.amp' calls 'h' grad, but the program uses it as activation
// CHECK-DAG: note: a rule in '{{.*}}.amp' calls 'w' grad, but the program uses it as param
// CHECK: grad v with momentum
// CHECK: carry before {{.*}}:16:9
// CHECK: step {{.*}}:22:9 to {{.*}}:22:9
// CHECK: cell v: grad with momentum, degree 1
