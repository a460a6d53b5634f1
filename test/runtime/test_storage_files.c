/* Copies, files and seeds of half buffers, built once per half type: against
 * memcpy, fwrite and fread of floats. */
#include "check.h"

#include <amp/amp_storage.h>

#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* More than two of the chunks that are converted at a time. */
#define MANY 2500

static float rounded(float x) {
    return amp_to_float(amp_to_half(x));
}

static amp_half *halves_of(const float *x, size_t n) {
    amp_half *h = malloc(n * sizeof *h);
    assert_non_null(h);
    for (size_t i = 0; i < n; i++)
        h[i] = amp_to_half(x[i]);
    return h;
}

static float *rounded_floats(size_t n, uint64_t seed) {
    float *x = random_floats(n, seed);
    for (size_t i = 0; i < n; i++)
        x[i] = rounded(x[i]);
    return x;
}

static void assert_values(const amp_half *h, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        assert_int_equal(bits_of(amp_to_float(h[i])), bits_of(x[i]));
}

/* ---- buffers and copies ---------------------------------------------------
 */

static void buffers_know_their_type(void **state) {
    (void)state;
    float floats[2] = {1, 2};
    amp_half halves[2] = {amp_to_half(1), amp_to_half(2)};
    const float *const_floats = floats;
    const amp_half *const_halves = halves;
    assert_int_equal(AMP_BUFFER(floats).type, AMP_FP32);
    assert_int_equal(AMP_BUFFER(const_floats).type, AMP_FP32);
    assert_int_equal(AMP_BUFFER(halves).type, AMP_HALF);
    assert_int_equal(AMP_BUFFER(const_halves).type, AMP_HALF);
    assert_ptr_equal(AMP_BUFFER(&halves[1]).data, &halves[1]);
    const_floats = floats;
    assert_ptr_equal(AMP_BUFFER(const_floats++).data, floats);
    assert_ptr_equal(const_floats, floats + 1);
    assert_null(AMP_NO_BUFFER.data);
}

static void copies(void **state) {
    (void)state;
    const size_t sizes[] = {0, 1, 7, MANY, 200000};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        size_t n = sizes[s];
        float *x = random_floats(n + 1, 1);
        float *y = random_floats(n + 1, 2);
        amp_half *h = halves_of(y, n + 1);
        amp_half *g = halves_of(y, n + 1);
        amp_copy(AMP_BUFFER(h), AMP_BUFFER(x), n);
        for (size_t i = 0; i < n; i++)
            assert_true(amp_to_float(h[i]) == rounded(x[i]));
        assert_true(amp_to_float(h[n]) == rounded(y[n]));
        amp_copy(AMP_BUFFER(g), AMP_BUFFER(h), n);
        assert_memory_equal(g, h, (n + 1) * sizeof *g);
        float last = y[n];
        amp_copy(AMP_BUFFER(y), AMP_BUFFER(g), n);
        for (size_t i = 0; i < n; i++)
            assert_true(y[i] == rounded(x[i]));
        assert_true(y[n] == last);
        amp_copy(AMP_BUFFER(y), AMP_BUFFER(x), n);
        assert_memory_equal(y, x, n * sizeof *y);
        free(x);
        free(y);
        free(h);
        free(g);
    }
}

/* ---- files ----------------------------------------------------------------
 */

static void assert_same_files(FILE *a, FILE *b) {
    assert_int_equal(ftell(a), ftell(b));
    rewind(a);
    rewind(b);
    int c;
    do {
        c = getc(a);
        assert_int_equal(c, getc(b));
    } while (c != EOF);
}

static void check_write(size_t size, size_t n) {
    float *x = rounded_floats(MANY + 1, 3);
    amp_half *h = halves_of(x, MANY + 1);
    FILE *want = tmpfile();
    FILE *got = tmpfile();
    assert_true(want && got);
    assert_int_equal(amp_fwrite(h, size, n, got), fwrite(x, size, n, want));
    assert_int_equal(amp_fwrite(h, 4, 3, got), fwrite(x, 4, 3, want));
    assert_same_files(got, want);
    fclose(want);
    fclose(got);
    free(x);
    free(h);
}

static void writes(void **state) {
    (void)state;
    check_write(4, MANY);
    check_write(4, 1);
    check_write(4, 0);
    check_write(0, 4);
    check_write(40, MANY / 10);
    check_write(MANY * 4, 1);
    check_write(1, MANY * 4);
    check_write(1, 4099); /* ends inside an element */
    check_write(7, 13);
}

/* Reads n items from a file that has only `bytes` bytes. */
static void check_read(size_t size, size_t n, size_t bytes) {
    float *x = rounded_floats(MANY + 1, 4);
    float *want = rounded_floats(MANY + 1, 5);
    amp_half *got = halves_of(want, MANY + 1);
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(x, 1, bytes, file), bytes);
    rewind(file);
    size_t items = fread(want, size, n, file);
    long at = ftell(file);
    int end = feof(file);
    rewind(file);
    assert_int_equal(amp_fread(got, size, n, file), items);
    assert_int_equal(ftell(file), at);
    assert_int_equal(feof(file), end);
    for (size_t i = 0; i <= MANY; i++)
        want[i] = rounded(want[i]);
    assert_values(got, want, MANY + 1);
    fclose(file);
    free(x);
    free(want);
    free(got);
}

static void reads(void **state) {
    (void)state;
    check_read(4, MANY, MANY * 4);
    check_read(4, MANY, MANY * 4 + 4);
    check_read(4, MANY, 4 * 1500 + 3); /* the file is short */
    check_read(4, MANY, 0);
    check_read(40, MANY / 10, 4 * 1507);
    check_read(MANY * 4, 1, MANY * 4);
    check_read(MANY * 4, 1, 400);
    check_read(1, MANY * 4, MANY * 4);
    check_read(1, 4099, MANY * 4);
    check_read(4, 0, 8);
    check_read(0, 4, 8);
}

static void a_full_disk_is_told(void **state) {
    (void)state;
    float *x = rounded_floats(MANY, 6);
    amp_half *h = halves_of(x, MANY);
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        skip();
    setvbuf(full, NULL, _IONBF, 0);
    assert_true(amp_fwrite(h, 4, MANY, full) < MANY);
    assert_true(ferror(full));
    fclose(full);
    free(x);
    free(h);
}

static void a_checkpoint_comes_back(void **state) {
    (void)state;
    float *x = rounded_floats(MANY, 7);
    amp_half *h = halves_of(x, MANY);
    amp_half back[MANY];
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(amp_fwrite(h, sizeof(float), MANY, file), MANY);
    assert_int_equal(ftell(file), MANY * sizeof(float));
    rewind(file);
    assert_int_equal(amp_fread(back, sizeof(float), MANY, file), MANY);
    assert_memory_equal(back, h, sizeof back);
    fclose(file);
    free(x);
    free(h);
}

/* ---- seeds ----------------------------------------------------------------
 */

/* Set by the harness: a static scale that every half type has. */
static void seeds(void **state) {
    (void)state;
    assert_true(amp_loss_scale(0) == 256.0f);
    float *x = random_floats(MANY + 1, 8);
    amp_half *h = halves_of(x, MANY + 1);
    assert_int_equal(amp_scale_half(0, h, MANY * sizeof *h), AMP_OK);
    for (size_t i = 0; i < MANY; i++)
        assert_true(amp_to_float(h[i]) == rounded(rounded(x[i]) * 256.0f));
    assert_true(amp_to_float(h[MANY]) == rounded(x[MANY]));
    assert_int_equal(amp_scale_half(0, NULL, 0), AMP_OK);
    assert_int_equal(amp_scale_half(0, h, sizeof *h + 1), AMP_ERR_ARGUMENT);
    assert_int_equal(amp_scale_half(99, h, sizeof *h), AMP_ERR_ARGUMENT);
    free(x);
    free(h);
}

static void whole_buffers(void **state) {
    (void)state;
    enum { N = 300 };
    amp_half *h = amp_malloc(N * sizeof *h, AMP_TRACKED, 0, "delta");
    assert_non_null(h);
    for (int i = 0; i < N; i++)
        h[i] = amp_to_half((float)i);
    assert_int_equal(amp_scale_buffer_half(0, h), AMP_OK);
    for (int i = 0; i < N; i++)
        assert_true(amp_to_float(h[i]) == rounded(rounded((float)i) * 256.0f));
    amp_free(h);
    amp_half unknown[1] = {amp_to_half(1)};
    assert_int_equal(amp_scale_buffer_half(0, unknown), AMP_ERR_UNKNOWN_BUFFER);
    assert_true(amp_to_float(unknown[0]) == 1.0f);
}

/* ---- scanf --------------------------------------------------------------- */

static void scanned_values_are_stored(void **state) {
    (void)state;
    amp_half h[3] = {amp_to_half(1), amp_to_half(2), amp_to_half(3)};
    int i = 1;
    assert_int_equal(amp_scanned(sscanf("2 -0.1 nan", "%d %f %f", &i,
                                        amp_scan(&h[0]), amp_scan(&h[i]))),
                     3);
    assert_true(amp_to_float(h[0]) == rounded(-0.1f));
    assert_true(isnan(amp_to_float(h[1])));
    assert_true(amp_to_float(h[2]) == 3.0f);
}

static void what_is_not_reached_stays(void **state) {
    (void)state;
    amp_half h[2] = {amp_to_half(1), amp_to_half(2)};
    assert_int_equal(
        amp_scanned(sscanf("0.5 x", "%f %f", amp_scan(&h[0]), amp_scan(&h[1]))),
        1);
    assert_true(amp_to_float(h[0]) == 0.5f);
    assert_true(amp_to_float(h[1]) == 2.0f);
    /* nothing is left over */
    h[0] = amp_to_half(4);
    assert_int_equal(amp_scanned(7), 7);
    assert_true(amp_to_float(h[0]) == 4.0f);
}

static void only_so_many_are_scanned(void **state) {
    (void)state;
    amp_half h[AMP_SCANS + 1];
    for (int i = 0; i <= AMP_SCANS; i++) {
        h[i] = amp_to_half(-1);
        *amp_scan(&h[i]) = (float)i;
    }
    amp_scanned(0);
    for (int i = 0; i < AMP_SCANS; i++)
        assert_true(amp_to_float(h[i]) == (float)i);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_know_their_type),
        cmocka_unit_test(copies),
        cmocka_unit_test(writes),
        cmocka_unit_test(reads),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(a_checkpoint_comes_back),
        cmocka_unit_test(seeds),
        cmocka_unit_test(whole_buffers),
        cmocka_unit_test(scanned_values_are_stored),
        cmocka_unit_test(what_is_not_reached_stays),
        cmocka_unit_test(only_so_many_are_scanned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
