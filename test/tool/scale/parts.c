// Functions without a body that a rule calls clip or allreduce: sums over
// processes keep the scale, clipping wants it gone.
// RUN: echo 'allreduce sum_over(in send, out receive, n) receive = send;' > %t.1
// RUN: echo 'clip clip_norm(inout g: grad, n, limit);' > %t.2
// RUN: %amp-rewrite %s --rules %t.1 --rules %t.2 --dump-after=scale 2>&1 \
// RUN:     | %FileCheck %s
// RUN: %amp-rewrite %s --rules %t.1 --rules %t.2 --dump-after=scale -- -DIN_PLACE 2>&1 \
// RUN:     | %FileCheck %s --check-prefix=IN_PLACE
#include <stdio.h>

void sum_over(const void *send, void *receive, int n);
float clip_norm(float *g, int n, float limit);
static float w[16], g[16], sum[16], h[16], x[16];

int main(void) {
    fread(x, sizeof x, 1, stdin);
    for (int step = 0; step < 9; step++) {
        for (int i = 0; i < 16; i++)
            h[i] = w[i] * x[i];
        for (int i = 0; i < 16; i++)
            g[i] = h[i] - 1.0f;
#ifdef IN_PLACE
        sum_over((void *)1, g, 16);
        for (int i = 0; i < 16; i++)
            w[i] -= 0.1f * g[i];
#else
        sum_over(g, sum, 16);
        float norm = clip_norm(sum, 16, 1.0f);
        for (int i = 0; i < 16; i++)
            w[i] -= 0.1f * sum[i];
        printf("%f\n", norm);
#endif
        printf("%f\n", h[0]);
    }
    return 0;
}
// CHECK-NOT: is unknown
// CHECK: grad sum
// CHECK: seed expression {{.*}}:21:20 in main: h[i] - 1.0f
// CHECK: unscale before {{.*}}:28:9{{$}}
// CHECK: cell g: activation, degree 1
// IN_PLACE-NOT: is unknown
// IN_PLACE: grad g
// IN_PLACE: seed expression {{.*}}:21:20 in main: h[i] - 1.0f
// IN_PLACE: unscale before {{.*}}:24:9 (the step)
