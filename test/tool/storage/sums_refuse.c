// A sum that no FP32 scratch can stand in for keeps its memory in FP32, and the
// reason says what stands in the way, and where.
// RUN: %amp-rewrite -O2 --dump-after=solve %s -- -fopenmp 2>/dev/null | %FileCheck %s
// RUN: %amp-rewrite -O2 --audit %s -- -fopenmp 2>/dev/null | %FileCheck %s --check-prefix=AUDIT
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { B = 8, D = 16 };
#define ADD_ALL(to, n, value)                                                  \
    for (int k = 0; k < (n); k++)                                              \
    (to)[0] += (value)
#define ROW(to, i) (to)[i]

static float x[B][D], t[B], w[D], dw[D], h[B][D];

static int calls;
static float counted(float v) {
    calls++;
    return v;
}
static float first(const float *v) {
    return v[0];
}

// CHECK-DAG: storage half fine/1 (activation): activations
// CHECK-DAG: storage half row/1 (activation): activations
static float fine[D], row[D];
// AUDIT: half  {{.*}}: variable fine (float[16]), activation
// AUDIT-NEXT: sums in an FP32 scratch [{{.*}}sums_refuse.c:{{[0-9]+}}:5]
// CHECK-DAG: fp32 maybe/1 {{.*}} scratch can stand in for it ({{.*}}sums_refuse.c:[[#@LINE+68]]:13: the loop may not come to it) [{{.*}}sums_refuse.c:[[#@LINE+68]]:13]
// CHECK-DAG: fp32 skipped/1 {{.*}}: the loop may not come to it) [
// CHECK-DAG: fp32 inner/1 {{.*}}: the loop may not come to it) [
// CHECK-DAG: fp32 either/1 {{.*}}: the loop may not come to it) [
// CHECK-DAG: fp32 until/1 {{.*}}: how often the loop runs is not known before it) [
static float maybe[D], skipped[D], inner[D], until[D], either[D];
// CHECK-DAG: fp32 left/1 {{.*}}: a jump may leave the loop) [
// CHECK-DAG: fp32 other/1 {{.*}}: the loop uses the memory in another way as well) [
// CHECK-DAG: fp32 given/1 {{.*}}: the loop uses the memory as a whole, or its address) [
// CHECK-DAG: fp32 itself/1 {{.*}}: the loop sets memory to itself) [
// CHECK-DAG: fp32 called/1 {{.*}}: 'counted' is called in the loop) [
// CHECK-DAG: fp32 through/1 {{.*}}: 'first' is called in the loop) [
static float left[D], other[D], given[D], called[D], through[D], itself[D];
// CHECK-DAG: fp32 from_one/1 {{.*}}: it is no element or row that the loop leaves in place) [
// CHECK-DAG: fp32 by_two/1 {{.*}}: it is no element or row that the loop leaves in place) [
// CHECK-DAG: fp32 growing/1 {{.*}}: it is no element or row that the loop leaves in place) [
// CHECK-DAG: fp32 stored/1 {{.*}}: it is no element or row that the loop leaves in place) [
static float from_one[D], by_two[D], growing[D], stored[D];
// CHECK-DAG: fp32 casted/1 {{.*}}: it is no element or row that the loop leaves in place) [
// CHECK-DAG: fp32 measured/1 {{.*}}: it is no element or row that the loop leaves in place) [
// CHECK-DAG: fp32 shaky/1 {{.*}}: it may be volatile) [
static float casted[D], measured[D];
static volatile float shaky[D];
// CHECK-DAG: fp32 inside/1 {{.*}}: it is no element or row that the loop leaves in place) [
// CHECK-DAG: fp32 defined/1 {{.*}}: an #if or #define is in the loop) [
// CHECK-DAG: fp32 mixed/1 {{.*}}: the loop may not come to it) [
static float inside[D], defined[D], mixed[D];
// CHECK-DAG: fp32 in_macro/1 {{.*}}: the loop comes from a macro body) [
// CHECK-DAG: fp32 macro_row/1 {{.*}}: its text comes from a macro body) [
// CHECK-DAG: fp32 cut/1 {{.*}}: an #if or #define is in the loop) [
// CHECK-DAG: fp32 labelled/1 {{.*}}: a label stands before the loop) [
static float in_macro[D], macro_row[D], cut[D], labelled[D];
// CHECK-DAG: fp32 shared/1 {{.*}}: a pragma of OpenMP stands before the loop) [
// CHECK-DAG: fp32 taken/1 {{.*}}: a pragma of OpenMP takes the loop together with another) [
// CHECK-DAG: fp32 atomic/1 {{.*}}: a pragma of OpenMP is in the loop) [
static float shared[D], taken[D], atomic[D];
// CHECK-DAG: fp32 again/1 (activation): passed to 'add_rows', where it is FP32 (a sum: {{.*}}: the loop uses 'add_rows:from/1', which may be the same memory)
static float again[2 * D], apart[D];

static void add_rows(float *to, const float *from, int n) {
    for (int k = 0; k < n; k++)
        for (int i = 0; i < D; i++)
            to[i] += from[i] * h[k][i];
}

// The same text is fine where no call gives it one memory twice.
// CHECK-DAG: storage half twice/1 (activation): activations
// CHECK-DAG: storage half sum_rows:to/1 in sum_rows
static float twice[D];

static void sum_rows(float *to, const float *from, int n) {
    for (int k = 0; k < n; k++)
        for (int i = 0; i < D; i++)
            to[i] += from[i] * h[k][i];
}

static int limit[D];

static float sums(int n, int mode) {
    float loss = 0;
    int i;
    for (int k = 0; k < n; k++)
        fine[0] += h[k][0] * w[k];
    for (int k = 0; k < n; k++)
        for (i = 0; i < D; i++)
            row[i] += h[k][i] * w[i];
    for (int k = 0; k < n; k++)
        if (h[k][0] > 0)
            maybe[0] += h[k][0] * w[k];
    for (int k = 0; k < n; k++) {
        if (h[k][0] > 0)
            continue;
        skipped[0] += h[k][0] * w[k];
    }
    for (int k = 0; k < n; k++)
        for (int j = 0; j < k; j++)
            inner[0] += h[k][j] * w[j];
    for (int k = 0; k < n; k++)
        if (mode)
            either[0] += h[k][0] * w[k];
        else
            either[0] -= h[k][0] * w[k];
    i = n;
    while (--i)
        until[0] += h[i][0] * w[i];
    for (int k = 0; k < n; k++) {
        left[0] += h[k][0] * w[k];
        if (left[0] > 100)
            return left[0];
    }
    for (int k = 0; k < n; k++) {
        other[0] += h[k][0] * w[k];
        loss += other[k];
    }
    for (int k = 0; k < n; k++) {
        given[0] += h[k][0] * w[k];
        float *p = &given[k];
        loss += *p;
    }
    for (int k = 0; k < n; k++)
        itself[0] = itself[0];
    for (int k = 0; k < n; k++)
        called[0] += counted(h[k][0] * w[k]);
    for (int k = 0; k < n; k++)
        through[0] += h[k][0] * first(w);
    for (int k = 0; k < n; k++)
        for (i = 1; i < D; i++)
            from_one[i] += h[k][i] * w[i];
    for (int k = 0; k < n; k++)
        for (i = 0; i < D; i += 2)
            by_two[i] += h[k][i] * w[i];
    for (int k = 0; k < n; k++)
        for (i = 0; i < k; i++)
            growing[i] += h[k][i] * w[i];
    for (int k = 0; k < n; k++)
        for (i = 0; i < limit[0]; i++) {
            stored[i] += h[k][i] * w[i];
            limit[k]++;
        }
    void *bytes = casted;
    for (int k = 0; k < n; k++)
        ((float *)bytes)[0] += h[k][0] * w[k];
    for (int k = 0; k < n; k++)
        measured[sizeof(float)] += h[k][0] * w[k];
    for (int k = 0; k < n; k++)
        shaky[0] += h[k][0] * w[k];
    for (int k = 0; k < n; k++) {
        enum { SECOND = 1 };
        inside[SECOND] += h[k][0] * w[k];
    }
    for (int k = 0; k < n; k++) {
#define THIRD 2
        defined[THIRD] += h[k][0] * w[k];
    }
    for (unsigned k = 3; k > n; k--)
        mixed[0] += h[k][0] * w[k];
    ADD_ALL(in_macro, n, h[k][0] * w[k]);
    for (int k = 0; k < n; k++)
        for (i = 0; i < D; i++)
            ROW(macro_row, i) += h[k][i] * w[i];
    for (int k = 0; k < n; k++) {
#if defined(MORE)
        cut[1] += h[k][1];
#endif
        cut[0] += h[k][0] * w[k];
    }
    switch (mode) {
    case 0:
        for (int k = 0; k < n; k++)
            labelled[0] += h[k][0] * w[k];
    }
#pragma omp simd
    for (int k = 0; k < n; k++)
        shared[0] += h[k][0] * w[k];
#pragma omp parallel for collapse(2)
    for (int j = 0; j < D; j++)
        for (int k = 0; k < n; k++)
            taken[j] += h[k][j] * w[k];
    for (int k = 0; k < n; k++) {
#pragma omp atomic
        atomic[0] += h[k][0] * w[k];
    }
    add_rows(again, again + D, n);
    add_rows(apart, h[0], n);
    sum_rows(twice, apart, n);
    for (i = 0; i < D; i++)
        loss += fine[i] + row[i] + maybe[i] + skipped[i] + inner[i] +
                until[i] + itself[i] + either[i] + casted[i] +
                measured[i] + shaky[i] + left[i] + other[i] + given[i] + called[i] +
                through[i] + from_one[i] + by_two[i] + growing[i] +
                stored[i] + inside[i] + defined[i] + mixed[i] + in_macro[i] + macro_row[i] + cut[i] +
                labelled[i] + shared[i] + taken[i] + atomic[i] + again[i] +
                apart[i] + twice[i];
    return loss;
}

static void reset(void) {
    for (int i = 0; i < D; i++) {
        fine[i] = row[i] = maybe[i] = skipped[i] = inner[i] = until[i] = 0;
        left[i] = other[i] = given[i] = called[i] = through[i] = 0;
        from_one[i] = by_two[i] = growing[i] = stored[i] = in_macro[i] = 0;
        macro_row[i] = cut[i] = labelled[i] = shared[i] = taken[i] = 0;
        itself[i] = atomic[i] = apart[i] = twice[i] = either[i] = 0;
        casted[i] = measured[i] = shaky[i] = 0;
        inside[i] = defined[i] = mixed[i] = 0;
        again[i] = again[D + i] = 0;
        limit[i] = D;
    }
}

int main(void) {
    for (int b = 0; b < B; b++) {
        t[b] = (float)rand();
        for (int j = 0; j < D; j++)
            x[b][j] = (float)rand();
    }
    for (int j = 0; j < D; j++)
        w[j] = (float)rand();
    for (int e = 0; e < 10; e++) {
        float loss = 0;
        for (int b = 0; b < B; b++)
            for (int j = 0; j < D; j++)
                h[b][j] = x[b][j] * w[j];
        reset();
        loss += sums(B, e % 2);
        for (int j = 0; j < D; j++)
            dw[j] = 0;
        for (int b = 0; b < B; b++)
            for (int j = 0; j < D; j++)
                dw[j] += (h[b][j] - t[b]) * x[b][j];
        for (int j = 0; j < D; j++)
            w[j] -= 0.1f * dw[j];
        printf("%f\n", loss);
    }
    return 0;
}
