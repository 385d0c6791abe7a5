#include "cli/options.h"
#include "cli/command.h"
#include "cli/suggest.h"
#include "cli/train_binding.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cli_options_takes(const cli_command *command, cli_option_id id)
{
    return (cli_option_table[id].commands & command->mask) != 0;
}

int cli_option_find(const char *name)
{
    for (int id = 0; id < OPTION_COUNT; id++)
        if (strcmp(cli_option_table[id].name, name) == 0) return id;
    return -1;
}

char *cli_options_default(const cli_command *command, cli_option_id id, char *text)
{
    const cli_option *option = &cli_option_table[id];
    const char *initial = option->initial;
    for (const cli_default *d = command->defaults; d && d->text; d++)
        if (d->id == id) initial = d->text;
    if (!initial && cli_train_binding_default(id, text)) return text;
    if (!initial) initial = option->kind == OPTION_KIND_FLAG ? "no" : "";
    snprintf(text, CLI_DEFAULT_SIZE, "%s", initial);
    return text;
}

/* The whole of `text` as a number; false otherwise. */
static bool number(const char *text, double *out)
{
    char *end;
    if (!*text) return false;
    *out = strtod(text, &end);
    return *end == '\0' && isfinite(*out);
}

static cairn_status refuse(const char *origin, const char *text, const char *wanted)
{
    return cairn_fail(CAIRN_USAGE, "%s %s: %s is wanted", origin, *text ? text : "(nothing)", wanted);
}

static cairn_status set_number(const cli_option *option, cli_value *value, const char *text, const char *origin)
{
    bool whole = option->kind == OPTION_KIND_INTEGER;
    char wanted[160], word[32] = "";
    if (option->word) snprintf(word, sizeof word, ", or %s,", option->word);
    snprintf(wanted, sizeof wanted, "a %snumber from %.15g to %.15g%s", whole ? "whole " : "", option->low,
             option->high, word);
    if (option->word && strcmp(text, option->word) == 0) {
        value->real = option->word_value;
    } else {
        if (!number(text, &value->real)) return refuse(origin, text, wanted);
        if (whole && value->real != floor(value->real)) return refuse(origin, text, wanted);
        if (value->real < option->low || value->real > option->high) return refuse(origin, text, wanted);
    }
    value->integer = (int64_t)value->real;
    return CAIRN_OK;
}

static cairn_status set_size(const cli_option *option, cli_value *value, const char *text, const char *origin)
{
    static const char wanted[] = "a number of bytes such as 800M or 2G, at least 1M, or none,";
    if (strcmp(text, option->word) == 0) {
        value->integer = 0;
        return CAIRN_OK;
    }
    char *end;
    double bytes = strtod(text, &end);
    const char *unit = strchr("KMG", *end);
    if (end == text || !unit || (*end && end[1])) return refuse(origin, text, wanted);
    bytes *= *end == 'K' ? 1e3 : *end == 'M' ? 1e6 : *end == 'G' ? 1e9 : 1;
    if (!(bytes >= option->low && bytes <= option->high)) return refuse(origin, text, wanted);
    value->integer = (int64_t)bytes;
    return CAIRN_OK;
}

static cairn_status set_flag(cli_value *value, const char *text, const char *origin)
{
    static const struct {
        const char *word;
        bool on;
    } words[] = {{"yes", true}, {"no", false},  {"true", true}, {"false", false},
                 {"on", true},  {"off", false}, {"1", true},    {"0", false}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, text) == 0) {
            value->integer = words[i].on;
            return CAIRN_OK;
        }
    return refuse(origin, text, "yes or no");
}

static cairn_status set_choice(const cli_option *option, const char *text, const char *origin)
{
    enum { MOST = 8 };
    char words[160];
    const char *known[MOST + 1];
    int count = 0;
    snprintf(words, sizeof words, "%s", option->choices);
    for (char *word = words; word && count < MOST;) {
        char *bar = strchr(word, '|');
        if (bar) *bar = '\0';
        known[count++] = word;
        word = bar ? bar + 1 : NULL;
    }
    known[count] = NULL;
    char list[200] = "";
    for (int i = 0; i < count; i++) {
        if (strcmp(known[i], text) == 0) return CAIRN_OK;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : i == count - 1 ? " or " : ", ", known[i]);
    }
    const char *meant = cli_suggest(text, known);
    if (meant) return cairn_fail(CAIRN_USAGE, "%s %s: %s is wanted; did you mean %s?", origin, text, list, meant);
    return refuse(origin, text, list);
}

cairn_status cli_options_set(cli_options *options, cli_option_id id, const char *text, const char *origin)
{
    const cli_option *option = &cli_option_table[id];
    cli_value *value = &options->value[id];
    switch (option->kind) {
    case OPTION_KIND_FLAG:
        CAIRN_TRY(set_flag(value, text, origin));
        break;
    case OPTION_KIND_INTEGER:
    case OPTION_KIND_REAL:
        CAIRN_TRY(set_number(option, value, text, origin));
        break;
    case OPTION_KIND_SIZE:
        CAIRN_TRY(set_size(option, value, text, origin));
        break;
    case OPTION_KIND_CHOICE:
        CAIRN_TRY(set_choice(option, text, origin));
        break;
    case OPTION_KIND_TEXT:
        if (!*text) return refuse(origin, text, "a value");
    }
    char *copy = strdup(text);
    if (!copy) return cairn_fail(CAIRN_MEMORY, "no memory for the option %s", option->name);
    free(value->text);
    value->text = copy;
    value->given = true;
    return CAIRN_OK;
}

cairn_status cli_options_init(cli_options *options, const cli_command *command)
{
    *options = (cli_options){.command = command};
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (!cli_options_takes(command, (cli_option_id)id)) continue;
        char text[CLI_DEFAULT_SIZE];
        cli_options_default(command, (cli_option_id)id, text);
        if (*text) CAIRN_TRY(cli_options_set(options, (cli_option_id)id, text, cli_option_table[id].name));
        options->value[id].given = false;
    }
    return CAIRN_OK;
}

void cli_options_release(cli_options *options)
{
    for (int id = 0; id < OPTION_COUNT; id++)
        free(options->value[id].text);
    for (int i = 0; i < options->argument_count; i++)
        free(options->argument[i]);
    free(options->argument);
    free(options->line);
    *options = (cli_options){.command = options->command};
}

/* "eval, model and bench": who takes an option. */
static void takers(cli_option_id id, char *text, size_t size)
{
    *text = '\0';
    for (const cli_command *const *c = cli_commands(); *c; c++) {
        if (!cli_options_takes(*c, id)) continue;
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", used ? ", " : "", (*c)->name);
    }
}

cairn_status cli_options_unknown(const cli_command *command, const char *name, const char *origin)
{
    int id = cli_option_find(name);
    if (id >= 0) {
        char who[100];
        takers((cli_option_id)id, who, sizeof who);
        return cairn_fail(CAIRN_USAGE, "%s: an option of %s, not of %s; see cairn %s --help", origin, who,
                          command->name, command->name);
    }
    const char *known[OPTION_COUNT + 1];
    int count = 0;
    for (int i = 0; i < OPTION_COUNT; i++)
        if (cli_options_takes(command, (cli_option_id)i)) known[count++] = cli_option_table[i].name;
    known[count] = NULL;
    const char *meant = cli_suggest(name, known);
    if (meant)
        return cairn_fail(CAIRN_USAGE, "%s: no such option; did you mean %s%s?", origin,
                          strncmp(origin, "--", 2) == 0 ? "--" : "", meant);
    return cairn_fail(CAIRN_USAGE, "%s: no such option; see cairn %s --help", origin, command->name);
}

bool cli_flag(const cli_options *options, cli_option_id id)
{
    return options->value[id].integer != 0;
}

int64_t cli_int(const cli_options *options, cli_option_id id)
{
    return options->value[id].integer;
}

double cli_real(const cli_options *options, cli_option_id id)
{
    return options->value[id].real;
}

const char *cli_text(const cli_options *options, cli_option_id id)
{
    const char *text = options->value[id].text, *word = cli_option_table[id].word;
    return text && word && strcmp(text, word) == 0 ? NULL : text;
}

bool cli_given(const cli_options *options, cli_option_id id)
{
    return options->value[id].given;
}
