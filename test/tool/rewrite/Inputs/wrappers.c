#include "fit.h"
#include <stdio.h>

#if CASE == 0 /* a definition, const and restrict */
static void mul(int ta, int m, const int n, int k, const float *restrict a,
                float const *const restrict b, float *restrict c) {
    mm(ta, m, n, k, a, b, c);
}
#elif CASE == 1 /* arrays */
static void mul(int ta, int m, int n, int k, const float a[], const float b[],
                float c[static 1]) {
    mm(ta, m, n, k, a, b, c);
}
#elif CASE == 2 /* a prototype without names before the definition */
static void mul(int, int, int, int, const float *, const float *, float *);
#elif CASE == 3 /* K&R, two in one declaration */
static void mul(ta, m, n, k, a, b, c)
int ta, m, n, k;
const float *a, *b;
float *c;
{
    mm(ta, m, n, k, a, b, c);
}
#elif CASE == 4 /* a typedef, a name that the wrapper uses for itself */
typedef float real;
static void mul(int M, int N, int K, int n, real const *status, const real *A,
                real *AMP) {
    mm(M, N, K, n, status, A, AMP);
}
#elif CASE == 5 /* parameters with a comment and a macro */
#define IN_PARAM const float *
static void mul(int ta, int m, int n, int k, IN_PARAM a /* left */,
                const float *b, // right
                float *c) {
    mm(ta, m, n, k, a, b, c);
}
#elif CASE == 6 /* a prototype, the definition behind the calls; one line */
void mul(int ta, int m, int n, int k, const float *a, const float *b, float *c); int other;
#endif

#ifdef TAKEN
void mul_amp(void);
#endif

static float w[W], dw[W], goal[W], x[ROWS * IN];
static float y[ROWS * OUT], t[ROWS * OUT], dy[ROWS * OUT];

int main(void) {
    fill(goal, W);
    for (int step = 0; step < 20; step++) {
        float loss = 0;
        fill(x, ROWS * IN);
        mul(0, ROWS, OUT, IN, x, goal, t);
        (mul)(0, ROWS, OUT, IN, x, w, y);
        for (int i = 0; i < ROWS * OUT; i++) {
            dy[i] = y[i] - t[i];
            loss += (y[i] - t[i]) * (y[i] - t[i]);
        }
        mul(1, IN, OUT, ROWS, x, dy, dw);
        for (int i = 0; i < W; i++)
            w[i] -= 0.02f * dw[i];
        printf("%d %.9g %.9g\n", step, loss, w[0]);
    }
    return 0;
}

#if CASE == 2
static void mul(int ta, int m, int n, int k, const float *a, const float *b,
                float *c) {
    mm(ta, m, n, k, a, b, c);
}
#elif CASE == 6
void mul(int ta, int m, int n, int k, const float *a, const float *b,
         float *c) {
    mm(ta, m, n, k, a, b, c);
}
#endif
