/* The loss scale's state machine: torch's recorded behaviour, and what libamp
 * adds to it. SCALER_TRACES is the file that make_scaler_traces.py wrote. */
#include "check.h"
#include "scaler.h"

#include <float.h>
#include <limits.h>
#include <stdio.h>

static amp_scaler_options torch_like(float init, float growth, float backoff,
                                     int interval) {
    return (amp_scaler_options){.dynamic = 1,
                                .init_scale = init,
                                .growth_factor = growth,
                                .backoff_factor = backoff,
                                .growth_interval = interval,
                                .min_scale = 0.0f,
                                .max_scale = FLT_MAX,
                                .hysteresis = 1};
}

static void replay(FILE *f, amp_scaler *s, int steps) {
    char line[256];
    for (int i = 0; i < steps; i++) {
        int bad, stepped, tracker;
        char scale[64];
        assert_non_null(fgets(line, sizeof line, f));
        assert_int_equal(
            sscanf(line, "%d %d %63s %d", &bad, &stepped, scale, &tracker), 4);
        assert_int_equal(stepped, !bad);
        amp_scaler_update(s, bad != 0);
        assert_int_equal(bits_of(s->scale), bits_of(strtof(scale, NULL)));
        assert_int_equal(s->growth_tracker, tracker);
    }
}

static void replays_torch(void **state) {
    (void)state;
    FILE *f = fopen(SCALER_TRACES, "r");
    assert_non_null(f);
    char line[256];
    int traces = 0;
    while (fgets(line, sizeof line, f)) {
        char name[64], init[64], growth[64], backoff[64];
        int interval, steps;
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "trace %63s %63s %63s %63s %d %d", name,
                                init, growth, backoff, &interval, &steps),
                         6);
        amp_scaler s;
        amp_scaler_options o =
            torch_like(strtof(init, NULL), strtof(growth, NULL),
                       strtof(backoff, NULL), interval);
        amp_scaler_init(&s, &o);
        replay(f, &s, steps);
        traces++;
    }
    fclose(f);
    assert_true(traces >= 8);
}

static void defaults(void **state) {
    (void)state;
    amp_scaler_options o;
    amp_scaler_defaults(AMP_FP16, &o);
    assert_int_equal(o.dynamic, 1);
    assert_true(o.init_scale == 65536.0f && o.max_scale == 16777216.0f);
    assert_int_equal(o.growth_interval, 2000);
    assert_int_equal(amp_scaler_check(&o), AMP_OK);
    amp_scaler_defaults(AMP_BF16, &o);
    assert_int_equal(o.dynamic, 0);
    assert_true(o.init_scale == 1.0f && o.check_static == 1);
    amp_scaler_defaults(AMP_FP32, &o);
    assert_int_equal(o.dynamic, 0);
    assert_int_equal(o.check_static, 0);
}

static void refuses_nonsense(void **state) {
    (void)state;
    const amp_scaler_options good = torch_like(1024.0f, 2.0f, 0.5f, 10);
    amp_scaler_options o;
    assert_int_equal(amp_scaler_check(&good), AMP_OK);
#define REFUSES(field, value)                                                  \
    do {                                                                       \
        o = good;                                                              \
        o.field = value;                                                       \
        assert_int_equal(amp_scaler_check(&o), AMP_ERR_ARGUMENT);              \
    } while (0)
    REFUSES(growth_factor, 1.0f);
    REFUSES(growth_factor, NAN);
    REFUSES(backoff_factor, 1.0f);
    REFUSES(backoff_factor, 0.0f);
    REFUSES(growth_interval, 0);
    REFUSES(init_scale, 0.0f);
    REFUSES(init_scale, INFINITY);
    REFUSES(min_scale, 2048.0f);
    REFUSES(max_scale, 512.0f);
    REFUSES(hysteresis, 0);
    REFUSES(max_skips, -1);
#undef REFUSES
}

static void floor_holds_and_reports(void **state) {
    (void)state;
    amp_scaler_options o = torch_like(8.0f, 2.0f, 0.5f, 10);
    amp_scaler s;
    o.min_scale = 2.0f;
    o.max_skips = 3;
    amp_scaler_init(&s, &o);
    amp_scaler_update(&s, true);
    amp_scaler_update(&s, true);
    assert_true(s.scale == 2.0f);
    assert_int_equal(amp_scaler_outlook(&s), AMP_OUTLOOK_COLLAPSE);
    amp_scaler_update(&s, true);
    amp_scaler_update(&s, true);
    assert_int_equal(amp_scaler_verdict(&s), AMP_OK);
    amp_scaler_update(&s, false); /* a good step forgives */
    amp_scaler_update(&s, true);
    amp_scaler_update(&s, true);
    assert_int_equal(amp_scaler_verdict(&s), AMP_OK);
    amp_scaler_update(&s, true);
    assert_true(s.scale == 2.0f);
    assert_int_equal(amp_scaler_verdict(&s), AMP_ERR_SCALE_FLOOR);
}

static void cap_holds(void **state) {
    (void)state;
    amp_scaler_options o = torch_like(4.0f, 4.0f, 0.5f, 1);
    amp_scaler s;
    o.max_scale = 10.0f;
    amp_scaler_init(&s, &o);
    amp_scaler_update(&s, false);
    assert_true(s.scale == 10.0f);
    amp_scaler_update(&s, false);
    assert_true(s.scale == 10.0f);
}

/* Ends of the range: torch's own are in the traces. */
static void extremes(void **state) {
    (void)state;
    amp_scaler_options o = torch_like(FLT_MIN / 2, 2.0f, 0.5f, 1);
    amp_scaler s;
    assert_int_equal(amp_scaler_check(&o), AMP_ERR_ARGUMENT);
    o.init_scale = FLT_MIN; /* the least whose inverse is finite */
    assert_int_equal(amp_scaler_check(&o), AMP_OK);
    o.init_scale = 0x1p127f;
    amp_scaler_init(&s, &o);
    amp_scaler_update(&s, false); /* twice that would be inf */
    assert_true(s.scale == 0x1p127f);
    assert_int_equal(s.growth_tracker, 0);
    assert_true(s.inverse == 0x1p-127f);
    o.growth_factor = FLT_MAX;
    o.init_scale = 1.5f;
    o.max_scale = 1e30f;
    amp_scaler_init(&s, &o);
    amp_scaler_update(&s, false);
    assert_true(s.scale == 1.5f); /* not finite, so not even the cap */
    o.backoff_factor = FLT_MIN;
    o.min_scale = 0.75f;
    amp_scaler_init(&s, &o);
    amp_scaler_update(&s, true);
    assert_true(s.scale == 0.75f);
}

static void counters_end(void **state) {
    (void)state;
    amp_scaler_options o = torch_like(8.0f, 2.0f, 0.5f, 10);
    amp_scaler s;
    amp_scaler_init(&s, &o);
    assert_int_equal(
        amp_scaler_parse(&s,
                         "amp-scaler 1 scale=47800000 tracker=2147483647 "
                         "overflows=2147483647 floor=2147483647 settled=1 "
                         "steps=9 skipped=2 growth=40000000 backoff=3f000000 "
                         "interval=20\n"),
        AMP_OK);
    amp_scaler_update(&s, false);
    assert_int_equal(s.growth_tracker, INT_MAX);
    s.overflows = INT_MAX;
    amp_scaler_update(&s, true);
    assert_int_equal(s.overflows, INT_MAX);
}

/* A state saved under other limits comes within these. */
static void loads_within_its_limits(void **state) {
    (void)state;
    amp_scaler_options o = torch_like(1024.0f, 2.0f, 0.5f, 10);
    amp_scaler s;
    char text[512];
    const float scales[3] = {0.125f, 2048.0f, 1e30f};
    const float wanted[3] = {512.0f, 2048.0f, 4096.0f};
    for (int i = 0; i < 3; i++) {
        o.min_scale = 0.0f;
        o.max_scale = FLT_MAX;
        o.init_scale = scales[i];
        amp_scaler_init(&s, &o);
        amp_scaler_print(&s, text, sizeof text);
        o.min_scale = 512.0f;
        o.max_scale = 4096.0f;
        o.init_scale = 1024.0f;
        amp_scaler_init(&s, &o);
        assert_int_equal(amp_scaler_parse(&s, text), AMP_OK);
        assert_true(s.scale == wanted[i]);
    }
}

static void hysteresis_waits(void **state) {
    (void)state;
    amp_scaler_options o = torch_like(1024.0f, 2.0f, 0.5f, 100);
    amp_scaler s;
    o.hysteresis = 3;
    amp_scaler_init(&s, &o);
    amp_scaler_update(&s, true);
    amp_scaler_update(&s, true);
    assert_true(s.scale == 1024.0f);
    amp_scaler_update(&s, false);
    amp_scaler_update(&s, true);
    amp_scaler_update(&s, true);
    assert_true(s.scale == 1024.0f);
    amp_scaler_update(&s, true);
    assert_true(s.scale == 512.0f);
    amp_scaler_update(&s, true); /* still in a row */
    assert_true(s.scale == 256.0f);
}

static void static_scale_stays(void **state) {
    (void)state;
    amp_scaler_options o = {.dynamic = 0, .init_scale = 256.0f};
    amp_scaler s;
    assert_int_equal(amp_scaler_check(&o), AMP_OK);
    amp_scaler_init(&s, &o);
    for (int i = 0; i < 5000; i++)
        amp_scaler_update(&s, i % 7 == 0);
    assert_true(s.scale == 256.0f);
    assert_int_equal(
        amp_scaler_parse(&s, "amp-scaler 1 scale=47800000 tracker=3 "
                             "overflows=0 floor=0 settled=1 steps=9 skipped=2 "
                             "growth=40000000 backoff=3f000000 interval=20\n"),
        AMP_OK);
    assert_true(s.scale == 256.0f && s.steps == 9);
    assert_true(s.inverse == 0.00390625f);
}

static void outlook(void **state) {
    (void)state;
    amp_scaler_options o = torch_like(65536.0f, 2.0f, 0.5f, 10);
    amp_scaler s;
    amp_scaler_init(&s, &o);
    assert_int_equal(amp_scaler_outlook(&s), AMP_OUTLOOK_CALIBRATION);
    amp_scaler_update(&s, false);
    for (int i = 0; i < 15; i++) {
        assert_int_equal(amp_scaler_outlook(&s), AMP_OUTLOOK_CALIBRATION);
        amp_scaler_update(&s, true);
    }
    amp_scaler_update(&s, true);
    assert_int_equal(amp_scaler_outlook(&s), AMP_OUTLOOK_COLLAPSE);
}

/* ---- saved state -------------------------------------------------------- */

static void resumes_where_it_was(void **state) {
    (void)state;
    amp_scaler_options o = torch_like(1000.0f, 1.5f, 0.75f, 4);
    amp_scaler a;
    amp_scaler b;
    char text[512];
    amp_scaler_init(&a, &o);
    for (int i = 0; i < 21; i++)
        amp_scaler_update(&a, i % 5 == 0);
    size_t need = amp_scaler_print(&a, NULL, 0);
    assert_true(need > 0 && need < sizeof text);
    assert_int_equal(amp_scaler_print(&a, text, sizeof text), need);
    assert_int_equal(strlen(text), need);
    o = torch_like(65536.0f, 2.0f, 0.5f, 2000);
    amp_scaler_init(&b, &o);
    assert_int_equal(amp_scaler_parse(&b, text), AMP_OK);
    for (int i = 0; i < 50; i++) {
        amp_scaler_update(&a, i % 6 == 0);
        amp_scaler_update(&b, i % 6 == 0);
        assert_int_equal(bits_of(a.scale), bits_of(b.scale));
        assert_int_equal(a.growth_tracker, b.growth_tracker);
    }
}

static void refuses_malformed_state(void **state) {
    (void)state;
    amp_scaler_options o = torch_like(1000.0f, 1.5f, 0.75f, 4);
    amp_scaler s;
    char text[512];
    amp_scaler_init(&s, &o);
    amp_scaler_print(&s, text, sizeof text);
    for (size_t cut = 0; cut + 2 < strlen(text); cut++) {
        char part[512];
        memcpy(part, text, cut);
        part[cut] = '\0';
        assert_int_equal(amp_scaler_parse(&s, part), AMP_ERR_FORMAT);
    }
    const char *bad[] = {
        "",
        "amp-scaler 2 scale=47800000 tracker=0 overflows=0 floor=0 settled=0 "
        "steps=0 skipped=0 growth=40000000 backoff=3f000000 interval=2000\n",
        "amp-scaler 1 scale=7f800000 tracker=0 overflows=0 floor=0 settled=0 "
        "steps=0 skipped=0 growth=40000000 backoff=3f000000 interval=2000\n",
        "amp-scaler 1 scale=47800000 tracker=-1 overflows=0 floor=0 settled=0 "
        "steps=0 skipped=0 growth=40000000 backoff=3f000000 interval=2000\n",
        "amp-scaler 1 scale=47800000 tracker=0 overflows=0 floor=0 settled=0 "
        "steps=0 skipped=0 growth=3f000000 backoff=3f000000 interval=2000\n",
        "amp-scaler 1 scale=47800000 tracker=0 overflows=0 floor=0 settled=0 "
        "steps=0 skipped=0 growth=40000000 backoff=3f000000 interval=20x\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(amp_scaler_parse(&s, bad[i]), AMP_ERR_FORMAT);
    assert_true(s.scale == 1000.0f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replays_torch),
        cmocka_unit_test(defaults),
        cmocka_unit_test(refuses_nonsense),
        cmocka_unit_test(floor_holds_and_reports),
        cmocka_unit_test(cap_holds),
        cmocka_unit_test(extremes),
        cmocka_unit_test(counters_end),
        cmocka_unit_test(loads_within_its_limits),
        cmocka_unit_test(hysteresis_waits),
        cmocka_unit_test(static_scale_stays),
        cmocka_unit_test(outlook),
        cmocka_unit_test(resumes_where_it_was),
        cmocka_unit_test(refuses_malformed_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
