// What cannot be rewritten pins a class, with one place and one reason each.
// RUN: %amp-rewrite --dump-after=flows %s -- -I %S/Inputs | %FileCheck %s
#include "outside.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// CHECK-DAG: pin outside: declared in '{{.*}}outside.h', outside the rewrite set at outside.h:2:12

struct pool {
    float *bits;
    float *hashed;
    float *given;
    float *sorted;
    float *tagged;
    float *mapped;
    float *logged;
    float *doubled;
};

int exponent(struct pool *p) {
    return *(int *)p->bits >> 23;
}
// CHECK-DAG: pin reinterpreted: reinterpreted as int at pins.c:[[#@LINE-2]]:12

unsigned hash(struct pool *p) {
    const unsigned char *c = (const unsigned char *)p->hashed;
    return c[0] * 31u + c[1];
}
// CHECK-DAG: pin reinterpreted: reinterpreted as unsigned char at pins.c:[[#@LINE-2]]:12

void fill(struct pool *p) {
    library_fill(p->given, 4);
}
// CHECK-DAG: pin foreign-call: its address is passed to 'library_fill' at pins.c:[[#@LINE-2]]:5

float first(void) {
    float *mine = library_buffer(4);
    return mine[0] + library_table[1];
}
// CHECK-DAG: pin foreign-memory: the memory comes from 'library_buffer' at pins.c:[[#@LINE-3]]:19
// CHECK-DAG: pin foreign-object: defined outside the program at outside.h:7:14

static int ascending(const void *a, const void *b) {
    const float *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

void sort(struct pool *p) {
    qsort(p->sorted, 4, sizeof(float), ascending);
}
// CHECK-DAG: pin foreign-call: its address is passed to 'qsort' at pins.c:[[#@LINE-2]]:5
// CHECK-DAG: stands for (memory at pins.c:51)
// CHECK-DAG: pin callback: 'qsort' calls back with it at pins.c:[[#@LINE-4]]:5

uintptr_t tag(struct pool *p) {
    return (uintptr_t)p->tagged | 1u;
}
// CHECK-DAG: pin to-integer: its address is converted to an integer at pins.c:[[#@LINE-2]]:12

void map(struct pool *p, uintptr_t where) {
    p->mapped = (float *)where;
}
// CHECK-DAG: pin from-integer: an integer is converted to its address at pins.c:[[#@LINE-2]]:17

static float last(int n, ...) {
    va_list rest;
    va_start(rest, n);
    float *taken = va_arg(rest, float *);
    va_end(rest);
    return taken[0];
}

float log_it(struct pool *p) {
    return last(1, p->logged);
}
// CHECK-DAG: pin varargs: comes out of a variable argument list at pins.c:[[#@LINE-8]]:20
// CHECK-DAG: pin varargs: goes through the '...' of 'last' at pins.c:[[#@LINE-3]]:20

union word {
    float real[2];
    unsigned bits[2];
};

unsigned raw(union word *w) {
    w->real[0] = 2.0f;
    return w->bits[0];
}
// CHECK-DAG: pin union: shares a union with 'bits' of type unsigned int[2] at pins.c:[[#@LINE-8]]:11

struct point {
    float x, y;
};

float walk(struct point *points) {
    float *flat = (float *)points;
    return flat[3];
}
// CHECK-DAG: pin struct: also used as struct point at pins.c

double widen(struct pool *p) {
    double *d = (void *)p->doubled;
    return d[0];
}
// CHECK-DAG: pin reinterpreted: reinterpreted as double at pins.c:[[#@LINE-3]]:13

struct hooks {
    void (*done)(float *values);
    void (*tick)(float *values);
    float *result;
    float *ticks;
};

static void count_tick(float *values) {
    values[0] = values[0] * 2.0f;
}

void finish(struct hooks *h) {
    h->tick = count_tick;
    h->tick(h->ticks);
    h->done(h->result);
}
// CHECK-DAG: pin foreign-call: its address is passed through a function pointer that nothing here sets at pins.c:[[#@LINE-2]]:5
// RUN: %amp-rewrite --dump-after=flows %s -- -I %S/Inputs | %FileCheck %s --check-prefix=KNOWN
// KNOWN: class hooks.ticks/1 global
// KNOWN-NEXT: slot hooks.ticks/1
// KNOWN-NOT: pin foreign
// KNOWN: class
