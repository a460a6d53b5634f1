#include "profile.h"

#include "log.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_ROWS 1024

typedef struct row {
    amp_profile_key key;
    uint64_t calls;
    uint64_t declined;
    double seconds;
    double cast_seconds;
} row;

static struct {
    pthread_once_t once;
    pthread_mutex_t lock;
    const char *path; /* NULL: off */
    row *rows;
    size_t count;
    uint64_t lost; /* calls of shapes that found no room */
} profile = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static double flops(const row *r) {
    const amp_profile_key *k = &r->key;
    uint64_t run = r->calls - r->declined;
    return 2.0 * (double)k->batch * (double)k->m * (double)k->n * (double)k->k *
           (double)run;
}

static int by_time(const void *a, const void *b) {
    const row *x = a;
    const row *y = b;
    if (x->seconds != y->seconds)
        return x->seconds > y->seconds ? -1 : 1;
    return x->calls > y->calls ? -1 : x->calls < y->calls;
}

static void print_row(FILE *out, const row *r) {
    static const char *const halves[] = {"fp32", "fp16", "bf16"};
    double work = flops(r);
    fprintf(out,
            "%s\t%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64
            "\t%" PRIu64 "\t%" PRIu64 "\t%.6f\t%.3e\t%.2f\t%.3f\n",
            r->key.op, halves[r->key.half], r->key.batch, r->key.m, r->key.n,
            r->key.k, r->calls, r->declined, r->seconds, work,
            r->seconds > 0 ? work / r->seconds * 1e-9 : 0.0,
            r->seconds > 0 ? r->cast_seconds / r->seconds : 0.0);
}

static void write_profile(void) {
    pthread_mutex_lock(&profile.lock);
    FILE *out = fopen(profile.path, "w");
    if (!out) {
        amp_log(AMP_LOG_ERROR, "cannot write AMP_PROFILE '%s': %s",
                profile.path, strerror(errno));
        pthread_mutex_unlock(&profile.lock);
        return;
    }
    qsort(profile.rows, profile.count, sizeof(row), by_time);
    fputs("op\thalf\tbatch\tm\tn\tk\tcalls\tdeclined\tseconds\tflops\t"
          "gflops_per_s\tcast_share\n",
          out);
    for (size_t i = 0; i < profile.count; i++)
        print_row(out, &profile.rows[i]);
    if (profile.lost)
        fprintf(out, "# %" PRIu64 " calls of further shapes not shown\n",
                profile.lost);
    if (fclose(out) != 0)
        amp_log(AMP_LOG_ERROR, "cannot write AMP_PROFILE '%s': %s",
                profile.path, strerror(errno));
    pthread_mutex_unlock(&profile.lock);
}

static void open_profile(void) {
    const char *path = getenv("AMP_PROFILE");
    if (!path || !*path)
        return;
    profile.rows = malloc(MAX_ROWS * sizeof(row));
    char *copy = malloc(strlen(path) + 1);
    if (!profile.rows || !copy || atexit(write_profile) != 0) {
        amp_log(AMP_LOG_ERROR, "cannot start AMP_PROFILE: %s",
                amp_status_string(AMP_ERR_MEMORY));
        free(profile.rows);
        free(copy);
        profile.rows = NULL;
        return;
    }
    strcpy(copy, path);
    profile.path = copy;
}

bool amp_profiling(void) {
    pthread_once(&profile.once, open_profile);
    return profile.path != NULL;
}

double amp_profile_now(void) {
    if (!amp_profiling())
        return 0.0;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool same_key(const amp_profile_key *a, const amp_profile_key *b) {
    return a->batch == b->batch && a->m == b->m && a->n == b->n &&
           a->k == b->k && a->half == b->half && strcmp(a->op, b->op) == 0;
}

static row *find_row(const amp_profile_key *key) {
    for (size_t i = 0; i < profile.count; i++)
        if (same_key(&profile.rows[i].key, key))
            return &profile.rows[i];
    if (profile.count == MAX_ROWS)
        return NULL;
    row *r = &profile.rows[profile.count++];
    *r = (row){.key = *key};
    return r;
}

void amp_profile_add(const amp_profile_key *key, amp_status status,
                     double seconds, double cast_seconds) {
    if (!amp_profiling())
        return;
    pthread_mutex_lock(&profile.lock);
    row *r = find_row(key);
    if (r) {
        r->calls++;
        r->declined += status != AMP_OK;
        r->seconds += status == AMP_OK ? seconds : 0.0;
        r->cast_seconds += status == AMP_OK ? cast_seconds : 0.0;
    } else {
        profile.lost++;
    }
    pthread_mutex_unlock(&profile.lock);
}
