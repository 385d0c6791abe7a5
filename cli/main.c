/* main.c - the program `cairn`: finds the command, reads its options, runs it, and turns its status into an exit code. */
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/suggest.h"
#include "cli/version.h"
#include "core/os.h"
#include <stdlib.h>
#include <string.h>

static int exit_code(cairn_status status)
{
    switch (status) {
    case CAIRN_OK:
        return 0;
    case CAIRN_USAGE:
        return 2;
    case CAIRN_DEVICE:
        return 3;
    case CAIRN_DATA:
        return 4;
    case CAIRN_MEMORY:
        return 5;
    case CAIRN_NONFINITE:
        return 6;
    case CAIRN_FILE:
        return 7;
    case CAIRN_LIBRARY:
        return 8;
    case CAIRN_INTERRUPTED:
        return 128 + cairn_os_caught_signal();
    }
    return 1;
}

const cli_command *const *cli_commands(void)
{
    static const cli_command *const commands[] = {&cli_command_train,
                                                  &cli_command_eval,
                                                  &cli_command_predict,
                                                  &cli_command_model,
                                                  &cli_command_bench,
                                                  &cli_command_data_check,
                                                  NULL};
    return commands;
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* The command that argv begins with, and how many words its name has; CAIRN_USAGE says what may have been meant. */
static cairn_status find_command(int argc, char **argv, const cli_command **out, int *words)
{
    char two[80];
    snprintf(two, sizeof two, "%s %s", argv[1], argc > 2 ? argv[2] : "");
    const char *known[20];
    int count = 0;
    for (const cli_command *const *c = cli_commands(); *c && count < 19; c++) {
        size_t first = strcspn((*c)->name, " ");
        bool has_space = (*c)->name[first] != '\0', whole = strcmp((*c)->name, has_space ? two : argv[1]) == 0;
        bool begun = strlen(argv[1]) == first && strncmp((*c)->name, argv[1], first) == 0;
        if (whole || (begun && argc > 2 && is_help(argv[2]))) { /* cairn data --help */
            *out = *c;
            *words = whole && has_space ? 2 : 1;
            return CAIRN_OK;
        }
        known[count++] = (*c)->name;
    }
    known[count] = NULL;
    const char *meant = cli_suggest(argv[1], known);
    if (!meant) meant = cli_suggest(two, known);
    if (meant) return cairn_fail(CAIRN_USAGE, "%s: no such command; did you mean cairn %s?", argv[1], meant);
    return cairn_fail(CAIRN_USAGE, "%s: no such command; cairn --help lists them", argv[1]);
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

static cairn_status run_command(int argc, char **argv, cli_terminal *terminal)
{
    const cli_command *command;
    int words;
    CAIRN_TRY(find_command(argc, argv, &command, &words));
    cli_options options;
    cairn_status status = cli_command_line_parse(command, argc - words, (const char **)argv + words, &options);
    if (status == CAIRN_OK && cli_flag(&options, OPTION_HELP))
        cli_help_command(command, terminal, stdout);
    else if (status == CAIRN_OK)
        status = command->run(&options, terminal);
    cli_options_release(&options);
    return status;
}

static cairn_status run(int argc, char **argv, cli_terminal *terminal)
{
    if (argc < 2) {
        cli_help_program(terminal, stderr);
        return cairn_fail(CAIRN_USAGE, "a command is missing; for example: cairn train photos");
    }
    bool asks_help = is_one_of(argv[1], "help", "--help", "-h");
    if (asks_help && argc > 2 && strcmp(argv[1], "help") == 0) { /* cairn help train */
        const cli_command *command;
        int words;
        CAIRN_TRY(find_command(argc - 1, argv + 1, &command, &words));
        cli_help_command(command, terminal, stdout);
        return CAIRN_OK;
    }
    if (asks_help) {
        cli_help_program(terminal, stdout);
        return CAIRN_OK;
    }
    if (is_one_of(argv[1], "version", "--version", "-V")) return cli_version_print(stdout);
    return run_command(argc, argv, terminal);
}

int main(int argc, char **argv)
{
    cli_terminal *terminal = NULL;
    cairn_status status = cli_terminal_create(&terminal);
    if (status == CAIRN_OK) status = run(argc, argv, terminal);
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == CAIRN_OK)
        status = cairn_fail(CAIRN_FILE, "stdout can't be written; is the disk full?");
    if (status != CAIRN_OK && terminal) cli_error(terminal, "%s", cairn_error_last()->message);
    cli_terminal_destroy(terminal);
    return exit_code(status);
}
