/* precision.h - in which numbers a net computes: named, checked against the device, or chosen by timing.
 *
 *     cairn_precision precision = CAIRN_PRECISION_AUTO;
 *     CAIRN_TRY(cairn_precision_resolve(&trial, &precision, reason, sizeof reason));     never AUTO afterwards
 *     net_options.dtype = cairn_precision_dtype(precision);
 *
 * Whether a type of half the size is faster can't be told from a processor's name: one runs bf16 at twice its f32 rate, another at half of it.
 */
#ifndef CAIRN_TRAIN_PRECISION_H
#define CAIRN_TRAIN_PRECISION_H

#include "core/device.h"
#include "models/models.h"

typedef enum cairn_precision {
    CAIRN_PRECISION_AUTO,
    CAIRN_PRECISION_FP32,
    CAIRN_PRECISION_TF32, /* f32 whose products are rounded to 10 bits on their way in: of a device opened with tf32 */
    CAIRN_PRECISION_BF16,
    CAIRN_PRECISION_FP16,
} cairn_precision;

/* "auto", "fp32", "tf32", "bf16", "fp16"; parse gives CAIRN_USAGE listing them. */
const char *cairn_precision_name(cairn_precision precision);
cairn_status cairn_precision_parse(const char *text, cairn_precision *out);

/* Of activations and of the weights that layers read. Not for AUTO. */
cairn_dtype cairn_precision_dtype(cairn_precision precision);

/* What is to run. */
typedef struct cairn_precision_trial {
    cairn_device *device;
    const char *model, *preset;
    int64_t classes;
    cairn_model_options model_options;
    int64_t batch; /* pictures of one pass */
} cairn_precision_trial;

enum { CAIRN_PRECISION_REASON_SIZE = 320 };

/* Makes AUTO the faster of f32 (or tf32) and the device's type of half the size, by timing training steps of both where the device has such a
 * type; `reason` says why. Anything else stays, with an empty reason, or fails with CAIRN_DEVICE and the device's own reason. */
cairn_status cairn_precision_resolve(const cairn_precision_trial *trial, cairn_precision *precision,
                                     char reason[CAIRN_PRECISION_REASON_SIZE]);

#endif
