// A factor of the old value that a parameter has is judged at each call.
// RUN: %amp-rewrite --dump-after=flows %s | %FileCheck %s
#include <cblas.h>

struct net {
    float *in, *w, *none, *one_of_two, *kept, *set, *taken, *far, *far_kept;
    float *local, *moved, *branch, *arm, *rule, *rule_kept, *back;
};

/* c = a * b + beta * c */
static void product(int n, const float *a, const float *b, float beta,
                    float *c) {
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int k = 0; k < n; k++)
            sum += a[k] * b[k * n + i];
        c[i] = sum + beta * c[i];
    }
}

void with_zero(struct net *l, int n, int times) {
    for (int t = 0; t < times; t++)
        product(n, l->in, l->w, 0, l->none);
}
// CHECK: class net.none/1
// CHECK-NOT: accumulates

/* One call that keeps the old values is enough. */
void with_both(struct net *l, int n, int times) {
    product(n, l->in, l->w, 0, l->one_of_two);
    for (int t = 0; t < times; t++)
        product(n, l->in, l->w, 1, l->one_of_two);
    for (int t = 0; t < times; t++)
        product(n, l->in, l->w, 0.5f, l->kept);
}
// CHECK: class net.one_of_two/1
// CHECK: accumulates call zero_factor.c:[[@LINE-5]]:9
// CHECK: class net.kept/1
// CHECK: accumulates call zero_factor.c:[[@LINE-5]]:9

/* The text changes what was passed. */
static void product_set(int n, const float *a, float beta, float *c) {
    if (n > 8)
        beta = 1;
    for (int i = 0; i < n; i++)
        c[i] = a[i] + beta * c[i];
}
void change(float *x);
static void product_taken(int n, const float *a, float beta, float *c) {
    change(&beta);
    for (int i = 0; i < n; i++)
        c[i] = a[i] + beta * c[i];
}
void with_changed(struct net *l, int n, int times) {
    for (int t = 0; t < times; t++)
        product_set(n, l->in, 0, l->set);
    for (int t = 0; t < times; t++)
        product_taken(n, l->in, 0, l->taken);
}
// CHECK: class net.set/1
// CHECK: accumulates call zero_factor.c:[[@LINE-5]]:9
// CHECK: class net.taken/1
// CHECK: accumulates call zero_factor.c:[[@LINE-5]]:9

/* Two levels down. */
static void layer(struct net *l, int n, float keep, float *c) {
    product(n, l->in, l->w, -keep, c);
}
void deep(struct net *l, int n, int times) {
    for (int t = 0; t < times; t++)
        layer(l, n, 0, l->far);
    for (int t = 0; t < times; t++)
        layer(l, n, 2, l->far_kept);
}
// CHECK: class net.far/1
// CHECK-NOT: accumulates
// CHECK: class net.far_kept/1
// CHECK: accumulates call zero_factor.c:[[@LINE-5]]:9

/* Known by a local, as long as nothing else sets it. */
void with_local(struct net *l, int n, int times) {
    float none = 0, grows = 0;
    for (int t = 0; t < times; t++)
        product(n, l->in, l->w, none, l->local);
    for (int t = 0; t < times; t++) {
        product(n, l->in, l->w, grows, l->moved);
        grows += 1;
    }
}
// CHECK: class net.local/1
// CHECK-NOT: accumulates
// CHECK: class net.moved/1
// CHECK: accumulates call zero_factor.c:[[@LINE-7]]:9

static void product_branch(int n, const float *a, float beta, float *c) {
    for (int i = 0; i < n; i++)
        if (beta == 0)
            c[i] = a[i];
        else
            c[i] = a[i] + beta * c[i];
}
static void product_arm(int n, const float *a, float beta, float *c) {
    for (int i = 0; i < n; i++)
        c[i] = a[i] + (beta == 0 ? 0 : beta * c[i]);
}
void with_branches(struct net *l, int n, int times) {
    for (int t = 0; t < times; t++) {
        product_branch(n, l->in, 0, l->branch);
        product_arm(n, l->in, 1, l->arm);
    }
}
// CHECK: class net.branch/1
// CHECK-NOT: accumulates
// CHECK: class net.arm/1
// CHECK: accumulates call zero_factor.c:[[@LINE-6]]:9

/* What a rule says of a function without a body. */
static void multiply(int n, const float *a, const float *b, float beta,
                     float *c) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b,
                n, beta, c, n);
}
void with_rule(struct net *l, int n, int times) {
    for (int t = 0; t < times; t++) {
        multiply(n, l->in, l->w, 0, l->rule);
        multiply(n, l->in, l->w, 1, l->rule_kept);
    }
}
// CHECK: class net.rule/1
// CHECK-NOT: accumulates
// CHECK: class net.rule_kept/1
// CHECK: accumulates call zero_factor.c:[[@LINE-6]]:9

/* The inner calls keep what the outer one was told to drop. */
static void again(int n, const float *a, float beta, float *c) {
    for (int i = 0; i < n; i++)
        c[i] = a[i] + beta * c[i];
    if (n > 1)
        again(n / 2, a, 1, c);
}
void recursive(struct net *l, int n, int times) {
    for (int t = 0; t < times; t++)
        again(n, l->in, 0, l->back);
}
// CHECK: class net.back/1
// CHECK: accumulates call zero_factor.c:[[@LINE-3]]:9
