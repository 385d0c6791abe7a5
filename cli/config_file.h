/* config_file.h - options in a file: lines "name = value", '#' or ';' before a remark, no sections.
 *
 *     CAIRN_TRY(cli_config_read("run.ini", &options));
 *     char *text;
 *     CAIRN_TRY(cli_config_write(&options, &text));      what a run keeps as its `config`, and --config takes
 *
 * Bytes of a value that the format would swallow (" ;", spaces at the ends, a line feed) are written as \xHH.
 */
#ifndef CAIRN_CLI_CONFIG_FILE_H
#define CAIRN_CLI_CONFIG_FILE_H

#include "cli/options.h"

/* Takes every option of the file. CAIRN_FILE when it can't be read; CAIRN_USAGE, beginning with "path:line", for a line that is no setting, a
 * name that is unknown or comes twice, and a bad value. */
cairn_status cli_config_read(const char *path, cli_options *options);

/* All options of the command with their values, but those of one call only. The caller frees `text`. */
cairn_status cli_config_write(const cli_options *options, char **text);

#endif
