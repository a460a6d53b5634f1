// The backward pass keeps gradients in an activation's slice that is not needed
// any more, and in the room beside it: told by the sizes alone. An offset of a
// whole slice, or one that is not known, reaches what the next iteration reads.
// RUN: %amp-rewrite %s --dump-after=scale -- -DOFFSET=n 2>&1 | %FileCheck %s
// RUN: not %amp-rewrite %s --dump-after=scale -- "-DOFFSET=n+n/2" 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=REFUSED
// RUN: not %amp-rewrite %s --dump-after=scale -- -DOFFSET=2*n 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=REFUSED
// RUN: not %amp-rewrite %s --dump-after=scale -- -DOFFSET=gap 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=REFUSED
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    int n, layers, gap;
    scanf("%d %d %d", &n, &layers, &gap);
    size_t all = (size_t)layers * n;
    float *w = malloc(all * sizeof *w), *g = malloc(all * sizeof *g);
    float *slices = malloc((3 * all + 1) * sizeof *slices);
    float *x = malloc(n * sizeof *x), *d = malloc(n * sizeof *d);
    fread(w, sizeof *w, all, stdin);
    fread(x, sizeof *x, n, stdin);
    for (int step = 0; step < 9; step++) {
        float loss = 0;
        for (int l = 0; l < layers; l++)
            for (int i = 0; i < n; i++)
                slices[l * 2 * n + i] = x[i] * w[l * n + i];
        for (int i = 0; i < n; i++) {
            d[i] = slices[i] - 1;
            loss += slices[i];
        }
        for (int l = 0; l < layers; l++) {
            float *value = slices + l * 2 * n;
            float *room = value + OFFSET;
            for (int i = 0; i < n; i++)
                g[l * n + i] = d[i] * value[i];
            for (int i = 0; i < n; i++)
                value[i] = d[i] * w[l * n + i];
            for (int i = 0; i < n; i++)
                room[i] = value[i] * 2;
            for (int i = 0; i < n; i++)
                d[i] = room[i];
        }
        for (size_t i = 0; i < all; i++)
            w[i] -= 0.1f * g[i];
        printf("%f\n", loss);
    }
    return 0;
}
// CHECK: loss scale: found
// CHECK: assumes: what a loop takes of an array per iteration does not overlap
// CHECK: seed expression {{.*}}:29:20
// CHECK: cell slices: activation, degree 1
// REFUSED: error: {{.*}}[AMP403-degree-conflict]
