/* log.h - messages of libamp, on stderr.
 *
 * AMP_LOG=LEVEL (0..3 or error, warn, info, debug) sets what is printed;
 * warnings and errors by default. The level is read at the first message.
 * Any thread may log; a message is written in one piece.
 */
#ifndef AMP_LOG_H
#define AMP_LOG_H

#include <stdatomic.h>
#include <stdbool.h>

typedef enum amp_log_level {
    AMP_LOG_ERROR,
    AMP_LOG_WARN,
    AMP_LOG_INFO,
    AMP_LOG_DEBUG
} amp_log_level;

bool amp_log_enabled(amp_log_level level);

__attribute__((format(printf, 2, 3))) void amp_log(amp_log_level level,
                                                   const char *format, ...);

/* True the first time it is called on a flag. */
static inline bool amp_once(atomic_flag *flag) {
    return !atomic_flag_test_and_set_explicit(flag, memory_order_relaxed);
}

#endif
