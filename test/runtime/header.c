/* Compiled as C and as C++, once per half type: the public headers have to
 * stand alone and warn of nothing. */
#include <amp/amp.h>
#include <amp/amp_storage.h>

static float product(const float *a, const float *b) {
    float c = 0;
    if (amp_gemm(0, 0, 1, 1, 1, 1.0f, a, 1, b, 1, 0.0f, &c, 1) != AMP_OK)
        c = a[0] * b[0];
    return c;
}

static int storage(void) {
    amp_half x[2] = {amp_to_half(1.5f), amp_to_half(2.0f)};
    amp_half *at = x;
    float sum = amp_half_add(at++, 0.5f);
    float out = 0;
    const float *in = &sum;
    amp_buffer c = AMP_BUFFER(&out);
    amp_copy(AMP_BUFFER(x), AMP_BUFFER(in), 1);
    if (amp_gemm_mixed(0, 0, 1, 1, 1, 1.0f, AMP_BUFFER(x), 1, AMP_BUFFER(in), 1,
                       0.0f, c, 1) != AMP_OK)
        out = amp_to_float(x[0]) * sum; /* neutral */
    return out == 4.0f && sum == 2.0f && !AMP_NO_BUFFER.data &&
           amp_half_post_add(at, 1) == 2.0f && amp_to_float(x[1]) == 3.0f;
}

static int arena(void) {
    float room[4] = {1, 2, 3, 4};
    amp_half *half = 0;
    float *whole = 0;
    size_t first = amp_arena_floats(2, sizeof *half);
    amp_arena_part(&half, room, 2, sizeof *half);
    amp_arena_part(&whole, room + first, 2, sizeof *whole);
    amp_arena_clear(room, 3 * sizeof(float));
    whole[1] = 5.0f;
    amp_arena_point(&whole, whole + 1);
    return amp_to_float(half[1]) == 0.0f && whole[-1] == 0.0f && *whole == 5.0f;
}

int main(void) {
    float x[1] = {3.0f};
    float grad[1] = {amp_loss_scale(0)};
    if (amp_register(grad, sizeof grad, AMP_GRAD, 0, "grad") != AMP_OK)
        return 1;
    int take = amp_step_begin(0);
    amp_step_end(0);
    return take == 1 && amp_stepped(0) && grad[0] == 1.0f &&
                   product(x, x) == 9.0f && storage() && arena()
               ? 0
               : 1;
}
