#include "fit.h"
#include <math.h>
#include <stdio.h>
#define UPDATE(p, g) (p) -= 0.02f * (g)
#define UPDATE_ALL(p, g)                                                       \
    for (int u = 0; u < W; u++)                                                \
    (p)[u] -= 0.02f * (g)[u]

static float w[W], dw[W], goal[W], x[ROWS * IN];
static float y[ROWS * OUT], t[ROWS * OUT], dy[ROWS * OUT];

static void update(float *p, const float *g) {
    for (int i = 0; i < W; i++)
        p[i] -= 0.02f * g[i];
}

int main(void) {
    float rate = 0.02f;
    fill(goal, W);
    for (int step = 0; step < 20; step++) {
        float loss = 0;
        fill(x, ROWS * IN);
        mm(0, ROWS, OUT, IN, x, goal, t);
        mm(0, ROWS, OUT, IN, x, w, y);
        for (int i = 0; i < ROWS * OUT; i++) {
            dy[i] = y[i] - t[i];
            loss += (y[i] - t[i]) * (y[i] - t[i]);
        }
        mm(1, IN, OUT, ROWS, x, dy, dw);
#if CASE == 0
        if (rate > 0)
            for (int i = 0; i < W; i++)
                w[i] -= rate * dw[i];
#elif CASE == 1
#pragma omp parallel for
        for (int i = 0; i < W; i++)
            w[i] -= rate * dw[i];
#elif CASE == 2
        rate = 0.99f * rate; for (int i = 0; i < W; i++) w[i] -= rate * dw[i];
#elif CASE == 3
        update(w, dw); /* all of them */
        rate = 0.99f * rate; // slower and slower
#elif CASE == 4
	for (int i = 0; i < W; i++)
		w[i] -= rate * dw[i];
#elif CASE == 5
        for (int i = 0; i < W; i++) {
            if (i == W - 1)
                break;
            if (i == 0)
                continue;
            w[i] -= rate * dw[i];
        }
#elif CASE == 6
        for (int i = 0; i < W; i++) {
            w[i] -= rate * dw[i];
            if (w[i] > 1e6f)
                return 1;
        }
#elif CASE == 7
        float norm = 0;
        for (int i = 0; i < W; i++) {
            norm += dw[i] * dw[i];
            w[i] -= rate * dw[i];
        }
        if (norm < 0)
            puts("negative");
#elif CASE == 8
        int i = 0;
        while (i < W) {
            w[i] -= rate * dw[i];
            i++;
        }
#elif CASE == 9
        int i = 0;
        do
            w[i] -= rate * dw[i];
        while (++i < W);
#elif CASE == 10
        switch (step % 2) {
        case 0:
            update(w, dw);
            break;
        default:
            for (int i = 0; i < W; i++)
                w[i] -= rate * dw[i];
        }
#elif CASE == 11
        if (rate < 0)
            puts("negative");
        else
            update(w, dw);
#elif CASE == 12
        for (int i = 0; i < W; i++)
            UPDATE(w[i], dw[i]);
#elif CASE == 13
        UPDATE_ALL(w, dw);
#elif CASE == 14
        if (step % 2 == 0) update(w, dw); else update(w, dw);
#elif CASE == 15
        for (int i = 0; i < W / 2; i++)
            w[i] -= rate * dw[i];

        /* the other half
           of them */
        for (int i = W / 2; i < W; i++)
            w[i] -=
#ifdef UNKNOWN
                2 *
#endif
                rate * dw[i];
#elif CASE == 16
        if (step == 0)
            goto skip;
        update(w, dw);
    skip:
        rate = 0.99f * rate;
#elif CASE == 17
        { update(w, dw); }
#elif CASE == 18
        float unused = 0; update(w, dw), unused += 1;
#elif CASE == 20
    #pragma omp simd
        for (int i = 0; i < W; i++)
            w[i] -= rate * dw[i];
#elif CASE == 19
        for (int i = 0; i < W; i++)
            w[i] = w[i] - rate * fmaxf(-1, fminf(dw[i], 1));
#endif
        printf("%d %.9g %.9g\n", step, loss, w[0]);
    }
    (void)update;
    (void)rate;
    return 0;
}
