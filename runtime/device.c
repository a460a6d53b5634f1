#include "device.h"

#include <stdatomic.h>

static _Atomic(const amp_device *) installed;

void amp_device_install(const amp_device *device) {
    atomic_store(&installed, device);
}

const amp_device *amp_device_get(void) {
    return atomic_load(&installed);
}
