#include "train/run_folder.h"
#include "core/atomic_file.h"
#include "core/os.h"
#include "train/trainer.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cairn_run_folder {
    char path[CAIRN_PATH_SIZE];
    cairn_os_lock *lock; /* held while this run may write here */
    FILE *log_file, *metrics_file;
    const cairn_log *outer;
    cairn_log log;
};

/* The last part of a path, without slashes at its end: "photos" of "a/photos/". "." and ".." say nothing: "pictures". */
static void last_part(const char *path, char *out, size_t size)
{
    size_t end = strlen(path);
    while (end > 0 && path[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    size_t length = end - start;
    if (length == 0 || strncmp(path + start, "..", length) == 0)
        snprintf(out, size, "pictures");
    else
        snprintf(out, size, "%.*s", (int)length, path + start);
}

cairn_status cairn_run_folder_default(const char *folder, char *out, size_t size)
{
    char name[256], now[64], base[400];
    last_part(folder, name, sizeof name);
    cairn_os_timestamp(now, sizeof now);
    for (char *c = now; *c; c++)
        if (*c == ':') *c = '-'; /* not every file system takes a colon */
    snprintf(base, sizeof base, "runs/%s-%s", name, now);
    for (int n = 1;; n++) {
        int length = n == 1 ? snprintf(out, size, "%s", base) : snprintf(out, size, "%s-%d", base, n);
        if (length < 0 || (size_t)length >= size)
            return cairn_fail(CAIRN_USAGE, "%s: the folder's name is too long for a run folder: give one", folder);
        if (cairn_os_stat(out, NULL) == CAIRN_OS_MISSING) return CAIRN_OK;
    }
}

cairn_status cairn_run_folder_claim(const char *folder, char *out, size_t size)
{
    bool made;
    do {
        CAIRN_TRY(cairn_run_folder_default(folder, out, size));
        if (cairn_os_make_new_folder(out, &made) != CAIRN_OK) return CAIRN_OK; /* opening it says why, and what to do */
    } while (!made);
    return CAIRN_OK;
}

cairn_status cairn_run_folder_of(const char *path, char *out, size_t size)
{
    const char *slash = strrchr(path, '/');
    int length;
    if (cairn_os_stat(path, NULL) == CAIRN_OS_FOLDER)
        length = snprintf(out, size, "%s", path);
    else if (!slash)
        length = snprintf(out, size, ".");
    else
        length = snprintf(out, size, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    if (length < 0 || (size_t)length >= size)
        return cairn_fail(CAIRN_USAGE, "%.60s...: the path is longer than %zu bytes", path, size - 1);
    return CAIRN_OK;
}

void cairn_run_folder_note(cairn_run_folder *run, cairn_log_level level, const char *text)
{
    static const char *const word[] = {"debug", "info", "warning", "error"};
    char now[64];
    cairn_os_timestamp(now, sizeof now);
    fprintf(run->log_file, "%s %s: %s\n", now, word[level], text); /* one call: lines of several threads stay whole */
    fflush(run->log_file);
}

static void write_log(void *context, cairn_log_level level, const char *text)
{
    cairn_run_folder *run = context;
    cairn_run_folder_note(run, level, text);
    cairn_log_write(run->outer, level, "%s", text);
}

static cairn_status open_to_append(const cairn_run_folder *run, const char *name, FILE **out)
{
    char path[CAIRN_PATH_SIZE];
    CAIRN_TRY(cairn_run_folder_file(run, name, path, sizeof path));
    *out = fopen(path, "a");
    if (!*out) return cairn_fail(CAIRN_FILE, "%s: cannot be opened for writing: %s", path, strerror(errno));
    return CAIRN_OK;
}

static cairn_status refuse_old_run(const cairn_run_folder *run)
{
    char path[CAIRN_PATH_SIZE];
    CAIRN_TRY(cairn_run_folder_file(run, "last.safetensors", path, sizeof path));
    if (cairn_os_stat(path, NULL) != CAIRN_OS_MISSING)
        return cairn_fail(
            CAIRN_FILE,
            "%s: holds a run already (last.safetensors): choose another --run folder, or go on with it by "
            "--resume %s",
            run->path, run->path);
    CAIRN_TRY(cairn_run_folder_file(run, "best.safetensors", path, sizeof path));
    if (cairn_os_stat(path, NULL) != CAIRN_OS_MISSING)
        return cairn_fail(CAIRN_FILE,
                          "%s: holds the best.safetensors of a run that has no last.safetensors to go on from: choose "
                          "another --run folder",
                          run->path);
    return CAIRN_OK;
}

static cairn_status lock(cairn_run_folder *run)
{
    char path[CAIRN_PATH_SIZE], process[48] = "another process";
    long long holder;
    CAIRN_TRY(cairn_run_folder_file(run, "lock", path, sizeof path));
    CAIRN_TRY(cairn_os_lock_take(path, &holder, &run->lock));
    if (run->lock) return CAIRN_OK;
    if (holder > 0) snprintf(process, sizeof process, "process %lld", holder);
    return cairn_fail(CAIRN_FILE,
                      "%s: in use by %s, which trains in it: wait for its end, or choose another folder with --run",
                      run->path, process);
}

cairn_status cairn_run_folder_open(const char *path, bool resume, const cairn_log *log, cairn_run_folder **out)
{
    cairn_status status = CAIRN_OK;
    cairn_run_folder *run = calloc(1, sizeof *run);
    *out = NULL;
    if (!run) return cairn_fail(CAIRN_MEMORY, "%s: no memory for the run folder's record", path);
    int length = snprintf(run->path, sizeof run->path, "%s", path);
    if (length < 0 || (size_t)length >= sizeof run->path)
        CAIRN_TRY_DONE(cairn_fail(CAIRN_USAGE, "--run: the path is longer than %d bytes", CAIRN_PATH_SIZE - 1));
    while (length > 1 && run->path[length - 1] == '/')
        run->path[--length] = '\0';
    status = cairn_os_make_folders(run->path);
    if (status == CAIRN_OK) status = cairn_os_check_writable(run->path);
    if (status != CAIRN_OK) {
        status = cairn_fail(status, "the run folder can't be used: %s: choose another with --run",
                            cairn_error_last()->message);
        goto done;
    }
    CAIRN_TRY_DONE(lock(run));
    if (!resume) CAIRN_TRY_DONE(refuse_old_run(run));
    CAIRN_TRY_DONE(open_to_append(run, "log.txt", &run->log_file));
    CAIRN_TRY_DONE(open_to_append(run, "metrics.jsonl", &run->metrics_file));
    run->outer = log;
    run->log = (cairn_log){.write = write_log, .context = run, .level = CAIRN_LOG_INFO};
    if (log && log->level < run->log.level) run->log.level = log->level;
    *out = run;
done:
    if (status != CAIRN_OK) cairn_run_folder_close(run);
    return status;
}

void cairn_run_folder_close(cairn_run_folder *run)
{
    if (!run) return;
    if (run->log_file) fclose(run->log_file);
    if (run->metrics_file) fclose(run->metrics_file);
    cairn_os_lock_release(run->lock);
    free(run);
}

const char *cairn_run_folder_path(const cairn_run_folder *run)
{
    return run->path;
}

cairn_status cairn_run_folder_file(const cairn_run_folder *run, const char *name, char *out, size_t size)
{
    return cairn_os_join(out, size, run->path, name);
}

const cairn_log *cairn_run_folder_log(const cairn_run_folder *run)
{
    return &run->log;
}

cairn_status cairn_run_folder_put(const cairn_run_folder *run, const char *name, const char *text)
{
    char path[CAIRN_PATH_SIZE];
    CAIRN_TRY(cairn_run_folder_file(run, name, path, sizeof path));
    return cairn_atomic_file_put(path, text, strlen(text));
}

cairn_status cairn_run_folder_metrics(cairn_run_folder *run, const char *line)
{
    if (fprintf(run->metrics_file, "%s\n", line) < 0 || fflush(run->metrics_file) != 0)
        return cairn_fail(CAIRN_FILE,
                          "%s/metrics.jsonl: cannot be written: %s: free some space and go on with --resume %s",
                          run->path, strerror(errno), run->path);
    return CAIRN_OK;
}
