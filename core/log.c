#include "core/log.h"
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

void cairn_log_write(const cairn_log *log, cairn_log_level level, const char *format, ...)
{
    if (!log || !log->write || level < log->level) return;
    char text[2000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    log->write(log->context, level, text);
}
