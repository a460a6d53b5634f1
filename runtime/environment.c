#include "environment.h"

#include "log.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INJECTED 64

static pthread_once_t once = PTHREAD_ONCE_INIT;
static amp_forced_scale forced;
static uint64_t injected[MAX_INJECTED];
static int injected_count;

static void read_scale(void) {
    const char *text = getenv("AMP_LOSS_SCALE");
    if (!text || !*text)
        return;
    if (strcmp(text, "dynamic") == 0) {
        forced.kind = AMP_SCALE_DYNAMIC;
        return;
    }
    char *end;
    float scale = strtof(text, &end);
    if (*end != '\0' || !isfinite(scale) || scale <= 0.0f) {
        amp_log(AMP_LOG_ERROR,
                "AMP_LOSS_SCALE='%s' is neither 'dynamic' nor a positive "
                "number; ignored",
                text);
        return;
    }
    forced = (amp_forced_scale){AMP_SCALE_STATIC, scale};
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

amp_forced_scale amp_environment_scale(void) {
    pthread_once(&once, read_all);
    return forced;
}

bool amp_environment_inject(uint64_t step) {
    pthread_once(&once, read_all);
    for (int i = 0; i < injected_count; i++)
        if (injected[i] == step)
            return true;
    return false;
}
