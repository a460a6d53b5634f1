/* Groups, gradients and steps. State is per process, so each test has a group
 * of its own. */
#include "check.h"

#include <float.h>

static void configure(int group, float scale) {
    amp_scaler_options o;
    amp_scaler_defaults(AMP_FP16, &o);
    o.init_scale = scale;
    o.growth_interval = 2;
    o.max_skips = 2;
    assert_int_equal(amp_scaler_configure(group, &o), AMP_OK);
}

static void good_step(void **state) {
    (void)state;
    configure(0, 1024.0f);
    float *g = amp_malloc(1000 * sizeof *g, AMP_GRAD, 0, "g");
    assert_true(amp_loss_scale_as(AMP_FP16, 0) == 1024.0f);
    for (int step = 0; step < 2; step++) {
        for (int i = 0; i < 1000; i++)
            g[i] = (float)i * 1024.0f;
        assert_int_equal(amp_unscale_as(AMP_FP16, 0), AMP_OK);
        for (int i = 0; i < 1000; i++)
            assert_true(g[i] == (float)i);
        /* The step must not unscale again. */
        assert_int_equal(amp_step_begin_as(AMP_FP16, 0), 1);
        assert_true(g[999] == 999.0f);
        amp_step_end_as(AMP_FP16, 0);
        assert_int_equal(amp_stepped(0), 1);
    }
    assert_true(amp_loss_scale_as(AMP_FP16, 0) == 2048.0f);
    amp_free(g);
}

static void step_unscales_by_itself(void **state) {
    (void)state;
    configure(1, 4.0f);
    float g[3] = {4.0f, -8.0f, 2.0f};
    assert_int_equal(amp_register(g, sizeof g, AMP_GRAD, 1, "g"), AMP_OK);
    assert_int_equal(amp_step_begin_as(AMP_FP16, 1), 1);
    assert_true(g[0] == 1.0f && g[1] == -2.0f && g[2] == 0.5f);
    amp_step_end_as(AMP_FP16, 1);
    assert_int_equal(amp_unregister(g), AMP_OK);
}

static void overflow_skips_and_backs_off(void **state) {
    (void)state;
    configure(2, 8.0f);
    float a[2] = {8.0f, 16.0f};
    float b[70];
    for (int i = 0; i < 70; i++)
        b[i] = 0.0f;
    assert_int_equal(amp_register(a, sizeof a, AMP_GRAD, 2, "a"), AMP_OK);
    assert_int_equal(amp_register(b, sizeof b, AMP_GRAD, 2, "b"), AMP_OK);
    b[69] = NAN;
    assert_int_equal(amp_step_begin_as(AMP_FP16, 2), 0);
    assert_int_equal(amp_stepped(2), 0);
    /* the skipped step may be what would have cleared them */
    assert_true(a[0] == 0.0f && a[1] == 0.0f && b[69] == 0.0f);
    amp_step_end_as(AMP_FP16, 2);
    assert_int_equal(amp_stepped(2), 0);
    assert_true(amp_loss_scale_as(AMP_FP16, 2) == 4.0f);
    b[69] = 0.0f;
    assert_int_equal(amp_step_begin_as(AMP_FP16, 2), 1);
    amp_step_end_as(AMP_FP16, 2);
    assert_int_equal(amp_stepped(2), 1);
    amp_unregister(a);
    amp_unregister(b);
}

static void floor_becomes_a_status(void **state) {
    (void)state;
    configure(3, 2.0f);
    float g[1];
    assert_int_equal(amp_register(g, sizeof g, AMP_GRAD, 3, "g"), AMP_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(amp_scaler_status(3), AMP_OK);
        g[0] = INFINITY;
        assert_int_equal(amp_step_begin_as(AMP_FP16, 3), 0);
        amp_step_end_as(AMP_FP16, 3);
    }
    assert_true(amp_loss_scale_as(AMP_FP16, 3) == 1.0f);
    assert_int_equal(amp_scaler_status(3), AMP_ERR_SCALE_FLOOR);
    amp_unregister(g);
}

/* Momentum kept in the gradient: g = 0.9 * g + new, as darknet does. */
static void carried_gradient(void **state) {
    (void)state;
    configure(4, 256.0f);
    float g[2] = {3.0f, -1.0f};
    const float want[2] = {3.5f, -1.25f};
    assert_int_equal(amp_register(g, sizeof g, AMP_GRAD_CARRY, 4, "g"), AMP_OK);
    assert_int_equal(amp_carry_in_as(AMP_FP16, 4), AMP_OK);
    assert_true(g[0] == 768.0f);
    g[0] += 0.5f * 256.0f;
    g[1] -= 0.25f * 256.0f;
    assert_int_equal(amp_step_begin_as(AMP_FP16, 4), 1);
    assert_memory_equal(g, want, sizeof g);
    amp_step_end_as(AMP_FP16, 4);
    /* A skipped step leaves what was carried in. */
    assert_int_equal(amp_carry_in_as(AMP_FP16, 4), AMP_OK);
    g[0] += INFINITY;
    assert_int_equal(amp_unscale_as(AMP_FP16, 4), AMP_OK);
    assert_int_equal(amp_step_begin_as(AMP_FP16, 4), 0);
    assert_memory_equal(g, want, sizeof g);
    amp_step_end_as(AMP_FP16, 4);
    amp_unregister(g);
}

static void groups_are_apart(void **state) {
    (void)state;
    configure(5, 4.0f);
    configure(6, 16.0f);
    float a[1] = {INFINITY};
    float b[1] = {16.0f};
    assert_int_equal(amp_register(a, sizeof a, AMP_GRAD, 5, "a"), AMP_OK);
    assert_int_equal(amp_register(b, sizeof b, AMP_GRAD, 6, "b"), AMP_OK);
    assert_int_equal(amp_step_begin_as(AMP_FP16, 6), 1);
    assert_true(b[0] == 1.0f);
    assert_int_equal(amp_step_begin_as(AMP_FP16, 5), 0);
    amp_step_end_as(AMP_FP16, 5);
    amp_step_end_as(AMP_FP16, 6);
    assert_true(amp_loss_scale_as(AMP_FP16, 5) == 2.0f);
    assert_true(amp_loss_scale_as(AMP_FP16, 6) == 16.0f);
    amp_unregister(a);
    amp_unregister(b);
}

static void fused_update(void **state) {
    (void)state;
    configure(7, 8.0f);
    assert_true(amp_unscale_value_as(AMP_FP16, 7, 24.0f) == 3.0f);
    amp_step_end_as(AMP_FP16, 7);
    assert_int_equal(amp_stepped(7), 1);
    assert_true(amp_unscale_value_as(AMP_FP16, 7, 24.0f) == 3.0f);
    assert_true(amp_unscale_value_as(AMP_FP16, 7, -INFINITY) == 0.0f);
    assert_true(amp_unscale_value_as(AMP_FP16, 7, NAN) == 0.0f);
    assert_true(amp_unscale_value_as(AMP_FP16, 7, 8.0f) == 1.0f);
    amp_step_end_as(AMP_FP16, 7);
    assert_int_equal(amp_stepped(7), 0);
    assert_true(amp_loss_scale_as(AMP_FP16, 7) == 4.0f);
}

static void out_of_order(void **state) {
    (void)state;
    configure(8, 2.0f);
    float g[1] = {2.0f};
    assert_int_equal(amp_register(g, sizeof g, AMP_GRAD, 8, "g"), AMP_OK);
    assert_int_equal(amp_unscale_as(AMP_FP16, 8), AMP_OK);
    assert_int_equal(amp_unscale_as(AMP_FP16, 8), AMP_ERR_STATE);
    assert_true(g[0] == 1.0f);
    assert_int_equal(amp_step_begin_as(AMP_FP16, 8), 1);
    assert_int_equal(amp_step_begin_as(AMP_FP16, 8), 1);
    assert_true(g[0] == 1.0f);
    assert_int_equal(amp_unscale_as(AMP_FP16, 8), AMP_ERR_STATE);
    amp_scaler_options o;
    amp_scaler_defaults(AMP_FP16, &o);
    assert_int_equal(amp_scaler_configure(8, &o), AMP_ERR_STATE);
    amp_step_end_as(AMP_FP16, 8);
    amp_step_end_as(AMP_FP16, 8); /* logged, moves nothing */
    assert_true(amp_loss_scale_as(AMP_FP16, 8) == 2.0f);
    assert_int_equal(amp_unscale_as(AMP_FP16, 99), AMP_ERR_ARGUMENT);
    assert_int_equal(amp_step_begin_as(AMP_FP16, -1), 1);
    assert_int_equal(amp_stepped(99), 1);
    amp_unregister(g);
}

/* An iteration that is left between unscaling and the step (a NaN norm, say)
 * has still told that it overflowed, and the next one's gradients are scaled
 * again, whatever was begun before. */
static void left_before_the_step(void **state) {
    (void)state;
    float g[1] = {16.0f};
    assert_int_equal(amp_register(g, sizeof g, AMP_GRAD, 6, "g"), AMP_OK);
    float scale = amp_loss_scale_as(AMP_FP16, 6);
    g[0] = INFINITY;
    assert_int_equal(amp_unscale_as(AMP_FP16, 6), AMP_OK);
    /* and here the program goes on to the next batch */
    assert_true(amp_loss_scale_as(AMP_FP16, 6) == scale);
    g[0] = 3.0f * scale;
    assert_int_equal(amp_unscale_as(AMP_FP16, 6), AMP_OK);
    assert_true(g[0] == 3.0f);
    assert_true(amp_loss_scale_as(AMP_FP16, 6) == scale / 2);
    assert_int_equal(amp_step_begin_as(AMP_FP16, 6), 1);
    amp_step_end_as(AMP_FP16, 6);
    amp_unregister(g);
}

static void left_within_the_step(void **state) {
    (void)state;
    float g[1];
    assert_int_equal(amp_register(g, sizeof g, AMP_GRAD, 6, "g"), AMP_OK);
    for (int i = 0; i < 3; i++) {
        g[0] = 5.0f * amp_loss_scale_as(AMP_FP16, 6);
        assert_int_equal(amp_step_begin_as(AMP_FP16, 6), 1);
        assert_true(g[0] == 5.0f);
    }
    amp_step_end_as(AMP_FP16, 6);
    amp_unregister(g);
}

/* What carried over is restored, then carried in again. */
static void left_with_carried_gradients(void **state) {
    (void)state;
    float g[1] = {1.5f};
    assert_int_equal(amp_register(g, sizeof g, AMP_GRAD_CARRY, 4, "g"), AMP_OK);
    float scale = amp_loss_scale_as(AMP_FP16, 4);
    assert_int_equal(amp_carry_in_as(AMP_FP16, 4), AMP_OK);
    g[0] += INFINITY;
    assert_int_equal(amp_unscale_as(AMP_FP16, 4), AMP_OK);
    assert_int_equal(amp_carry_in_as(AMP_FP16, 4), AMP_OK);
    assert_true(amp_loss_scale_as(AMP_FP16, 4) == scale / 2);
    assert_true(g[0] == 1.5f * scale / 2);
    assert_int_equal(amp_step_begin_as(AMP_FP16, 4), 1);
    assert_true(g[0] == 1.5f);
    amp_step_end_as(AMP_FP16, 4);
    amp_unregister(g);
}

/* A group without gradients steps; so the program still trains. */
static void no_gradients(void **state) {
    (void)state;
    configure(9, 2.0f);
    assert_int_equal(amp_step_begin_as(AMP_FP16, 9), 1);
    amp_step_end_as(AMP_FP16, 9);
    assert_int_equal(amp_stepped(9), 1);
}

/* The neutral build at scale 1 is the original program, inf and all. */
static void neutral_changes_nothing(void **state) {
    (void)state;
    uint32_t bits[4] = {0x7f800001, 0xff800000, 0x00000001, 0x3f800001};
    float g[4];
    memcpy(g, bits, sizeof g);
    assert_int_equal(amp_register(g, sizeof g, AMP_GRAD, 10, "g"), AMP_OK);
    assert_true(amp_loss_scale_as(AMP_FP32, 10) == 1.0f);
    assert_int_equal(amp_scale_as(AMP_FP32, 10, g, sizeof g), AMP_OK);
    assert_int_equal(amp_scale_buffer_as(AMP_FP32, 10, g), AMP_OK);
    assert_int_equal(amp_carry_in_as(AMP_FP32, 10), AMP_OK);
    assert_int_equal(amp_step_begin_as(AMP_FP32, 10), 1);
    amp_step_end_as(AMP_FP32, 10);
    assert_int_equal(amp_stepped(10), 1);
    assert_memory_equal(g, bits, sizeof g);
    assert_true(amp_unscale_value_as(AMP_FP32, 10, INFINITY) == INFINITY);
    amp_step_end_as(AMP_FP32, 10);
    assert_int_equal(amp_stepped(10), 1);
    amp_unregister(g);
}

/* bf16 runs at scale 1 but a NaN still costs one step, not the run. */
static void bf16_checks(void **state) {
    (void)state;
    float g[2] = {1.5f, 2.0f};
    assert_int_equal(amp_register(g, sizeof g, AMP_GRAD, 11, "g"), AMP_OK);
    assert_true(amp_loss_scale_as(AMP_BF16, 11) == 1.0f);
    assert_int_equal(amp_step_begin_as(AMP_BF16, 11), 1);
    amp_step_end_as(AMP_BF16, 11);
    g[1] = NAN;
    assert_int_equal(amp_step_begin_as(AMP_BF16, 11), 0);
    amp_step_end_as(AMP_BF16, 11);
    assert_true(g[0] == 0.0f); /* zeroed with the step */
    assert_true(amp_loss_scale_as(AMP_BF16, 11) == 1.0f);
    amp_unregister(g);
}

static void static_scale_without_check(void **state) {
    (void)state;
    amp_scaler_options o;
    amp_scaler_defaults(AMP_FP16, &o);
    o.dynamic = 0;
    o.init_scale = 3.0f; /* not a power of two */
    o.check_static = 0;
    assert_int_equal(amp_scaler_configure(12, &o), AMP_OK);
    float g[3] = {INFINITY, 6.0f, 1.0f};
    assert_int_equal(amp_register(g, sizeof g, AMP_GRAD, 12, "g"), AMP_OK);
    assert_int_equal(amp_step_begin_as(AMP_FP16, 12), 1);
    assert_true(g[2] == (float)(1.0 / 3.0));
    amp_step_end_as(AMP_FP16, 12);
    assert_int_equal(amp_stepped(12), 1);
    amp_unregister(g);
}

static void seeds(void **state) {
    (void)state;
    configure(13, 512.0f);
    float x[4] = {1.0f, -2.0f, 0.0f, 1e-8f};
    assert_int_equal(amp_scale_as(AMP_FP16, 13, x, sizeof x), AMP_OK);
    assert_true(x[0] == 512.0f && x[1] == -1024.0f && x[3] == 512.0f * 1e-8f);
    assert_int_equal(amp_scale_as(AMP_FP16, 13, x, 3), AMP_ERR_ARGUMENT);
    assert_int_equal(amp_scale_buffer_as(AMP_FP16, 13, x),
                     AMP_ERR_UNKNOWN_BUFFER);
    assert_int_equal(amp_register(x, sizeof x, AMP_TRACKED, 0, "x"), AMP_OK);
    assert_int_equal(amp_scale_buffer_as(AMP_FP16, 13, x), AMP_OK);
    assert_true(x[0] == 262144.0f);
    amp_unregister(x);
}

static void state_survives_a_restart(void **state) {
    (void)state;
    configure(14, 64.0f);
    char text[512];
    float g[1] = {INFINITY};
    assert_int_equal(amp_register(g, sizeof g, AMP_GRAD, 14, "g"), AMP_OK);
    assert_int_equal(amp_scaler_save(14, text, sizeof text), 0);
    assert_int_equal(amp_step_begin_as(AMP_FP16, 14), 0);
    assert_int_equal(amp_scaler_load(14, "nonsense"), AMP_ERR_STATE);
    amp_step_end_as(AMP_FP16, 14);
    assert_true(amp_scaler_save(14, text, sizeof text) > 0);
    assert_int_equal(amp_scaler_load(14, "nonsense"), AMP_ERR_FORMAT);
    assert_int_equal(amp_scaler_load(14, NULL), AMP_ERR_ARGUMENT);
    /* Another group, not used yet, goes on from there. */
    assert_int_equal(amp_scaler_load(15, text), AMP_OK);
    assert_true(amp_loss_scale_as(AMP_FP16, 15) == 32.0f);
    amp_unregister(g);
    text[strlen(text) / 2] = '\0';
    assert_int_equal(amp_scaler_load(15, text), AMP_ERR_FORMAT);
}

/* Large enough for a team of threads; the bad element is in the last share. */
static void large_gradient(void **state) {
    (void)state;
    size_t n = 300001;
    float *g = amp_malloc(n * sizeof *g, AMP_GRAD, 2, "large");
    float scale = amp_loss_scale_as(AMP_FP16, 2);
    for (size_t i = 0; i < n; i++)
        g[i] = scale * (float)(i % 1000);
    assert_int_equal(amp_step_begin_as(AMP_FP16, 2), 1);
    for (size_t i = 0; i < n; i++)
        assert_true(g[i] == (float)(i % 1000));
    amp_step_end_as(AMP_FP16, 2);
    g[n - 1] = INFINITY;
    assert_int_equal(amp_step_begin_as(AMP_FP16, 2), 0);
    amp_step_end_as(AMP_FP16, 2);
    amp_free(g);
}

/* A gradient that nobody knows of would be applied scaled: no step. */
static void lost_gradient(void **state) {
    (void)state;
    float *g = amp_malloc(8, (amp_role)9, 5, "lost");
    assert_non_null(g);
    assert_int_equal(amp_scaler_status(5), AMP_OK);
    for (int step = 0; step < 2; step++) {
        assert_int_equal(amp_step_begin_as(AMP_FP16, 5), 0);
        assert_int_equal(amp_stepped(5), 0);
        amp_step_end_as(AMP_FP16, 5);
        assert_int_equal(amp_stepped(5), 0);
    }
    assert_int_equal(amp_scaler_status(5), AMP_ERR_MEMORY);
    amp_free(g);
}

/* No memory for what has to be saved (2^50 bytes are not touched). */
static void gradient_not_carried(void **state) {
    (void)state;
    float g[2] = {2.0f, 2.0f};
    assert_int_equal(amp_register(g, (size_t)1 << 50, AMP_GRAD_CARRY, 1, "g"),
                     AMP_OK);
    assert_int_equal(amp_carry_in_as(AMP_FP16, 1), AMP_ERR_MEMORY);
    amp_unregister(g);
    assert_int_equal(amp_scaler_status(1), AMP_ERR_MEMORY);
    assert_int_equal(amp_register(g, sizeof g, AMP_GRAD, 1, "g"), AMP_OK);
    assert_int_equal(amp_step_begin_as(AMP_FP16, 1), 0);
    amp_step_end_as(AMP_FP16, 1);
    amp_unregister(g);
}

static void every_status_has_text(void **state) {
    (void)state;
    assert_string_equal(amp_status_string(AMP_OK), "success");
    assert_string_equal(amp_status_string((amp_status)12345), "unknown status");
    for (int s = -10; s <= 1; s++)
        assert_true(
            strcmp(amp_status_string((amp_status)s), "unknown status") != 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_step),
        cmocka_unit_test(step_unscales_by_itself),
        cmocka_unit_test(overflow_skips_and_backs_off),
        cmocka_unit_test(floor_becomes_a_status),
        cmocka_unit_test(carried_gradient),
        cmocka_unit_test(groups_are_apart),
        cmocka_unit_test(fused_update),
        cmocka_unit_test(out_of_order),
        cmocka_unit_test(left_before_the_step),
        cmocka_unit_test(left_within_the_step),
        cmocka_unit_test(left_with_carried_gradients),
        cmocka_unit_test(no_gradients),
        cmocka_unit_test(neutral_changes_nothing),
        cmocka_unit_test(bf16_checks),
        cmocka_unit_test(static_scale_without_check),
        cmocka_unit_test(seeds),
        cmocka_unit_test(state_survives_a_restart),
        cmocka_unit_test(large_gradient),
        cmocka_unit_test(lost_gradient),
        cmocka_unit_test(gradient_not_carried),
        cmocka_unit_test(every_status_has_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
