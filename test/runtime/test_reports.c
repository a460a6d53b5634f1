/* What libamp tells its user: log lines and the profile. Each case runs in a
 * child with an environment of its own, because that is read once. */
#include "check.h"

#include <amp/amp_storage.h>

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT = 1 << 16 };

static char text[TEXT];

static void read_all(FILE *f) {
    rewind(f);
    text[fread(text, 1, TEXT - 1, f)] = '\0';
    fclose(f);
}

/* Runs body in a child; its stderr is in text afterwards. */
static void run_child(void (*body)(void), const char *name, const char *value) {
    FILE *err = tmpfile();
    assert_non_null(err);
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(fileno(err), STDERR_FILENO);
        setenv("AMP_MIN_MNK", "0", 1);
        if (name)
            setenv(name, value, 1);
        body();
        exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    read_all(err);
    assert_int_equal(status, 0);
}

static int lines(void) {
    int n = 0;
    for (const char *p = text; *p; p++)
        n += *p == '\n';
    return n;
}

static void has(const char *part) {
    if (!strstr(text, part))
        print_error("missing '%s' in:\n%s", part, text);
    assert_non_null(strstr(text, part));
}

/* ---- log ---------------------------------------------------------------- */

static void overflow_once(void) {
    static float fine[4];
    static float dw[100];
    amp_register(fine, sizeof fine, AMP_GRAD, 0, "fc1.db");
    amp_register(dw, sizeof dw, AMP_GRAD, 0, "fc1.dw");
    dw[37] = INFINITY;
    amp_step_begin_as(AMP_FP16, 0);
    amp_step_end_as(AMP_FP16, 0);
}

static void overflow_names_the_buffer(void **state) {
    (void)state;
    run_child(overflow_once, NULL, NULL);
    has("amp: warning: group 0, step 0: inf in gradient 'fc1.dw' at element "
        "37 of 100, scale 65536; step skipped (calibration");
    assert_int_equal(lines(), 1);
    run_child(overflow_once, "AMP_LOG", "error");
    assert_int_equal(lines(), 0);
    run_child(overflow_once, "AMP_LOG", "2");
    has("loss scale 65536 -> 32768");
    run_child(overflow_once, "AMP_LOSS_SCALE", "1");
    has("collapse");
}

static void bad_variables(void) {
    amp_loss_scale_as(AMP_FP16, 0);
    overflow_once();
}

static void nonsense_in_the_environment(void **state) {
    (void)state;
    run_child(bad_variables, "AMP_LOG", "loud");
    has("AMP_LOG='loud'");
    run_child(bad_variables, "AMP_LOSS_SCALE", "-3");
    has("AMP_LOSS_SCALE='-3'");
    has("scale 65536");
    run_child(bad_variables, "AMP_INJECT_OVERFLOW", "1,x");
    has("AMP_INJECT_OVERFLOW: 'x'");
}

static void mixed(void) {
    amp_loss_scale_as(AMP_FP16, 0);
    amp_loss_scale_as(AMP_BF16, 1);
    amp_loss_scale_as(AMP_FP32, 2);
}

static void mixed_halves_are_said_once(void **state) {
    (void)state;
    run_child(mixed, NULL, NULL);
    has(amp_status_string(AMP_ERR_MIXED_HALF));
    assert_int_equal(lines(), 1);
}

static void step_without_gradients(void) {
    for (int i = 0; i < 3; i++) {
        amp_step_begin_as(AMP_FP16, 0);
        amp_step_end_as(AMP_FP16, 0);
    }
}

static void missing_gradients_are_said_once(void **state) {
    (void)state;
    run_child(step_without_gradients, NULL, NULL);
    has("no registered gradients");
    assert_int_equal(lines(), 1);
}

static void neutral_run(void) {
    float x[1] = {INFINITY};
    amp_register(x, sizeof x, AMP_GRAD, 0, "x");
    amp_step_begin_as(AMP_FP32, 0);
    amp_step_end_as(AMP_FP32, 0);
    amp_gemm_as(AMP_FP32, 0, 0, 1, 1, 1, 1.0f, x, 1, x, 1, 0.0f, x, 1);
}

static void neutral_build_is_silent(void **state) {
    (void)state;
    run_child(neutral_run, "AMP_LOG", "debug");
    assert_int_equal(lines(), 0);
}

/* ---- profile ------------------------------------------------------------ */

static void some_ops(void) {
    static float x[64 * 64];
    static float y[64 * 64];
    for (int i = 0; i < 3; i++)
        amp_gemm_as(AMP_BF16, 0, 1, 64, 32, 16, 1.0f, x, 16, x, 16, 0.0f, y,
                    32);
    amp_gemm_as(AMP_BF16, 0, 1, 64, 32, 16, 0.0f, x, 16, x, 16, 0.0f, y, 32);
    amp_linear_backward_as(AMP_BF16, y, x, NULL, x, x, x, 8, 4, 2);
    uint16_t h[64] = {0};
    amp_buffer half = {h, AMP_BF16};
    amp_buffer floats = amp_buffer_of_floats(y);
    for (int alpha = 0; alpha < 2; alpha++)
        amp_gemm_mixed_as(AMP_BF16, 0, 0, 8, 4, 2, (float)alpha, half, 2, half,
                          4, 0.0f, floats, 4);
}

static void profile_is_written_at_exit(void **state) {
    (void)state;
    char path[] = "/tmp/amp-profile-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    run_child(some_ops, "AMP_PROFILE", path);
    read_all(fdopen(fd, "r"));
    unlink(path);
    assert_int_equal(lines(), 4);
    has("op\thalf\tbatch\tm\tn\tk\tcalls\tdeclined\tseconds\tflops\t");
    /* 3 of 4 calls ran: 2 * 64 * 32 * 16 each. */
    has("gemm\tbf16\t1\t64\t32\t16\t4\t1\t");
    has("\t1.966e+05\t");
    has("linear_backward\tbf16\t2\t8\t4\t2\t1\t0\t");
    /* With alpha 0 it is not in half. */
    has("gemm_mixed\tbf16\t1\t8\t4\t2\t2\t1\t");
}

static void profile_cannot_be_written(void **state) {
    (void)state;
    run_child(some_ops, "AMP_PROFILE", "/nonexistent/profile");
    has("cannot write AMP_PROFILE '/nonexistent/profile'");
}

/* Without a floor the scale still keeps an inverse: 0 times inf would be NaN
 * in gradients that were found to be finite. */
static void sinks_without_floor(void) {
    amp_scaler_options o;
    float g[1];
    amp_scaler_defaults(AMP_FP16, &o);
    o.init_scale = 0x1p-120f;
    o.min_scale = 0.0f;
    amp_scaler_configure(0, &o);
    amp_register(g, sizeof g, AMP_GRAD, 0, "g");
    for (int i = 0; i < 40; i++) {
        g[0] = NAN;
        amp_step_begin_as(AMP_FP16, 0);
        amp_step_end_as(AMP_FP16, 0);
    }
    g[0] = amp_loss_scale_as(AMP_FP16, 0);
    int take = amp_step_begin_as(AMP_FP16, 0);
    fprintf(stderr, "took %d, gradient %g\n", take, (double)g[0]);
}

static void marks_unknown_memory(void) {
    float g[2] = {0};
    for (int i = 0; i < 3; i++) {
        amp_mark(g, AMP_GRAD, 3, "stray");
        amp_mark(NULL, AMP_GRAD, 4, "none");
        amp_mark(g, AMP_PARAM, 5, "parameter");
    }
}

static void unknown_gradients_are_said_once(void **state) {
    (void)state;
    run_child(marks_unknown_memory, NULL, NULL);
    has("gradient 'stray' of group 3");
    assert_int_equal(lines(), 1);
}

static void scale_keeps_an_inverse(void **state) {
    (void)state;
    run_child(sinks_without_floor, "AMP_LOG", "error");
    has("took 1, gradient 1\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overflow_names_the_buffer),
        cmocka_unit_test(nonsense_in_the_environment),
        cmocka_unit_test(mixed_halves_are_said_once),
        cmocka_unit_test(missing_gradients_are_said_once),
        cmocka_unit_test(neutral_build_is_silent),
        cmocka_unit_test(unknown_gradients_are_said_once),
        cmocka_unit_test(scale_keeps_an_inverse),
        cmocka_unit_test(profile_is_written_at_exit),
        cmocka_unit_test(profile_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
