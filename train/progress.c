#include "train/progress.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

char *cairn_format_bytes(double bytes, char *text, size_t size)
{
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB"};
    int i = 0;
    while (bytes >= 999.5 && i < 4) {
        bytes /= 1000;
        i++;
    }
    snprintf(text, size, bytes < 9.95 && i > 0 ? "%.1f %s" : "%.0f %s", bytes, unit[i]);
    return text;
}

char *cairn_format_seconds(double seconds, char *text, size_t size)
{
    int64_t whole = seconds > 0 ? (int64_t)(seconds + 0.5) : 0;
    if (whole < 3600)
        snprintf(text, size, "%" PRId64 ":%02d", whole / 60, (int)(whole % 60));
    else
        snprintf(text, size, "%" PRId64 ":%02d:%02d", whole / 3600, (int)(whole / 60 % 60), (int)(whole % 60));
    return text;
}

/* Appends to a text of `size` bytes, cutting what doesn't fit. */
__attribute__((format(printf, 4, 5))) static void append(char *text, size_t size, size_t *used, const char *format, ...)
{
    if (*used + 1 >= size) return;
    va_list arguments;
    va_start(arguments, format);
    int wrote = vsnprintf(text + *used, size - *used, format, arguments);
    va_end(arguments);
    if (wrote > 0) *used += (size_t)wrote;
}

char *cairn_progress_format(const cairn_progress *p, char *text, size_t size)
{
    char now[32], peak[32], left[32];
    size_t used = 0;
    if (size > 0) text[0] = '\0';
    append(text, size, &used, "%s%s%s | epoch %" PRId64 "/%" PRId64, p->device ? p->device : "",
           p->precision ? " " : "", p->precision ? p->precision : "", p->epoch, p->epochs);
    if (p->evaluating) {
        append(text, size, &used, " | checking %" PRId64 "/%" PRId64 " pictures", p->update, p->updates);
    } else {
        append(text, size, &used, " | update %" PRId64 "/%" PRId64 " | loss %.4f | top-1 %.1f %% | lr %.3g", p->update,
               p->updates, p->loss, 100 * p->top1, p->learning_rate);
        append(text, size, &used, " | %.1f images/s | waiting %.0f %%", p->images_per_second, 100 * p->waiting);
    }
    append(text, size, &used, " | memory %s, peak %s", cairn_format_bytes((double)p->memory, now, sizeof now),
           cairn_format_bytes((double)p->memory_peak, peak, sizeof peak));
    if (p->eta >= 0) append(text, size, &used, " | left %s", cairn_format_seconds(p->eta, left, sizeof left));
    return text;
}
