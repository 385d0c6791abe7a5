/* command_line.h - a command line, read by libpopt from the option table.
 *
 *     cli_options options;
 *     CAIRN_TRY(cli_command_line_parse(command, argc, argv, &options));       argv[0] is skipped
 *     if (cli_flag(&options, OPTION_HELP)) ...
 *     cli_options_release(&options);                                          also when it failed
 */
#ifndef CAIRN_CLI_COMMAND_LINE_H
#define CAIRN_CLI_COMMAND_LINE_H

#include "cli/options.h"

/* Defaults, then the --config file (or, without one, the config of the run to --resume), then the command line, each over the one before. A flag can be undone by --no-NAME. CAIRN_USAGE in one
 * line for anything that isn't understood; nothing is checked but --help itself when that is there. */
cairn_status cli_command_line_parse(const cli_command *command, int argc, const char **argv, cli_options *options);

#endif
