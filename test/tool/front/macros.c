// Text of a macro body is marked and has the range of the use; arguments have
// their own place; a node whose operator is in the body is marked too.
// RUN: %amp-rewrite --dump-after=collect %s | %FileCheck %s
#define ADD(a, b) a + b
#define TWICE(x) ((x) * (x))
#define AT(p, i) (p)[i]
#define CALL(f, x) f(x)
#define ONE 1.0f
#define FIELD(s, m) s->m
#define PASTE(a, b) a##b
#define LOOP(i, n) for (int i = 0; i < (n); i++)
struct s {
    float m;
};
float g(float);

float f(struct s *s, float *p, float y, int n) {
    y = ADD(p[0], y);
    // CHECK: ASSIGN <float> [[@LINE-1]]:5-21 op@[[@LINE-1]]:7-8
    // CHECK: BINARY '+' <float> [[@LINE-2]]:9-21 (macro){{$}}
    // CHECK-NEXT: INDEX read <float> [[@LINE-3]]:13-17{{$}}
    // CHECK: REF 'y' read <float> [[@LINE-4]]:19-20{{$}}
    y = ADD(p[0], y) * n;
    // CHECK: BINARY '+' <float> [[@LINE-1]]:9-25 (macro)
    // CHECK: BINARY '*' <float> [[@LINE-2]]:9-25 (macro)
    y = TWICE(y + ONE);
    // CHECK: BINARY '*' <float> [[@LINE-1]]:9-23 (macro)
    // CHECK-NEXT: BINARY '+' <float> [[@LINE-2]]:15-22 op@[[@LINE-2]]:17-18
    // CHECK-NEXT: REF 'y' read <float> [[@LINE-3]]:15-16{{$}}
    // CHECK-NEXT: FLOAT_LIT 1 <float> [[@LINE-4]]:19-22 (macro)
    // CHECK-NEXT: BINARY '+' <float> [[@LINE-5]]:15-22 op@
    y = AT(p, n);
    // CHECK: INDEX read <float> [[@LINE-1]]:9-17 (macro)
    // CHECK-NEXT: REF 'p' read <float *> [[@LINE-2]]:12-13{{$}}
    // CHECK-NEXT: REF 'n' read <int> [[@LINE-3]]:15-16{{$}}
    y = CALL(g, y);
    // CHECK: CALL <float> [[@LINE-1]]:9-19 (macro){{$}}
    y = g(ONE);
    // CHECK: CALL <float> [[@LINE-1]]:9-15 op@[[@LINE-1]]:9-10
    y = FIELD(s, m);
    // CHECK: MEMBER 'm' arrow read <float> [[@LINE-1]]:9-20 (macro)
    float PASTE(lo, cal) = y;
    // CHECK: VAR 'local' auto def <float> {{.*}} name@[[@LINE-1]]:11-16 (macro)
    LOOP(i, n)
        y = y + i;
    // CHECK: FOR
    // CHECK-NEXT: DECL_STMT
    // CHECK-NEXT: VAR 'i'
    // CHECK: BINARY '<'
    // CHECK: UNARY '++' post
    // CHECK-NEXT: REF 'i' <int>
    // CHECK-NEXT: EXPR_STMT
    return local;
}
