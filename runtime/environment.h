/* environment.h - AMP_LOSS_SCALE and AMP_INJECT_OVERFLOW, read once. */
#ifndef AMP_ENVIRONMENT_H
#define AMP_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum amp_forced_kind {
    AMP_SCALE_NOT_FORCED,
    AMP_SCALE_STATIC,
    AMP_SCALE_DYNAMIC
} amp_forced_kind;

typedef struct amp_forced_scale {
    amp_forced_kind kind;
    float scale; /* AMP_SCALE_STATIC */
} amp_forced_scale;

/* AMP_LOSS_SCALE=dynamic or a positive number. */
amp_forced_scale amp_environment_scale(void);

/* Is this step of a group, counted from 0, in AMP_INJECT_OVERFLOW? */
bool amp_environment_inject(uint64_t step);

#endif
