// One allocation a kind, reached through a table of pointers and walked from
// its base: the base means all of its regions.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
// RUN: %amp-rewrite %s --audit | %FileCheck %s --check-prefix=AUDIT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tensors {
    float *a, *b;
};

static float *carve(struct tensors *t, const size_t *sizes) {
    float *memory = malloc((sizes[0] + sizes[1]) * sizeof(float));
    float **slots[] = {&t->a, &t->b};
    float *next = memory;
    for (int i = 0; i < 2; i++) {
        *(slots[i]) = next;
        next += sizes[i];
    }
    return memory;
}

int main(void) {
    size_t sizes[2] = {8, 8};
    struct tensors p, g;
    float *params = carve(&p, sizes), *grads = carve(&g, sizes), h[8], d[8];
    memset(params, 0, 16 * sizeof(float));
    for (int step = 0; step < 9; step++) {
        float loss = 0;
        for (int i = 0; i < 8; i++) {
            h[i] = p.a[i] * 2.0f + p.b[i];
            loss += h[i] * h[i];
        }
        memset(grads, 0, 16 * sizeof(float));
        for (int i = 0; i < 8; i++)
            d[i] = 2.0f * h[i];
        for (int i = 0; i < 8; i++) {
            g.a[i] += d[i] * 2.0f;
            g.b[i] += d[i];
        }
        for (int i = 0; i < 16; i++)
            params[i] -= 0.1f * grads[i];
        printf("%f\n", loss);
    }
    return 0;
}
// CHECK-DAG: param a
// CHECK-DAG: param b
// CHECK-DAG: grad a
// CHECK-DAG: grad b
// CHECK: seed expression {{.*}}:37:20 in main: 2.0f * h[i]
// CHECK: unscale before {{.*}}:42:9 (the step)
// AUDIT: heap params (float), {{.*}}); what lies outside its named parts
// AUDIT-NEXT: heap a (float), param, {{.*}} read it) [{{[^[]*}}]{{$}}
// AUDIT: heap grads (float), {{.*}}); what lies outside its named parts
