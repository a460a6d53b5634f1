/* Opt levels, Apex's for source code. */
#ifndef AR_LEVEL_H
#define AR_LEVEL_H

typedef enum ar_level {
    AR_LEVEL_O0, /* nothing changes */
    AR_LEVEL_O1, /* allow-listed ops run in half, storage stays FP32 */
    AR_LEVEL_O2  /* activations and their gradients are stored in half too */
} ar_level;

/* "-O1" */
static inline const char *ar_level_name(ar_level level) {
    switch (level) {
    case AR_LEVEL_O0:
        return "-O0";
    case AR_LEVEL_O1:
        return "-O1";
    case AR_LEVEL_O2:
        return "-O2";
    }
    return "";
}

#endif
