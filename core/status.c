#include "core/status.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local cairn_error last;

const cairn_error *cairn_error_last(void)
{
    return &last;
}

cairn_status cairn_error_raise(const cairn_error *error)
{
    last = *error;
    return last.status;
}

cairn_status cairn_error_add_context(const char *format, ...)
{
    char context[CAIRN_ERROR_MESSAGE_SIZE], joined[2 * CAIRN_ERROR_MESSAGE_SIZE + 4];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(context, sizeof context, format, arguments);
    va_end(arguments);
    snprintf(joined, sizeof joined, "%s: %s", context, last.message);
    memcpy(last.message, joined, sizeof last.message - 1);
    last.message[sizeof last.message - 1] = '\0';
    return last.status;
}

cairn_status cairn_fail_at(cairn_status status, const char *file, int line, const char *format, ...)
{
    /* Formatted apart first: an argument may point into the message that is being replaced. */
    char message[CAIRN_ERROR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    last.status = status;
    last.file = file;
    last.line = line;
    memcpy(last.message, message, sizeof last.message);
    return status;
}

const char *cairn_status_name(cairn_status status)
{
    static const char *const names[] = {"ok",         "usage", "device",  "data",       "memory",
                                        "non-finite", "file",  "library", "interrupted"};
    return (size_t)status < sizeof names / sizeof *names ? names[status] : "unknown";
}
