// What reads memory without a word of C that says so keeps it in FP32.
// RUN: %amp-rewrite %s --rules %S/Inputs/half.amp -O2 --loss-scale=none --dump-after=solve 2>/dev/null | %FileCheck %s
#include <stdio.h>

static float h_seen[4];
// CHECK-DAG: storage half h_seen/1

// CHECK-DAG: storage fp32 h_pointed/1 {{.*}}: an asm statement uses it [{{.*}}:[[#@LINE+4]]:
static float h_pointed[4], h_operand[4];
static float first(const float *x) {
    float r;
    __asm__("movss (%1), %0" : "=x"(r) : "r"(x));
    return r;
}

// CHECK-DAG: storage fp32 h_operand/1 {{.*}}: an asm statement uses it [{{.*}}:[[#@LINE+9]]:
// CHECK-DAG: storage fp32 use:h_local/1 {{.*}}: an asm statement uses it [
// CHECK-DAG: storage fp32 state.h_field/1 {{.*}}: an asm statement uses it [
struct state {
    float h_field[4];
};
static struct state state;
static void use(void) {
    float h_local[4] = {1, 2, 3, 4}, *p = h_local;
    __asm__("movss %1, %0" : "=x"(h_local[1]) : "m"(h_operand[1]));
    __asm__("" : "+r"(p));
    __asm__("" : : "r"(&state) : "memory");
    printf("%g %g\n", h_local[0], p[2]);
}

int main(void) {
    h_seen[0] = h_pointed[0] = h_operand[1] = state.h_field[0] = 1.5f;
    use();
    printf("%g %g %g\n", first(h_pointed), h_seen[0], state.h_field[0]);
    return 0;
}
