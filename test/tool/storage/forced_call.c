// A rule that forces memory into half forces what functions do with it: where
// all that a function is called with is forced, its sum is told, at its place.
// RUN: echo 'keep half variable table, other;' > %t.amp
// RUN: %amp-rewrite %s --rules %t.amp -O2 --loss-scale=none -o %t.c 2>&1 \
// RUN:   | %FileCheck %s
// RUN: echo 'keep half variable table;' > %t.amp
// RUN: %amp-rewrite %s --rules %t.amp -O2 --loss-scale=none -o %t.c 2>&1 \
// RUN:   | %FileCheck %s --check-prefix=ONE --implicit-check-not=AMP704
#include <stdio.h>

static float table[8], other[8];

// CHECK: forced_call.c:[[@LINE+4]]:9: warning: 'scatter:to/1' is stored in half by a rule: a sum: the index that is added at comes from memory [AMP704-half-value]
// ONE: forced_call.c:{{.*}}: warning: 'table/1' {{.*}}stays FP32 against 'rule keep half variable table
static void scatter(float *to, const int *at, float what) {
    for (int i = 0; i < 8; i++)
        to[at[i]] += what;
}

int main(void) {
    int at[8];
    for (int i = 0; i < 8; i++)
        at[i] = i * 3 % 8;
    scatter(table, at, 0.5f);
    scatter(other, at, 0.25f);
    printf("%g %g\n", table[3], other[3]);
    return 0;
}
