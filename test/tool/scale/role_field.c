// A role rule names memory by the field that it is kept in, as the audit and
// keep rules do, also where a helper made it. The update takes nothing but the
// sign of the gradient, and clamps: without the rule no loop is seen to train.
// RUN: echo 'role param field net.w;' > %t.amp
// RUN: %amp-rewrite -O2 --half=bf16 %s --rules %t.amp --dump-after=scale \
// RUN:     2>&1 | %FileCheck %s
// RUN: %amp-rewrite -O2 --half=bf16 -q %s --rules %t.amp \
// RUN:     | %FileCheck %s --check-prefix=HALF
// RUN: %amp-rewrite -O2 %s 2>&1 | %FileCheck %s --check-prefix=FREE
// RUN: %exits 2 %amp-rewrite -O2 %s --rules %t.amp 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=FP16
#include <stdio.h>
#include <stdlib.h>

struct net {
    float *w;
    float *dw, *y;
};

static float *vector(void) {
    return calloc(16, sizeof(float));
}

static void update(struct net *n) {
    for (int i = 0; i < 16; i++) {
        if (n->dw[i] < 0) {
            n->w[i] += 0.01f;
            if (n->w[i] > 9)
                n->w[i] = 9;
        } else {
            n->w[i] -= 0.01f;
        }
    }
}

int main(void) {
    struct net n = {vector(), vector(), vector()};
    static float x[16];
    fread(x, sizeof x, 1, stdin);
    for (int step = 0; step < 9; step++) {
        for (int i = 0; i < 16; i++)
            n.y[i] = n.w[i] * x[i];
        for (int i = 0; i < 16; i++)
            n.dw[i] = (n.y[i] - 1) * x[i];
        update(&n);
        printf("%f\n", n.w[3]);
    }
    return 0;
}
// CHECK: training loop {{.*}}role_field.c:40:5 in main
// CHECK: param n.w
// HALF: -    float *dw, *y;
// HALF-NEXT: +    amp_half *dw, *y;
// FREE: no loop is seen to update parameters
// FREE: no op of this program can run in half, and no buffer be stored in it
// FP16: no gradient feeds this update
