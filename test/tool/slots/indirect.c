// Functions kept in one field agree; pthread_create hands its last argument to
// the function it starts.
// RUN: %amp-rewrite --dump-after=flows %s | %FileCheck %s
#include <pthread.h>

typedef void (*step)(float *values, int n);

struct stage {
    step run;
    float *out;
};

static void halve(float *h, int n) {
    for (int i = 0; i < n; i++)
        h[i] = h[i] * 0.5f;
}

static void negate(float *g, int n) {
    for (int i = 0; i < n; i++)
        g[i] = -g[i];
}

void set(struct stage *s, int flag) {
    s->run = flag ? halve : negate;
}

void drive(struct stage *s) {
    s->run(s->out, 4);
}

static void *worker(void *argument) {
    float *mine = argument;
    mine[0] = 1.0f;
    return 0;
}

static float shared[16];

int spawn(pthread_t *thread) {
    return pthread_create(thread, 0, worker, shared);
}

// CHECK: class stage.out/1 global
// CHECK-NOT: pin
// CHECK: class halve:h/1 generic in halve
// CHECK-NEXT: slot
// CHECK-NEXT: stands for stage.out/1
// CHECK: class negate:g/1 generic in negate
// CHECK-NEXT: slot
// CHECK-NEXT: stands for stage.out/1
// CHECK: class worker:mine/1 generic in worker
// CHECK: stands for shared/1
// CHECK: class shared/1 global
// CHECK-NOT: pin
// CHECK: flow
