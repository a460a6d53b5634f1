/* Gradients in device memory: registry, unscale, steps, momentum. Each test
 * has its own group, since a group's scale lives as long as the process. */
#include "check.h"
#include "device.h"
#include "fake.h"

#include <amp/amp_cuda.h>

#include <stdbool.h>

#define FP16 AMP_FP16

static int set_up(void **state) {
    (void)state;
    fake_reset();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    amp_cuda_release();
    (void)amp_cuda_status();
    return fake.allocations != 0;
}

static float *device_floats(size_t n, amp_role role, int group,
                            const char *name, float value) {
    float *p = NULL;
    assert_int_equal(
        amp_cuda_malloc((void **)&p, n * sizeof(float), role, group, name),
        cudaSuccess);
    for (size_t i = 0; i < n; i++)
        p[i] = value;
    return p;
}

static void a_good_step_unscales_all(void **state) {
    (void)state;
    float scale = amp_loss_scale_as(FP16, 0);
    assert_true(scale == 65536.0f);
    /* Longer than a piece, and two small ones. */
    size_t n = AMP_MAX_GROUPS * 10000 + 3;
    float *a = device_floats(n, AMP_GRAD, 0, "a", 3.0f * scale);
    float *b = device_floats(5, AMP_GRAD, 0, "b", -scale);
    float *p = device_floats(5, AMP_PARAM, 0, "p", 7.0f);
    float *other = device_floats(5, AMP_GRAD, 1, "other", 7.0f);
    size_t launches = fake.launches;
    assert_int_equal(amp_step_begin_as(FP16, 0), 1);
    assert_int_equal(fake.launches - launches, 1);
    for (size_t i = 0; i < n; i++)
        assert_true(a[i] == 3.0f);
    for (int i = 0; i < 5; i++)
        assert_true(b[i] == -1.0f && p[i] == 7.0f && other[i] == 7.0f);
    amp_step_end_as(FP16, 0);
    assert_int_equal(amp_cuda_stepped(0), 1);
    /* After the first step the plan is there: no more memory. */
    size_t mallocs = fake.mallocs;
    amp_step_begin_as(FP16, 0);
    amp_step_end_as(FP16, 0);
    assert_int_equal(fake.mallocs, mallocs);
    amp_cuda_free(a);
    amp_cuda_free(b);
    amp_cuda_free(p);
    amp_cuda_free(other);
}

static void an_overflow_skips_and_backs_off(void **state) {
    (void)state;
    float *a = device_floats(40, AMP_GRAD, 2, "a", 1.0f);
    float *b = device_floats(40, AMP_GRAD, 2, "b", 1.0f);
    b[37] = NAN;
    assert_int_equal(amp_step_begin_as(FP16, 2), 0);
    amp_step_end_as(FP16, 2);
    assert_int_equal(amp_cuda_stepped(2), 0);
    assert_true(amp_loss_scale_as(FP16, 2) == 32768.0f);
    for (int i = 0; i < 40; i++)
        a[i] = b[i] = 32768.0f;
    assert_int_equal(amp_step_begin_as(FP16, 2), 1);
    assert_true(a[0] == 1.0f && b[37] == 1.0f);
    amp_step_end_as(FP16, 2);
    amp_cuda_free(a);
    amp_cuda_free(b);
}

/* Host and device gradients of one group have one verdict. */
static void host_and_device_step_together(void **state) {
    (void)state;
    float host[4] = {65536.0f, INFINITY, 0, 0};
    float *a = device_floats(4, AMP_GRAD, 4, "a", 65536.0f);
    assert_int_equal(amp_register(host, sizeof host, AMP_GRAD, 4, "host"),
                     AMP_OK);
    assert_int_equal(amp_step_begin_as(FP16, 4), 0);
    /* both are zeroed with the skipped step */
    assert_true(a[0] == 0.0f && host[0] == 0.0f && host[1] == 0.0f);
    amp_step_end_as(FP16, 4);
    amp_unregister(host);
    amp_cuda_free(a);
}

static void unscale_before_clipping_happens_once(void **state) {
    (void)state;
    float *a = device_floats(4, AMP_GRAD, 5, "a", 65536.0f);
    assert_int_equal(amp_unscale_as(FP16, 5), AMP_OK);
    assert_true(a[0] == 1.0f);
    a[0] = 0.5f; /* clipped */
    assert_int_equal(amp_step_begin_as(FP16, 5), 1);
    assert_true(a[0] == 0.5f);
    amp_step_end_as(FP16, 5);
    amp_cuda_free(a);
}

static void momentum_survives_a_skipped_step(void **state) {
    (void)state;
    float *m = device_floats(9, AMP_GRAD_CARRY, 6, "m", 0.3f);
    float *g = device_floats(9, AMP_GRAD, 6, "g", 0.0f);
    assert_int_equal(amp_carry_in_as(FP16, 6), AMP_OK);
    assert_true(m[8] == 0.3f * 65536.0f);
    m[8] += 65536.0f;
    assert_int_equal(amp_step_begin_as(FP16, 6), 1);
    assert_true(m[8] == 0.3f + 1.0f && m[0] == 0.3f);
    amp_step_end_as(FP16, 6);
    assert_int_equal(amp_carry_in_as(FP16, 6), AMP_OK);
    m[2] = INFINITY;
    assert_int_equal(amp_step_begin_as(FP16, 6), 0);
    assert_true(m[2] == 0.3f && m[8] == 0.3f + 1.0f);
    amp_step_end_as(FP16, 6);
    amp_cuda_free(m);
    amp_cuda_free(g);
}

static void marks_split_an_arena(void **state) {
    (void)state;
    float *arena = device_floats(30, AMP_TRACKED, 7, "arena", 65536.0f);
    assert_int_equal(amp_cuda_mark(arena + 10, AMP_GRAD, 7, "g"), AMP_OK);
    assert_int_equal(amp_cuda_mark(arena + 20, AMP_PARAM, 7, "p"), AMP_OK);
    assert_int_equal(amp_step_begin_as(FP16, 7), 1);
    for (int i = 0; i < 30; i++)
        assert_true(arena[i] == (i / 10 == 1 ? 1.0f : 65536.0f));
    amp_step_end_as(FP16, 7);
    assert_int_equal(amp_cuda_unregister(arena + 10), AMP_ERR_UNKNOWN_BUFFER);
    assert_int_equal(amp_cuda_mark(arena + 30, AMP_GRAD, 7, "past"),
                     AMP_ERR_UNKNOWN_BUFFER);
    amp_cuda_free(arena);
    assert_int_equal(amp_cuda_unregister(arena), AMP_ERR_UNKNOWN_BUFFER);
}

static void registration_checks(void **state) {
    (void)state;
    float x[16];
    assert_int_equal(amp_cuda_register(x, sizeof x, AMP_GRAD, 8, "x"), AMP_OK);
    assert_int_equal(amp_cuda_register(x, sizeof x, AMP_GRAD, 8, "x"), AMP_OK);
    assert_int_equal(amp_cuda_register(x + 1, 8, AMP_GRAD, 8, "y"),
                     AMP_ERR_OVERLAP);
    assert_int_equal(amp_cuda_register(NULL, 8, AMP_GRAD, 8, "y"),
                     AMP_ERR_ARGUMENT);
    assert_int_equal(amp_cuda_register(x, 8, AMP_GRAD, AMP_MAX_GROUPS, "y"),
                     AMP_ERR_ARGUMENT);
    /* A group's gradients stay on one device. */
    float y[4];
    fake.device = 1;
    assert_int_equal(amp_cuda_register(y, sizeof y, AMP_GRAD, 8, "y"),
                     AMP_ERR_ARGUMENT);
    assert_int_equal(amp_cuda_register(y, sizeof y, AMP_PARAM, 8, "y"), AMP_OK);
    fake.device = 0;
    amp_cuda_unregister(x);
    amp_cuda_unregister(y);
}

/* A buffer given back with cudaFree leaves an entry that lies; it goes when
 * the address comes again. */
static void a_dead_entry_gives_way(void **state) {
    (void)state;
    float *p = device_floats(4, AMP_GRAD, 14, "p", 1.0f);
    fake.recycle = true;
    cudaFree(p);
    float *q = device_floats(4, AMP_PARAM, 14, "q", 65536.0f);
    fake.recycle = false;
    assert_ptr_equal(p, q);
    amp_step_begin_as(FP16, 14);
    amp_step_end_as(FP16, 14);
    assert_true(q[0] == 65536.0f);
    assert_int_equal(amp_scaler_status(14), AMP_OK);
    amp_cuda_free(q);
}

/* It would be applied as it is, still scaled. */
static void a_gradient_that_cannot_be_registered_skips(void **state) {
    (void)state;
    int group = AMP_MAX_GROUPS - 1;
    float *a = device_floats(4, AMP_GRAD, group, "a", 65536.0f);
    fake.device = 1;
    float *b = device_floats(4, AMP_GRAD, group, "b", 65536.0f);
    fake.device = 0;
    assert_int_equal(amp_cuda_status(), AMP_ERR_ARGUMENT);
    assert_int_equal(amp_step_begin_as(FP16, group), 0);
    amp_step_end_as(FP16, group);
    assert_true(amp_scaler_status(group) != AMP_OK);
    amp_cuda_free(a);
    amp_cuda_free(b);
}

static void seeds_are_scaled(void **state) {
    (void)state;
    float *d = device_floats(11, AMP_TRACKED, 9, "dlogits", 0.5f);
    cudaStream_t stream = (cudaStream_t)(void *)&stream;
    assert_int_equal(amp_cuda_scale_as(FP16, 9, d, 10 * sizeof(float), stream),
                     AMP_OK);
    assert_true(d[0] == 32768.0f && d[9] == 32768.0f && d[10] == 0.5f);
    assert_ptr_equal(fake.last_stream, stream);
    assert_int_equal(amp_cuda_scale_buffer_as(FP16, 9, d + 3, stream), AMP_OK);
    assert_true(d[10] == 32768.0f);
    assert_int_equal(amp_cuda_scale_as(FP16, 9, d, 3, stream),
                     AMP_ERR_ARGUMENT);
    float elsewhere[1] = {1};
    assert_int_equal(amp_cuda_scale_buffer_as(FP16, 9, elsewhere, stream),
                     AMP_ERR_UNKNOWN_BUFFER);
    assert_int_equal(amp_cuda_status(), AMP_ERR_ARGUMENT);
    assert_int_equal(amp_cuda_status(), AMP_OK);
    amp_cuda_free(d);
}

/* Code that only knows amp.h may name device buffers. */
static void calls_of_amp_h_take_device_addresses(void **state) {
    (void)state;
    float *d = device_floats(8, AMP_TRACKED, 3, "d", 1.0f);
    assert_int_equal(amp_scale_buffer_as(FP16, 3, d + 1), AMP_OK);
    assert_true(d[0] == 65536.0f && d[7] == 65536.0f);
    assert_int_equal(amp_mark(d + 4, AMP_GRAD, 3, "g"), AMP_OK);
    assert_int_equal(amp_step_begin_as(FP16, 3), 1);
    amp_step_end_as(FP16, 3);
    assert_true(d[3] == 65536.0f && d[4] == 1.0f);
    float elsewhere[2] = {1, 1};
    assert_int_equal(amp_mark(elsewhere, AMP_GRAD, 3, "e"),
                     AMP_ERR_UNKNOWN_BUFFER);
    assert_int_equal(amp_scale_buffer_as(FP16, 3, elsewhere),
                     AMP_ERR_UNKNOWN_BUFFER);
    amp_cuda_free(d);
}

static void bf16_has_scale_one_and_still_checks(void **state) {
    (void)state;
    float *a = device_floats(4, AMP_GRAD, 10, "a", 2.0f);
    assert_true(amp_loss_scale_as(AMP_BF16, 10) == 1.0f);
    assert_int_equal(amp_step_begin_as(AMP_BF16, 10), 1);
    assert_true(a[0] == 2.0f);
    amp_step_end_as(AMP_BF16, 10);
    a[3] = -INFINITY;
    assert_int_equal(amp_step_begin_as(AMP_BF16, 10), 0);
    amp_step_end_as(AMP_BF16, 10);
    amp_cuda_free(a);
}

static void neutral_does_nothing(void **state) {
    (void)state;
    float *a = device_floats(4, AMP_GRAD_CARRY, 11, "a", INFINITY);
    size_t launches = fake.launches;
    assert_int_equal(amp_carry_in_as(AMP_FP32, 11), AMP_OK);
    assert_int_equal(amp_cuda_scale_as(AMP_FP32, 11, a, sizeof(float), NULL),
                     AMP_OK);
    assert_int_equal(amp_step_begin_as(AMP_FP32, 11), 1);
    amp_step_end_as(AMP_FP32, 11);
    assert_int_equal(fake.launches, launches);
    assert_int_equal(fake.synchronisations, 0);
    amp_cuda_free(a);
}

static void a_cuda_error_skips_the_step(void **state) {
    (void)state;
    float *a = device_floats(4, AMP_GRAD, 12, "a", 1.0f);
    fake.fail_launch = true;
    assert_int_equal(amp_step_begin_as(FP16, 12), 0);
    amp_step_end_as(FP16, 12);
    fake.fail_launch = false;
    assert_int_equal(amp_scaler_status(12), AMP_ERR_BACKEND);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    amp_cuda_free(a);
    float *none = NULL;
    fake.fail_malloc_after = 0;
    assert_int_equal(amp_cuda_malloc((void **)&none, 4, AMP_GRAD, 12, "none"),
                     cudaErrorMemoryAllocation);
}

static void the_self_check_finds_a_stale_copy(void **state) {
    (void)state;
    float *w = device_floats(16, AMP_PARAM, 13, "w", 1.0f);
    float one = 1.0f, zero = 0.0f, x[16] = {1}, c[16];
    cublasHandle_t handle;
    assert_int_equal(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
    amp_cuda_params_changed();
    for (int i = 0; i < 2; i++)
        amp_cublasSgemm_as(FP16, handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4,
                           &one, w, 4, x, 4, &zero, c, 4);
    assert_int_equal(amp_cuda_status(), AMP_OK);
    w[3] = 2.0f; /* nobody was told */
    amp_cublasSgemm_as(FP16, handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, w,
                       4, x, 4, &zero, c, 4);
    assert_int_equal(amp_cuda_status(), AMP_ERR_STALE_CAST);
    assert_true(c[3] == 2.0f); /* the FP32 original ran */
    cublasDestroy(handle);
    amp_cuda_free(w);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_good_step_unscales_all),
        TEST(an_overflow_skips_and_backs_off),
        TEST(host_and_device_step_together),
        TEST(unscale_before_clipping_happens_once),
        TEST(momentum_survives_a_skipped_step),
        TEST(marks_split_an_arena),
        TEST(registration_checks),
        TEST(a_dead_entry_gives_way),
        TEST(seeds_are_scaled),
        TEST(calls_of_amp_h_take_device_addresses),
        TEST(bf16_has_scale_one_and_still_checks),
        TEST(neutral_does_nothing),
        TEST(a_cuda_error_skips_the_step),
        TEST(a_gradient_that_cannot_be_registered_skips),
        TEST(the_self_check_finds_a_stale_copy),
    };
    setenv("AMP_CHECK_CASTS", "1", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
