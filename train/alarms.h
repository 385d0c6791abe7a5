/* alarms.h - what a run that goes wrong looks like, with the cause and what to try.
 *
 * Pure functions of numbers: each writes one line of advice and returns true, or returns false when all is well.
 *
 *     char text[CAIRN_ALARM_SIZE];
 *     if (cairn_alarm_plateau(loss, classes, text, sizeof text)) cairn_log_write(log, CAIRN_LOG_WARNING, "%s", text);
 */
#ifndef CAIRN_TRAIN_ALARMS_H
#define CAIRN_TRAIN_ALARMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAIRN_ALARM_SIZE 480

/* The mean training loss of an epoch is still that of guessing, ln(classes): the net has learned nothing. */
bool cairn_alarm_plateau(double loss, int classes, double learning_rate, char *text, size_t size);

/* More than `limit` (0.5) of the time went into waiting for data. */
bool cairn_alarm_waiting(double share, double limit, int loader_threads, char *text, size_t size);

/* One class has more than 60 % of the training pictures while there are others: accuracy will flatter. */
bool cairn_alarm_unbalanced(const int64_t *count, int classes, const char *const *name, bool weighted, char *text,
                            size_t size);

/* An evaluation answered one class for more than 95 % of the pictures though fewer than 80 % are of it. */
bool cairn_alarm_one_answer(int64_t predicted, int64_t of_class, int64_t samples, const char *name, char *text,
                            size_t size);

#endif
