// What reads memory without a word of C that says so keeps it in FP32.
// RUN: %amp-rewrite %s --rules %S/Inputs/half.amp -O2 --loss-scale=none --dump-after=solve 2>/dev/null | %FileCheck %s
#include <stdio.h>
#include <stdlib.h>

static float h_seen[4];
static float h_handed[4];
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

// CHECK-DAG: storage fp32 h_aliased/1 {{.*}}: an attribute or asm names 'second' [{{.*}}:[[#@LINE+3]]:
static float h_aliased[4], h_labelled[4], h_same[4];
float second(const float *x) { return x[1]; }
extern float same(const float *x) __attribute__((alias("second")));

// CHECK-DAG: storage fp32 h_labelled/1 {{.*}}: an attribute or asm names 'third' [{{.*}}:[[#@LINE+2]]:
float third(const float *x) { return x[2]; }
float also(const float *x) __asm__("third");

// CHECK-DAG: storage fp32 h_same/1 {{.*}}: its address is passed to 'same' [

// CHECK-DAG: storage fp32 h_global/1 {{.*}}: an attribute or asm names 'h_global' [{{.*}}:[[#@LINE+2]]:
float h_global[4], h_word[4];
__asm__(".globl other\n.set other, h_global");
// CHECK-DAG: storage fp32 h_word/1 {{.*}}: an attribute or asm names 'h_word' [
static void touch(void) {
    __asm__ volatile("movl $0, h_word(%rip)");
}

// CHECK-DAG: storage fp32 clean:h_mine/1 {{.*}}: a cleanup function gets its address [{{.*}}:[[#@LINE+8]]:
// CHECK-DAG: storage fp32 clean:h_other/1 {{.*}}: a cleanup function gets its address [
#define CLEAN(f) __attribute__((cleanup(f)))
static void last(float **p) {
    printf("%g\n", (*p)[0]);
    free(*p);
}
static void clean(void) {
    float *h_mine __attribute__((cleanup(last))) = calloc(4, sizeof(float));
    CLEAN(last) float *h_other = calloc(4, sizeof(float));
    h_mine[0] = h_other[0] = 1.5f;
}

int main(void) {
    touch();
    clean();
    h_aliased[1] = h_labelled[2] = h_same[1] = h_global[0] = h_word[0] = 1;
    printf("%g %g %g\n", second(h_aliased), third(h_labelled), same(h_same));
    printf("%g %g %g\n", also(h_handed), h_global[0], h_word[0]);
    h_seen[0] = h_pointed[0] = h_operand[1] = state.h_field[0] = 1.5f;
    use();
    printf("%g %g %g\n", first(h_pointed), h_seen[0], state.h_field[0]);
    return 0;
}
