#include "cli/terminal.h"
#include "core/os.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 2048 };

struct cli_terminal {
    cairn_mutex *mutex; /* stderr and `rows` */
    cairn_log log;
    double created; /* on the clock of cairn_os_seconds */
    bool live, color_out, color_err;
    int rows; /* that the progress takes at the bottom of the terminal; 0: none stands there */
};

static bool wants_color(FILE *stream)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (no_color && *no_color) return false;
    if (term && strcmp(term, "dumb") == 0) return false;
    return cairn_os_is_terminal(stream);
}

static void erase(cli_terminal *terminal)
{
    for (int row = 1; row < terminal->rows; row++)
        fputs("\r\033[K\033[A", stderr);
    if (terminal->rows) fputs("\r\033[K", stderr);
    terminal->rows = 0;
}

char *cli_harmless(char *text)
{
    for (char *c = text; *c; c++)
        if (((unsigned char)*c < 0x20 && *c != '\t') || *c == 0x7f) *c = '?';
    return text;
}

/* One line, whole, whoever else is talking. `mark` stands before it in `style`. */
static void line(cli_terminal *terminal, cli_style style, const char *mark, const char *format, va_list arguments)
{
    char text[LINE];
    vsnprintf(text, sizeof text, format, arguments);
    cli_harmless(text);
    cairn_mutex_lock(terminal->mutex);
    erase(terminal);
    fprintf(stderr, "%s%s%s%s\n", cli_style_on(terminal, stderr, style), mark,
            style == CLI_PLAIN ? "" : cli_style_on(terminal, stderr, CLI_PLAIN), text);
    fflush(stderr);
    cairn_mutex_unlock(terminal->mutex);
}

static void show_log(void *context, cairn_log_level level, const char *text)
{
    if (level == CAIRN_LOG_ERROR)
        cli_error(context, "%s", text);
    else if (level == CAIRN_LOG_WARNING)
        cli_warn(context, "%s", text);
    else
        cli_say(context, "%s", text);
}

cairn_status cli_terminal_create(cli_terminal **out)
{
    *out = NULL;
    cli_terminal *terminal = calloc(1, sizeof *terminal);
    if (!terminal) return cairn_fail(CAIRN_MEMORY, "no memory for the terminal");
    cairn_status status = cairn_mutex_create(&terminal->mutex);
    if (status != CAIRN_OK) {
        free(terminal);
        return status;
    }
    terminal->created = cairn_os_seconds();
    const char *term = getenv("TERM");
    terminal->live = cairn_os_is_terminal(stderr) && !(term && strcmp(term, "dumb") == 0);
    terminal->color_out = wants_color(stdout);
    terminal->color_err = wants_color(stderr);
    terminal->log = (cairn_log){.write = show_log, .context = terminal, .level = CAIRN_LOG_INFO};
    *out = terminal;
    return CAIRN_OK;
}

void cli_terminal_destroy(cli_terminal *terminal)
{
    if (!terminal) return;
    cli_progress_end(terminal);
    cairn_mutex_destroy(terminal->mutex);
    free(terminal);
}

void cli_say(cli_terminal *terminal, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    line(terminal, CLI_PLAIN, "", format, arguments);
    va_end(arguments);
}

void cli_warn(cli_terminal *terminal, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    line(terminal, CLI_YELLOW, "warning: ", format, arguments);
    va_end(arguments);
}

void cli_error(cli_terminal *terminal, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    line(terminal, CLI_RED, "cairn: ", format, arguments);
    va_end(arguments);
}

double cli_terminal_age(const cli_terminal *terminal)
{
    return cairn_os_seconds() - terminal->created;
}

bool cli_terminal_is_live(const cli_terminal *terminal)
{
    return terminal->live;
}

/* Puts a line feed for the bars between the parts of `text` where the next part wouldn't fit into `columns`, and returns the number of
 * rows. Parts longer than a row are cut. (A byte counts as a column: what is shown here is ASCII but for names.) */
static int wrap(char *text, size_t columns)
{
    static const char bar[] = " | ";
    const size_t gap = sizeof bar - 1;
    int rows = 1;
    size_t from = 0, to = 0, row = 0; /* places in text: what is read, what is written, where the row begins */
    for (bool last = false; !last;) {
        const char *next = strstr(text + from, bar);
        size_t length = next ? (size_t)(next - text) - from : strlen(text + from),
               kept = length < columns ? length : columns;
        last = !next;
        if (to > row && to - row + gap + length > columns) {
            text[to++] = '\n';
            row = to;
            rows++;
        } else if (to > row) {
            memmove(text + to, bar, gap);
            to += gap;
        }
        memmove(text + to, text + from, kept);
        to += kept;
        from += length + gap;
    }
    text[to] = '\0';
    return rows;
}

void cli_progress(cli_terminal *terminal, const char *format, ...)
{
    if (!terminal->live) return;
    char text[LINE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cli_harmless(text);
    int rows = wrap(text, (size_t)cairn_os_terminal_width(stderr) - 1);
    cairn_mutex_lock(terminal->mutex);
    erase(terminal);
    fputs(text, stderr);
    fflush(stderr);
    terminal->rows = rows;
    cairn_mutex_unlock(terminal->mutex);
}

void cli_progress_end(cli_terminal *terminal)
{
    cairn_mutex_lock(terminal->mutex);
    if (terminal->rows) fputc('\n', stderr);
    terminal->rows = 0;
    cairn_mutex_unlock(terminal->mutex);
}

void cli_progress_clear(cli_terminal *terminal)
{
    cairn_mutex_lock(terminal->mutex);
    erase(terminal);
    fflush(stderr);
    cairn_mutex_unlock(terminal->mutex);
}

const cairn_log *cli_terminal_log(cli_terminal *terminal)
{
    return &terminal->log;
}

const char *cli_style_on(const cli_terminal *terminal, FILE *stream, cli_style style)
{
    static const char *const sequence[CLI_STYLE_COUNT] = {"\033[0m",  "\033[1m",  "\033[2m",
                                                          "\033[31m", "\033[32m", "\033[33m"};
    bool color = stream == stderr ? terminal->color_err : terminal->color_out;
    return color ? sequence[style] : "";
}
