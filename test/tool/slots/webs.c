// A pointer local is one slot per group of assignments that some read sees
// together.
// RUN: %amp-rewrite --dump-after=flows %s | %FileCheck %s

struct net {
    float *w, *dw, *x, *dx, *spare, *ring[2];
};

static void touch(float *p) {
    p[0] = 1.0f;
}

void reuse(struct net *n) {
    float *a = n->w;
    touch(a);
    a = n->dw;
    touch(a);
}

void meet(struct net *n, int flag) {
    float *b = n->x;
    if (flag)
        b = n->dx;
    touch(b);
}

/* The entry of the loop and its end meet only if the head is read. */
void carried(struct net *n, int steps) {
    float *c = n->spare;
    for (int i = 0; i < steps; i++) {
        touch(c);
        c = n->ring[i & 1];
    }
}

int pick(struct net *n, int which) {
    float *d = 0;
    switch (which) {
    case 0:
        d = n->w;
        break;
    case 1:
        d = n->dw;
        touch(d);
        return 1;
    default:
        return 0;
    }
    touch(d);
    return 2;
}

// CHECK: class net.w/1 global
// CHECK-NEXT: slot net.w/1
// CHECK-NEXT: slot reuse:a/1 webs.c:14:12
// CHECK-NEXT: slot pick:d/1
// CHECK-NOT: slot
// CHECK: class net.dw/1 global
// CHECK-NEXT: slot net.dw/1
// CHECK-NEXT: slot reuse:a/1#2 webs.c:16:5
// CHECK-NEXT: slot pick:d/1#2
// CHECK-NOT: slot
// CHECK: class net.x/1 global
// CHECK-NEXT: slot net.x/1
// CHECK-NEXT: slot net.dx/1
// CHECK-NEXT: slot meet:b/1
// CHECK: class net.spare/1 global
// CHECK-NEXT: slot net.spare/1
// CHECK-NEXT: slot net.ring/2
// CHECK-NEXT: slot carried:c/1
