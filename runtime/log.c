#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const level_names[] = {"error", "warn", "info", "debug"};

#define LEVELS ((int)(sizeof level_names / sizeof level_names[0]))

static int read_level(void) {
    const char *text = getenv("AMP_LOG");
    if (!text || !*text)
        return AMP_LOG_WARN;
    for (int i = 0; i < LEVELS; i++)
        if (strcasecmp(text, level_names[i]) == 0)
            return i;
    if (text[0] >= '0' && text[0] < '0' + LEVELS && text[1] == '\0')
        return text[0] - '0';
    fprintf(stderr,
            "amp: warning: AMP_LOG='%s' is not 0..3, error, warn, info or "
            "debug\n",
            text);
    return AMP_LOG_WARN;
}

bool amp_log_enabled(amp_log_level level) {
    static atomic_int limit = -1;
    int now = atomic_load_explicit(&limit, memory_order_relaxed);
    if (now < 0) {
        now = read_level();
        atomic_store_explicit(&limit, now, memory_order_relaxed);
    }
    return (int)level <= now;
}

void amp_log(amp_log_level level, const char *format, ...) {
    static const char *const prefixes[] = {"error", "warning", "info", "debug"};
    if (!amp_log_enabled(level))
        return;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "amp: %s: %s\n", prefixes[level], text);
}
