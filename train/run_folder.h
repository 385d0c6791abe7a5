/* run_folder.h - the folder a run leaves behind.
 *
 *     config             every option, as `cairn train --config` reads it back
 *     manifest.json      versions, device, processor, data, seed, command line, start, end, result
 *     log.txt            everything said, with the time; every report and the end
 *     metrics.jsonl      one JSON object a line: reports while training, evaluations
 *     classes.txt        class names in the order of the net's outputs
 *     split.tsv          which picture was for training, which for validation
 *     best.safetensors   weights of the best epoch
 *     last.safetensors   everything needed to go on
 *
 *     cairn_run_folder *run;
 *     CAIRN_TRY(cairn_run_folder_open("runs/photos-2026-01-31T23-59-59", false, log, &run));      nothing long happens before this
 *     cairn_log_write(cairn_run_folder_log(run), CAIRN_LOG_INFO, "to the sink and to log.txt");
 *     cairn_run_folder_close(run);
 */
#ifndef CAIRN_TRAIN_RUN_FOLDER_H
#define CAIRN_TRAIN_RUN_FOLDER_H

#include "core/log.h"
#include "core/status.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct cairn_run_folder cairn_run_folder;

/* "runs/<last part of folder>-<now>", or that with -2, -3, ... where it exists already. CAIRN_USAGE when it doesn't fit. */
cairn_status cairn_run_folder_default(const char *folder, char *out, size_t size);

/* As that, and makes the folder, so that of two runs that start in one second each has its own. */
cairn_status cairn_run_folder_claim(const char *folder, char *out, size_t size);

/* The run folder that a path means: itself when it is a folder, else the folder that the file lies in. */
cairn_status cairn_run_folder_of(const char *path, char *out, size_t size);

/* Makes the folder, checks by writing that it can be written, and opens log.txt and metrics.jsonl (going on in them). CAIRN_FILE with the
 * system's reason and a way out; also when another run has it open (a file `lock` is there as long), or it holds a run already and this is
 * not a resume. `log` (may be NULL) must outlive it. */
cairn_status cairn_run_folder_open(const char *path, bool resume, const cairn_log *log, cairn_run_folder **out);
void cairn_run_folder_close(cairn_run_folder *run); /* NULL is allowed */

const char *cairn_run_folder_path(const cairn_run_folder *run);

/* Path of a file in it. */
cairn_status cairn_run_folder_file(const cairn_run_folder *run, const char *name, char *out, size_t size);

/* A sink that writes to log.txt with the time and hands on to the log given at opening. */
const cairn_log *cairn_run_folder_log(const cairn_run_folder *run);

/* Writes to log.txt alone: what the caller will show in its own way, as the error a run ended with. */
void cairn_run_folder_note(cairn_run_folder *run, cairn_log_level level, const char *text);

/* Replaces a file by `text`, whole or not at all. */
cairn_status cairn_run_folder_put(const cairn_run_folder *run, const char *name, const char *text);

/* Adds one line (given without newline) to metrics.jsonl. */
cairn_status cairn_run_folder_metrics(cairn_run_folder *run, const char *line);

#endif
