/* Opt levels, Apex's for source code. */
#ifndef AR_LEVEL_H
#define AR_LEVEL_H

#include <stdbool.h>

typedef enum ar_level {
    AR_LEVEL_O0, /* nothing changes */
    AR_LEVEL_O1, /* allow-listed ops run in half, storage stays FP32 */
    AR_LEVEL_O2, /* activations and their gradients are stored in half too */
    AR_LEVEL_O3  /* parameters, their gradients and optimizer state as well */
} ar_level;

/* What a yes|no option said; the level decides where it was not given. */
typedef enum ar_choice { AR_AS_LEVEL, AR_YES, AR_NO } ar_choice;

/* What decides the storage, besides the rules. */
typedef struct ar_storage_policy {
    ar_level level;
    ar_choice keep_norm; /* parameters of norm layers stay FP32 */
    ar_choice masters;   /* parameters stay FP32 */
    /* the runtime takes the loss scale out of the parameter gradients */
    bool unscales;
    bool strict; /* state that half breaks is stored in half all the same */
} ar_storage_policy;

/* "-O1" */
static inline const char *ar_level_name(ar_level level) {
    switch (level) {
    case AR_LEVEL_O0:
        return "-O0";
    case AR_LEVEL_O1:
        return "-O1";
    case AR_LEVEL_O2:
        return "-O2";
    case AR_LEVEL_O3:
        return "-O3";
    }
    return "";
}

#endif
