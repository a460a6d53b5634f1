// Weight decay that is added to the gradient could be scaled as well. Unscaling
// before it saves that seed. A second loss has no such way out.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
// RUN: %amp-rewrite %s --dump-after=scale -- -DTWO | %FileCheck %s \
// RUN:     --check-prefix=TWO
#include <math.h>
#include <stdio.h>

static float w[16], g[16], h[16], x[16], t[16];

int main(void) {
    fread(x, sizeof x, 1, stdin);
    fread(t, sizeof t, 1, stdin);
    for (int step = 0; step < 9; step++) {
        for (int i = 0; i < 16; i++)
            h[i] = tanhf(w[i] * x[i]);
        for (int i = 0; i < 16; i++)
            g[i] = (h[i] - t[i]) * x[i];
#ifdef TWO
        for (int i = 0; i < 16; i++)
            g[i] += (h[i] - x[i]) * t[i];
#endif
        for (int i = 0; i < 16; i++)
            g[i] += 0.01f * w[i];
        for (int i = 0; i < 16; i++)
            w[i] -= 0.1f * g[i];
        printf("loss %f\n", h[0]);
    }
    return 0;
}
// CHECK: seed expression {{.*}}:18:20
// CHECK-NOT: seed
// CHECK: unscale before {{.*}}:23:9{{$}}
// TWO-DAG: seed expression {{.*}}:18:20
// TWO-DAG: seed expression {{.*}}:21:21
// TWO: unscale before {{.*}}:23:9{{$}}
