/* log.h - what the library has to say while it works, handed to whoever wants to show it.
 *
 * The library prints nothing itself. A program gives a sink; without one, messages are dropped.
 *
 *     static void show(void *context, cairn_log_level level, const char *text) { fprintf(stderr, "%s\n", text); }
 *     cairn_log log = {.write = show, .context = NULL, .level = CAIRN_LOG_INFO};
 *     cairn_log_write(&log, CAIRN_LOG_INFO, "%d classes", classes);
 */
#ifndef CAIRN_CORE_LOG_H
#define CAIRN_CORE_LOG_H

typedef enum cairn_log_level { CAIRN_LOG_DEBUG, CAIRN_LOG_INFO, CAIRN_LOG_WARNING, CAIRN_LOG_ERROR } cairn_log_level;

/* A sink. `write` may be called from several threads at once; `text` is one line without its newline. */
typedef struct cairn_log {
    void (*write)(void *context, cairn_log_level level, const char *text);
    void *context;
    cairn_log_level level; /* messages below it are dropped */
} cairn_log;

/* Formats and hands on one message (cut at 2,000 characters). `log` may be NULL. */
void cairn_log_write(const cairn_log *log, cairn_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
