#include "environment.h"

#include "log.h"
#include "scaler.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INJECTED 64

static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum { NOT_FORCED, STATIC, DYNAMIC } forced;
static float forced_scale;
static uint64_t injected[MAX_INJECTED];
static int injected_count;

static void read_scale(void) {
    const char *text = getenv("AMP_LOSS_SCALE");
    if (!text || !*text)
        return;
    if (strcmp(text, "dynamic") == 0) {
        forced = DYNAMIC;
        return;
    }
    char *end;
    float scale = strtof(text, &end);
    if (*end != '\0' || !isnormal(scale) || scale < 0.0f) {
        amp_log(AMP_LOG_ERROR,
                "AMP_LOSS_SCALE='%s' is neither 'dynamic' nor a positive "
                "number; ignored",
                text);
        return;
    }
    forced = STATIC;
    forced_scale = scale;
}

static void read_injected(void) {
    const char *text = getenv("AMP_INJECT_OVERFLOW");
    while (text && *text) {
        char *end;
        errno = 0;
        unsigned long long step = strtoull(text, &end, 10);
        bool number = end != text && *text != '-' && errno == 0;
        if (!number || (*end != ',' && *end != '\0') ||
            injected_count == MAX_INJECTED) {
            amp_log(AMP_LOG_ERROR,
                    "AMP_INJECT_OVERFLOW: '%s' is not a list of at most %d "
                    "steps",
                    text, MAX_INJECTED);
            return;
        }
        injected[injected_count++] = step;
        text = *end == ',' ? end + 1 : end;
    }
}

static void read_all(void) {
    read_scale();
    read_injected();
}

/* What a static scale left open need not make sense. */
static void make_dynamic(amp_scaler_options *o) {
    amp_scaler_options fp16;
    amp_scaler_options wanted = *o;
    amp_scaler_defaults(AMP_FP16, &fp16);
    wanted.dynamic = 1;
    wanted.init_scale = fp16.init_scale;
    *o = amp_scaler_check(&wanted) == AMP_OK ? wanted : fp16;
}

void amp_environment_apply(amp_scaler_options *o) {
    pthread_once(&once, read_all);
    switch (forced) {
    case NOT_FORCED:
        return;
    case STATIC:
        o->dynamic = 0;
        o->init_scale = forced_scale;
        return;
    case DYNAMIC:
        if (!o->dynamic)
            make_dynamic(o);
        return;
    }
}

bool amp_environment_inject(uint64_t step) {
    pthread_once(&once, read_all);
    for (int i = 0; i < injected_count; i++)
        if (injected[i] == step)
            return true;
    return false;
}
