// Memory that is seen as two structs: what the fields of both point to may be
// one memory, which nothing joins.
// RUN: %amp-rewrite --dump-after=flows %s 2>/dev/null | %FileCheck %s
typedef struct {
    int n;
    float *v;
} one;
typedef struct {
    int n;
    float *v;
} two;
// CHECK-LABEL: class one.v/1
// CHECK: pin struct: its struct is also viewed as another at viewed.c:[[#CAST:]]:
// CHECK-LABEL: class two.v/1
// CHECK: pin struct: its struct is also viewed as another at viewed.c:[[#CAST]]:

typedef struct {
    int n;
    float *v;
} three;
typedef struct {
    int n;
    float *v;
} four;
// CHECK-LABEL: class three.v/1
// CHECK: pin struct: its struct is also viewed as another
// CHECK-LABEL: class four.v/1
// CHECK: pin struct: its struct is also viewed as another

typedef struct {
    float *a, *b;
} table;
// CHECK-LABEL: class table.a/1
// CHECK: pin struct: its struct is also used as an array of pointers
// CHECK-LABEL: class table.b/1
// CHECK: pin struct: its struct is also used as an array of pointers

typedef struct {
    two base;
    float *more;
} derived;
// CHECK-LABEL: class derived.more/1
// CHECK-NEXT: slot derived.more/1
// CHECK-NEXT: sites

// A head that holds no floats is the same in both.
typedef struct {
    int code;
    char *text;
} head;
typedef struct {
    int code;
    char *text;
    float *values;
} whole;
// CHECK-LABEL: class whole.values/1
// CHECK-NEXT: slot whole.values/1
// CHECK-NEXT: sites

// It only looks like one.
typedef struct {
    int code;
    void *any;
} other_head;
typedef struct {
    int code;
    float *values;
} other_whole;
// CHECK-LABEL: class other_whole.values/1
// CHECK: pin struct: its struct is also viewed as another

static void report(head *h) { h->code = 1; }
float with_head(whole *w) {
    report((head *)w);
    void *any = w;
    head *h = any;
    return h->code + w->values[0];
}
float with_other(other_whole *w) {
    other_head *h = (other_head *)w;
    return h->any ? w->values[0] : 0;
}

float by_cast(one *p) { return ((two *)p)->v[0]; }

float by_void(three *p) {
    void *any = p;
    four *q = any;
    return q->v[0] + p->v[1];
}

float by_index(table *t, int i) { return ((float **)t)[i][0]; }

float first_member(derived *d) { return ((two *)d)->v[0] + d->more[0]; }
