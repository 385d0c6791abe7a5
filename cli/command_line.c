#include "cli/command_line.h"
#include "cli/command.h"
#include "cli/config_file.h"
#include "core/os.h"
#include "train/run_folder.h"
#include "train/trainer.h"
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* popt hands back `val` of the option it met: 1 + id, or for --no-NAME that much more. */
enum { NEGATED = 1000, NAME = 40 };

typedef struct parser {
    struct poptOption table[2 * OPTION_COUNT + 1];
    char negated[OPTION_COUNT][NAME];
    char *text[OPTION_COUNT]; /* as given last; owned */
} parser;

static void build_table(parser *p, const cli_command *command)
{
    struct poptOption *row = p->table;
    for (int id = 0; id < OPTION_COUNT; id++) {
        const cli_option *option = &cli_option_table[id];
        if (!cli_options_takes(command, (cli_option_id)id)) continue;
        bool flag = option->kind == OPTION_KIND_FLAG;
        *row++ = (struct poptOption){.longName = option->name,
                                     .shortName = id == OPTION_HELP ? 'h' : '\0',
                                     .argInfo = flag ? POPT_ARG_NONE : POPT_ARG_STRING,
                                     .val = 1 + id};
        if (!flag || id == OPTION_HELP) continue;
        snprintf(p->negated[id], NAME, "no-%s", option->name);
        *row++ = (struct poptOption){.longName = p->negated[id], .argInfo = POPT_ARG_NONE, .val = NEGATED + 1 + id};
    }
}

static cairn_status bad_option(poptContext context, int error, const cli_command *command)
{
    const char *option = poptBadOption(context, 0);
    char name[80], origin[80];
    snprintf(origin, sizeof origin, "%.*s", (int)strcspn(option, "="), option);
    snprintf(name, sizeof name, "%s", origin + strspn(origin, "-"));
    int id = cli_option_find(name);
    if (error == POPT_ERROR_BADOPT && cairn_os_stat(option, NULL) != CAIRN_OS_MISSING)
        return cairn_fail(CAIRN_USAGE, "%s: taken for an option, and there is none of that name; ./%s names the file",
                          option, option);
    if (error == POPT_ERROR_BADOPT) return cli_options_unknown(command, name, origin);
    if (error == POPT_ERROR_NOARG && id >= 0)
        return cairn_fail(CAIRN_USAGE, "%s: wants a value, %s %s", origin, origin, cli_option_table[id].argument);
    if (error == POPT_ERROR_UNWANTEDARG) return cairn_fail(CAIRN_USAGE, "%s: takes no value", origin);
    return cairn_fail(CAIRN_USAGE, "%s: %s", origin, poptStrerror(error));
}

/* Anywhere among the options: who asks for help gets it, whatever else is wrong. */
static bool asks_help(int argc, const char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    return false;
}

/* Notes the text of every option given, and checks their names only. */
static cairn_status read_options(parser *p, poptContext context, const cli_command *command)
{
    int got;
    while ((got = poptGetNextOpt(context)) > 0) {
        bool negated = got > NEGATED;
        int id = got - 1 - (negated ? NEGATED : 0);
        char *text = poptGetOptArg(context);
        if (!text) text = strdup(negated ? "no" : "yes");
        if (!text) return cairn_fail(CAIRN_MEMORY, "no memory for the command line");
        free(p->text[id]);
        p->text[id] = text;
    }
    if (got < -1) return bad_option(context, got, command);
    return CAIRN_OK;
}

static cairn_status take_arguments(cli_options *options, const char *const *argument)
{
    const cli_command *command = options->command;
    static const char *const none[] = {NULL};
    int count = 0;
    if (!argument) argument = none;
    while (argument[count])
        count++;
    if (command->arguments_max >= 0 && count > command->arguments_max)
        return cairn_fail(CAIRN_USAGE, "%s: one argument too many; cairn %s%s%s is the form",
                          argument[command->arguments_max], command->name, *command->arguments ? " " : "",
                          command->arguments);
    options->argument = calloc((size_t)count + 1, sizeof *options->argument);
    if (!options->argument) return cairn_fail(CAIRN_MEMORY, "no memory for the command line");
    for (; options->argument_count < count; options->argument_count++)
        if (!(options->argument[options->argument_count] = strdup(argument[options->argument_count])))
            return cairn_fail(CAIRN_MEMORY, "no memory for the command line");
    if (command->folder_first && count > 0) return cli_options_set(options, OPTION_FOLDER, argument[0], "FOLDER");
    return CAIRN_OK;
}

/* A run that goes on does so with its own options: those in the config beside its checkpoint, where there is one. */
static cairn_status take_resumed(const char *resume, cli_options *options)
{
    char folder[CAIRN_PATH_SIZE], config[CAIRN_PATH_SIZE];
    if (cairn_os_stat(resume, NULL) == CAIRN_OS_MISSING)
        return cairn_fail(CAIRN_FILE, "--resume %s: no such run folder or checkpoint", resume);
    CAIRN_TRY(cairn_run_folder_of(resume, folder, sizeof folder));
    CAIRN_TRY(cairn_os_join(config, sizeof config, folder, "config"));
    return cairn_os_stat(config, NULL) == CAIRN_OS_FILE ? cli_config_read(config, options) : CAIRN_OK;
}

/* The values, in the order in which they win. */
static cairn_status take_values(const parser *p, cli_options *options)
{
    if (p->text[OPTION_CONFIG])
        CAIRN_TRY(cli_config_read(p->text[OPTION_CONFIG], options));
    else if (p->text[OPTION_RESUME])
        CAIRN_TRY(take_resumed(p->text[OPTION_RESUME], options));
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (!p->text[id]) continue;
        char origin[NAME];
        snprintf(origin, sizeof origin, "--%s", cli_option_table[id].name);
        CAIRN_TRY(cli_options_set(options, (cli_option_id)id, p->text[id], origin));
    }
    return CAIRN_OK;
}

/* Quotes where a shell would see more than a word; a quote itself becomes '\''. */
static char *append_word(char *to, const char *word)
{
    bool plain = *word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./,:+@%") ==
                              strlen(word);
    *to++ = ' ';
    if (!plain) *to++ = '\'';
    for (; *word; word++) {
        if (*word == '\'') {
            *to++ = '\'';
            *to++ = '\\';
            *to++ = '\'';
        }
        *to++ = *word;
    }
    if (!plain) *to++ = '\'';
    return to;
}

static cairn_status keep_line(const cli_command *command, int argc, const char **argv, cli_options *options)
{
    size_t size = strlen(command->name) + 8;
    for (int i = 1; i < argc; i++)
        size += 4 * strlen(argv[i]) + 3;
    char *to = options->line = malloc(size);
    if (!to) return cairn_fail(CAIRN_MEMORY, "no memory for the command line");
    to += snprintf(to, size, "cairn %s", command->name);
    for (int i = 1; i < argc; i++)
        to = append_word(to, argv[i]);
    *to = '\0';
    return CAIRN_OK;
}

cairn_status cli_command_line_parse(const cli_command *command, int argc, const char **argv, cli_options *options)
{
    *options = (cli_options){.command = command};
    parser *p = calloc(1, sizeof *p);
    if (!p) return cairn_fail(CAIRN_MEMORY, "no memory for the command line");
    build_table(p, command);
    cairn_status status = CAIRN_OK;
    poptContext context = poptGetContext("cairn", argc, argv, p->table, 0);
    if (!context) {
        status = cairn_fail(CAIRN_MEMORY, "no memory for the command line");
        goto done;
    }
    CAIRN_TRY_DONE(cli_options_init(options, command));
    CAIRN_TRY_DONE(keep_line(command, argc, argv, options));
    if (asks_help(argc, argv)) {
        status = cli_options_set(options, OPTION_HELP, "yes", "--help");
        goto done;
    }
    CAIRN_TRY_DONE(read_options(p, context, command));
    CAIRN_TRY_DONE(take_values(p, options));
    CAIRN_TRY_DONE(take_arguments(options, poptGetArgs(context)));
    if (options->argument_count < command->arguments_min)
        status = cairn_fail(CAIRN_USAGE, "%s is missing; for example: %.*s", command->arguments,
                            (int)strcspn(command->example, "\n"), command->example);
done:
    if (context) poptFreeContext(context);
    for (int id = 0; id < OPTION_COUNT; id++)
        free(p->text[id]);
    free(p);
    return status;
}
