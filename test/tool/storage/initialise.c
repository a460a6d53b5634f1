// Initialisers: converted in a block, bits of both half types where only
// constants can stand.
// RUN: %same --exact %s --rules %S/Inputs/half.amp -O2 --loss-scale=none > %t.diff
// RUN: grep '^[+]' %t.diff | %FileCheck %s
#include <stdio.h>

#define HALF_OF(x) ((x) / 2)

typedef struct {
    float h_v[2];
    int n;
    float full[2];
} item;

static float h_mean[3] = {0.5, -2, 0x1p-4f};
// CHECK: +static amp_half h_mean[3] = {AMP_HALF_CONST(0.5, 0x3800, 0x3f00), AMP_HALF_CONST(-2, 0xc000, 0xc000), AMP_HALF_CONST(0x1p-4f, 0x2c00, 0x3d80)};
static float h_table[2][2] = {{1, 2}, {[1] = 3.5f}};
// CHECK: +static amp_half h_table[2][2] = {{.*}}AMP_HALF_CONST(1, 0x3c00, 0x3f80), AMP_HALF_CONST(2, 0x4000, 0x4000)}, {[1] = AMP_HALF_CONST(3.5f, 0x4300, 0x4060)}
static item items[2] = {{{1, 2}, 3, {4, 5}}, {.n = 6, .h_v = {-0.25f}, .full = {7}}};
// CHECK: +static item items[2] = {{.*}}AMP_HALF_CONST(1, 0x3c00, 0x3f80), AMP_HALF_CONST(2, 0x4000, 0x4000)}, 3, {4, 5}}, {.n = 6, .h_v = {AMP_HALF_CONST(-0.25f, 0xb400, 0xbe80)}, .full = {7}
static float h_bracketed[2] = {(-0.5f), ( (2) )}, h_signs[2] = {-0, -0.0};
// CHECK: +static amp_half h_bracketed[2] = {AMP_HALF_CONST((-0.5f), 0xb800, 0xbf00), AMP_HALF_CONST(( (2) ), 0x4000, 0x4000)}, h_signs[2] = {AMP_HALF_CONST(-0, 0x0000, 0x0000), AMP_HALF_CONST(-0.0, 0x8000, 0x8000)};
static float h_zeros[2][2] = {{0}}, h_flat[2][2] = {0};
// CHECK: +static amp_half h_zeros[2][2] = {{.*}}AMP_HALF_CONST(0, 0x0000, 0x0000)}}, h_flat[2][2] = {0};

// Rounded as amp_to_half rounds.
static const float h_odd[] = {0.1, -3.14159265, 1e-6, 65519, 70000, 3e-8, 6.1e-5, 2.98023223876953125e-8};
static const float odd[] = {0.1, -3.14159265, 1e-6, 65519, 70000, 3e-8, 6.1e-5, 2.98023223876953125e-8};

static int equal(void) {
    float h_one[1];
    int n = 0;
    for (int i = 0; i < 8; i++) {
        h_one[0] = odd[i];
        n += h_one[0] == h_odd[i];
    }
    return n;
}

static float sum(const float *h_x, int n) {
    static const float h_none[4] = {0};
    float s = h_none[1];
    for (int i = 0; i < n; i++)
        s += h_x[i];
    return s;
}

int main(void) {
    float q = 0.75f;
    float h_auto[4] = {q, 2 * h_mean[0], [3] = HALF_OF(q + 0.25f)};
    // CHECK: +    amp_half h_auto[4] = {amp_to_half(q), amp_to_half(2 * amp_to_float(h_mean[0])), [3] = amp_to_half(HALF_OF(q + 0.25f))};
    item one = {{q}, 1, {q}};
    // CHECK: +    item one = {{.*}}amp_to_half(q)}, 1, {q}
    item none = {0};
    // CHECK-NOT: none =
    printf("%g %g %g\n", sum(h_mean, 3), sum(h_table[1], 2), sum(h_auto, 4));
    printf("%g %g\n", h_signs[0], h_signs[1]);
    printf("%d %g\n", equal(), h_zeros[1][0] + h_flat[1][1] + sum(h_bracketed, 2));
    printf("%g %g %g %d\n", sum(items[0].h_v, 2), items[1].h_v[0],
           items[0].full[1] + one.h_v[0] + one.full[0], items[1].n + none.n);
    return 0;
}
