// Where declarations begin, who shares a specifier, what is spelled how.
// RUN: %amp-rewrite --dump-after=collect %s | %FileCheck %s
// CHECK: MACRO 'REAL' [[@LINE+1]]:9-19
#define REAL float
typedef float real_t;
// CHECK: TYPEDEF 'real_t' def <float> [[@LINE-1]]:1-21 name@[[@LINE-1]]:15-21 float@[[@LINE-1]]:9-14
float a, *b, c[3];
// CHECK: VAR 'a' extern def <float> [[@LINE-1]]:1-8 name@[[@LINE-1]]:7-8 float@[[@LINE-1]]:1-6
// CHECK: VAR 'b' extern def <float *> [[@LINE-2]]:1-12 name@[[@LINE-2]]:11-12 float@[[@LINE-2]]:1-6
// CHECK: VAR 'c' extern def <float[3]> [[@LINE-3]]:1-18 name@[[@LINE-3]]:14-15 float@[[@LINE-3]]:1-6
static const REAL k = 2;
// CHECK: VAR 'k' static def const <float> [[@LINE-1]]:1-24 name@[[@LINE-1]]:19-20 alias@[[@LINE-1]]:14-18
extern real_t e;
// CHECK: VAR 'e' extern <float> {{.*}} alias@[[@LINE-1]]:8-14
struct layer {
    float *w, bias;
    real_t r;
    int n;
    union {
        int i;
        float f;
    };
};
// CHECK: RECORD 'layer' def <struct layer>
// CHECK-NEXT: FIELD 'w' def <float *> {{.*}} float@[[@LINE-9]]:5-10
// CHECK-NEXT: FIELD 'bias' def <float> {{.*}} float@[[@LINE-10]]:5-10
// CHECK-NEXT: FIELD 'r' def <float> {{.*}} alias@[[@LINE-10]]:5-11
// CHECK-NEXT: FIELD 'n' def <int>
// CHECK-NEXT: FIELD '' def <union
// CHECK-NEXT: RECORD '' def union
// CHECK-NEXT: FIELD 'i' def <int>
// CHECK-NEXT: FIELD 'f' def <float>
float old(x, n) float x; int n;
{ return x * n; }
// CHECK: FUNCTION 'old' extern def <float (
// CHECK-NEXT: PARAM 'x' auto def <float> {{.*}} float@[[@LINE-3]]:17-22
// CHECK-NEXT: PARAM 'n' auto def <int>
__attribute__((unused)) static float unused(const float *, float m[][4]);
// CHECK: FUNCTION 'unused' static <float (float *, float (*)[4])> {{.*}} float@[[@LINE-1]]:32-37
// CHECK-NEXT: PARAM '' auto def <float *> {{.*}} float@[[@LINE-2]]:51-56
// CHECK-NEXT: PARAM 'm' auto def <float (*)[4]> {{.*}} float@[[@LINE-3]]:60-65
float (*act)(float) = 0;
// CHECK: VAR 'act' extern def <float (*)(float)> {{.*}} name@[[@LINE-1]]:9-12 float@[[@LINE-1]]:1-6
#define TEMP(v) do { int t = v; { int t = v; (void)t; } (void)t; } while (0)
enum { SMALL = 3, BIG };
// CHECK: ENUMERATOR 'BIG' def <int> = 4

void locals(void) {
    float f, *p = 0, v[2];
    // CHECK: DECL_STMT [[@LINE-1]]:5-27
    // CHECK-NEXT: VAR 'f' auto def <float> [[@LINE-2]]:5-12 name@[[@LINE-2]]:11-12 float@[[@LINE-2]]:5-10
    // CHECK-NEXT: VAR 'p' auto def <float *> [[@LINE-3]]:15-20 name@[[@LINE-3]]:15-16 float@[[@LINE-3]]:5-10
    // CHECK: VAR 'v' auto def <float[2]> {{.*}} float@[[@LINE-4]]:5-10
    struct pair { float x; } one, two, *three;
    // CHECK: DECL_STMT [[@LINE-1]]:5-47
    // CHECK-NEXT: RECORD 'pair'
    // CHECK-NEXT: FIELD 'x'
    // CHECK-NEXT: VAR 'one'
    // CHECK-NEXT: VAR 'two'
    // CHECK-NEXT: VAR 'three'
    // CHECK-NEXT: DECL_STMT
    static __typeof__(f) s;
    // CHECK-NEXT: VAR 's' static def <float> {{.*}} alias@[[@LINE-1]]:12-25
    REAL r = k;
    // CHECK: VAR 'r' auto def <float> [[@LINE-1]]:5-15 {{.*}} alias@[[@LINE-1]]:5-9
    TEMP(1);
}
