/* device.h - the device that the options ask for, and the files they name.
 *
 *     cairn_device *device;
 *     CAIRN_TRY(cli_device_open(options, terminal, &device));
 */
#ifndef CAIRN_CLI_DEVICE_H
#define CAIRN_CLI_DEVICE_H

#include "cli/options.h"
#include "cli/terminal.h"
#include "core/device.h"

/* From --device, --threads, --deterministic, --memory-limit and --plan-cache. What the device says goes to the terminal, which outlives it. */
cairn_status cli_device_open(const cli_options *options, cli_terminal *terminal, cairn_device **out);

/* A checkpoint file for what the user gave: the file itself, or a run folder's best.safetensors, or its last where there is no best yet.
 * CAIRN_FILE says what is missing. */
cairn_status cli_checkpoint_path(const char *given, char *out, size_t size);

#endif
