/* The CUDA kernels, compiled for the host, against the CPU's definitions. */
#include "check.h"
#include "fake.h"
#include "kernels_cuda.h"

#include <amp/amp_cuda.h>

#include <stdbool.h>

static uint16_t expected(amp_dtype half, float x) {
    return half == AMP_FP16 ? amp_fp16_from_float(x) : amp_bf16_from_float(x);
}

/* Any quiet NaN will do: the hardware drops the payload. */
static bool same_half(amp_dtype half, uint16_t a, uint16_t b) {
    unsigned exponent = half == AMP_FP16 ? 0x7c00u : 0x7f80u;
    unsigned quiet = half == AMP_FP16 ? 0x0200u : 0x0040u;
    bool a_nan = (a & 0x7fffu) > exponent;
    bool b_nan = (b & 0x7fffu) > exponent;
    if (a_nan || b_nan)
        return a_nan && b_nan && (a & quiet) != 0;
    return a == b;
}

/* Every exponent with mantissas around each rounding boundary, both signs. */
static size_t interesting(float *out) {
    static const uint32_t low[] = {
        0,        1,        0xfff,    0x1000,   0x1001,  0x1fff,  0x2000,
        0x3000,   0x7fff,   0x8000,   0x8001,   0xffff,  0x10000, 0x18000,
        0x7fefff, 0x7ff000, 0x7fffff, 0x400000, 0x7f8000};
    size_t n = 0;
    for (uint32_t sign = 0; sign < 2; sign++)
        for (uint32_t exponent = 0; exponent < 256; exponent++)
            for (size_t i = 0; i < sizeof low / sizeof *low; i++)
                out[n++] = float_of(sign << 31 | exponent << 23 | low[i]);
    return n;
}

static void casts_equal_the_cpu(void **state) {
    (void)state;
    static float x[2 * 256 * 32];
    size_t n = interesting(x);
    static uint16_t y[2 * 256 * 32];
    static float back[2 * 256 * 32];
    for (int h = 0; h < 2; h++) {
        amp_dtype half = h ? AMP_BF16 : AMP_FP16;
        amp_status (*narrow)(uint16_t *, const float *, size_t, cudaStream_t) =
            h ? amp_cuda_cast_to_bf16 : amp_cuda_cast_to_fp16;
        amp_status (*widen)(float *, const uint16_t *, size_t, cudaStream_t) =
            h ? amp_cuda_cast_from_bf16 : amp_cuda_cast_from_fp16;
        assert_int_equal(narrow(y, x, n, NULL), AMP_OK);
        assert_int_equal(widen(back, y, n, NULL), AMP_OK);
        for (size_t i = 0; i < n; i++) {
            if (!same_half(half, y[i], expected(half, x[i])))
                fail_msg("%08x -> %04x, CPU %04x", bits_of(x[i]), y[i],
                         expected(half, x[i]));
            float want =
                h ? amp_float_from_bf16(y[i]) : amp_float_from_fp16(y[i]);
            if (!(isnan(want) && isnan(back[i])))
                assert_int_equal(bits_of(back[i]), bits_of(want));
        }
    }
}

/* Every alignment and length around a chunk; nothing else is touched. */
static void flat_casts_at_every_alignment(void **state) {
    (void)state;
    float *x = random_floats(64, 1);
    _Alignas(16) uint16_t y[64];
    for (size_t from = 0; from < 4; from++)
        for (size_t to = 0; to < 8; to++)
            for (size_t n = 0; n < 40; n++) {
                memset(y, 0x55, sizeof y);
                assert_int_equal(
                    amp_cuda_cast_to_fp16(y + to, x + from, n, NULL), AMP_OK);
                for (size_t i = 0; i < 64; i++) {
                    bool in = i >= to && i < to + n;
                    assert_int_equal(y[i],
                                     in ? amp_fp16_from_float(x[from + i - to])
                                        : 0x5555);
                }
            }
    free(x);
}

static void check_pack(int64_t rows, int64_t cols, int64_t gap, int64_t batch,
                       int64_t batch_gap) {
    amp_cuda_matrices m = {.rows = rows,
                           .cols = cols,
                           .ld = rows + gap,
                           .batch = batch,
                           .stride = (rows + gap) * cols + batch_gap};
    float *x = random_floats((size_t)(m.stride * batch), 7);
    m.data = x;
    int64_t ld = (rows + 7) & ~(int64_t)7;
    size_t bytes = (size_t)(ld * cols * batch) * sizeof(uint16_t);
    uint16_t *y = NULL;
    uint32_t differs = 0;
    assert_int_equal(cudaMalloc((void **)&y, bytes), cudaSuccess);
    assert_int_equal(amp_cuda_launch_pack(AMP_FP16, y, ld, ld * cols, &m, NULL),
                     cudaSuccess);
    for (int64_t b = 0; b < batch; b++)
        for (int64_t c = 0; c < cols; c++)
            for (int64_t r = 0; r < rows; r++)
                assert_int_equal(
                    y[(b * cols + c) * ld + r],
                    amp_fp16_from_float(x[b * m.stride + c * m.ld + r]));
    assert_int_equal(
        amp_cuda_launch_compare(AMP_FP16, y, ld, ld * cols, &m, &differs, NULL),
        cudaSuccess);
    assert_int_equal(differs, 0);
    x[m.stride * (batch - 1) + m.ld * (cols - 1) + rows - 1] += 1.0f;
    assert_int_equal(
        amp_cuda_launch_compare(AMP_FP16, y, ld, ld * cols, &m, &differs, NULL),
        cudaSuccess);
    assert_int_equal(differs, 1);
    cudaFree(y);
    free(x);
}

static void packs_shapes(void **state) {
    (void)state;
    fake_reset();
    check_pack(1, 1, 0, 1, 0);
    check_pack(8, 5, 0, 1, 0);
    check_pack(7, 3, 0, 1, 0);
    check_pack(16, 9, 0, 4, 0);
    check_pack(16, 9, 4, 3, 12);
    check_pack(13, 300, 1, 2, 1);
    check_pack(2500, 2, 3, 1, 0);
    check_pack(10, 10, 0, 70000, 0);
    assert_in_range(fake.max_block, 1, 256);
}

/* More work than the largest grid covers in one sweep. */
static void loops_beyond_the_grid(void **state) {
    (void)state;
    size_t n = (size_t)4096 * 256 * 4 + 12345;
    float *x = malloc(n * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(i % 1000);
    assert_int_equal(amp_cuda_launch_scale(x, n, 4.0f, NULL), cudaSuccess);
    for (size_t i = 0; i < n; i++)
        assert_true(x[i] == 4.0f * (float)(i % 1000));
    free(x);
}

static void scales_at_every_alignment(void **state) {
    (void)state;
    for (size_t from = 0; from < 4; from++)
        for (size_t n = 0; n < 20; n++) {
            _Alignas(16) float x[32];
            for (size_t i = 0; i < 32; i++)
                x[i] = (float)i;
            assert_int_equal(amp_cuda_launch_scale(x + from, n, 8.0f, NULL),
                             cudaSuccess);
            for (size_t i = 0; i < 32; i++) {
                bool in = i >= from && i < from + n;
                assert_true(x[i] == (in ? 8.0f : 1.0f) * (float)i);
            }
        }
}

#define BUFFERS 5

static void unscale_finds_each_bad_element(void **state) {
    (void)state;
    static const float bad[] = {INFINITY, -INFINITY, NAN};
    _Alignas(16) float x[BUFFERS][23];
    /* Lengths and starts that reach the vector part and both its ends. */
    amp_cuda_piece pieces[BUFFERS];
    for (uint32_t b = 0; b < BUFFERS; b++)
        pieces[b] =
            (amp_cuda_piece){.data = x[b] + b % 2, .n = 22 - b, .buffer = b};
    for (uint32_t b = 0; b < BUFFERS; b++)
        for (uint32_t at = 0; at < pieces[b].n; at++) {
            for (uint32_t k = 0; k < BUFFERS; k++)
                for (uint32_t i = 0; i < 23; i++)
                    x[k][i] = (float)(k * 23 + i) * 1024.0f;
            pieces[b].data[at] = bad[(b + at) % 3];
            uint32_t flags[BUFFERS] = {0};
            assert_int_equal(amp_cuda_launch_unscale(pieces, BUFFERS,
                                                     1.0f / 1024, flags, NULL),
                             cudaSuccess);
            for (uint32_t k = 0; k < BUFFERS; k++)
                assert_int_equal(flags[k], k == b);
            for (uint32_t k = 0; k < BUFFERS; k++)
                for (uint32_t i = 0; i < 23; i++) {
                    float *p = &x[k][i];
                    bool in =
                        p >= pieces[k].data && p < pieces[k].data + pieces[k].n;
                    if (k == b && p == pieces[b].data + at)
                        assert_true(!isfinite(*p));
                    else
                        assert_true(*p == (float)(k * 23 + i) *
                                              (in ? 1.0f : 1024.0f));
                }
        }
}

static void unscale_by_one_writes_nothing(void **state) {
    (void)state;
    /* Signalling NaN: any product would make it quiet. */
    uint32_t words[5] = {0x7fa00001u, 0x3f800000u, 1u, 0x80000000u, 0u};
    float x[5];
    memcpy(x, words, sizeof x);
    amp_cuda_piece piece = {x, 5, 0};
    uint32_t flag = 0;
    assert_int_equal(amp_cuda_launch_unscale(&piece, 1, 1.0f, &flag, NULL),
                     cudaSuccess);
    assert_int_equal(flag, 1);
    assert_memory_equal(x, words, sizeof x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(casts_equal_the_cpu),
        cmocka_unit_test(flat_casts_at_every_alignment),
        cmocka_unit_test(packs_shapes),
        cmocka_unit_test(loops_beyond_the_grid),
        cmocka_unit_test(scales_at_every_alignment),
        cmocka_unit_test(unscale_finds_each_bad_element),
        cmocka_unit_test(unscale_by_one_writes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
