// Two sets of parameters, each with a loss and an update of its own in one
// iteration: two groups. The loss is shared code, so each group's buffer is
// scaled after its own call.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
#include <stdio.h>

static float a[8], ga[8], oa[8], da[8], b[8], gb[8], ob[8], db[8];

static void minus_one(float *d, const float *o) {
    for (int i = 0; i < 8; i++)
        d[i] = o[i] - 1.0f;
}

static void sgd(float *w, const float *g) {
    for (int i = 0; i < 8; i++)
        w[i] -= 0.1f * g[i];
}

int main(void) {
    for (int step = 0; step < 9; step++) {
        for (int i = 0; i < 8; i++)
            oa[i] = a[i] * 2.0f;
        minus_one(da, oa);
        for (int i = 0; i < 8; i++)
            ga[i] = da[i] * 2.0f;
        sgd(a, ga);
        for (int i = 0; i < 8; i++)
            ob[i] = b[i] * a[i];
        minus_one(db, ob);
        for (int i = 0; i < 8; i++)
            gb[i] = db[i] * a[i];
        sgd(b, gb);
        printf("%f %f\n", oa[0], ob[0]);
    }
    return 0;
}
// CHECK: group 0
// CHECK: seed buffer da before {{.*}}:24:9 in main
// CHECK: step {{.*}}:26:9 to {{.*}}:26:9
// CHECK: group 1
// CHECK: seed buffer db before {{.*}}:30:9 in main
// CHECK: step {{.*}}:32:9 to {{.*}}:32:9
