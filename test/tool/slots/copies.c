// memcpy between two visible float buffers converts; through void * it is one
// memory. Null joins nothing.
// RUN: %amp-rewrite --dump-after=flows %s | %FileCheck %s
// RUN: %amp-rewrite --dump-after=flows %s | %FileCheck %s --check-prefix=SWAP
#include <string.h>

struct state {
    float *live, *best, *raw, *alias, *left, *right;
};

void keep(struct state *s, size_t n) {
    memcpy(s->best, s->live, n * sizeof(float));
}

void hide(struct state *s, size_t n) {
    void *from = s->raw;
    memcpy(s->alias, from, n * sizeof(float));
}

void reset(struct state *s) {
    s->left = s->right = NULL;
}

// CHECK: class state.live/1 global
// CHECK-NEXT: slot state.live/1
// CHECK-NOT: slot
// CHECK: class state.best/1 global
// CHECK-NEXT: slot state.best/1
// CHECK-NOT: slot
// CHECK: class state.raw/1 global
// CHECK-NEXT: slot state.raw/1
// CHECK-NEXT: slot state.alias/1
// CHECK-NEXT: slot hide:from/1
// CHECK: class state.left/1 global
// CHECK-NEXT: slot state.left/1
// CHECK-NOT: slot
// CHECK: class state.right/1 global
// CHECK: flow bytes state.live -> state.best {{.*}} (state.live/1 -> state.best/1)
// CHECK: flow memory hide:from -> state.alias
// CHECK: site sizeof {{.*}}:12:{{[0-9]+}} state.live/1, state.best/1

/* Moving floats through an array of bytes looks at none of them; null may come
 * as an integer. */
float *swap_rows(float *rows, int n) {
    unsigned char kept[64];
    memcpy(kept, rows, n * sizeof(float));
    memcpy(rows, kept, n * sizeof(float));
    return n > 16 ? (float *)(size_t)(n > 32 ? NULL : NULL) : rows;
}
// SWAP: class swap_rows:rows/1
// SWAP-NEXT: slot swap_rows:result/1
// SWAP-NEXT: slot swap_rows:rows/1
// SWAP-NOT: {{^  pin}}
// SWAP: flow
