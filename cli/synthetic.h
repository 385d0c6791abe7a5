/* synthetic.h - a training step on made-up pictures that lie on the device already: what `cairn bench` times.
 *
 *     cli_synthetic *synthetic;
 *     CAIRN_TRY(cli_synthetic_create(options, device, precision, &synthetic));
 *     cli_step_times times;
 *     CAIRN_TRY(cli_synthetic_step(synthetic, &times));          forward, loss, backward and update, each waited for
 *     cli_synthetic_destroy(synthetic);                          before the device is closed
 */
#ifndef CAIRN_CLI_SYNTHETIC_H
#define CAIRN_CLI_SYNTHETIC_H

#include "cli/options.h"
#include "core/device.h"
#include "train/precision.h"

typedef struct cli_synthetic cli_synthetic;

typedef struct cli_step_times {
    double forward, backward, update; /* seconds; forward includes the loss */
} cli_step_times;

/* The precision that the options of `cairn bench` ask for; `reason` as of cairn_precision_resolve. */
cairn_status cli_synthetic_precision(const cli_options *options, cairn_device *device, cairn_precision *out,
                                     char reason[CAIRN_PRECISION_REASON_SIZE]);

/* The net, its pictures and the optimizer that the options ask for. */
cairn_status cli_synthetic_create(const cli_options *options, cairn_device *device, cairn_precision precision,
                                  cli_synthetic **out);
void cli_synthetic_destroy(cli_synthetic *synthetic); /* NULL is allowed */

cairn_status cli_synthetic_step(cli_synthetic *synthetic, cli_step_times *times);

/* Mean loss of the last step. CAIRN_NONFINITE when it is no number: then the times mean nothing either. */
cairn_status cli_synthetic_loss(cli_synthetic *synthetic, float *loss);

int64_t cli_synthetic_batch(const cli_synthetic *synthetic);
double cli_synthetic_flops(const cli_synthetic *synthetic); /* of a step, as direct convolutions and products */

#endif
