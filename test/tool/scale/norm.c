// A norm that is printed wants unscaled gradients: the unscale moves before
// the statement that sums it, not only before the update.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
#include <math.h>
#include <stdio.h>

static float w[16], g[16], h[16], t[16];

int main(void) {
    for (int step = 0; step < 9; step++) {
        float norm = 0;
        for (int i = 0; i < 16; i++)
            h[i] = w[i] * 2.0f;
        for (int i = 0; i < 16; i++)
            g[i] = (h[i] - t[i]) * 2.0f;
        for (int i = 0; i < 16; i++)
            norm += g[i] * g[i];
        printf("norm %f loss %f\n", sqrtf(norm), h[0]);
        for (int i = 0; i < 16; i++)
            w[i] -= 0.1f * g[i];
    }
    return 0;
}
// CHECK: seed expression {{.*}}:15:20
// CHECK: unscale before {{.*}}:16:9{{$}}
// CHECK: step {{.*}}:19:9 to {{.*}}:19:9
