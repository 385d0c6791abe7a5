#include "cli/config_file.h"
#include "cli/command.h"
#include "core/os.h"
#include "train/trainer.h"
#include <ctype.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

/* inih takes lines of up to 197 bytes, and an indented line as more of the value before it. So indentation is taken off here, and a longer
 * line goes in as pieces. */
typedef struct reader {
    const char *path, *at;
    cli_options *options;
    cairn_status status;
    int line;       /* of the file, from 1 */
    bool continued; /* the piece given last goes on with a line */
    char name[64];
    char value[CAIRN_PATH_SIZE];
    int value_line; /* 0: nothing is pending */
    bool seen[OPTION_COUNT];
} reader;

static bool is_space(char c)
{
    return isspace((unsigned char)c) != 0;
}

/* fgets for inih: the next piece of the text, with its line feed where the line ends. */
static char *next_piece(char *to, int size, void *context)
{
    reader *r = context;
    if (!*r->at) return NULL;
    r->continued = r->line > 0 && r->at[-1] != '\n';
    if (!r->continued) {
        r->line++;
        while (*r->at == ' ' || *r->at == '\t')
            r->at++;
    }
    size_t room = (size_t)size - 4, length = strcspn(r->at, "\n"), take = length < room ? length : room;
    if (*r->at == '#' || *r->at == ';') /* a remark's rest is of no interest, and must not look like more of a value */
        r->at += length - take;
    else
        while (take < length && take > 1 && (is_space(r->at[take]) || is_space(r->at[take - 1])))
            take--; /* spaces at the ends of a piece would be lost */
    snprintf(to, (size_t)size, "%s%.*s\n", r->continued ? " " : "", (int)take, r->at);
    r->at += take;
    if (*r->at == '\n') r->at++;
    return to;
}

static cairn_status fail_at(reader *r, int line)
{
    r->status = cairn_error_add_context("%s:%d", r->path, line);
    return r->status;
}

static int hex(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* \xHH to the byte it stands for, in place. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; to++) {
        if (from[0] == '\\' && from[1] == 'x' && isxdigit((unsigned char)from[2]) && isxdigit((unsigned char)from[3])) {
            *to = (char)(hex(from[2]) * 16 + hex(from[3]));
            from += 4;
        } else
            *to = *from++;
    }
    *to = '\0';
}

/* Takes the setting that is pending, now that it is whole. */
static cairn_status flush(reader *r)
{
    if (r->status != CAIRN_OK || r->value_line == 0) return r->status;
    int line = r->value_line, id = cli_option_find(r->name);
    r->value_line = 0;
    if (id < 0 || !cli_options_takes(r->options->command, (cli_option_id)id)) {
        cli_options_unknown(r->options->command, r->name, r->name);
        return fail_at(r, line);
    }
    if (id == OPTION_CONFIG || id == OPTION_HELP || r->seen[id]) {
        cairn_fail(CAIRN_USAGE, "%s: %s", r->name, r->seen[id] ? "given twice" : "for the command line only");
        return fail_at(r, line);
    }
    r->seen[id] = true;
    unescape(r->value);
    char origin[80];
    snprintf(origin, sizeof origin, "%s =", r->name);
    if (cli_options_set(r->options, (cli_option_id)id, r->value, origin) != CAIRN_OK) return fail_at(r, line);
    return CAIRN_OK;
}

/* Called by inih for each setting, and each further piece of one. Returns 0 to say that it is wrong. */
static int take(void *context, const char *section, const char *name, const char *value)
{
    reader *r = context;
    size_t used = r->continued ? strlen(r->value) : 0;
    if (!r->continued) {
        if (flush(r) != CAIRN_OK) return 0;
        snprintf(r->name, sizeof r->name, "%s", name);
        r->value_line = r->line;
    }
    if (*section && r->status == CAIRN_OK) {
        cairn_fail(CAIRN_USAGE, "[%s]: there are no sections; take the line out", section);
        fail_at(r, r->line);
    }
    if (used + strlen(value) >= sizeof r->value && r->status == CAIRN_OK) {
        cairn_fail(CAIRN_USAGE, "%s: longer than %zu bytes", r->name, sizeof r->value - 1);
        fail_at(r, r->line);
    }
    if (r->status != CAIRN_OK) return 0;
    memcpy(r->value + used, value, strlen(value) + 1);
    return 1;
}

cairn_status cli_config_read(const char *path, cli_options *options)
{
    void *data = NULL;
    size_t bytes = 0;
    CAIRN_TRY(cairn_os_read_file(path, 1 << 20, &data, &bytes));
    cairn_status status = CAIRN_OK;
    reader *r = calloc(1, sizeof *r);
    if (!r) {
        status = cairn_fail(CAIRN_MEMORY, "%s: no memory to read it", path);
        goto done;
    }
    const char *text = data;
    if (strlen(text) != bytes) {
        status = cairn_fail(
            CAIRN_USAGE, "%s: not a text file; lines \"name = value\" are wanted, as in a run folder's config", path);
        goto done;
    }
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0) text += 3;
    *r = (reader){.path = path, .at = text, .options = options};
    int line = ini_parse_stream(next_piece, r, take, r);
    status = flush(r);
    if (status == CAIRN_OK && line > 0)
        status = cairn_fail(CAIRN_USAGE, "%s:%d: a line \"name = value\" is wanted, as in a run folder's config", path,
                            line);
    else if (status == CAIRN_OK && line < 0)
        status = cairn_fail(CAIRN_MEMORY, "%s: no memory to read it", path);
done:
    free(r);
    free(data);
    return status;
}

/* ---- writing ---- */

typedef struct buffer {
    char *text;
    size_t used, size;
} buffer;

static cairn_status put(buffer *b, const char *text)
{
    size_t length = strlen(text);
    if (b->used + length + 1 > b->size) {
        size_t size = 2 * (b->used + length + 1);
        char *grown = realloc(b->text, size);
        if (!grown) return cairn_fail(CAIRN_MEMORY, "no memory for the configuration");
        b->text = grown;
        b->size = size;
    }
    memcpy(b->text + b->used, text, length + 1);
    b->used += length;
    return CAIRN_OK;
}

static cairn_status put_value(buffer *b, const char *value)
{
    for (size_t i = 0; value[i]; i++) {
        bool end = i == 0 || value[i + 1] == '\0';
        char byte[8];
        if (value[i] == ';' || value[i] == '\\' || value[i] == '\n' || value[i] == '\r' || (is_space(value[i]) && end))
            snprintf(byte, sizeof byte, "\\x%02x", (unsigned char)value[i]);
        else
            snprintf(byte, sizeof byte, "%c", value[i]);
        CAIRN_TRY(put(b, byte));
    }
    return put(b, "\n");
}

cairn_status cli_config_write(const cli_options *options, char **text)
{
    buffer b = {0};
    cairn_status status = CAIRN_OK;
    const char *group = "";
    *text = NULL;
    char line[120];
    snprintf(line, sizeof line, "# The options of this run: cairn %s --config THIS_FILE runs it again.\n",
             options->command->name);
    CAIRN_TRY_DONE(put(&b, line));
    for (int id = 0; id < OPTION_COUNT; id++) {
        const cli_option *option = &cli_option_table[id];
        const char *value = options->value[id].text;
        char folder[CAIRN_PATH_SIZE];
        /* From the root, so that the run can go on from wherever the program is started. */
        if (id == OPTION_FOLDER && value && cairn_os_real_path(folder, sizeof folder, value) == CAIRN_OK)
            value = folder;
        if (!cli_options_takes(options->command, (cli_option_id)id) || option->unwritten || !value) continue;
        if (strcmp(group, option->group) != 0) {
            snprintf(line, sizeof line, "\n# %s\n", option->group);
            CAIRN_TRY_DONE(put(&b, line));
        }
        group = option->group;
        snprintf(line, sizeof line, "%s = ", option->name);
        CAIRN_TRY_DONE(put(&b, line));
        CAIRN_TRY_DONE(put_value(&b, value));
    }
    *text = b.text;
    b.text = NULL;
done:
    free(b.text);
    return status;
}
