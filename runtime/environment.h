/* environment.h - AMP_LOSS_SCALE and AMP_INJECT_OVERFLOW, read once. */
#ifndef AMP_ENVIRONMENT_H
#define AMP_ENVIRONMENT_H

#include <amp/amp.h>

#include <stdbool.h>
#include <stdint.h>

/* AMP_LOSS_SCALE=dynamic or a positive number, over what the program says. */
void amp_environment_apply(amp_scaler_options *options);

/* Is this step of a group, counted from 0, in AMP_INJECT_OVERFLOW? */
bool amp_environment_inject(uint64_t step);

#endif
