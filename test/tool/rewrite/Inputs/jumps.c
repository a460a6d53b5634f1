#include "fit.h"
#include <stdio.h>

static float w[W], dw[W], goal[W], x[ROWS * IN];
static float y[ROWS * OUT], t[ROWS * OUT], dy[ROWS * OUT];

int main(void) {
    int seen = 0;
    fill(goal, W);
    for (int step = 0; step < 20; step++) {
        fill(x, ROWS * IN);
        mm(0, ROWS, OUT, IN, x, goal, t);
        mm(0, ROWS, OUT, IN, x, w, y);
        for (int i = 0; i < ROWS * OUT; i++)
            dy[i] = y[i] - t[i];
        mm(1, IN, OUT, ROWS, x, dy, dw);
#if CASE == 0
        if (step % 2)
            goto change;
        seen++;
    change:
        for (int i = 0; i < W; i++)
            w[i] -= 0.02f * dw[i];
#elif CASE == 1
        switch (step % 2) {
        case 0:
            seen++;
            break;
        case 1:
            for (int i = 0; i < W; i++)
                w[i] -= 0.02f * dw[i];
        }
#elif CASE == 2
    change:
        for (int i = 0; i < W; i++)
            w[i] -= 0.02f * dw[i];
        if (seen++ % 2)
            goto change;
#elif CASE == 3
        static void *const ways[] = {&&one, &&two};
        goto *ways[step % 2];
    one:
        seen++;
    two:
        for (int i = 0; i < W; i++)
            w[i] -= 0.02f * dw[i];
#elif CASE == 4
        int i = 0;
        if (step % 2)
            goto middle;
        for (; i < W; i++) {
        middle:
            w[i] -= 0.02f * dw[i];
        }
#elif CASE == 5
    again:
        if (++seen % 3)
            goto again;
        for (int i = 0; i < W; i++)
            w[i] -= 0.02f * dw[i];
#elif CASE == 6
#pragma GCC ivdep
        for (int i = 0; i < W; i++)
            w[i] -= 0.02f * dw[i];
#elif CASE == 7
        seen++; _Pragma("GCC ivdep") for (int i = 0; i < W; i++)
            w[i] -= 0.02f * dw[i];
#elif CASE == 8
        _Pragma("omp parallel") _Pragma("omp for")
        for (int i = 0; i < W; i++)
            w[i] -= 0.02f * dw[i];
#endif
        printf("%d %d %.9g\n", step, seen, w[0]);
    }
    return 0;
}
