// What a function's pointers point to is decided by each call: one helper for
// two roles does not make them one class.
// RUN: %amp-rewrite --dump-after=flows %s | %FileCheck %s
#include <stdlib.h>

struct model {
    float *weight;
    float *moment;
    int count;
};

static void *checked(size_t bytes) {
    void *p = malloc(bytes);
    if (!p)
        exit(1);
    return p;
}

static float *floats(int n) {
    return checked((size_t)n * sizeof(float));
}

static void add_scaled(int n, float k, const float *from, float *to) {
    for (int i = 0; i < n; i++)
        to[i] = to[i] * 0.5f + k * from[i];
}

int main(void) {
    struct model m;
    m.count = 8;
    m.weight = floats(m.count);
    m.moment = floats(m.count);
    float *grad = checked(m.count * sizeof(float));
    add_scaled(m.count, 0.1f, grad, m.moment);
    add_scaled(m.count, -1.0f, m.moment, m.weight);
    free(grad);
    return 0;
}

// CHECK: class model.weight/1 global
// CHECK-NEXT: slot model.weight/1
// CHECK-NOT: slot
// CHECK: class model.moment/1 global
// CHECK-NEXT: slot model.moment/1
// CHECK-NOT: slot
// CHECK: class floats:result/1 generic in floats
// CHECK-NEXT: slot floats:result/1
// CHECK-NEXT: stands for model.weight/1
// CHECK-NEXT: stands for model.moment/1
// CHECK-NOT: pin
// CHECK: class add_scaled:from/1 generic in add_scaled
// CHECK-NEXT: slot
// CHECK-NEXT: stands for model.moment/1
// CHECK-NEXT: stands for main:grad/1
// CHECK: class add_scaled:to/1 generic in add_scaled
// CHECK-NEXT: slot
// CHECK-NEXT: stands for model.weight/1
// CHECK-NEXT: stands for model.moment/1
// CHECK: class main:grad/1{{$}}
