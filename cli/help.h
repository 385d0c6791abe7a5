/* help.h - the help pages: of the program, and of each command from the option table.
 *
 *     cli_help_command(&cli_command_train, terminal, stdout);
 */
#ifndef CAIRN_CLI_HELP_H
#define CAIRN_CLI_HELP_H

#include "cli/command.h"

void cli_help_program(const cli_terminal *terminal, FILE *stream);
void cli_help_command(const cli_command *command, const cli_terminal *terminal, FILE *stream);

#endif
