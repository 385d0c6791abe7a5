/* device.h - the device that the options ask for.
 *
 *     cairn_device *device;
 *     CAIRN_TRY(cli_device_open(options, terminal, &device));
 */
#ifndef CAIRN_CLI_DEVICE_H
#define CAIRN_CLI_DEVICE_H

#include "cli/options.h"
#include "cli/terminal.h"
#include "core/device.h"

/* From the options of the group Device. What the device says goes to the terminal, which outlives it, and so must the options. */
cairn_status cli_device_open(const cli_options *options, cli_terminal *terminal, cairn_device **out);

#endif
