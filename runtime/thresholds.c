#include "thresholds.h"

#include "log.h"

#include <stdlib.h>

#define MIN_K                32
#define MIN_WORK             ((int64_t)1 << 18)
#define MIN_WORK_PLAIN_PARAM ((int64_t)1 << 17)
#define MIN_ROWS             16
#define MIN_ROWS_OTHER_PARAM 8

/* Not set. */
#define NO_OVERRIDE (-1)

static int64_t override(void) {
    static _Atomic int64_t known = NO_OVERRIDE - 1;
    int64_t now = known;
    if (now >= NO_OVERRIDE)
        return now;
    const char *text = getenv("AMP_MIN_MNK");
    now = NO_OVERRIDE;
    if (text && *text) {
        char *end;
        long long value = strtoll(text, &end, 10);
        if (*end == '\0' && value >= 0)
            now = value;
        else
            amp_log(AMP_LOG_WARN, "AMP_MIN_MNK='%s' is not a count", text);
    }
    known = now;
    return now;
}

static double mnk(const amp_work *w) {
    return (double)w->m * (double)w->n * (double)w->k;
}

static bool big_enough(const amp_work *w, int64_t min_work, int64_t rows,
                       int64_t min_rows) {
    return w->k >= MIN_K && mnk(w) >= (double)min_work && rows >= min_rows;
}

bool amp_pays(const amp_work *w) {
    if (w->m <= 0 || w->n <= 0 || w->k <= 0 || w->batch <= 0)
        return false;
    int64_t limit = override();
    if (limit != NO_OVERRIDE)
        return mnk(w) * (double)w->batch >= (double)limit;
    bool plain_b = w->ready_b && w->transb;
    bool plain_a = w->ready_a && !w->transa;
    if (plain_a || plain_b)
        return big_enough(w, MIN_WORK_PLAIN_PARAM, 1, 1);
    if (w->ready_b)
        return big_enough(w, MIN_WORK, w->m, MIN_ROWS_OTHER_PARAM);
    if (w->ready_a)
        return big_enough(w, MIN_WORK, w->n, MIN_ROWS_OTHER_PARAM);
    return big_enough(w, MIN_WORK, w->m < w->n ? w->m : w->n, MIN_ROWS);
}
