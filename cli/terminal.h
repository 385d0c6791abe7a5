/* terminal.h - what a person sees: talk on stderr with a progress line, data on stdout as tables, colour where it is wanted.
 *
 *     cli_terminal *terminal;
 *     CAIRN_TRY(cli_terminal_create(&terminal));
 *     cli_say(terminal, "10 classes");                          stderr
 *     cli_progress(terminal, "epoch 3: 40 %");                  stderr, redrawn in place; elsewhere than on a terminal: nothing
 *     cli_terminal_destroy(terminal);                           leaves the progress line, ended
 *
 * Colours are used on a terminal unless NO_COLOR is set to something (no-color.org) or TERM is "dumb". Any thread may talk.
 */
#ifndef CAIRN_CLI_TERMINAL_H
#define CAIRN_CLI_TERMINAL_H

#include "core/log.h"
#include "core/status.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct cli_terminal cli_terminal;

cairn_status cli_terminal_create(cli_terminal **out);
void cli_terminal_destroy(cli_terminal *terminal); /* NULL is allowed */

/* A line of talk on stderr; a progress line moves below it. */
void cli_say(cli_terminal *terminal, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_warn(cli_terminal *terminal, const char *format, ...)
    __attribute__((format(printf, 2, 3))); /* "warning: ..." */
void cli_error(cli_terminal *terminal, const char *format, ...)
    __attribute__((format(printf, 2, 3))); /* "cairn: ..." */

/* Names of files and classes may hold anything: turns what a terminal would obey into '?', in place, and returns `text`. Talk is treated so
 * by itself. */
char *cli_harmless(char *text);

/* Seconds since it was created, which main does first. */
double cli_terminal_age(const cli_terminal *terminal);

/* Is there a terminal on which a progress line can be redrawn? */
bool cli_terminal_is_live(const cli_terminal *terminal);

/* Replaces the progress line; does nothing where the terminal isn't live. Where the terminal is narrower than the text, it goes on in further
 * rows after a " | ". */
void cli_progress(cli_terminal *terminal, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_progress_end(cli_terminal *terminal); /* what stands stays, and the next line starts below it */
void cli_progress_clear(cli_terminal *terminal);

/* A sink that shows the library's messages here: information as it is, warnings and errors marked. Valid as long as the terminal. */
const cairn_log *cli_terminal_log(cli_terminal *terminal);

typedef enum cli_style { CLI_PLAIN, CLI_BOLD, CLI_DIM, CLI_RED, CLI_GREEN, CLI_YELLOW, CLI_STYLE_COUNT } cli_style;

/* The sequence that begins a style on `stream` (stdout or stderr), "" where colours aren't wanted. CLI_PLAIN ends all. */
const char *cli_style_on(const cli_terminal *terminal, FILE *stream, cli_style style);

#endif
