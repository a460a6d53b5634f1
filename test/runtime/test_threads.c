/* Many threads at once: products from shared parameters, the registry, and
 * casts, each result compared with what one thread alone gets. */
#include "check.h"

#include <amp/amp_storage.h>
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, ROUNDS = 60, M = 40, N = 64, K = 72 };

static float *weight;
static float *input;
static float wanted[M * N];
static atomic_int wrong;

static void *multiply(void *unused) {
    (void)unused;
    float *c = malloc(M * N * sizeof *c);
    if (!c)
        return NULL;
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 10 == 0)
            amp_params_changed(); /* the values stay; the casts are remade */
        amp_status status = amp_gemm_as(AMP_BF16, 0, 1, M, N, K, 1.0f, input, K,
                                        weight, K, 0.0f, c, N);
        if (status != AMP_OK || memcmp(c, wanted, sizeof wanted) != 0)
            atomic_fetch_add(&wrong, 1);
    }
    free(c);
    return NULL;
}

/* The input and the result in half: scratch memory for both, by thread. */
static uint16_t half_input[M * K];
static uint16_t wanted_halves[M * N];

static amp_status multiply_mixed(uint16_t *c) {
    amp_buffer in = {half_input, AMP_BF16};
    amp_buffer out = {c, AMP_BF16};
    return amp_gemm_mixed_as(AMP_BF16, 0, 1, M, N, K, 1.0f, in, K,
                             amp_buffer_of_floats(weight), K, 0.0f, out, N);
}

static void *multiply_in_half(void *unused) {
    (void)unused;
    uint16_t c[M * N];
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 10 == 0)
            amp_params_changed();
        memset(c, 0xff, sizeof c);
        if (multiply_mixed(c) != AMP_OK ||
            memcmp(c, wanted_halves, sizeof c) != 0)
            atomic_fetch_add(&wrong, 1);
    }
    return NULL;
}

static void *allocate(void *seed) {
    uint64_t state = *(uint64_t *)seed;
    for (int i = 0; i < ROUNDS * 20; i++) {
        size_t n = 1 + next_random(&state) % 200;
        float *p = amp_malloc(n * sizeof *p, AMP_PARAM, i % 16, "p");
        if (!p)
            continue;
        amp_mark(p + n / 2, AMP_GRAD, i % 16, "half");
        p[n - 1] = 1.0f;
        p = amp_realloc(p, 2 * n * sizeof *p, AMP_PARAM, 0, "p");
        amp_free(p);
    }
    return NULL;
}

/* Each thread has an optimizer of its own and buffers that come and go. */
static void *train(void *number) {
    int group = 8 + (int)*(uint64_t *)number;
    for (int i = 0; i < ROUNDS; i++) {
        float *g = amp_malloc(64 * sizeof *g, AMP_GRAD, group, "g");
        if (!g)
            continue;
        for (int k = 0; k < 64; k++)
            g[k] = 2.0f * amp_loss_scale_as(AMP_BF16, group);
        amp_unscale_as(AMP_BF16, group);
        if (amp_step_begin_as(AMP_BF16, group) != 1 || g[63] != 2.0f ||
            amp_scaler_status(group) != AMP_OK)
            atomic_fetch_add(&wrong, 1);
        amp_step_end_as(AMP_BF16, group);
        amp_free(g);
    }
    return NULL;
}

/* One group's seed, scaled element by element by a team. */
static void *seed(void *unused) {
    (void)unused;
    for (int i = 0; i < ROUNDS * 100; i++)
        if (amp_loss_scale_as(AMP_FP16, 7) != 65536.0f)
            atomic_fetch_add(&wrong, 1);
    return NULL;
}

static void in_parallel(void *(*body)(void *)) {
    pthread_t threads[THREADS];
    uint64_t seeds[THREADS];
    for (uint64_t i = 0; i < THREADS; i++) {
        seeds[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, body, &seeds[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void products_are_right(void **state) {
    (void)state;
    weight = amp_malloc(N * K * sizeof *weight, AMP_PARAM, 0, "weight");
    input = random_floats(M * K, 1);
    float *values = random_floats(N * K, 2);
    memcpy(weight, values, N * K * sizeof *weight);
    assert_int_equal(amp_gemm_as(AMP_BF16, 0, 1, M, N, K, 1.0f, input, K,
                                 weight, K, 0.0f, wanted, N),
                     AMP_OK);
    amp_params_changed();
    in_parallel(multiply);
    assert_int_equal(atomic_load(&wrong), 0);
    amp_cast_to_bf16(half_input, input, M * K);
    assert_int_equal(multiply_mixed(wanted_halves), AMP_OK);
    in_parallel(multiply_in_half);
    assert_int_equal(atomic_load(&wrong), 0);
    free(values);
    free(input);
    amp_free(weight);
}

static void registry_holds(void **state) {
    (void)state;
    in_parallel(allocate);
    float *p = amp_malloc(4, AMP_PARAM, 0, "p");
    assert_int_equal(amp_register(p, 4, AMP_GRAD, 0, "p"), AMP_OK);
    amp_free(p);
}

static void groups_are_apart(void **state) {
    (void)state;
    in_parallel(train);
    in_parallel(seed);
    assert_int_equal(atomic_load(&wrong), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_right),
        cmocka_unit_test(registry_holds),
        cmocka_unit_test(groups_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
