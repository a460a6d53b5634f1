// A table of the addresses of pointers makes what is assigned through it one
// class; arrays of arrays are one memory.
// RUN: %amp-rewrite --dump-after=flows %s | %FileCheck %s
#include <stdlib.h>

struct tensors {
    float *embed, *norm, *head;
};

float *carve(struct tensors *t, const size_t *sizes) {
    size_t total = 0;
    for (int i = 0; i < 3; i++)
        total += sizes[i];
    float *arena = malloc(total * sizeof(float));
    float **places[] = {&t->embed, &t->norm, &t->head};
    float *next = arena;
    for (int i = 0; i < 3; i++) {
        *(places[i]) = next;
        next += sizes[i];
    }
    return arena;
}

static float grid[4][5];

float corner(void) {
    return grid[3][4];
}

// CHECK: class tensors.embed/1 global
// CHECK-NEXT: slot tensors.embed/1
// CHECK-NEXT: slot tensors.norm/1
// CHECK-NEXT: slot tensors.head/1
// CHECK-NEXT: slot carve:result/1
// CHECK-NEXT: slot carve:arena/1
// CHECK-NEXT: slot carve:places/3
// CHECK-NEXT: slot carve:next/1
// CHECK-NOT: pin
// CHECK: class grid/2 global
// CHECK-NEXT: slot grid/2
