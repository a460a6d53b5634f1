/* Compiled as C and as C++, once per half type: the public headers have to
 * stand alone and warn of nothing. */
#include <amp/amp.h>

static float product(const float *a, const float *b) {
    float c = 0;
    if (amp_gemm(0, 0, 1, 1, 1, 1.0f, a, 1, b, 1, 0.0f, &c, 1) != AMP_OK)
        c = a[0] * b[0];
    return c;
}

int main(void) {
    float x[1] = {3.0f};
    float grad[1] = {amp_loss_scale(0)};
    if (amp_register(grad, sizeof grad, AMP_GRAD, 0, "grad") != AMP_OK)
        return 1;
    int take = amp_step_begin(0);
    amp_step_end(0);
    return take == 1 && amp_stepped(0) && grad[0] == 1.0f &&
                   product(x, x) == 9.0f
               ? 0
               : 1;
}
