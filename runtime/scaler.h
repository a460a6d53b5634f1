/* scaler.h - the loss scale as a state machine: no buffers, no devices.
 *
 * The rules are torch.amp.GradScaler's (growth when the tracker equals the
 * interval and the product is finite; back-off on overflow; FP64 products
 * rounded to FP32), plus what it lacks: a floor and a cap, hysteresis, and a
 * status that tells when to give up. With min_scale 0, max_scale FLT_MAX and
 * hysteresis 1 the sequence of scales is torch's. Not thread-safe.
 */
#ifndef AMP_SCALER_H
#define AMP_SCALER_H

#include <amp/amp.h>

#include <stdbool.h>
#include <stdint.h>

typedef struct amp_scaler {
    amp_scaler_options options;
    float scale;
    float inverse;      /* float(1 / double(scale)): gradients times this */
    int growth_tracker; /* good steps since the scale last moved */
    int overflows;      /* overflows in a row */
    int skips_at_floor; /* of those, with the scale at its floor */
    bool settled;       /* a step has been taken */
    uint64_t steps;     /* taken and skipped */
    uint64_t skipped;
} amp_scaler;

/* What an overflow looks like. */
typedef enum amp_outlook {
    AMP_OUTLOOK_CALIBRATION, /* the scale is looking for its level */
    AMP_OUTLOOK_COLLAPSE     /* a smaller scale will not help */
} amp_outlook;

/* AMP_ERR_ARGUMENT if the options make no sense. */
amp_status amp_scaler_check(const amp_scaler_options *options);

/* Options have to be valid. */
void amp_scaler_init(amp_scaler *s, const amp_scaler_options *options);

/* One step went by. Moves the scale if it is dynamic. */
void amp_scaler_update(amp_scaler *s, bool overflow);

/* For an overflow that amp_scaler_update has not been told of yet. */
amp_outlook amp_scaler_outlook(const amp_scaler *s);

/* AMP_ERR_SCALE_FLOOR after max_skips skips in a row at the floor. */
amp_status amp_scaler_verdict(const amp_scaler *s);

/* Text form: one line, independent of the locale. Like snprintf. */
size_t amp_scaler_print(const amp_scaler *s, char *buffer, size_t size);

/* Sets the state and the growth options from the text; the floor, cap,
 * hysteresis and mode stay, and a static scale with them. AMP_ERR_FORMAT leaves
 * s unchanged. */
amp_status amp_scaler_parse(amp_scaler *s, const char *text);

#endif
