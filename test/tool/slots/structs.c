// Structs that are used as bytes or as another struct keep the floats inside
// them; pointers in them and a struct seen as its first member are untouched.
// RUN: %amp-rewrite --dump-after=flows %s | %FileCheck %s
#include <stdint.h>
#include <stdio.h>

struct saved {
    float values[4];
    float *buffer;
};

void save(const struct saved *s, FILE *f) {
    fwrite(s, sizeof *s, 1, f);
}

struct base {
    float common[2];
};

struct derived {
    struct base head;
    float extra[2];
};

float up(struct derived *d) {
    return ((struct base *)d)->common[0] + d->extra[0];
}

struct packet {
    float payload[8];
};

struct view {
    float other[8];
};

float look(struct packet *p) {
    return ((struct view *)p)->other[0];
}

/* Asking for the alignment does not keep the address. */
int aligned(const float *v) {
    return (uintptr_t)v % 64 == 0 && ((uintptr_t)v & 15) == 0;
}

// CHECK: class saved.values/1 global
// CHECK-NEXT: slot
// CHECK-NEXT: pin struct: its struct goes through 'fwrite' as bytes at structs.c:13:5
// CHECK: class saved.buffer/1 global
// CHECK-NOT: {{^  pin}}
// CHECK: class base.common/1 global
// CHECK-NOT: {{^  pin}}
// CHECK: class derived.extra/1 global
// CHECK-NOT: {{^  pin}}
// CHECK: class packet.payload/1 global
// CHECK-NEXT: slot
// CHECK-NEXT: pin struct: its struct is also viewed as another at structs.c:38:13
// CHECK: class view.other/1 global
// CHECK-NEXT: slot
// CHECK-NEXT: pin struct: its struct is also viewed as another at structs.c:38:13
// CHECK: class aligned:v/1
// CHECK-NOT: {{^  pin}}
// CHECK: site
