/* profile.h - AMP_PROFILE=FILE: what the ops of a run cost.
 *
 * Off, it costs one load per op. On, calls are summed per kind, half type and
 * shape, and written as tab-separated text when the program exits.
 */
#ifndef AMP_PROFILE_H
#define AMP_PROFILE_H

#include <amp/amp.h>

#include <stdbool.h>

typedef struct amp_profile_key {
    const char *op; /* a literal */
    int64_t batch;
    int64_t m;
    int64_t n;
    int64_t k;
    amp_dtype half;
} amp_profile_key;

bool amp_profiling(void);

/* Seconds of a clock that never steps back; 0 when not profiling. */
double amp_profile_now(void);

void amp_profile_add(const amp_profile_key *key, amp_status status,
                     double seconds, double cast_seconds);

#endif
