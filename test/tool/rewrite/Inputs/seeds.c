#include "fit.h"
#include <stdio.h>
#include <string.h>
#define HALVED(x) ((x) * 0.5f)
#define AS_IS(x) x
#define STORE(p, x) (p) = (x)

static float w[W], dw[W], goal[W], x[ROWS * IN];
static float y[ROWS * OUT], t[ROWS * OUT], dy[ROWS * OUT], kept[ROWS * OUT];

static float slope(float a, float b) {
    return a - b;
}

int main(void) {
    fill(goal, W);
    for (int step = 0; step < 20; step++) {
        float loss = 0, *p = dy;
        fill(x, ROWS * IN);
        mm(0, ROWS, OUT, IN, x, goal, t);
        mm(0, ROWS, OUT, IN, x, w, y);
        for (int i = 0; i < ROWS * OUT; i++) {
            float e = y[i] - t[i];
            loss += e * e;
#if CASE == 0
            dy[i] = e;
#elif CASE == 1
            dy[i] = y[i] - t[i];
#elif CASE == 3
            dy[i] = (float)(0.5 * e);
#elif CASE == 4
            float g = 2 * e, h = g / ROWS;
            dy[i] = h;
#elif CASE == 5
            *p++ = e;
#elif CASE == 6
            kept[i] = dy[i] = e;
#elif CASE == 7
            dy[i] = HALVED(e);
#elif CASE == 8
            dy[i] = slope(y[i], t[i]);
#elif CASE == 9
            dy[i] = e; kept[i] = e;
#elif CASE == 10
            dy[i] = -e;
            dy[i] = -dy[i];
#elif CASE == 11
            dy[i] = y[i];
            dy[i] -= t[i];
#elif CASE == 12
            dy[i] = y[i] - t[i], kept[i] = 0;
#elif CASE == 13
            dy[i] = AS_IS(e);
#elif CASE == 14
            STORE(dy[i], e);
#elif CASE == 15
            if (e > 0)
                dy[i] = e;
            else
                dy[i] = e * 0.5f;
#elif CASE == 16
            dy[i] = e /* the difference */;
#elif CASE == 17
            dy[i] = 1.0f /
                    ROWS * e;
#endif
        }
#if CASE == 18
        memcpy(dy, y, sizeof dy);
        for (int i = 0; i < ROWS * OUT; i++)
            dy[i] -= t[i];
#endif
        mm(1, IN, OUT, ROWS, x, dy, dw);
        for (int i = 0; i < W; i++)
            w[i] -= 0.02f * dw[i];
        printf("%d %.9g %.9g\n", step, loss, w[0]);
        (void)p;
        (void)kept;
        (void)slope;
    }
    return 0;
}
