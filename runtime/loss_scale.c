/* loss_scale.c - groups: a scaler each, and what happens at their step.
 *
 * A group goes READY -> UNSCALED (amp_unscale) -> STEPPING (amp_step_begin) ->
 * READY (amp_step_end). An iteration that is left half-way (`if (isnan(norm))
 * continue;`) leaves it in between; that shows when the next one carries in, or
 * unscales after it has asked for the scale, and is then ended for it: the next
 * gradients are scaled, and must not be taken for unscaled ones. Calls of one
 * group must not overlap, so only what amp_loss_scale, amp_unscale_value and
 * amp_stepped touch is atomic.
 */
#include <amp/amp.h>

#include "buffers.h"
#include "cast_cache.h"
#include "device.h"
#include "environment.h"
#include "gradients.h"
#include "log.h"
#include "mixed.h"
#include "scaler.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef enum group_state { READY, UNSCALED, STEPPING } group_state;

typedef struct amp_group {
    atomic_bool open; /* scaler and state are set up */
    bool configured;
    amp_scaler_options options; /* of amp_scaler_configure */
    char *loaded;               /* state given before the first use, or NULL */
    amp_scaler scaler;
    group_state state;
    bool overflow;      /* found in a gradient buffer this step */
    atomic_bool seeded; /* the scale was asked for since gradients were last
                           unscaled */
    atomic_bool fused;  /* amp_unscale_value was called this step */
    atomic_bool fused_overflow;
    atomic_int stepped; /* was the last step taken */
    amp_status failure; /* sticky */
    bool incomplete;    /* a gradient could not be registered or carried */
    atomic_flag said_empty;
    atomic_flag said_order;
    atomic_flag said_abandoned;
    atomic_flag said_floor;
} amp_group;

static amp_group groups[AMP_MAX_GROUPS];
static pthread_mutex_t groups_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- setting up -------------------------------------------------------- */

/* A scale whose inverse is inf would turn gradients into NaN after they were
 * found to be finite. */
static void keep_inverse_finite(amp_scaler_options *o) {
    if (o->min_scale < FLT_MIN)
        o->min_scale = FLT_MIN;
}

static void open_group(amp_group *g, amp_dtype half) {
    pthread_mutex_lock(&groups_lock);
    if (!atomic_load(&g->open)) {
        amp_scaler_options options = g->options;
        if (!g->configured)
            amp_scaler_defaults(half, &options);
        amp_environment_apply(&options);
        keep_inverse_finite(&options);
        amp_scaler_init(&g->scaler, &options);
        if (g->loaded)
            amp_scaler_parse(&g->scaler, g->loaded);
        free(g->loaded);
        g->loaded = NULL;
        atomic_store(&g->stepped, 1);
        atomic_store_explicit(&g->open, true, memory_order_release);
    }
    pthread_mutex_unlock(&groups_lock);
}

/* The group, set up, or NULL for a number out of range. */
static amp_group *group_of(amp_dtype half, int group) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (group < 0 || group >= AMP_MAX_GROUPS) {
        if (amp_once(&said))
            amp_log(AMP_LOG_ERROR, "group %d is not in 0..%d", group,
                    AMP_MAX_GROUPS - 1);
        return NULL;
    }
    amp_group *g = &groups[group];
    amp_note_half(half);
    if (!atomic_load_explicit(&g->open, memory_order_acquire))
        open_group(g, half);
    return g;
}

amp_status amp_scaler_configure(int group, const amp_scaler_options *options) {
    if (!options || group < -1 || group >= AMP_MAX_GROUPS ||
        amp_scaler_check(options) != AMP_OK)
        return AMP_ERR_ARGUMENT;
    int first = group < 0 ? 0 : group;
    int last = group < 0 ? AMP_MAX_GROUPS - 1 : group;
    amp_status status = AMP_OK;
    pthread_mutex_lock(&groups_lock);
    for (int i = first; i <= last; i++)
        if (atomic_load(&groups[i].open))
            status = AMP_ERR_STATE;
    for (int i = first; i <= last && status == AMP_OK; i++) {
        groups[i].options = *options;
        groups[i].configured = true;
    }
    pthread_mutex_unlock(&groups_lock);
    return status;
}

/* Does an overflow matter to this group? */
static bool checks(const amp_group *g) {
    return g->scaler.options.dynamic || g->scaler.options.check_static;
}

/* ---- scaling ----------------------------------------------------------- */

/* Called per element of a seed, by threads too: written only once. */
static float seed(amp_group *g) {
    if (!atomic_load_explicit(&g->seeded, memory_order_relaxed))
        atomic_store_explicit(&g->seeded, true, memory_order_relaxed);
    return g->scaler.scale;
}

float amp_loss_scale_as(amp_dtype half, int group) {
    amp_group *g = group_of(half, group);
    return g ? seed(g) : 1.0f;
}

amp_status amp_scale_as(amp_dtype half, int group, float *x, size_t bytes) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    amp_group *g = group_of(half, group);
    if (!g || (!x && bytes != 0) || bytes % sizeof(float) != 0) {
        /* Code that was rewritten does not look at the status. */
        if (amp_once(&said))
            amp_log(AMP_LOG_ERROR, "amp_scale of %zu bytes: %s", bytes,
                    amp_status_string(AMP_ERR_ARGUMENT));
        return AMP_ERR_ARGUMENT;
    }
    float scale = seed(g);
    if (scale != 1.0f)
        amp_multiply(x, bytes / sizeof(float), scale);
    return AMP_OK;
}

static amp_status scale_device_buffer(float *x, float scale) {
    const amp_device *device = amp_device_get();
    return device ? device->scale_buffer(x, scale) : AMP_ERR_UNKNOWN_BUFFER;
}

amp_status amp_scale_buffer_as(amp_dtype half, int group, float *x) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    amp_group *g = group_of(half, group);
    amp_segment s;
    if (!g)
        return AMP_ERR_ARGUMENT;
    float scale = seed(g);
    if (!amp_buffers_find(x, &s)) {
        amp_status status = scale_device_buffer(x, scale);
        if (status != AMP_OK && amp_once(&said))
            amp_log(AMP_LOG_ERROR, "amp_scale_buffer: %s",
                    amp_status_string(status));
        return status;
    }
    if (scale != 1.0f)
        amp_multiply((float *)(void *)s.start, amp_segment_floats(&s), scale);
    return AMP_OK;
}

/* ---- unscaling --------------------------------------------------------- */

/* What to say about a gradient that overflowed. */
typedef struct unscale_pass {
    amp_group *group;
    int number;
    float factor;
    bool inject;
    bool overflow;
} unscale_pass;

static const char *outlook_text(const amp_group *g) {
    switch (amp_scaler_outlook(&g->scaler)) {
    case AMP_OUTLOOK_CALIBRATION:
        return "calibration: the scale is finding its level";
    case AMP_OUTLOOK_COLLAPSE:
        return "collapse: a smaller scale will not help, look for what makes "
               "the gradient overflow";
    }
    return "";
}

/* An inf or NaN survives the product, so it is still there to be found. */
static void log_overflow(const unscale_pass *pass, const amp_segment *s) {
    const float *x = (const float *)(const void *)s->start;
    size_t n = amp_segment_floats(s);
    size_t i = 0;
    while (i < n && isfinite(x[i]))
        i++;
    const amp_scaler *scaler = &pass->group->scaler;
    amp_log(AMP_LOG_WARN,
            "group %d, step %llu: %s in gradient '%s' at element %zu of %zu, "
            "scale %g; step skipped (%s)",
            pass->number, (unsigned long long)scaler->steps,
            i < n && isnan(x[i]) ? "NaN" : "inf", amp_segment_name(s), i, n,
            (double)scaler->scale, outlook_text(pass->group));
}

static bool unscale_segment(amp_segment *s, void *context) {
    unscale_pass *pass = context;
    float *x = (float *)(void *)s->start;
    size_t n = amp_segment_floats(s);
    if (n == 0)
        return true;
    if (pass->inject) {
        x[0] = INFINITY;
        pass->inject = false;
    }
    bool finite = amp_multiply(x, n, pass->factor);
    if (!finite && checks(pass->group)) {
        /* The first names the step; the rest is one step's detail. */
        if (!pass->overflow || amp_log_enabled(AMP_LOG_INFO))
            log_overflow(pass, s);
        pass->overflow = true;
    }
    return true;
}

/* Gradients in device memory. Returns how many the group has. */
static size_t unscale_device(unscale_pass *pass) {
    const amp_device *device = amp_device_get();
    amp_group *g = pass->group;
    if (!device)
        return 0;
    if (pass->inject)
        device->inject(pass->number);
    amp_device_walk walk = {0};
    amp_status status = device->unscale(pass->number, pass->factor, &walk);
    if (status != AMP_OK) {
        /* Nobody knows what the gradients hold now: do not step on them. */
        g->failure = status;
        pass->overflow = checks(g);
        amp_log(AMP_LOG_ERROR, "group %d: unscaling on the device failed: %s",
                pass->number, amp_status_string(status));
    } else if (walk.bad > 0 && checks(g)) {
        if (!pass->overflow || amp_log_enabled(AMP_LOG_INFO))
            amp_log(AMP_LOG_WARN,
                    "group %d, step %llu: inf or NaN in gradient '%s' (%zu of "
                    "%zu buffers on the device), scale %g; step skipped (%s)",
                    pass->number, (unsigned long long)g->scaler.steps,
                    walk.first ? walk.first : "(unnamed)", walk.bad,
                    walk.buffers, (double)g->scaler.scale, outlook_text(g));
        pass->overflow = true;
    }
    return walk.buffers;
}

static void say_empty(amp_group *g, int group) {
    if (!atomic_load(&g->fused) && amp_once(&g->said_empty))
        amp_log(AMP_LOG_WARN,
                "group %d has no registered gradients: its steps are taken "
                "without a check",
                group);
}

static void unscale_group(amp_group *g, int group) {
    g->state = UNSCALED;
    g->overflow = false;
    atomic_store_explicit(&g->seeded, false, memory_order_relaxed);
    float factor = g->scaler.inverse;
    if (factor == 1.0f && !checks(g))
        return;
    unscale_pass pass = {.group = g,
                         .number = group,
                         .factor = factor,
                         .inject = checks(g) &&
                                   amp_environment_inject(g->scaler.steps)};
    size_t seen = amp_buffers_gradients(group, unscale_segment, &pass);
    seen += unscale_device(&pass);
    g->overflow = pass.overflow;
    if (seen == 0)
        say_empty(g, group);
}

float amp_unscale_value_as(amp_dtype half, int group, float x) {
    amp_group *g = group_of(half, group);
    if (!g)
        return x;
    /* The caller is about to write a parameter, before any step is begun. */
    amp_cast_cache_suspend(group);
    if (!atomic_load_explicit(&g->fused, memory_order_relaxed)) {
        bool first = !atomic_exchange(&g->fused, true);
        if (first && checks(g) && amp_environment_inject(g->scaler.steps))
            x = INFINITY;
    }
    if (!checks(g) || isfinite(x))
        return x * g->scaler.inverse;
    if (!atomic_exchange(&g->fused_overflow, true))
        amp_log(AMP_LOG_WARN,
                "group %d, step %llu: %s in a gradient that is applied as it "
                "is computed, scale %g; such values are left out",
                group, (unsigned long long)g->scaler.steps,
                isnan(x) ? "NaN" : "inf", (double)g->scaler.scale);
    return 0.0f;
}

/* ---- steps ------------------------------------------------------------- */

static bool overflowed(const amp_group *g) {
    return g->overflow || atomic_load(&g->fused_overflow);
}

static void undo_carry(amp_group *g, int group) {
    const amp_device *device = amp_device_get();
    amp_gradients_undo(group);
    if (device && device->carry_undo(group) != AMP_OK)
        g->failure = AMP_ERR_BACKEND;
}

static void say_floor(amp_group *g, int group) {
    if (amp_scaler_verdict(&g->scaler) != AMP_OK && amp_once(&g->said_floor))
        amp_log(AMP_LOG_ERROR, "group %d: %s", group,
                amp_status_string(AMP_ERR_SCALE_FLOOR));
}

static void move_scale(amp_group *g, int group, bool overflow) {
    float before = g->scaler.scale;
    amp_scaler_update(&g->scaler, overflow);
    if (g->scaler.scale != before)
        amp_log(AMP_LOG_INFO, "group %d: loss scale %g -> %g", group,
                (double)before, (double)g->scaler.scale);
    say_floor(g, group);
}

/* Makes the group ready for the next iteration. */
static void end_iteration(amp_group *g, int group) {
    amp_gradients_forget(group);
    const amp_device *device = amp_device_get();
    if (device)
        device->carry_drop(group);
    /* Otherwise amp_step_begin has said so, which knows why it skipped. */
    if (overflowed(g) || g->state != STEPPING)
        atomic_store(&g->stepped, !overflowed(g));
    atomic_store(&g->fused, false);
    atomic_store(&g->fused_overflow, false);
    g->overflow = false;
    g->state = READY;
    amp_cast_cache_resume(group);
}

/* What an iteration tells the scaler. */
typedef enum lesson { LESSON_NONE, LESSON_GOOD, LESSON_OVERFLOW } lesson;

/* The iteration before left by a way around amp_step_end. Its lesson moves the
 * scale once no gradient is under the old one any more. */
static lesson end_abandoned(amp_group *g, int group) {
    lesson l = overflowed(g)          ? LESSON_OVERFLOW
               : g->state == STEPPING ? LESSON_GOOD
                                      : LESSON_NONE;
    if (amp_once(&g->said_abandoned))
        amp_log(AMP_LOG_WARN,
                "group %d, step %llu: a new iteration begins without "
                "amp_step_end; the one before is ended now (said once)",
                group, (unsigned long long)g->scaler.steps);
    end_iteration(g, group);
    return l;
}

static void learn(amp_group *g, int group, lesson l) {
    if (l != LESSON_NONE)
        move_scale(g, group, l == LESSON_OVERFLOW);
}

static bool is_abandoned(const amp_group *g) {
    return g->state != READY &&
           atomic_load_explicit(&g->seeded, memory_order_relaxed);
}

/* Some gradient is scaled that should not be, or the other way round. */
static void give_up(amp_group *g, int group, amp_status status,
                    const char *why) {
    if (!g->incomplete)
        amp_log(AMP_LOG_ERROR,
                "group %d: %s (%s): its steps are skipped where they would "
                "apply a scaled gradient",
                group, why, amp_status_string(status));
    g->failure = status;
    g->incomplete = true;
}

amp_status amp_carry_in_as(amp_dtype half, int group) {
    amp_group *g = group_of(half, group);
    if (!g)
        return AMP_ERR_ARGUMENT;
    if (g->state == UNSCALED && overflowed(g))
        undo_carry(g, group);
    if (g->state != READY)
        learn(g, group, end_abandoned(g, group));
    /* Nothing to multiply, and no step that could be skipped. */
    if (g->scaler.scale == 1.0f && !checks(g))
        return AMP_OK;
    amp_status status = amp_gradients_carry_in(
        group, g->scaler.scale, checks(g) ? AMP_CARRY_SAVE : AMP_CARRY_NO_COPY);
    const amp_device *device = amp_device_get();
    if (device && status == AMP_OK)
        status = device->carry_in(group, g->scaler.scale);
    if (status != AMP_OK)
        give_up(g, group, status, "a gradient could not be carried in");
    return status;
}

amp_status amp_unscale_as(amp_dtype half, int group) {
    amp_group *g = group_of(half, group);
    if (!g)
        return AMP_ERR_ARGUMENT;
    lesson before = is_abandoned(g) ? end_abandoned(g, group) : LESSON_NONE;
    if (g->state != READY) {
        if (amp_once(&g->said_order))
            amp_log(AMP_LOG_ERROR,
                    "amp_unscale of group %d called twice in a step: %s", group,
                    amp_status_string(AMP_ERR_STATE));
        return AMP_ERR_STATE;
    }
    unscale_group(g, group);
    learn(g, group, before);
    return AMP_OK;
}

int amp_step_begin_as(amp_dtype half, int group) {
    amp_group *g = group_of(half, group);
    if (!g)
        return 1;
    const amp_device *device = amp_device_get();
    bool lost = amp_buffers_take_failure(group);
    lost |= device && device->take_failure(group);
    if (lost)
        give_up(g, group, AMP_ERR_MEMORY, "a gradient is not registered");
    lesson before = LESSON_NONE;
    if (g->state == STEPPING && is_abandoned(g))
        before = end_abandoned(g, group);
    if (g->state == STEPPING && amp_once(&g->said_order))
        amp_log(AMP_LOG_ERROR,
                "amp_step_begin of group %d without amp_step_end before: %s",
                group, amp_status_string(AMP_ERR_STATE));
    if (g->state == READY)
        unscale_group(g, group);
    learn(g, group, before);
    bool blocked = g->incomplete && g->scaler.scale != 1.0f;
    bool take = !overflowed(g) && !blocked;
    if (!take && g->state != STEPPING)
        undo_carry(g, group);
    g->state = STEPPING;
    atomic_store(&g->stepped, take);
    amp_cast_cache_suspend(group);
    return take;
}

void amp_step_end_as(amp_dtype half, int group) {
    amp_group *g = group_of(half, group);
    if (!g)
        return;
    bool fused = atomic_load(&g->fused);
    if (g->state != STEPPING && !fused) {
        if (amp_once(&g->said_order))
            amp_log(AMP_LOG_ERROR,
                    "amp_step_end of group %d without amp_step_begin: %s",
                    group, amp_status_string(AMP_ERR_STATE));
        if (g->state == UNSCALED)
            learn(g, group, end_abandoned(g, group));
        amp_cast_cache_resume(group);
        return;
    }
    move_scale(g, group, overflowed(g));
    end_iteration(g, group);
}

int amp_stepped(int group) {
    if (group < 0 || group >= AMP_MAX_GROUPS)
        return 1;
    amp_group *g = &groups[group];
    return atomic_load(&g->open) ? atomic_load(&g->stepped) : 1;
}

void amp_params_changed(void) {
    amp_cast_cache_renew();
}

/* ---- state ------------------------------------------------------------- */

amp_status amp_scaler_status(int group) {
    if (group < 0 || group >= AMP_MAX_GROUPS)
        return AMP_ERR_ARGUMENT;
    const amp_group *g = &groups[group];
    if (!atomic_load(&groups[group].open))
        return AMP_OK;
    amp_status verdict = amp_scaler_verdict(&g->scaler);
    return verdict != AMP_OK ? verdict : g->failure;
}

size_t amp_scaler_save(int group, char *buffer, size_t size) {
    if (group < 0 || group >= AMP_MAX_GROUPS ||
        !atomic_load(&groups[group].open)) {
        if (size > 0)
            buffer[0] = '\0';
        return 0;
    }
    return amp_scaler_print(&groups[group].scaler, buffer, size);
}

/* A group that was not used yet does not know its half type, and so not
 * whether its scale moves: the state waits until it does. */
static amp_status keep_for_later(amp_group *g, const char *text) {
    amp_scaler_options options;
    amp_scaler trial;
    amp_scaler_defaults(AMP_FP16, &options);
    amp_scaler_init(&trial, &options);
    amp_status status = amp_scaler_parse(&trial, text);
    if (status != AMP_OK)
        return status;
    char *copy = malloc(strlen(text) + 1);
    if (!copy)
        return AMP_ERR_MEMORY;
    strcpy(copy, text);
    free(g->loaded);
    g->loaded = copy;
    return AMP_OK;
}

amp_status amp_scaler_load(int group, const char *text) {
    if (!text || group < 0 || group >= AMP_MAX_GROUPS)
        return AMP_ERR_ARGUMENT;
    amp_group *g = &groups[group];
    pthread_mutex_lock(&groups_lock);
    bool open = atomic_load(&g->open);
    amp_status kept = open ? AMP_OK : keep_for_later(g, text);
    pthread_mutex_unlock(&groups_lock);
    if (!open)
        return kept;
    if (g->state != READY)
        return AMP_ERR_STATE;
    return amp_scaler_parse(&g->scaler, text);
}
