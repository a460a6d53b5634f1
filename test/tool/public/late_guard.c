// A header whose include guard does not open it is lexed again, and skipped,
// when it is included again; it was seen all the same. What no inclusion sees
// is said, and a pragma in the header counts.
// RUN: %amp-rewrite --audit %s -- -I %S/Inputs -fopenmp-simd | %FileCheck %s
// RUN: %amp-rewrite --dump-after=collect %s -- -I %S/Inputs -fopenmp-simd | %FileCheck %s --check-prefix=FACTS
#include "late_guard.h"
#include "late_guard.h"

float total(const float *x) {
    return late_sum(x, 8);
}
// CHECK: not seen (switched off by the preprocessor):
// CHECK-NEXT: late_guard.h:14-18
// CHECK-NOT: late_guard.h:
// FACTS: PRAGMA omp "simd reduction(+ : sum)" {{.*}} before FOR
