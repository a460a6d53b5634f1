/* Run twice: AMP_LOSS_SCALE=256 and AMP_LOSS_SCALE=dynamic, both with
 * AMP_INJECT_OVERFLOW=1,3. */
#include "check.h"

static int is_static(void) {
    return strcmp(getenv("AMP_LOSS_SCALE"), "dynamic") != 0;
}

static void overrides_every_half_type(void **state) {
    (void)state;
    float want = is_static() ? 256.0f : 65536.0f;
    assert_true(amp_loss_scale_as(AMP_FP16, 0) == want);
    assert_true(amp_loss_scale_as(AMP_BF16, 1) == want);
    assert_true(amp_loss_scale_as(AMP_FP32, 2) == want);
}

static void overrides_the_program(void **state) {
    (void)state;
    amp_scaler_options o;
    amp_scaler_defaults(AMP_FP16, &o);
    o.init_scale = 8.0f;
    assert_int_equal(amp_scaler_configure(3, &o), AMP_OK);
    assert_true(amp_loss_scale_as(AMP_FP16, 3) ==
                (is_static() ? 256.0f : 8.0f));
}

/* A static scale need not fill in what only a dynamic one uses. */
static void static_becomes_dynamic(void **state) {
    (void)state;
    amp_scaler_options o = {.init_scale = 4.0f, .check_static = 1};
    assert_int_equal(amp_scaler_configure(8, &o), AMP_OK);
    if (is_static())
        return;
    float g[1];
    assert_int_equal(amp_register(g, sizeof g, AMP_GRAD, 8, "g"), AMP_OK);
    assert_true(amp_loss_scale_as(AMP_FP16, 8) == 65536.0f);
    g[0] = INFINITY;
    assert_int_equal(amp_step_begin_as(AMP_FP16, 8), 0);
    amp_step_end_as(AMP_FP16, 8);
    assert_true(amp_loss_scale_as(AMP_FP16, 8) == 32768.0f);
    amp_unregister(g);
}

static void saved_state_does_not_win(void **state) {
    (void)state;
    assert_int_equal(
        amp_scaler_load(4, "amp-scaler 1 scale=44800000 tracker=0 overflows=0 "
                           "floor=0 settled=0 steps=0 skipped=0 "
                           "growth=40000000 backoff=3f000000 interval=2000"),
        AMP_OK);
    assert_true(amp_loss_scale_as(AMP_FP16, 4) ==
                (is_static() ? 256.0f : 1024.0f));
}

/* Exactly the named steps, counted per group. */
static void injected_steps_are_skipped(void **state) {
    (void)state;
    float g[4];
    assert_int_equal(amp_register(g, sizeof g, AMP_GRAD, 5, "g"), AMP_OK);
    for (int step = 0; step < 5; step++) {
        float scale = amp_loss_scale_as(AMP_FP16, 5);
        for (int i = 0; i < 4; i++)
            g[i] = scale;
        int take = amp_step_begin_as(AMP_FP16, 5);
        assert_int_equal(take, step != 1 && step != 3);
        if (take)
            assert_true(g[0] == 1.0f);
        amp_step_end_as(AMP_FP16, 5);
    }
    amp_unregister(g);
}

static void injected_into_a_fused_update(void **state) {
    (void)state;
    for (int step = 0; step < 3; step++) {
        float scale = amp_loss_scale_as(AMP_FP16, 6);
        float first = amp_unscale_value_as(AMP_FP16, 6, scale);
        float second = amp_unscale_value_as(AMP_FP16, 6, scale);
        assert_true(first == (step == 1 ? 0.0f : 1.0f) && second == 1.0f);
        amp_step_end_as(AMP_FP16, 6);
        assert_int_equal(amp_stepped(6), step != 1);
    }
}

/* A neutral build under a static scale checks nothing, so it gets no inf. */
static void neutral_is_left_alone(void **state) {
    (void)state;
    float g[1];
    if (!is_static())
        return;
    assert_int_equal(amp_register(g, sizeof g, AMP_GRAD, 7, "g"), AMP_OK);
    for (int step = 0; step < 4; step++) {
        g[0] = 256.0f;
        assert_int_equal(amp_step_begin_as(AMP_FP32, 7), 1);
        assert_true(g[0] == 1.0f);
        amp_step_end_as(AMP_FP32, 7);
    }
    amp_unregister(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overrides_every_half_type),
        cmocka_unit_test(overrides_the_program),
        cmocka_unit_test(static_becomes_dynamic),
        cmocka_unit_test(saved_state_does_not_win),
        cmocka_unit_test(injected_steps_are_skipped),
        cmocka_unit_test(injected_into_a_fused_update),
        cmocka_unit_test(neutral_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
