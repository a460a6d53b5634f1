// Functions whose text can stand only once have one precision, and say why.
// RUN: %amp-rewrite %s --rules %S/Inputs/half.amp -O2 --loss-scale=none --dump-after=solve 2>/dev/null | %FileCheck %s
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static float h_a[4], h_b[4], h_c[4], h_d[4], h_e[4], h_f[4], plain[4];

// CHECK-DAG: storage fp32 fill:x/1 {{.*}}, and has one text: its text crosses an #if
#ifdef WIDE
static void fill(float *x, long n)
#else
static void fill(float *x, int n)
#endif
{
    for (int i = 0; i < n; i++)
        x[i] = 1.5f;
}

// CHECK-DAG: storage fp32 named:x/1 {{.*}}, and has one text: it uses its own name
static float named(const float *x) {
    printf("%s\n", __func__);
    return x[0];
}

// CHECK-DAG: storage fp32 logged:x/1 {{.*}}, and has one text: it uses its own name
#define LOG() puts(__FUNCTION__)
static float logged(const float *x) {
    LOG();
    return x[0];
}

// CHECK-DAG: storage fp32 measured:x/1 {{.*}}, and has one text: it is called in a sizeof
static float measured(const float *x) {
    return x[0];
}

// CHECK-DAG: storage fp32 starred:x/1 {{.*}}, and has one text: it is called through an expression
static float starred(const float *x) {
    return x[0];
}

// What the system's macros print is for the end of the program only, and a
// whole conditional can be copied.
// CHECK-DAG: storage half h_f/1
static float checked(const float *x) {
    assert(x && "checked");
#ifdef WIDE
    return x[1];
#else
    return x[0];
#endif
}

int main(void) {
    fill(h_a, 4), fill(plain, 4);
    printf("%g %g\n", named(h_b), named(plain));
    printf("%g %g\n", logged(h_c), logged(plain));
    printf("%g %g\n", measured(h_d), measured(plain));
    printf("%zu\n", sizeof(measured(h_d)));
    printf("%g %g\n", (*starred)(h_e), (&starred)(plain));
    printf("%g %g\n", checked(h_f), checked(plain));
    h_b[0] = h_c[0] = h_d[0] = h_e[0] = h_f[0] = 1;
    return 0;
}
