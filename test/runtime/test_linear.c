/* Linear layers against double. Runs with AMP_MIN_MNK=0. */
#include "check.h"

enum { ROWS = 40, IN = 50, OUT = 60 };

typedef struct layer {
    float *inp;
    float *weight;
    float *bias;
    float *dout;
} layer;

static layer make_layer(void) {
    return (layer){.inp = random_floats(ROWS * IN, 1),
                   .weight = random_floats(OUT * IN, 2),
                   .bias = random_floats(OUT, 3),
                   .dout = random_floats(ROWS * OUT, 4)};
}

static void free_layer(layer *l) {
    free(l->inp);
    free(l->weight);
    free(l->bias);
    free(l->dout);
}

static void check_forward(amp_dtype half, const float *bias) {
    layer l = make_layer();
    float out[ROWS * OUT];
    memset(out, 0xff, sizeof out); /* NaN: must not be read */
    assert_int_equal(
        amp_linear_forward_as(half, out, l.inp, l.weight, bias, ROWS, IN, OUT),
        AMP_OK);
    if (bias)
        for (int i = 0; i < ROWS * OUT; i++)
            out[i] -= bias[i % OUT];
    product p = {.transb = 1,
                 .m = ROWS,
                 .n = OUT,
                 .k = IN,
                 .alpha = 1.0f,
                 .a = l.inp,
                 .lda = IN,
                 .b = l.weight,
                 .ldb = IN,
                 .ldc = OUT};
    assert_true(product_error(&p, NULL, out) < bound_of(half));
    free_layer(&l);
}

static void forward(void **state) {
    (void)state;
    float *bias = random_floats(OUT, 3);
    for (int half = AMP_FP16; half <= AMP_BF16; half++) {
        check_forward((amp_dtype)half, NULL);
        check_forward((amp_dtype)half, bias);
    }
    free(bias);
}

/* Which of the three results a call asks for. */
typedef enum wanted { DINP = 1, DWEIGHT = 2, DBIAS = 4 } wanted;

static void check_backward(amp_dtype half, int want) {
    layer l = make_layer();
    float *dinp = random_floats(ROWS * IN, 5);
    float *dweight = random_floats(OUT * IN, 6);
    float *dbias = random_floats(OUT, 7);
    float *dinp0 = random_floats(ROWS * IN, 5);
    float *dweight0 = random_floats(OUT * IN, 6);
    float *dbias0 = random_floats(OUT, 7);
    assert_int_equal(amp_linear_backward_as(half, want & DINP ? dinp : NULL,
                                            want & DWEIGHT ? dweight : NULL,
                                            want & DBIAS ? dbias : NULL, l.dout,
                                            l.inp, l.weight, ROWS, IN, OUT),
                     AMP_OK);
    product to_inp = {.m = ROWS,
                      .n = IN,
                      .k = OUT,
                      .alpha = 1.0f,
                      .beta = 1.0f,
                      .a = l.dout,
                      .lda = OUT,
                      .b = l.weight,
                      .ldb = IN,
                      .ldc = IN};
    product to_weight = {.transa = 1,
                         .m = OUT,
                         .n = IN,
                         .k = ROWS,
                         .alpha = 1.0f,
                         .beta = 1.0f,
                         .a = l.dout,
                         .lda = OUT,
                         .b = l.inp,
                         .ldb = IN,
                         .ldc = IN};
    if (want & DINP)
        assert_true(product_error(&to_inp, dinp0, dinp) < bound_of(half));
    else
        assert_memory_equal(dinp, dinp0, ROWS * IN * sizeof *dinp);
    if (want & DWEIGHT)
        assert_true(product_error(&to_weight, dweight0, dweight) <
                    bound_of(half));
    else
        assert_memory_equal(dweight, dweight0, OUT * IN * sizeof *dweight);
    /* The bias gradient is the original's FP32 loop, to the bit. */
    if (want & DBIAS)
        for (int r = 0; r < ROWS; r++)
            for (int o = 0; o < OUT; o++)
                dbias0[o] += l.dout[r * OUT + o];
    assert_memory_equal(dbias, dbias0, OUT * sizeof *dbias);
    free_layer(&l);
    free(dinp);
    free(dweight);
    free(dbias);
    free(dinp0);
    free(dweight0);
    free(dbias0);
}

static void backward(void **state) {
    (void)state;
    for (int half = AMP_FP16; half <= AMP_BF16; half++)
        for (int want = 1; want < 8; want++)
            if (want != DBIAS)
                check_backward((amp_dtype)half, want);
}

static void nothing_to_do_in_half(void **state) {
    (void)state;
    float x[4] = {0};
    assert_int_equal(
        amp_linear_backward_as(AMP_FP16, NULL, NULL, x, x, x, x, 2, 2, 2),
        AMP_DECLINED);
    assert_int_equal(amp_linear_forward_as(AMP_FP32, x, x, x, NULL, 2, 2, 2),
                     AMP_DECLINED);
    assert_int_equal(
        amp_linear_backward_as(AMP_FP32, x, x, x, x, x, x, 2, 2, 2),
        AMP_DECLINED);
    assert_int_equal(amp_linear_forward_as(AMP_FP16, x, NULL, x, NULL, 2, 2, 2),
                     AMP_ERR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward),
        cmocka_unit_test(backward),
        cmocka_unit_test(nothing_to_do_in_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
