/* os.h - everything Cairn asks of the operating system: time, threads, processors, files, folders, signals, terminals,
 * dynamic libraries. os_posix.c is the one file that includes a POSIX header; Windows will be a second file beside it. os.c has
 * what standard C can do.
 *
 * Paths are byte strings in the system's encoding with '/' between parts. Failures are CAIRN_FILE (CAIRN_MEMORY for
 * threads and allocations) with the path and the system's own reason in the message.
 */
#ifndef CAIRN_CORE_OS_H
#define CAIRN_CORE_OS_H

#include "core/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- time and memory ---- */

double cairn_os_seconds(void); /* monotonic clock, seconds from an arbitrary start */
void cairn_os_sleep(double seconds);
void cairn_os_timestamp(char *text, size_t size); /* local time as 2026-01-31T23:59:59 */
int64_t cairn_os_resident_bytes(void);            /* resident set of this process now; 0 where unknown */
int64_t cairn_os_peak_resident_bytes(void);       /* its high-water mark */

/* Memory aligned to 64 bytes (large blocks to a page), zeroed by no one; NULL when there is none. Freed with ..._free. */
void *cairn_os_aligned_alloc(size_t bytes);
void cairn_os_aligned_free(void *memory);

/* ---- threads ---- */

typedef struct cairn_thread cairn_thread;
typedef struct cairn_mutex cairn_mutex;
typedef struct cairn_cond cairn_cond;

/* Starts `run(argument)`. The thread may run on every processor the process had at its start, whatever the creating thread
 * is pinned to. `name` (15 characters at most are kept) shows in debuggers. Joined and released by cairn_thread_join. */
cairn_status cairn_thread_start(cairn_thread **out, const char *name, void (*run)(void *), void *argument);
void cairn_thread_join(cairn_thread *thread); /* NULL is allowed */

cairn_status cairn_mutex_create(cairn_mutex **out);
void cairn_mutex_destroy(cairn_mutex *mutex); /* NULL is allowed, also below */
void cairn_mutex_lock(cairn_mutex *mutex);
void cairn_mutex_unlock(cairn_mutex *mutex);

cairn_status cairn_cond_create(cairn_cond **out);
void cairn_cond_destroy(cairn_cond *cond);
void cairn_cond_wait(cairn_cond *cond, cairn_mutex *mutex);
bool cairn_cond_wait_for(cairn_cond *cond, cairn_mutex *mutex, double seconds); /* false after the time is over */
void cairn_cond_signal(cairn_cond *cond);
void cairn_cond_broadcast(cairn_cond *cond);

/* ---- processors ---- */

int cairn_os_processor_count(void); /* processors this process may use (its affinity mask at start), >= 1 */
void cairn_os_pin_thread(int n);    /* pins the calling thread to the n-th of them (modulo their count) */
void cairn_os_processor_name(char *text, size_t size); /* "AMD EPYC 9R14", or "unknown processor" */

/* ---- files and folders ---- */

typedef enum cairn_os_kind { CAIRN_OS_MISSING, CAIRN_OS_FILE, CAIRN_OS_FOLDER, CAIRN_OS_OTHER } cairn_os_kind;

/* What stands at `path`, links followed. `bytes` (may be NULL) receives a file's size. */
cairn_os_kind cairn_os_stat(const char *path, int64_t *bytes);

/* Names in a folder without "." and "..", in byte order. `names` is one block to be released with cairn_os_names_free. */
typedef struct cairn_os_names {
    char **name;
    size_t count;
} cairn_os_names;
cairn_status cairn_os_list(const char *folder, cairn_os_names *names);
void cairn_os_names_free(cairn_os_names *names);

cairn_status cairn_os_make_folders(const char *path); /* like mkdir -p */
/* As that, and tells whether the last part wasn't there before: of several that make one folder at a time, one hears so. */
cairn_status cairn_os_make_new_folder(const char *path, bool *made);
cairn_status cairn_os_check_writable(const char *folder); /* by writing and removing a small file in it */

/* Opens an empty file beside `path` for writing and puts its name in `partial`: path + ".partial", or with a number where another
 * process or thread is writing that one. It is locked until closed, so rename or remove it before. What a killed process left is
 * written over. */
cairn_status cairn_os_open_partial(const char *path, char *partial, size_t size, FILE **out);
/* Takes the lock that a file at `path` stands for, until released or until this process ends, however it ends. Where another holds it, CAIRN_OK
 * with *out NULL and the number of its process in *holder (0 where that can't be read). */
typedef struct cairn_os_lock cairn_os_lock;
cairn_status cairn_os_lock_take(const char *path, long long *holder, cairn_os_lock **out);
void cairn_os_lock_release(cairn_os_lock *lock); /* removes the file; NULL is allowed */

cairn_status cairn_os_rename(const char *from, const char *to);
cairn_status cairn_os_remove(const char *path);                /* a file; a missing one is no failure */
cairn_status cairn_os_sync_file(FILE *file, const char *path); /* flushes and fsyncs */
cairn_status cairn_os_sync_folder(const char *path);

/* Reads a whole file into memory (malloc; caller frees; one extra zero byte follows the data). CAIRN_FILE when it is larger
 * than `limit` bytes. An empty file gives *bytes = 0 and a non-NULL pointer. */
cairn_status cairn_os_read_file(const char *path, size_t limit, void **data, size_t *bytes);

/* Joins two parts with one '/' into `out`; CAIRN_USAGE when it doesn't fit. */
cairn_status cairn_os_join(char *out, size_t size, const char *folder, const char *name);

/* The one path of what stands at `path`: from the root, links followed, no "." or "..". Two paths of one thing give the same. CAIRN_FILE when
 * nothing stands there, CAIRN_USAGE when it doesn't fit. */
cairn_status cairn_os_real_path(char *out, size_t size, const char *path);

/* $XDG_CACHE_HOME/cairn, else $HOME/.cache/cairn, else a folder "cairn-cache" in the temporary folder. Not created. */
void cairn_os_cache_folder(char *out, size_t size);

/* ---- signals and terminals ---- */

/* From now on the first SIGINT, SIGTERM or SIGHUP (unless that was ignored, as under nohup) is only noted; a second one ends the process at once with 128 + its number. A write beyond the
 * file-size limit fails instead of ending the process. Call it once, before anything that starts threads, a device too. */
void cairn_os_catch_signals(void);
int cairn_os_caught_signal(void); /* 0, or the number noted (1, 2 or 15) */

bool cairn_os_is_terminal(FILE *file);
int cairn_os_terminal_width(FILE *file); /* columns, 80 where unknown */

/* ---- dynamic libraries ---- */

cairn_status cairn_os_library_open(const char *path, void **handle); /* CAIRN_LIBRARY with the loader's reason */
void *cairn_os_library_symbol(void *handle, const char *name);       /* NULL when missing */
void cairn_os_library_close(void *handle);                           /* NULL is allowed */

/* The file, library or program, that the code of `function` was loaded from. CAIRN_FILE where that can't be told. */
cairn_status cairn_os_file_of(void (*function)(void), char *out, size_t size);

#endif
