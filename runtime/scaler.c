#include "scaler.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Skips in a row, once a step has been taken, that no longer look like a
 * search for the right scale: from 65536 they lead below 1. */
#define COLLAPSE_SKIPS 16

void amp_scaler_defaults(amp_dtype half, amp_scaler_options *options) {
    if (!options)
        return;
    *options = (amp_scaler_options){
        .dynamic = half == AMP_FP16,
        .init_scale = half == AMP_FP16 ? 65536.0f : 1.0f,
        .growth_factor = 2.0f,
        .backoff_factor = 0.5f,
        .growth_interval = 2000,
        .min_scale = 1.0f,
        .max_scale = 16777216.0f,
        .hysteresis = 1,
        .max_skips = 0,
        .check_static = half != AMP_FP32,
    };
}

amp_status amp_scaler_check(const amp_scaler_options *o) {
    /* The inverse of anything less would be inf. */
    if (!isnormal(o->init_scale) || o->init_scale < 0.0f)
        return AMP_ERR_ARGUMENT;
    if (!o->dynamic)
        return AMP_OK;
    bool factors = o->growth_factor > 1.0f && isfinite(o->growth_factor) &&
                   o->backoff_factor > 0.0f && o->backoff_factor < 1.0f;
    bool limits = o->min_scale >= 0.0f && o->max_scale >= o->min_scale &&
                  o->init_scale >= o->min_scale &&
                  o->init_scale <= o->max_scale;
    bool counts =
        o->growth_interval > 0 && o->hysteresis > 0 && o->max_skips >= 0;
    return factors && limits && counts ? AMP_OK : AMP_ERR_ARGUMENT;
}

static void set_scale(amp_scaler *s, float scale) {
    s->scale = scale;
    s->inverse = (float)(1.0 / (double)scale);
}

void amp_scaler_init(amp_scaler *s, const amp_scaler_options *options) {
    *s = (amp_scaler){.options = *options};
    set_scale(s, options->init_scale);
}

static bool at_floor(const amp_scaler *s) {
    return !s->options.dynamic || s->scale <= s->options.min_scale;
}

static void count(int *counter) {
    if (*counter < INT_MAX)
        ++*counter;
}

static void back_off(amp_scaler *s) {
    s->growth_tracker = 0;
    if (s->overflows < s->options.hysteresis)
        return;
    float next = (float)((double)s->scale * (double)s->options.backoff_factor);
    set_scale(s, next < s->options.min_scale ? s->options.min_scale : next);
}

static void grow(amp_scaler *s) {
    count(&s->growth_tracker);
    /* Equality, as in torch: an interval made shorter than the tracker stops
     * the growth until the next overflow. */
    if (s->growth_tracker != s->options.growth_interval)
        return;
    s->growth_tracker = 0;
    float next = (float)((double)s->scale * (double)s->options.growth_factor);
    if (!isfinite(next))
        return;
    set_scale(s, next > s->options.max_scale ? s->options.max_scale : next);
}

void amp_scaler_update(amp_scaler *s, bool overflow) {
    s->steps++;
    if (!overflow) {
        s->settled = true;
        s->overflows = 0;
        s->skips_at_floor = 0;
        if (s->options.dynamic)
            grow(s);
        return;
    }
    s->skipped++;
    count(&s->overflows);
    if (at_floor(s))
        count(&s->skips_at_floor);
    if (s->options.dynamic)
        back_off(s);
}

amp_outlook amp_scaler_outlook(const amp_scaler *s) {
    if (at_floor(s) || s->scale <= 1.0f)
        return AMP_OUTLOOK_COLLAPSE;
    if (s->settled && s->overflows >= COLLAPSE_SKIPS)
        return AMP_OUTLOOK_COLLAPSE;
    return AMP_OUTLOOK_CALIBRATION;
}

amp_status amp_scaler_verdict(const amp_scaler *s) {
    bool give_up =
        s->options.max_skips > 0 && s->skips_at_floor >= s->options.max_skips;
    return give_up ? AMP_ERR_SCALE_FLOOR : AMP_OK;
}

/* ---- text -------------------------------------------------------------- */

/* Floats are written as their bits: exact, and free of the decimal point that
 * the locale chooses. */
static uint32_t bits_of(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static float float_of(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

size_t amp_scaler_print(const amp_scaler *s, char *buffer, size_t size) {
    int n = snprintf(
        buffer, size,
        "amp-scaler 1 scale=%08" PRIx32 " tracker=%d overflows=%d floor=%d "
        "settled=%d steps=%" PRIu64 " skipped=%" PRIu64 " growth=%08" PRIx32
        " backoff=%08" PRIx32 " interval=%d\n",
        bits_of(s->scale), s->growth_tracker, s->overflows, s->skips_at_floor,
        s->settled ? 1 : 0, s->steps, s->skipped,
        bits_of(s->options.growth_factor), bits_of(s->options.backoff_factor),
        s->options.growth_interval);
    return n < 0 ? 0 : (size_t)n;
}

amp_status amp_scaler_parse(amp_scaler *s, const char *text) {
    uint32_t scale, growth, backoff;
    int settled;
    int end = -1;
    amp_scaler t = *s;
    int got = sscanf(text,
                     "amp-scaler 1 scale=%8" SCNx32
                     " tracker=%d overflows=%d floor=%d "
                     "settled=%d steps=%" SCNu64 " skipped=%" SCNu64
                     " growth=%8" SCNx32 " backoff=%8" SCNx32 " interval=%d%n",
                     &scale, &t.growth_tracker, &t.overflows, &t.skips_at_floor,
                     &settled, &t.steps, &t.skipped, &growth, &backoff,
                     &t.options.growth_interval, &end);
    if (got != 10 || end < 0 || (text[end] != '\n' && text[end] != '\0'))
        return AMP_ERR_FORMAT;
    t.scale = float_of(scale);
    t.settled = settled != 0;
    t.options.growth_factor = float_of(growth);
    t.options.backoff_factor = float_of(backoff);
    bool sane = isfinite(t.scale) && t.scale > 0.0f && t.growth_tracker >= 0 &&
                t.overflows >= 0 && t.skips_at_floor >= 0;
    bool factors =
        isfinite(t.options.growth_factor) && t.options.growth_factor > 1.0f &&
        t.options.backoff_factor > 0.0f && t.options.backoff_factor < 1.0f &&
        t.options.growth_interval > 0;
    if (!sane || !factors)
        return AMP_ERR_FORMAT;
    /* Saved under other limits, it has to find its way within these. */
    float within =
        fminf(fmaxf(t.scale, s->options.min_scale), s->options.max_scale);
    set_scale(&t, s->options.dynamic ? within : s->scale);
    *s = t;
    return AMP_OK;
}
