// A header turns the plain name into a versioned one, as cublas_v2.h does, and
// calls stand inside macros that check their result. The name as written is
// replaced; a call that a macro's body makes is not, and said to stay.
// RUN: %amp-rewrite %s --rules %S/Inputs/renamed_callee.amp -o %t.c 2>%t.err
// RUN: grep -v CHECK %t.c | %FileCheck %s
// RUN: %FileCheck %s --input-file=%t.err --check-prefix=ERR
// RUN: %gcc -Wall -Werror -fsyntax-only -DAMP_HALF_FP32 -I %amp-include %t.c
// RUN: %amp-rewrite %s --rules %S/Inputs/renamed_callee.amp --audit 2>/dev/null | %FileCheck %s --check-prefix=AUDIT
// AUDIT: 3 of 4 ops in half, 6 casts
void sgemm_v2(int n, const float *alpha, const float *a, const float *b,
              float *c);
#define sgemm sgemm_v2
#define MUST(call)                                                             \
    do {                                                                       \
        call;                                                                  \
        check(__LINE__);                                                       \
    } while (0)
#define SQUARE(n, a, c) sgemm(n, &one, a, a, c)

void check(int line);
extern const float one;

void forward(int n, const float *x, const float *w, float *h, float *y) {
    sgemm(n, &one, x, w, h);
    // CHECK: {{^}}    sgemm_v2_amp(n, &one, x, w, h);
    MUST(sgemm(n, &one, h, w, y));
    // CHECK-NEXT: MUST(sgemm_v2_amp(n, &one, h, w, y));
    MUST(MUST(sgemm(n, &one, x, y, h)));
    // CHECK-NEXT: MUST(MUST(sgemm_v2_amp(n, &one, x, y, h)));
    SQUARE(n, x, y);
    // CHECK-NEXT: SQUARE(n, x, y);
    // ERR: :[[@LINE-2]]:5: warning: 'sgemm_v2' is called from a macro body
}
