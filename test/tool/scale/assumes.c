// What the result takes for granted is told, in the dump and in both audits.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s --match-full-lines
// RUN: %amp-rewrite %s --audit | %FileCheck %s --check-prefix=TEXT
// RUN: %amp-rewrite %s --audit=json | %FileCheck %s --check-prefix=JSON
#include <stdio.h>

static float w[16], g[16], h[16];

int main(void) {
    for (int step = 0; step < 9; step++) {
        for (int i = 0; i < 16; i++)
            h[i] = w[i] * 2.0f;
        printf("%f\n", h[0]);
        for (int i = 0; i < 16; i++)
            g[i] = h[i] - 1.0f;
        for (int i = 0; i < 16; i++)
            w[i] -= 0.1f * g[i];
    }
    return 0;
}
// CHECK: loss scale: found
// CHECK-NEXT: training loop {{.*}}
// CHECK-NEXT: assumes: loops run at least once
// CHECK-NEXT: assumes: an index that follows a loop covers its array
// CHECK-NEXT: group {{.*}}
// TEXT: {{^}}loss scale:
// TEXT-NEXT: assumes: loops run at least once
// TEXT-NEXT: assumes: an index that follows a loop covers its array
// JSON: "assumptions":
// JSON: loops run at least once
