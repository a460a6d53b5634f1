/* amp_cublasSgemm and its batched twin: operands, cache, fallbacks. */
#include "check.h"
#include "fake.h"

#include <amp/amp_cuda.h>

#include <stdbool.h>

static cublasHandle_t handle;

static int set_up(void **state) {
    (void)state;
    fake_reset();
    return cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS;
}

/* Every test has to leave nothing on the device. */
static int tear_down(void **state) {
    (void)state;
    cublasDestroy(handle);
    amp_cuda_release();
    (void)amp_cuda_status();
    return fake.allocations != 0 || amp_cuda_stats_get().bytes != 0;
}

typedef struct operands {
    int m, n, k, lda, ldb, ldc, batch;
    long long sa, sb, sc;
    float *a, *b, *c, *before;
} operands;

/* Column-major; every leading dimension has a gap. */
static operands make(int m, int n, int k, bool ta, bool tb, int gap,
                     int batch) {
    operands o = {.m = m, .n = n, .k = k, .batch = batch};
    o.lda = (ta ? k : m) + gap;
    o.ldb = (tb ? n : k) + gap;
    o.ldc = m + gap;
    o.sa = (long long)o.lda * (ta ? m : k) + gap;
    o.sb = (long long)o.ldb * (tb ? k : n) + gap;
    o.sc = (long long)o.ldc * n + gap;
    o.a = random_floats((size_t)(o.sa * batch), 1);
    o.b = random_floats((size_t)(o.sb * batch), 2);
    o.c = random_floats((size_t)(o.sc * batch), 3);
    o.before = random_floats((size_t)(o.sc * batch), 3);
    return o;
}

static void drop(operands *o) {
    free(o->a);
    free(o->b);
    free(o->c);
    free(o->before);
}

/* The row-major product C^T = op(B)^T op(A)^T is the same memory. */
static double error_of(const operands *o, bool ta, bool tb, float alpha,
                       float beta, int i, const float *c) {
    product p = {.transa = tb,
                 .transb = ta,
                 .m = o->n,
                 .n = o->m,
                 .k = o->k,
                 .alpha = alpha,
                 .beta = beta,
                 .a = o->b + i * o->sb,
                 .lda = o->ldb,
                 .b = o->a + i * o->sa,
                 .ldb = o->lda,
                 .ldc = o->ldc};
    return product_error(&p, o->before + i * o->sc, c + i * o->sc);
}

static cublasOperation_t op(bool trans) {
    return trans ? CUBLAS_OP_T : CUBLAS_OP_N;
}

static void gaps_untouched(const operands *o) {
    for (int i = 0; i < o->batch; i++)
        for (int col = 0; col < o->n; col++)
            for (int row = o->m; row < o->ldc; row++) {
                long long at = i * o->sc + (long long)col * o->ldc + row;
                assert_true(o->c[at] == o->before[at]);
            }
}

static void half_products_are_right(void **state) {
    (void)state;
    static const float alphas[] = {1.0f, -0.5f};
    static const float betas[] = {0.0f, 1.0f, 0.25f};
    for (int v = 0; v < 48; v++) {
        amp_dtype half = v & 1 ? AMP_BF16 : AMP_FP16;
        bool ta = v & 2, tb = v & 4;
        float alpha = alphas[v / 8 % 2], beta = betas[v / 16];
        operands o = make(13, 9, 21, ta, tb, v % 3, 1);
        assert_int_equal(amp_cublasSgemm_as(half, handle, op(ta), op(tb), o.m,
                                            o.n, o.k, &alpha, o.a, o.lda, o.b,
                                            o.ldb, &beta, o.c, o.ldc),
                         CUBLAS_STATUS_SUCCESS);
        double error = error_of(&o, ta, tb, alpha, beta, 0, o.c);
        assert_true(error < bound_of(half));
        assert_true(error > FP32_BOUND); /* it did go through half */
        gaps_untouched(&o);
        drop(&o);
    }
    assert_int_equal(fake.sgemm, 0);
    assert_int_equal(fake.gemm_ex, 48);
}

static void asks_for_fp32_accumulation(void **state) {
    (void)state;
    float one = 1.0f, zero = 0.0f;
    operands o = make(13, 9, 21, false, false, 0, 1);
    amp_cublasSgemm_as(AMP_BF16, handle, CUBLAS_OP_N, CUBLAS_OP_N, 13, 9, 21,
                       &one, o.a, 13, o.b, 21, &zero, o.c, 13);
    assert_int_equal(fake.last_compute, CUBLAS_COMPUTE_32F);
    assert_int_equal(fake.last_type, CUDA_R_16BF);
    assert_int_equal(fake.last_lda, 16); /* columns stay 16-byte aligned */
    drop(&o);
}

static void batches_are_right(void **state) {
    (void)state;
    float one = 1.0f, half_of = 0.5f;
    for (int v = 0; v < 8; v++) {
        bool ta = v & 1, tb = v & 2, shared = v & 4;
        operands o = make(10, 12, 7, ta, tb, 2, 5);
        if (shared)
            o.sa = 0;
        assert_int_equal(amp_cublasSgemmStridedBatched_as(
                             AMP_FP16, handle, op(ta), op(tb), o.m, o.n, o.k,
                             &one, o.a, o.lda, o.sa, o.b, o.ldb, o.sb, &half_of,
                             o.c, o.ldc, o.sc, o.batch),
                         CUBLAS_STATUS_SUCCESS);
        for (int i = 0; i < o.batch; i++)
            assert_true(error_of(&o, ta, tb, 1.0f, 0.5f, i, o.c) < FP16_BOUND);
        gaps_untouched(&o);
        drop(&o);
    }
    assert_int_equal(fake.gemm_ex, 8);
}

/* Heads side by side in one row: the matrices of the batch interleave. */
static void interleaved_batches_are_right(void **state) {
    (void)state;
    float one = 1.0f, zero = 0.0f;
    int heads = 4, size = 6, t = 5, ld = heads * size;
    float *x = random_floats((size_t)(ld * t), 9);
    float c[4 * 5 * 5], want[4 * 5 * 5];
    assert_int_equal(amp_cublasSgemmStridedBatched_as(
                         AMP_FP16, handle, CUBLAS_OP_T, CUBLAS_OP_N, t, t, size,
                         &one, x, ld, size, x, ld, size, &zero, c, t, t * t,
                         heads),
                     CUBLAS_STATUS_SUCCESS);
    cublasSgemmStridedBatched(handle, CUBLAS_OP_T, CUBLAS_OP_N, t, t, size,
                              &one, x, ld, size, x, ld, size, &zero, want, t,
                              t * t, heads);
    for (int i = 0; i < heads * t * t; i++)
        assert_true(fabsf(c[i] - want[i]) < 5e-3f);
    free(x);
}

static void neutral_is_the_original(void **state) {
    (void)state;
    float alpha = 0.7f, beta = 0.3f;
    operands o = make(13, 9, 21, true, false, 1, 1);
    amp_cublasSgemm_as(AMP_FP32, handle, CUBLAS_OP_T, CUBLAS_OP_N, o.m, o.n,
                       o.k, &alpha, o.a, o.lda, o.b, o.ldb, &beta, o.c, o.ldc);
    cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, o.m, o.n, o.k, &alpha, o.a,
                o.lda, o.b, o.ldb, &beta, o.before, o.ldc);
    assert_memory_equal(o.c, o.before, (size_t)o.sc * sizeof(float));
    assert_int_equal(fake.gemm_ex, 0);
    assert_int_equal(fake.launches, 0);
    drop(&o);
}

static void the_original_answers_bad_arguments(void **state) {
    (void)state;
    float one = 1.0f, x[64] = {0};
    assert_int_equal(amp_cublasSgemm_as(AMP_FP16, handle, CUBLAS_OP_N,
                                        CUBLAS_OP_N, -1, 2, 2, &one, x, 8, x, 8,
                                        &one, x, 8),
                     CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(amp_cublasSgemm_as(AMP_FP16, handle, CUBLAS_OP_N,
                                        CUBLAS_OP_N, 4, 4, 4, &one, x, 3, x, 4,
                                        &one, x, 4),
                     CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(amp_cublasSgemm_as(AMP_FP16, NULL, CUBLAS_OP_N,
                                        CUBLAS_OP_N, 4, 4, 4, &one, x, 4, x, 4,
                                        &one, x, 4),
                     CUBLAS_STATUS_NOT_INITIALIZED);
    /* k == 0 scales C. */
    float c[4] = {1, 2, 3, 4}, half_of = 0.5f;
    assert_int_equal(amp_cublasSgemm_as(AMP_FP16, handle, CUBLAS_OP_N,
                                        CUBLAS_OP_N, 2, 2, 0, &one, x, 2, x, 2,
                                        &half_of, c, 2),
                     CUBLAS_STATUS_SUCCESS);
    assert_true(c[0] == 0.5f && c[3] == 2.0f);
    assert_int_equal(fake.gemm_ex, 0);
}

static cublasStatus_t small_product(const float *a, float *c) {
    static const float one = 1.0f, zero = 0.0f;
    static float b[8 * 8];
    for (int i = 0; i < 64; i++)
        b[i] = i % 9 == 0 ? 1.0f : 0.0f; /* identity */
    return amp_cublasSgemm_as(AMP_FP16, handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8,
                              8, &one, a, 8, b, 8, &zero, c, 8);
}

static void failures_fall_back_to_fp32(void **state) {
    (void)state;
    float *a = random_floats(64, 4);
    float c[64];
    fake.fail_malloc_after = 0;
    assert_int_equal(small_product(a, c), CUBLAS_STATUS_SUCCESS);
    assert_memory_equal(a, c, sizeof c);
    fake.fail_malloc_after = (size_t)-1;
    fake.fail_launch = true;
    assert_int_equal(small_product(a, c), CUBLAS_STATUS_SUCCESS);
    /* Our error is not left for the program to find. */
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    fake.fail_launch = false;
    fake.gemm_ex_status = CUBLAS_STATUS_ARCH_MISMATCH;
    assert_int_equal(small_product(a, c), CUBLAS_STATUS_SUCCESS);
    assert_memory_equal(a, c, sizeof c);
    assert_int_equal(fake.sgemm, 3);
    fake.gemm_ex_status = CUBLAS_STATUS_SUCCESS;
    assert_int_equal(small_product(a, c), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(fake.sgemm, 3);
    free(a);
}

static void the_programs_own_error_stays(void **state) {
    (void)state;
    float *a = random_floats(64, 4);
    float c[64];
    /* A launch of the program that it has not checked yet. */
    fake.fail_launch = true;
    (void)fake_launch((dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL);
    fake.fail_launch = false;
    assert_int_equal(small_product(a, c), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(fake.gemm_ex, 1);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidConfiguration);
    free(a);
}

static void parameters_are_cast_once_a_step(void **state) {
    (void)state;
    float *w, c[64];
    float *host = random_floats(64, 5);
    assert_int_equal(
        amp_cuda_malloc((void **)&w, 64 * sizeof(float), AMP_PARAM, 3, "w"),
        cudaSuccess);
    memcpy(w, host, 64 * sizeof(float));
    amp_cuda_params_changed();
    uint64_t casts = amp_cuda_stats_get().casts;
    for (int i = 0; i < 3; i++)
        small_product(w, c);
    /* Three casts of the right operand, one of the parameter. */
    assert_int_equal(amp_cuda_stats_get().casts - casts, 4);
    assert_true(c[5] == amp_float_from_fp16(amp_fp16_from_float(host[5])));
    size_t mallocs = fake.mallocs;
    assert_int_equal(amp_step_begin_as(AMP_FP16, 3), 1);
    w[5] = 0.25f;
    /* Inside the step nothing kept is used. */
    small_product(w, c);
    assert_true(c[5] == 0.25f);
    w[5] = 0.5f;
    amp_step_end_as(AMP_FP16, 3);
    small_product(w, c);
    assert_true(c[5] == 0.5f);
    w[5] = 1.0f;
    amp_cuda_params_changed();
    small_product(w, c);
    assert_true(c[5] == 1.0f);
    /* A product may itself be the update. */
    float *same = random_floats(64, 6);
    small_product(same, w);
    small_product(w, c);
    assert_true(c[5] == amp_float_from_fp16(amp_fp16_from_float(same[5])));
    free(same);
    /* One workspace for the step, then nothing: memory has settled. */
    assert_true(fake.mallocs <= mallocs + 1);
    amp_cuda_free(w);
    free(host);
}

static void a_freed_parameter_leaves_no_copy(void **state) {
    (void)state;
    float *w, c[64];
    amp_cuda_malloc((void **)&w, 64 * sizeof(float), AMP_PARAM, 3, "w");
    cudaMemset(w, 0, 64 * sizeof(float));
    amp_cuda_params_changed();
    small_product(w, c);
    uint64_t bytes = amp_cuda_stats_get().bytes;
    amp_cuda_free(w);
    assert_int_equal(bytes - amp_cuda_stats_get().bytes, 64 * sizeof(uint16_t));
}

static void streams_have_their_own_copies(void **state) {
    (void)state;
    float *w, c[64];
    cudaStream_t other = (cudaStream_t)(void *)c; /* any other value */
    amp_cuda_malloc((void **)&w, 64 * sizeof(float), AMP_PARAM, 3, "w");
    cudaMemset(w, 0, 64 * sizeof(float));
    amp_cuda_params_changed();
    uint64_t before = amp_cuda_stats_get().cached;
    small_product(w, c);
    cublasSetStream(handle, other);
    small_product(w, c);
    assert_int_equal(amp_cuda_stats_get().cached - before, 0);
    assert_ptr_equal(fake.last_stream, other);
    small_product(w, c);
    assert_int_equal(amp_cuda_stats_get().cached - before, 1);
    amp_cuda_free(w);
}

static void a_captured_stream_casts_again(void **state) {
    (void)state;
    float *w, c[64];
    amp_cuda_malloc((void **)&w, 64 * sizeof(float), AMP_PARAM, 3, "w");
    cudaMemset(w, 0, 64 * sizeof(float));
    amp_cuda_params_changed();
    /* Not warmed up: no memory may be taken, so FP32 it is. */
    fake.capturing = true;
    assert_int_equal(small_product(w, c), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(fake.sgemm, 1);
    fake.capturing = false;
    small_product(w, c);
    fake.capturing = true;
    size_t launches = fake.launches;
    assert_int_equal(small_product(w, c), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(fake.launches - launches, 2); /* both operands */
    assert_int_equal(fake.sgemm, 1);
    fake.capturing = false;
    launches = fake.launches;
    small_product(w, c);
    /* What the graph left is not trusted outside it. */
    assert_int_equal(fake.launches - launches, 2);
    amp_cuda_free(w);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(half_products_are_right),
        TEST(asks_for_fp32_accumulation),
        TEST(batches_are_right),
        TEST(interleaved_batches_are_right),
        TEST(neutral_is_the_original),
        TEST(the_original_answers_bad_arguments),
        TEST(failures_fall_back_to_fp32),
        TEST(the_programs_own_error_stays),
        TEST(parameters_are_cast_once_a_step),
        TEST(a_freed_parameter_leaves_no_copy),
        TEST(streams_have_their_own_copies),
        TEST(a_captured_stream_casts_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
