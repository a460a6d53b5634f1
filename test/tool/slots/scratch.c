// A field that every function writes before it reads is scratch: the functions
// need not agree.
// RUN: %amp-rewrite --dump-after=flows %s | %FileCheck %s
#include <stdlib.h>

struct net {
    float *input, *delta, *space, *kept;
};

static void unfold(const float *from, float *to, int n) {
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}

static float total(const float *v, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += v[i];
    return sum;
}

void open(struct net *n, int size) {
    n->space = calloc(size, sizeof(float));
    n->kept = calloc(size, sizeof(float));
}

float forward(struct net *n, int size) {
    unfold(n->input, n->space, size);
    unfold(n->input, n->kept, size);
    return total(n->space, size);
}

float backward(struct net *n, int size) {
    float *s = n->space;
    unfold(n->delta, s, size);
    return total(s, size) + n->kept[0];
}

// CHECK: class net.space/1 global
// CHECK-NEXT: slot net.space/1
// CHECK-NOT: slot
// CHECK: class net.kept/1 global
// CHECK-NEXT: slot net.kept/1
// CHECK-NOT: slot
// CHECK: class unfold:from/1
// CHECK: class net.space/1#2 scratch
// CHECK: class backward:s/1 scratch
// CHECK-NEXT: slot backward:s/1
// CHECK-NEXT: slot net.space/1#3
