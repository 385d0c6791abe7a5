/* progress.h - where a run stands, in numbers and as one line of text.
 *
 *     char line[CAIRN_PROGRESS_SIZE];
 *     cairn_progress_format(&progress, line, sizeof line);
 *     fprintf(stderr, "\r%s", line);
 *
 * The trainer fills the struct; whoever shows it decides when, and whether as one line that is rewritten or as plain lines.
 */
#ifndef CAIRN_TRAIN_PROGRESS_H
#define CAIRN_TRAIN_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAIRN_PROGRESS_SIZE 320

typedef struct cairn_progress {
    int64_t epoch, epochs;   /* the epoch under way, counted from 1 */
    int64_t update, updates; /* done, and of the whole run */
    double loss, top1;       /* means since the last report; between reports of that one too, so that they don't jump */
    double learning_rate;    /* of the last update */
    double images_per_second;
    double waiting;              /* share of the time since the last report spent waiting for data, 0..1 */
    double eta;                  /* seconds to the end of the run, negative while unknown */
    int64_t memory, memory_peak; /* bytes, see cairn_device_footprint */
    size_t device_memory;        /* bytes held on the device */
    const char *device;          /* its name, see cairn_device_name */
    const char *precision;       /* "fp32"; NULL: not told */
    bool report;                 /* the last update of a report: what a plain log shows */
    bool evaluating; /* update and updates count pictures of an evaluation, loss and the rest are of training */
} cairn_progress;

/* One line without newline, cut to `size`. Returns `text`. */
char *cairn_progress_format(const cairn_progress *progress, char *text, size_t size);

/* Pieces others print too: "1.4 GB" (decimal units), "2:05" or "3:07:00". Return `text`. */
char *cairn_format_bytes(double bytes, char *text, size_t size);
char *cairn_format_seconds(double seconds, char *text, size_t size);

#endif
