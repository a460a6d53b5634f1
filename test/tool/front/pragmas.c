// Pragmas and the statement or declaration after them, loops below OpenMP
// directives, includes, regions switched off.
// RUN: %amp-rewrite --dump-after=collect %s -- -I %S/Inputs -fopenmp | %FileCheck %s
#include <omp.h>
#include "guard.h"
// CHECK: INCLUDE '{{.*}}omp.h' [[@LINE-2]]:1-17
// CHECK-NEXT: INCLUDE '{{.*}}guard.h' [[@LINE-2]]:1-19
// CHECK-NEXT: INCLUDE '{{.*}}header.h' guard.h:3:1-20{{$}}
#ifdef _OPENMP
#include <math.h>
#endif
// CHECK-NEXT: INCLUDE '{{.*}}math.h' [[@LINE-2]]:1-18 conditional
// CHECK: PRAGMA amp "keep fp32" [[@LINE+4]]:1-22 before 'scale'
// CHECK-NEXT: PRAGMA omp "parallel for reduction(+ : sum)" [[@LINE+8]]:1-[[@LINE+9]]:23 before FOR
// CHECK-NEXT: PRAGMA omp "critical" {{.*}} before COMPOUND
// CHECK: PRAGMA once "" header.h:1:1-13
#pragma amp keep fp32
float scale(float x);
float f(float *x, int n)
{
    float sum = 0;
#pragma omp  parallel   for \
    reduction(+ : sum) /* a comment */
    for (int i = 0; i < n; i++)
        sum += x[i];
# /* odd */ pragma omp critical
    {
        x[0] = sum * omp_get_max_threads();
    }
#ifdef NEVER
#pragma omp barrier
    sum = 0;
#endif
// CHECK: SKIPPED [[@LINE-4]]:1-[[@LINE-1]]:
    // CHECK: FOR [[@LINE-11]]:5-[[@LINE-10]]:21
    return sum;
}
