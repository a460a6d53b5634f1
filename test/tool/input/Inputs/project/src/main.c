#include <stdio.h>
#include <stdlib.h>
#include "layer.h"

int main(void)
{
    float *w = malloc(IN * OUT * sizeof(float));
    float *dw = malloc(IN * OUT * sizeof(float));
    float goal[IN * OUT], x[ROWS * IN], t[ROWS * OUT];
    float y[ROWS * OUT], dy[ROWS * OUT];
    for (int i = 0; i < IN * OUT; i++) {
        w[i] = 0;
        goal[i] = noise();
    }
    for (int step = 0; step < 40; step++) {
        for (int i = 0; i < ROWS * IN; i++)
            x[i] = noise();
        target(x, goal, t);
        forward(x, w, y);
        float loss = 0;
        for (int i = 0; i < ROWS * OUT; i++) {
            float e = y[i] - t[i];
            loss += e * e;
            dy[i] = 2 * e / ROWS;
        }
        backward(x, dy, dw);
        update(w, dw);
        if (step % 10 == 9)
            printf("%d %.9g\n", step, loss);
    }
    free(dw);
    free(w);
    return 0;
}
