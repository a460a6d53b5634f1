/* Opt levels, Apex's for source code. */
#ifndef AR_LEVEL_H
#define AR_LEVEL_H

typedef enum ar_level {
    AR_LEVEL_O0, /* nothing changes */
    AR_LEVEL_O1  /* allow-listed ops run in half, storage stays FP32 */
} ar_level;

#endif
