/* command.h - a command of the program: its name, its help, its defaults and the function that runs it.
 *
 * A command is one file that defines one cli_command; main.c lists them.
 *
 *     cairn_status run(const cli_options *options, cli_terminal *terminal);      fails as the library does: a status and a message
 */
#ifndef CAIRN_CLI_COMMAND_H
#define CAIRN_CLI_COMMAND_H

#include "cli/options.h"
#include "cli/terminal.h"

typedef struct cli_default {
    cli_option_id id;
    const char *text;
} cli_default;

struct cli_command {
    const char *name;                 /* "train", "data check" */
    unsigned mask;                    /* its bit in cli_option.commands */
    const char *arguments;            /* "FOLDER", "CHECKPOINT FILE..." */
    int arguments_min, arguments_max; /* how many; max -1 for any number */
    bool folder_first;                /* the first argument is a way to write --folder */
    const char *about;                /* one line */
    const char *example;              /* one or more lines to type */
    const char *notes;                /* further lines of its help, or NULL */
    const cli_default *defaults;      /* where they differ from the table's; ends with text NULL; may be NULL */
    cairn_status (*run)(const cli_options *options, cli_terminal *terminal);
};

extern const cli_command cli_command_train, cli_command_eval, cli_command_predict, cli_command_model, cli_command_bench,
    cli_command_data_check;

/* All of them, NULL at the end, in the order of the help. */
const cli_command *const *cli_commands(void);

#endif
