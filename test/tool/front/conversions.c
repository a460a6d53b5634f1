// Implicit conversions are nodes only where the type changes; loads mark the
// lvalue; decays and parentheses leave no node. GNU ?: shows once.
// RUN: %amp-rewrite --dump-after=collect %s | %FileCheck %s
int printf(const char *format, ...);

float convert(float x, int n, float row[4]) {
    double d = x + 1.0;
    // CHECK: VAR 'd' auto def <double> [[@LINE-1]]:5-23
    // CHECK-NEXT: BINARY '+' <double> [[@LINE-2]]:16-23 op@[[@LINE-2]]:18-19
    // CHECK-NEXT: IMPLICIT <double> [[@LINE-3]]:16-17
    // CHECK-NEXT: REF 'x' read <float> [[@LINE-4]]:16-17
    // CHECK-NEXT: FLOAT_LIT 1 <double>
    x = 1;
    // CHECK: ASSIGN <float> [[@LINE-1]]:5-10 op@[[@LINE-1]]:7-8
    // CHECK-NEXT: REF 'x' <float>
    // CHECK-NEXT: IMPLICIT <float> [[@LINE-3]]:9-10
    // CHECK-NEXT: INT_LIT 1 <int>
    printf("%f %d\n", x, n);
    // CHECK: CALL <int> [[@LINE-1]]:5-28 op@[[@LINE-1]]:5-11
    // CHECK-NEXT: REF 'printf' <int (char *, ...)>
    // CHECK-NEXT: STRING_LIT "%f %d\n" <char[7]>
    // CHECK-NEXT: IMPLICIT <double>
    // CHECK-NEXT: REF 'x' read <float>
    // CHECK-NEXT: REF 'n' read <int>
    float local[4] = {0};
    float *p = local;
    // CHECK: VAR 'p' auto def <float *>
    // CHECK-NEXT: REF 'local' <float[4]>
    p = row + ((n));
    // CHECK: ASSIGN <float *> [[@LINE-1]]:5-20
    // CHECK-NEXT: REF 'p' <float *>
    // CHECK-NEXT: BINARY '+' <float *> [[@LINE-3]]:9-20 op@[[@LINE-3]]:13-14
    // CHECK-NEXT: REF 'row' read <float *>
    // CHECK-NEXT: REF 'n' read <int> [[@LINE-5]]:17-18
    float t = n ?: 3;
    // CHECK: CONDITIONAL <int> [[@LINE-1]]:15-21
    // CHECK-NEXT: REF 'n' read <int>
    // CHECK-NEXT: INT_LIT 3
    // CHECK-NOT: REF
    // CHECK: DECL_STMT
    void *raw = p;
    // CHECK: IMPLICIT <void *> [[@LINE-1]]:17-18
    // CHECK-NEXT: REF 'p' read <float *>
    const float *same = p;
    // CHECK: VAR 'same' auto def <float *>
    // CHECK-NEXT: REF 'p' read <float *>
    x += d;
    // CHECK: COMPOUND_ASSIGN '+' <float> [[@LINE-1]]:5-11 op@[[@LINE-1]]:7-9
    // CHECK-NEXT: REF 'x' <float>
    // CHECK-NEXT: REF 'd' read <double>
    return (float)(d) + 2[p] + *same + t + (raw != 0);
    // CHECK: CAST <float> of <float> [[@LINE-1]]:12-22 float@[[@LINE-1]]:13-18
    // CHECK: INDEX read <float> [[@LINE-2]]:25-29
    // CHECK-NEXT: REF 'p' read <float *>
    // CHECK-NEXT: INT_LIT 2 <int>
    // CHECK: DEREF read <float> [[@LINE-5]]:32-37
}
