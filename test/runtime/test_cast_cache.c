/* The cast cache: when it is used, when not, and that it never serves what a
 * step has overwritten. Run once as it is and once with AMP_CHECK_CASTS=1. */
#include "cast_cache.h"
#include "check.h"

enum { ROWS = 48, COLS = 40 };

static amp_matrix view(const float *p) {
    return (amp_matrix){
        .data = p, .rows = ROWS, .cols = COLS, .ld = COLS, .batch = 1};
}

static amp_cast *get(const float *p) {
    amp_matrix m = view(p);
    amp_status status;
    amp_cast *cast = amp_cast_cache_get(&m, AMP_OPERAND_BF16, &status);
    assert_int_equal(status, AMP_OK);
    return cast;
}

static void is_current(const float *p, const amp_cast *cast) {
    const uint16_t *h = amp_cast_data(cast);
    for (int i = 0; i < ROWS * COLS; i++)
        assert_int_equal(h[i], amp_bf16_from_float(p[i]));
}

static void fill(float *p, float from) {
    for (int i = 0; i < ROWS * COLS; i++)
        p[i] = from + (float)i;
}

static float *parameters(void) {
    float *p = amp_malloc(ROWS * COLS * sizeof *p, AMP_PARAM, 0, "w");
    assert_non_null(p);
    fill(p, 0.0f);
    return p;
}

/* First: nothing is cached before the program's first step. */
static void off_until_the_first_step(void **state) {
    (void)state;
    float *p = parameters();
    assert_null(get(p));
    assert_int_equal(amp_step_begin_as(AMP_BF16, 0), 1);
    assert_null(get(p));
    amp_step_end_as(AMP_BF16, 0);
    amp_cast *cast = get(p);
    assert_non_null(cast);
    is_current(p, cast);
    amp_cast_release(cast);
    amp_free(p);
}

static void cast_once_per_step(void **state) {
    (void)state;
    float *p = parameters();
    uint64_t casts = amp_cast_cache_stats().casts;
    uint64_t hits = amp_cast_cache_stats().hits;
    for (int step = 0; step < 3; step++) {
        for (int use = 0; use < 4; use++) {
            amp_cast *cast = get(p);
            is_current(p, cast);
            amp_cast_release(cast);
        }
        amp_step_begin_as(AMP_BF16, 0);
        fill(p, (float)step);
        amp_step_end_as(AMP_BF16, 0);
    }
    assert_int_equal(amp_cast_cache_stats().casts - casts, 3);
    assert_int_equal(amp_cast_cache_stats().hits - hits, 9);
    amp_free(p);
}

static void not_while_a_step_is_open(void **state) {
    (void)state;
    float *p = parameters();
    amp_cast_release(get(p));
    amp_step_begin_as(AMP_BF16, 0);
    amp_step_begin_as(AMP_BF16, 1);
    assert_null(get(p));
    amp_step_end_as(AMP_BF16, 0);
    assert_null(get(p)); /* group 1 may still write */
    amp_step_end_as(AMP_BF16, 1);
    amp_cast_release(get(p));
    /* An update fused into the backward pass writes before any step. */
    amp_unscale_value_as(AMP_BF16, 0, 1.0f);
    assert_null(get(p));
    amp_step_end_as(AMP_BF16, 0);
    amp_free(p);
}

static void told_of_other_changes(void **state) {
    (void)state;
    float *p = parameters();
    amp_cast_release(get(p));
    fill(p, 1000.0f);
    amp_params_changed();
    amp_cast *cast = get(p);
    is_current(p, cast);
    amp_cast_release(cast);
    amp_free(p);
}

/* A copy in use stays what it was while another thread renews the entry. */
static void copies_in_use_are_kept(void **state) {
    (void)state;
    float *p = parameters();
    amp_cast *old = get(p);
    uint16_t first = ((const uint16_t *)amp_cast_data(old))[7];
    fill(p, 500.0f);
    amp_params_changed();
    amp_cast *renewed = get(p);
    assert_ptr_not_equal(amp_cast_data(old), amp_cast_data(renewed));
    assert_int_equal(((const uint16_t *)amp_cast_data(old))[7], first);
    is_current(p, renewed);
    amp_free(p);
    assert_int_equal(((const uint16_t *)amp_cast_data(old))[7], first);
    amp_cast_release(old);
    amp_cast_release(renewed);
}

static void only_parameters(void **state) {
    (void)state;
    float *g = amp_malloc(ROWS * COLS * sizeof *g, AMP_GRAD, 0, "g");
    float *foreign = calloc(ROWS * COLS, sizeof *foreign);
    memset(g, 0, ROWS * COLS * sizeof *g);
    assert_null(get(g));
    assert_null(get(foreign));
    amp_free(g);
    amp_free(foreign);
}

/* Freed, unmarked and reallocated parameters are forgotten. */
static void forgets_with_the_buffer(void **state) {
    (void)state;
    size_t entries = amp_cast_cache_stats().entries;
    float *p = parameters();
    amp_cast_release(get(p));
    assert_int_equal(amp_cast_cache_stats().entries, entries + 1);
    assert_int_equal(amp_mark(p, AMP_TRACKED, 0, "w"), AMP_OK);
    assert_int_equal(amp_cast_cache_stats().entries, entries);
    assert_null(get(p));
    assert_int_equal(amp_mark(p, AMP_PARAM, 0, "w"), AMP_OK);
    amp_cast_release(get(p));
    p = amp_realloc(p, 1 << 20, AMP_PARAM, 0, "w");
    assert_int_equal(amp_cast_cache_stats().entries, entries);
    fill(p, 9.0f);
    amp_cast *cast = get(p);
    is_current(p, cast);
    amp_cast_release(cast);
    amp_free(p);
    assert_int_equal(amp_cast_cache_stats().entries, entries);
}

static void interior_of_an_arena(void **state) {
    (void)state;
    size_t n = ROWS * COLS;
    float *arena = amp_malloc(3 * n * sizeof *arena, AMP_PARAM, 0, "arena");
    for (size_t i = 0; i < 3; i++)
        fill(arena + i * n, (float)(1000 * i));
    amp_cast *cast = get(arena + n);
    is_current(arena + n, cast);
    amp_cast_release(cast);
    assert_null(get(arena + 2 * n + 1)); /* reaches past the end */
    amp_free(arena);
}

/* Through the ops: a weight used by several products of a step. */
static void product_follows_the_weights(void **state) {
    (void)state;
    float *w = parameters();
    float *x = random_floats(20 * COLS, 1);
    float y[2][20 * ROWS];
    for (int step = 0; step < 3; step++) {
        for (int use = 0; use < 2; use++) {
            assert_int_equal(amp_linear_forward_as(AMP_FP16, y[use], x, w, NULL,
                                                   20, COLS, ROWS),
                             AMP_OK);
            product p = {.transb = 1,
                         .m = 20,
                         .n = ROWS,
                         .k = COLS,
                         .alpha = 1.0f,
                         .a = x,
                         .lda = COLS,
                         .b = w,
                         .ldb = COLS,
                         .ldc = ROWS};
            assert_true(product_error(&p, NULL, y[use]) < FP16_BOUND);
        }
        assert_memory_equal(y[0], y[1], sizeof y[0]);
        amp_step_begin_as(AMP_FP16, 0);
        for (int i = 0; i < ROWS * COLS; i++)
            w[i] = -w[i] * 0.5f;
        amp_step_end_as(AMP_FP16, 0);
    }
    free(x);
    amp_free(w);
}

/* A product may itself be the update of a parameter: w -= lr * dy^T x. */
static void product_that_writes_a_parameter(void **state) {
    (void)state;
    float *w = parameters();
    float *other = parameters();
    float *dy = random_floats(16 * ROWS, 2);
    float *x = random_floats(16 * COLS, 3);
    amp_cast_release(get(w));
    amp_cast_release(get(other));
    uint64_t casts = amp_cast_cache_stats().casts;
    assert_int_equal(amp_gemm_as(AMP_BF16, 1, 0, ROWS, COLS, 16, -0.5f, dy,
                                 ROWS, x, COLS, 1.0f, w, COLS),
                     AMP_OK);
    amp_cast *cast = get(w);
    is_current(w, cast);
    amp_cast_release(cast);
    amp_cast_release(get(other)); /* not touched */
    assert_int_equal(amp_cast_cache_stats().casts - casts, 1);
    free(dy);
    free(x);
    amp_free(w);
    amp_free(other);
}

/* A program that writes parameters and tells nobody. */
static void self_check_finds_stale_casts(void **state) {
    (void)state;
    if (!getenv("AMP_CHECK_CASTS"))
        return;
    float *p = parameters();
    amp_matrix m = view(p);
    amp_status status;
    amp_cast_release(get(p));
    amp_cast_release(get(p));
    p[ROWS * COLS - 1] = -1.0f;
    assert_null(amp_cast_cache_get(&m, AMP_OPERAND_BF16, &status));
    assert_int_equal(status, AMP_ERR_STALE_CAST);
    /* Found once, it is cast anew. */
    amp_cast *cast = get(p);
    is_current(p, cast);
    amp_cast_release(cast);
    amp_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(off_until_the_first_step),
        cmocka_unit_test(cast_once_per_step),
        cmocka_unit_test(not_while_a_step_is_open),
        cmocka_unit_test(told_of_other_changes),
        cmocka_unit_test(copies_in_use_are_kept),
        cmocka_unit_test(only_parameters),
        cmocka_unit_test(forgets_with_the_buffer),
        cmocka_unit_test(interior_of_an_arena),
        cmocka_unit_test(product_follows_the_weights),
        cmocka_unit_test(product_that_writes_a_parameter),
        cmocka_unit_test(self_check_finds_stale_casts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
