/* The scalers' state in a file beside a checkpoint. */
#include "check.h"

#include <stdio.h>
#include <unistd.h>

static char path[] = "/tmp/amp-state-XXXXXX";

static void fails_once(int group) {
    float g[1] = {INFINITY};
    assert_int_equal(amp_register(g, sizeof g, AMP_GRAD, group, "g"), AMP_OK);
    assert_int_equal(amp_step_begin_as(AMP_FP16, group), 0);
    amp_step_end_as(AMP_FP16, group);
    amp_unregister(g);
}

static void all_groups_go_on(void **state) {
    (void)state;
    amp_scaler_options options;
    amp_scaler_defaults(AMP_FP16, &options);
    options.init_scale = 64;
    assert_int_equal(amp_scaler_configure(-1, &options), AMP_OK);
    fails_once(0);
    fails_once(3);
    fails_once(3);
    assert_int_equal(amp_state_save(path), AMP_OK);
    fails_once(0);
    fails_once(3);
    assert_int_equal(amp_state_load(path), AMP_OK);
    assert_true(amp_loss_scale_as(AMP_FP16, 0) == 32.0f);
    assert_true(amp_loss_scale_as(AMP_FP16, 3) == 16.0f);
}

static void write_text(const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void says_what_is_wrong(void **state) {
    (void)state;
    assert_int_equal(amp_state_save(NULL), AMP_ERR_ARGUMENT);
    assert_int_equal(amp_state_load(NULL), AMP_ERR_ARGUMENT);
    assert_int_equal(amp_state_save("/nowhere/at/all"), AMP_ERR_FILE);
    assert_int_equal(amp_state_load("/nowhere/at/all"), AMP_ERR_FILE);
    write_text("weights\n");
    assert_int_equal(amp_state_load(path), AMP_ERR_FORMAT);
    write_text("amp-state 1\n1000 amp-scaler 1\n");
    assert_int_equal(amp_state_load(path), AMP_ERR_FORMAT);
    write_text("amp-state 1\n0 amp-scaler 1 scale=\n");
    assert_int_equal(amp_state_load(path), AMP_ERR_FORMAT);
    write_text("amp-state 1\n");
    assert_int_equal(amp_state_load(path), AMP_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_groups_go_on),
                                       cmocka_unit_test(says_what_is_wrong)};
    close(mkstemp(path));
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove(path);
    return failed;
}
