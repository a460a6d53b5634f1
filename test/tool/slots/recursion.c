// Functions that call each other are one context; what only they see stays
// apart from the rest.
// RUN: %amp-rewrite --dump-after=flows %s | %FileCheck %s

struct tree {
    struct tree *left, *right;
    float *value;
};

static void odd(struct tree *t, float *sum);

static void even(struct tree *t, float *total) {
    if (!t)
        return;
    total[0] += t->value[0];
    odd(t->left, total);
}

static void odd(struct tree *t, float *sum) {
    if (!t)
        return;
    sum[0] -= t->value[0];
    even(t->right, sum);
}

float walk(struct tree *t) {
    float first[1] = {0}, second[1] = {0};
    even(t, first);
    odd(t, second);
    return first[0] * second[0];
}

// CHECK: class tree.value/1 global
// CHECK-NEXT: slot tree.value/1
// CHECK-NOT: slot
// CHECK: slot even:total/1
// CHECK-NEXT: slot odd:sum/1
// CHECK: stands for walk:first/1
// CHECK-NEXT: stands for walk:second/1
// CHECK: class walk:first/1
// CHECK-NEXT: slot walk:first/1
// CHECK-NOT: slot
// CHECK: class walk:second/1
