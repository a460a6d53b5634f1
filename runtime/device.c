#include "device.h"

#include "cast_cache.h"
#include "mixed.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

static _Atomic(const amp_device *) installed;

void amp_device_install(const amp_device *device) {
    atomic_store(&installed, device);
}

const amp_device *amp_device_get(void) {
    return atomic_load(&installed);
}

void amp_device_log(amp_log_level level, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    amp_log(level, "%s", text);
}

void amp_device_note_half(amp_dtype half) {
    amp_note_half(half);
}

uint64_t amp_device_generation(void) {
    return amp_cast_cache_generation();
}
