// A function that is called with memory of both precisions has a text for
// each. The numbers fit into both half types, so that all builds print the same.
// RUN: %same --exact %s --rules %S/Inputs/half.amp -O2 --loss-scale=none > %t.diff
// RUN: %FileCheck %s < %t.diff
#include <stdio.h>
#include <stdlib.h>

enum { N = 8 };

float *room(int n);
// CHECK:  float *room(int n);
// CHECK-NEXT: +amp_half *room_half(int n);

// What calls no version is a text of its own, and what it calls follows.
static float sum(const float *v, int n) {
    float all = 0;
    for (int i = 0; i < n; i++)
        all += v[i];
    return all;
}
// CHECK: +/* sum, in half */
// CHECK-NEXT: +static float sum_half(const amp_half *v, int n) {

/* a comment that is not copied */
static float mean(const float *v, int n) {
    return sum(v, n) / n;
}
// CHECK: +/* mean, in half */
// CHECK-NEXT: +static float mean_half(const amp_half *v, int n) {
// CHECK-NEXT: +    return sum_half(v, n) / n;

float *room(int n) {
    float *v = malloc(n * sizeof *v);
    if (!v)
        exit(1);
    return v;
}
// CHECK: +amp_half *room_half(int n) {
// CHECK-NEXT: +    amp_half *v = malloc(n * sizeof *v);

static void add(float *out, const float *a, const float *b, int n) {
    for (int i = 0; i < n; i++)
        out[i] = a[i] + (b ? b[i] : 1);
}
// CHECK-DAG: +static void add_half(amp_half *out, const amp_half *a, const amp_half *b, int n) {
// CHECK-DAG: +static void add_half_a(float *out, const amp_half *a, const float *b, int n) {
// CHECK-DAG: +static void add_half_b(float *out, const float *a, const amp_half *b, int n) {

// Without a second text there is one precision: it calls itself, it remembers,
// a macro calls it.
static float deep(const float *v, int n) {
    return n ? v[0] + deep(v + 1, n - 1) : 0;
}

static float counted(const float *v) {
    static int calls;
    return v[calls++];
}

static float first(const float *v) {
    return v[0];
}
#define FIRST(v) first(v)

static void one_text(void) {
    float h_deep[N], deep_too[N], h_counted[N], counted_too[N], h_first[N],
        first_too[N];
    for (int i = 0; i < N; i++)
        h_deep[i] = deep_too[i] = h_counted[i] = counted_too[i] = h_first[i] =
            first_too[i] = i;
    printf("%g %g %g %g %g %g\n", deep(h_deep, N), deep(deep_too, N),
           counted(h_counted), counted(counted_too), FIRST(h_first),
           FIRST(first_too));
}

int main(void) {
    float *h_x = room(N), *y = room(N), *h_z = room(N), *w = room(N);
    for (int i = 0; i < N; i++) {
        h_x[i] = i;
        y[i] = 2 * i;
    }
    // CHECK-DAG: +    amp_half *h_x = room_half(N);
    // CHECK-DAG: +    amp_half *h_z = room_half(N);
    add(h_z, h_x, h_x, N);
    add(w, h_z, y, N);
    add(w, w, h_x, N);
    add(y, y, w, N);
    add(y, h_x, NULL, N);
    // CHECK-DAG: +    add_half(h_z, h_x, h_x, N);
    // CHECK-DAG: +    add_half_a(w, h_z, y, N);
    // CHECK-DAG: +    add_half_b(w, w, h_x, N);
    // CHECK-DAG: +    add_half_a(y, h_x, NULL, N);
    printf("%g %g %g\n", mean(h_x, N), mean(y, N), sum(h_z, N));
    // CHECK-DAG: mean_half(h_x, N), mean(y, N), sum_half(h_z, N));
    one_text();
    free(h_x);
    free(y);
    free(h_z);
    free(w);
    return 0;
}
// RUN: %amp-rewrite %s --rules %S/Inputs/half.amp -O2 --loss-scale=none --dump-after=solve > %t.why 2>/dev/null
// RUN: %FileCheck %s --check-prefix=WHY < %t.why
// WHY-DAG: storage fp32 deep:v/1 in deep (no role): 'deep' is called with 'one_text:deep_too/1', which is FP32 ({{.*}}), and has one text: it calls itself
// WHY-DAG: storage fp32 counted:v/1 in counted (no role): {{.*}} has one text: it has a static variable
// WHY-DAG: storage fp32 first:v/1 in first (no role): {{.*}} has one text: a macro calls it
// RUN: %amp-rewrite %s --rules %S/Inputs/half.amp -O2 --loss-scale=none --audit > %t.audit 2>/dev/null
// RUN: %FileCheck %s --check-prefix=AUDIT < %t.audit
// AUDIT: functions with a copy for other precisions:
// AUDIT-DAG: versions.c:[[#]]:14: sum: sum_half, in half
// AUDIT-DAG: versions.c:[[#]]:13: add: add_half_a, a in half

// A rule has the last word.
// RUN: echo 'keep half variable "h_*"; keep fp32 function mean;' > %t.amp
// RUN: %amp-rewrite %s --rules %t.amp -O2 --loss-scale=none --dump-after=solve > %t.rule 2>/dev/null
// RUN: %FileCheck %s --check-prefix=RULE < %t.rule
// RULE: storage fp32 mean:v/1 in mean (no role): 'mean' is called with {{.*}} and has one text: rule keep fp32 function mean

// The wrapper of a redirected call runs the original where libamp declines, and
// the original needs its callees as they were.
// RUN: echo 'keep half variable "*"; keep half function "*";' > %t.all.amp
// RUN: echo 'op gemm product(in a, in b, out c, n) allow c = a * b' >> %t.all.amp
// RUN: echo '-> amp_gemm(0, 0, n, n, n, 1, a, n, b, n, 0, c, n);' >> %t.all.amp
// RUN: %amp-rewrite %S/Inputs/wrapped.c --rules %t.all.amp -O2 --loss-scale=none -o %t.wrapped.c 2>/dev/null
// RUN: %gcc -Werror -I %amp-include -DAMP_HALF_FP16 -fsyntax-only %t.wrapped.c
// RUN: grep -q 'copy_half(h, in' %t.wrapped.c
