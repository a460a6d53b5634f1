// What a loop hands out of one allocation, by a table of the addresses of
// pointers, are parts of their own; other tables make what is assigned through
// them one class. Arrays of arrays are one memory.
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

struct pair {
    float *left, *right;
};

void share(struct pair *p, float *memory) {
    float **places[] = {&p->left, &p->right};
    for (int i = 0; i < 2; i++)
        *places[i] = memory;
}

static float grid[4][5];

float corner(void) {
    return grid[3][4];
}

// CHECK: class tensors.embed/1 global
// CHECK-NEXT: slot tensors.embed/1
// CHECK-NOT: slot
// CHECK: class tensors.norm/1 global
// CHECK-NEXT: slot tensors.norm/1
// CHECK-NOT: slot
// CHECK: class tensors.head/1 global
// CHECK-NEXT: slot tensors.head/1
// CHECK-NOT: slot
// CHECK: class carve:arena/1
// CHECK-NEXT: slot carve:result/1
// CHECK-NEXT: slot carve:arena/1
// CHECK-NEXT: slot carve:places/3
// CHECK-NEXT: slot carve:next/1
// CHECK-NOT: pin
// CHECK: class pair.left/1 global
// CHECK-NEXT: slot pair.left/1
// CHECK-NEXT: slot pair.right/1
// CHECK-NEXT: slot share:memory/1
// CHECK-NEXT: slot share:places/3
// CHECK: class grid/2 global
// CHECK-NEXT: slot grid/2
// CHECK: arena carve:arena/1 {{.*}}tables.c:18:5: tensors.embed/1, tensors.norm/1, tensors.head/1{{$}}
