#include "mixed.h"

#include "log.h"

void amp_note_half(amp_dtype half) {
    static atomic_uint seen;
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if ((unsigned)half > AMP_BF16)
        return; /* whoever passed it gets AMP_ERR_ARGUMENT */
    unsigned bit = 1u << (unsigned)half;
    if (atomic_load_explicit(&seen, memory_order_relaxed) == bit)
        return;
    unsigned before = atomic_fetch_or(&seen, bit);
    if ((before & ~bit) != 0 && amp_once(&said))
        amp_log(AMP_LOG_WARN, "%s", amp_status_string(AMP_ERR_MIXED_HALF));
}
