#include "gradients.h"

#include "buffers.h"
#include "kernels.h"
#include "log.h"
#include "threads.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct range_job {
    const amp_kernels *kernels;
    float *x;
    float factor;
    atomic_bool bad;
} range_job;

static void unscale_range(void *context, size_t begin, size_t end) {
    range_job *job = context;
    if (!job->kernels->unscale(job->x + begin, end - begin, job->factor))
        atomic_store_explicit(&job->bad, true, memory_order_relaxed);
}

static void check_range(void *context, size_t begin, size_t end) {
    range_job *job = context;
    if (!job->kernels->finite(job->x + begin, end - begin))
        atomic_store_explicit(&job->bad, true, memory_order_relaxed);
}

bool amp_multiply(float *x, size_t n, float factor) {
    range_job job = {.kernels = amp_kernels_get(), .x = x, .factor = factor};
    amp_parallel(n, factor == 1.0f ? check_range : unscale_range, &job);
    return !atomic_load(&job.bad);
}

/* ---- gradients that carry ------------------------------------------------ */

typedef struct carry_pass {
    float scale;
    bool save; /* a step may be skipped */
    amp_status status;
} carry_pass;

static bool save_carried(amp_segment *s, const float *x, size_t n) {
    if (!s->saved)
        s->saved = malloc(n * sizeof *x);
    if (!s->saved)
        return false;
    memcpy(s->saved, x, n * sizeof *x);
    s->saved_valid = true;
    return true;
}

static bool carry_in(amp_segment *s, void *context) {
    carry_pass *pass = context;
    float *x = (float *)(void *)s->start;
    size_t n = amp_segment_floats(s);
    if (s->role != AMP_GRAD_CARRY || n == 0)
        return true;
    if (pass->save && !save_carried(s, x, n)) {
        pass->status = AMP_ERR_MEMORY;
        return false;
    }
    if (pass->scale != 1.0f)
        amp_multiply(x, n, pass->scale);
    return true;
}

static bool carry_back(amp_segment *s, void *context) {
    int group = *(const int *)context;
    if (s->role != AMP_GRAD_CARRY) {
        /* The step that is skipped may be what clears it (p -= lr * g, g = 0):
         * an inf left in it would poison every step to come. */
        memset(s->start, 0, amp_segment_floats(s) * sizeof(float));
        return true;
    }
    if (s->saved_valid)
        memcpy(s->start, s->saved, amp_segment_floats(s) * sizeof(float));
    else
        amp_log(AMP_LOG_WARN,
                "gradient '%s' of group %d carries over and overflowed, but "
                "amp_carry_in did not save it",
                amp_segment_name(s), group);
    return true;
}

static bool carry_done(amp_segment *s, void *context) {
    (void)context;
    s->saved_valid = false;
    return true;
}

amp_status amp_gradients_carry_in(int group, float scale,
                                  amp_carry_copies copies) {
    carry_pass pass = {
        .scale = scale, .save = copies == AMP_CARRY_SAVE, .status = AMP_OK};
    amp_buffers_gradients(group, carry_in, &pass);
    return pass.status;
}

void amp_gradients_undo(int group) {
    amp_buffers_gradients(group, carry_back, &group);
}

void amp_gradients_forget(int group) {
    amp_buffers_gradients(group, carry_done, NULL);
}
