#include "cli/help.h"
#include "core/os.h"
#include "core/version.h"
#include <string.h>

enum { INDENT = 2, COLUMN = 30, WIDEST = 100 };

static void heading(const cli_terminal *terminal, FILE *stream, const char *text)
{
    fprintf(stream, "\n%s%s%s\n", cli_style_on(terminal, stream, CLI_BOLD), text,
            cli_style_on(terminal, stream, CLI_PLAIN));
}

/* Words of `text` in lines from column `indent` on; the cursor stands at column `at`. */
static void wrap(FILE *stream, const char *text, int indent, int at, int width)
{
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (at > indent && at + 1 + length > width) {
            fprintf(stream, "\n%*s", indent, "");
            at = indent;
        } else if (at > indent) {
            fputc(' ', stream);
            at++;
        }
        fprintf(stream, "%.*s", length, text);
        at += length;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', stream);
}

/* `name` at the left, `text` wrapped beside it. */
static void entry(FILE *stream, const char *name, const char *text, int width)
{
    int used = INDENT + (int)strlen(name);
    fprintf(stream, "%*s%s", INDENT, "", name);
    if (used + 2 > COLUMN)
        fprintf(stream, "\n%*s", COLUMN, "");
    else
        fprintf(stream, "%*s", COLUMN - used, "");
    wrap(stream, text, COLUMN, COLUMN, width);
}

/* Each line of `text`, indented. */
static void lines(FILE *stream, const char *text)
{
    while (*text) {
        int length = (int)strcspn(text, "\n");
        fprintf(stream, "%*s%.*s\n", INDENT, "", length, text);
        text += length + (text[length] == '\n');
    }
}

static int page_width(FILE *stream)
{
    int width = cairn_os_terminal_width(stream);
    return width > WIDEST ? WIDEST : width < 50 ? 50 : width;
}

void cli_help_program(const cli_terminal *terminal, FILE *stream)
{
    int width = page_width(stream);
    fprintf(stream, "cairn %s - trains image classifiers on folders of pictures\n", CAIRN_VERSION);
    heading(terminal, stream, "Commands");
    for (const cli_command *const *c = cli_commands(); *c; c++) {
        char name[80];
        snprintf(name, sizeof name, "%s %s", (*c)->name, (*c)->arguments);
        entry(stream, name, (*c)->about, width);
    }
    heading(terminal, stream, "Start");
    lines(stream, "cairn data check photos        is the folder fit to train on?\n"
                  "cairn train photos             one sub-folder of photos/ a class\n"
                  "cairn predict runs/NAME cat.jpg\n"
                  "cairn COMMAND --help           a command's options and an example");
    heading(terminal, stream, "Exit codes");
    static const char *const codes[][2] = {
        {"0", "done"},
        {"2", "usage: an option or argument is wrong"},
        {"3", "the device can't be used"},
        {"4", "the pictures: folder, classes, unreadable files"},
        {"5", "out of memory"},
        {"6", "numbers are no longer finite"},
        {"7", "a file, a folder or a checkpoint"},
        {"8", "a library beneath failed"},
        {"129, 130, 143", "interrupted by SIGHUP, Ctrl-C or SIGTERM, with the work saved"}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        entry(stream, codes[i][0], codes[i][1], width);
    fputs("\nData goes to stdout, talk to stderr. NO_COLOR is honoured.\n", stream);
}

/* "help text [default]" of one option; of a flag that is on by itself, the way to put it off. */
static void option_entry(const cli_command *command, cli_option_id id, FILE *stream, int width)
{
    const cli_option *option = &cli_option_table[id];
    char name[80], initial[CLI_DEFAULT_SIZE], text[400];
    cli_options_default(command, id, initial);
    bool flag = option->kind == OPTION_KIND_FLAG, shown = !flag && *initial;
    snprintf(name, sizeof name, "--%s%s%s%s", flag && strcmp(initial, "yes") == 0 ? "no-" : "", option->name,
             option->argument ? " " : "", option->argument ? option->argument : "");
    size_t used = 0;
    if (option->choices) {
        for (const char *c = option->choices; *c && used < sizeof text - 3; c++) {
            text[used++] = *c == '|' ? ',' : *c;
            if (*c == '|') text[used++] = ' ';
        }
        text[used++] = ':';
        text[used++] = ' ';
    }
    snprintf(text + used, sizeof text - used, "%s%s%s%s", option->help, shown ? " [" : "", shown ? initial : "",
             shown ? "]" : "");
    entry(stream, name, text, width);
}

void cli_help_command(const cli_command *command, const cli_terminal *terminal, FILE *stream)
{
    int width = page_width(stream);
    fprintf(stream, "%scairn %s %s%s[options]%s\n", cli_style_on(terminal, stream, CLI_BOLD), command->name,
            command->arguments, *command->arguments ? " " : "", cli_style_on(terminal, stream, CLI_PLAIN));
    wrap(stream, command->about, 0, 0, width);
    heading(terminal, stream, "Example");
    lines(stream, command->example);
    if (command->notes) {
        fputc('\n', stream);
        wrap(stream, command->notes, 0, 0, width);
    }
    const char *group = "";
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (!cli_options_takes(command, (cli_option_id)id)) continue;
        if (strcmp(group, cli_option_table[id].group) != 0) heading(terminal, stream, cli_option_table[id].group);
        group = cli_option_table[id].group;
        option_entry(command, (cli_option_id)id, stream, width);
    }
}
