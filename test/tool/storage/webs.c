// A local that points to memory of both precisions becomes two: half memory gets
// a variable of its own behind the declaration.
// RUN: %same --exact %s --rules %S/Inputs/webs.amp -O2 --loss-scale=none > %t.diff
// RUN: grep '^[+]' %t.diff | %FileCheck %s
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST(p) ((p)[0])
#define N 4
static float h_x[N], h_y[N], w[N];
// CHECK: +static amp_half h_x[N], h_y[N];
// CHECK-NEXT: +static float w[N];

struct box {
    float *a;
};

static float sum(const float *p, int n) {
    float s = 0;
    for (int i = 0; i < n; i++)
        s += p[i];
    return s;
}

// Half memory first: the name goes to what stays FP32.
static float half_first(void) {
    const float *a = h_x; // the words of a comment
    // CHECK: +    const amp_half *a_half = h_x;
    // CHECK-NEXT: +    const float *a; // the words of a comment
    float s = sum(a, N) + FIRST(a);
    // CHECK-NEXT: +    float s = sum_half(a_half, N) + amp_to_float(FIRST(a_half));
    a = w;
    return s + sum(a, N) + a[1];
}

// Behind a number, and behind a qualifier that follows.
static float behind(void) {
    float t = 0, *b = w;
    // CHECK-NEXT: +    amp_half *b_half;
    float const *p = w;
    // CHECK-NEXT: +    amp_half const *p_half;
    t += b[1] + p[2];
    b = h_y, p = b;
    // CHECK-NEXT: +    b_half = h_y, p_half = b_half;
    return t + b[1] + p[2];
    // CHECK-NEXT: +    return t + amp_to_float(b_half[1]) + amp_to_float(p_half[2]);
}

// With all that edits do around it.
static float copied(FILE *file) {
    float *a = h_x, *b = h_y;
    memcpy(a, w, sizeof w);
    // CHECK: +    amp_copy(AMP_BUFFER(a_half), AMP_BUFFER(w), (sizeof w) / sizeof(float));
    *a++ += 2, a[1]++;
    // CHECK-NEXT: +    amp_half_add(&*a_half++, 2), a_half[1] = amp_to_half(amp_to_float(a_half[1]) + 1.0f);
    a[1] += b[0] + 1;
    // CHECK-NEXT: +    a_half[1] = amp_to_half(amp_to_float(a_half[1]) + (amp_to_float(b_half[0]) + 1));
    size_t done = fwrite(a, sizeof(float), 3, file);
    // CHECK-NEXT: +    size_t done = amp_fwrite(a_half, sizeof(float), 3, file);
    if (sscanf("2 4", "%f %f", &a[0], b) != 2 || done != 3)
        return 0;
    // CHECK-NEXT: +    if (amp_scanned(sscanf("2 4", "%f %f", amp_scan(&a_half[0]), amp_scan(b_half))) != 2 || done != 3)
    float s = a[0] * b[0];
    a = b = w;
    memcpy(h_y, a, N * sizeof(float));
    return s + b[1];
}

// Several of one declaration, a loop, a step, members and numbers of the name.
static float each(struct box b) {
    float s = 0;
    for (int i = 0; i < 2; i++) {
        float *a = w + i, *c = h_y;
        // CHECK: +        float *a = w + i;
        // CHECK-NEXT: +        amp_half *c_half = h_y;
        // CHECK-NEXT: +        amp_half *a_half;
        // CHECK-NEXT: +        float *c;
        s += a[0] * c[i] /* a / c */ * b.a[i];
        a = h_x;
        // CHECK-NEXT: +        s += a[0] * amp_to_float(c_half[i]) /* a / c */ * b.a[i];
        // CHECK-NEXT: +        a_half = h_x;
        if (i) {
            a++;
            a += 1;
            // CHECK-NEXT: +            a_half++;
            // CHECK-NEXT: +            a_half += 1;
        }
        c = w;
        s += *a + sum(c, 2) + (a ? 1 : 2) + 'a';
        // CHECK-NEXT: +        s += amp_to_float(*a_half) + sum(c, 2) + (a_half ? 1 : 2) + 'a';
        a[0] = (float)i;
        // CHECK-NEXT: +        a_half[0] = amp_to_half((float)i);
    }
    return s;
}

// One of the two texts of a function.
static float twice(const float *list) {
    const float *p = list;
    float s = p[0];
    p = w;
    return s + p[1];
}
// CHECK: +static float twice_half(const amp_half *list) {
// CHECK-NEXT: +    const amp_half *p_half = list;
// CHECK-NEXT: +    const float *p;
// CHECK-NEXT: +    float s = amp_to_float(p_half[0]);
// CHECK-NEXT: +    p = w;
// CHECK-NEXT: +    return s + p[1];

int main(void) {
    for (int i = 0; i < N; i++) {
        h_x[i] = (float)i + 0.5f;
        h_y[i] = 2.0f * (float)i;
        w[i] = 0.25f * (float)i;
    }
    struct box b = {w};
    printf("%g %g %g %g %g %g\n", half_first(), behind(), each(b), twice(h_x), twice(w),
           copied(tmpfile()));
    return 0;
}
