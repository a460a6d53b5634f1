#include <stdlib.h>
#include "parts.h"
float h_shared[8];
float *h_room(int n) {
    return calloc((size_t)n, sizeof(float));
}
void relu(float *h_x, int n) {
    for (int i = 0; i < n; i++)
        if (h_x[i] < 0)
            h_x[i] = 0;
}
