// Initialisers, sizeof, _Generic, varargs and the GNU extensions.
// RUN: %amp-rewrite --dump-after=collect %s | %FileCheck %s
#include <stdarg.h>
#include <stddef.h>
#define REAL float
typedef float real_t;
struct s {
    int a;
    float b[3];
};
struct t {
    struct s in[2];
};
// CHECK-LABEL: FUNCTION 'f'
// CHECK-NOT: UNKNOWN
float f(int n, float *x, ...) {
    struct s q = {.a = 1, .b[1] = 2, 3};
    // CHECK: INIT_LIST <struct s>
    // CHECK-NEXT: DESIGNATED 'a'
    // CHECK-NEXT: INT_LIT 1
    // CHECK-NEXT: DESIGNATED 'b'
    // CHECK-NEXT: DESIGNATED 1
    // CHECK-NEXT: IMPLICIT <float>
    // CHECK-NEXT: INT_LIT 2
    struct t deep = {.in[1].b = {[0 ... 1] = 4.0f}};
    // CHECK: DESIGNATED 'in'
    // CHECK-NEXT: DESIGNATED 1
    // CHECK-NEXT: DESIGNATED 'b'
    // CHECK-NEXT: INIT_LIST <float[3]>
    // CHECK-NEXT: DESIGNATED 0
    // CHECK-NEXT: FLOAT_LIT 4 <float>
    size_t z = sizeof(float) + sizeof(real_t *) + sizeof *x + sizeof(REAL[4]) +
               sizeof(struct s) + sizeof(unsigned long) + offsetof(struct s, b);
    // CHECK: SIZEOF <unsigned long> of <float> {{.*}} float@[[@LINE-2]]:23-28
    // CHECK: SIZEOF <unsigned long> of <float *> {{.*}} alias@[[@LINE-3]]:39-45
    // CHECK: SIZEOF <unsigned long> [[@LINE-4]]:51-60{{$}}
    // CHECK-NEXT: DEREF <float>
    // CHECK: SIZEOF <unsigned long> of <float[4]> {{.*}} alias@[[@LINE-6]]:70-74
    // CHECK: SIZEOF <unsigned long> of <struct s>
    // CHECK: SIZEOF <unsigned long> of <unsigned long>
    // CHECK: INT_LIT 4 <unsigned long>
    int k = _Generic(x[0], double: 1, float: 2, default: 3);
    // CHECK: VAR 'k'
    // CHECK-NEXT: COMMA
    // CHECK-NEXT: INDEX
    // CHECK: INT_LIT 2
    float y = ({
        float v = x[1];
        v;
    });
    // CHECK: STATEMENT_EXPR <float>
    // CHECK-NEXT: COMPOUND
    va_list ap;
    va_start(ap, x);
    double d = va_arg(ap, double);
    // CHECK: VAR 'd'
    // CHECK-NEXT: VA_ARG <double> of <double>
    x = (float[]){1, 2};
    // CHECK: COMPOUND_LITERAL <float[2]> of <float[2]> {{.*}} float@[[@LINE-1]]:10-15
    return k + y + d + z + __builtin_expf(q.b[0]) + deep.in[0].b[n] + 0x1p-3f +
           'a' + 0x10u + __builtin_types_compatible_p(int, float);
    // CHECK: FLOAT_LIT 0.125 <float>
    // CHECK: INT_LIT 97 <int>
    // CHECK: INT_LIT 16 <unsigned int>
    // CHECK: INT_LIT 0 <int>
}
