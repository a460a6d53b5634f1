/* Rows of half buffers that are added up in FP32 and rounded once. */
#include "check.h"

#include <amp/amp_storage.h>

#include <pthread.h>

enum { MANY = 4096, ROWS = 9, N = 67 };

static uint16_t bits_as(amp_dtype type, float x) {
    uint16_t bits;
    if (type == AMP_FP16)
        amp_cast_to_fp16(&bits, &x, 1);
    else
        amp_cast_to_bf16(&bits, &x, 1);
    return bits;
}

static float as(amp_dtype type, uint16_t bits) {
    float x;
    if (type == AMP_FP16)
        amp_cast_from_fp16(&x, &bits, 1);
    else
        amp_cast_from_bf16(&x, &bits, 1);
    return x;
}

/* Each term is too small for half to see it beside what there is. */
static void rounds_once(amp_dtype type) {
    uint16_t row[N];
    amp_buffer b = {row, type};
    float wanted[N];
    const float term = 1.0f / 8192;
    for (int i = 0; i < N; i++) {
        wanted[i] = 1 + (float)i / 8;
        row[i] = bits_as(type, wanted[i]);
        assert_int_equal(bits_as(type, wanted[i] + term), row[i]);
    }
    float *sums = amp_sum_open(b, N);
    for (int i = 0; i < N; i++)
        assert_true(sums[i] >= wanted[i] && sums[i] <= wanted[i]);
    for (int k = 0; k < MANY; k++)
        for (int i = 0; i < N; i++) {
            sums[i] += term * (float)(i + 1);
            wanted[i] += term * (float)(i + 1);
        }
    for (int i = 0; i < N; i++)
        assert_int_equal(row[i], bits_as(type, 1 + (float)i / 8));
    amp_sum_close(sums, b, N);
    for (int i = 0; i < N; i++) {
        assert_int_equal(row[i], bits_as(type, wanted[i]));
        assert_true(as(type, row[i]) > 1.4f + (float)i / 8);
    }
}

static void fp16_is_rounded_once(void **state) {
    (void)state;
    rounds_once(AMP_FP16);
}

static void bf16_is_rounded_once(void **state) {
    (void)state;
    rounds_once(AMP_BF16);
}

/* More rows than a thread keeps, closed in another order. */
static void open_rows(uint16_t rows[ROWS][N], float base) {
    float *sums[ROWS];
    for (int r = 0; r < ROWS; r++) {
        for (int i = 0; i < N; i++)
            rows[r][i] = bits_as(AMP_FP16, base);
        sums[r] = amp_sum_open((amp_buffer){rows[r], AMP_FP16}, N - r);
    }
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < N - r; i++)
            sums[r][i] += (float)(r + i);
    for (int k = 0; k < ROWS; k++) {
        int r = k * 4 % ROWS;
        amp_sum_close(sums[r], (amp_buffer){rows[r], AMP_FP16}, N - r);
    }
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < N; i++)
            assert_int_equal(
                rows[r][i],
                bits_as(AMP_FP16, base + (i < N - r ? (float)(r + i) : 0)));
}

static void many_rows_at_a_time(void **state) {
    (void)state;
    uint16_t rows[ROWS][N];
    for (int again = 0; again < 3; again++)
        open_rows(rows, (float)again);
}

static void *in_thread(void *base) {
    uint16_t rows[ROWS][N];
    for (int again = 0; again < 50; again++)
        open_rows(rows, *(const float *)base + (float)again);
    return NULL;
}

static void threads_have_rows_of_their_own(void **state) {
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    float bases[THREADS];
    for (int i = 0; i < THREADS; i++) {
        bases[i] = (float)(100 * i);
        assert_int_equal(
            pthread_create(&threads[i], NULL, in_thread, &bases[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* A loop that does not run may have no memory. */
static void nothing_is_looked_at(void **state) {
    (void)state;
    uint16_t one = 0x3c00;
    amp_buffer none = {NULL, AMP_FP16}, b = {&one, AMP_BF16};
    amp_sum_close(amp_sum_open(none, 0), none, 0);
    amp_sum_close(amp_sum_open(none, -3), none, -3);
    amp_sum_close(amp_sum_open(b, INT64_MIN), b, INT64_MIN);
    assert_int_equal(one, 0x3c00);
}

static void floats_are_their_own_sums(void **state) {
    (void)state;
    float row[2] = {1, 2};
    amp_buffer b = {row, AMP_FP32};
    float *sums = amp_sum_open(b, 2);
    assert_ptr_equal(sums, row);
    sums[1] += 1.0f / (1 << 20);
    amp_sum_close(sums, b, 2);
    assert_int_equal(bits_of(row[1]), bits_of(2 + 1.0f / (1 << 20)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fp16_is_rounded_once),
        cmocka_unit_test(bf16_is_rounded_once),
        cmocka_unit_test(many_rows_at_a_time),
        cmocka_unit_test(threads_have_rows_of_their_own),
        cmocka_unit_test(nothing_is_looked_at),
        cmocka_unit_test(floats_are_their_own_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
