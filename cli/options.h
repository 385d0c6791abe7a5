/* options.h - the options of every command in one table, and the values one call of the program has for them.
 *
 * The command line, a --config file and the `config` file that a run writes all speak the names of the table, so an option exists
 * once: its name, type, default, range, help and the commands that take it.
 *
 *     cli_options options;
 *     CAIRN_TRY(cli_options_init(&options, command));                        the defaults of that command
 *     CAIRN_TRY(cli_options_set(&options, OPTION_BATCH, "64", "--batch"));   checked against type and range
 *     int64_t batch = cli_int(&options, OPTION_BATCH);
 *     cli_options_release(&options);
 */
#ifndef CAIRN_CLI_OPTIONS_H
#define CAIRN_CLI_OPTIONS_H

#include "cli/option_table.h"
#include "core/status.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct cli_command cli_command;

typedef struct cli_value {
    char *text;      /* as given; owned */
    int64_t integer; /* INTEGER, SIZE (bytes), FLAG (0 or 1) */
    double real;     /* REAL */
    bool given;      /* on the command line or in a configuration file */
} cli_value;

typedef struct cli_options {
    const cli_command *command;
    cli_value value[OPTION_COUNT];
    char **argument; /* [argument_count] what stands on the command line besides options; owned */
    int argument_count;
    char *line; /* the whole command line, as it could be typed again; owned; NULL before it is parsed */
} cli_options;

/* Every value is the command's default, or the table's. */
cairn_status cli_options_init(cli_options *options, const cli_command *command);
void cli_options_release(cli_options *options); /* also after a failed init */

/* Does the command take this option? */
bool cli_options_takes(const cli_command *command, cli_option_id id);

/* The id of a name (without dashes), or -1. */
int cli_option_find(const char *name);

/* Takes `text` for the option, or fails with CAIRN_USAGE: "`origin` `text`: a whole number from 1 to 65536 is wanted". `origin` is what the
 * user wrote: "--batch", or "run/config: batch". */
cairn_status cli_options_set(cli_options *options, cli_option_id id, const char *text, const char *origin);

/* CAIRN_USAGE for a name no option has, or none of this command: says so, and what may have been meant. `origin` as above. */
cairn_status cli_options_unknown(const cli_command *command, const char *name, const char *origin);

/* Writes the command's default of an option ("" for none) into CLI_DEFAULT_SIZE bytes, and returns `text`. */
#define CLI_DEFAULT_SIZE 64
char *cli_options_default(const cli_command *command, cli_option_id id, char *text);

bool cli_flag(const cli_options *options, cli_option_id id);
int64_t cli_int(const cli_options *options, cli_option_id id);
double cli_real(const cli_options *options, cli_option_id id);
const char *cli_text(const cli_options *options,
                     cli_option_id id); /* NULL for none, and for the option's word ("auto") */
bool cli_given(const cli_options *options, cli_option_id id);

#endif
