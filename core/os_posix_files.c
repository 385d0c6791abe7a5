/* os_posix_files.c - the files and folders of os.h on Linux and its relatives. */
#define _GNU_SOURCE
#include "core/os.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A CAIRN_FILE failure at `path` with the system's reason. */
#define fail_path(path, what) cairn_fail(CAIRN_FILE, "%s: %s: %s", (path), (what), strerror(errno))

cairn_os_kind cairn_os_stat(const char *path, int64_t *bytes)
{
    struct stat s;
    if (bytes) *bytes = 0;
    if (stat(path, &s) != 0) return CAIRN_OS_MISSING;
    if (S_ISDIR(s.st_mode)) return CAIRN_OS_FOLDER;
    if (!S_ISREG(s.st_mode)) return CAIRN_OS_OTHER;
    if (bytes) *bytes = s.st_size;
    return CAIRN_OS_FILE;
}

cairn_status cairn_os_real_path(char *out, size_t size, const char *path)
{
    char *real = realpath(path, NULL);
    if (!real) return fail_path(path, "can't be found");
    size_t length = strlen(real);
    if (length < size) memcpy(out, real, length + 1);
    free(real);
    return length < size ? CAIRN_OK : cairn_fail(CAIRN_USAGE, "%.80s...: path is too long", path);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b); /* strcmp compares as unsigned bytes */
}

/* Appends a copy of `name`; false without memory. The array grows by doubling: its capacity is the power of two above count. */
static bool add_name(cairn_os_names *names, const char *name)
{
    if ((names->count & (names->count - 1)) == 0) {
        size_t capacity = names->count ? 2 * names->count : 1;
        char **grown = realloc(names->name, capacity * sizeof *grown);
        if (!grown) return false;
        names->name = grown;
    }
    char *copy = strdup(name);
    if (!copy) return false;
    names->name[names->count++] = copy;
    return true;
}

cairn_status cairn_os_list(const char *folder, cairn_os_names *names)
{
    *names = (cairn_os_names){0};
    DIR *stream = opendir(folder);
    if (!stream) return fail_path(folder, "folder can't be read");
    cairn_status status = CAIRN_OK;
    struct dirent *entry;
    while (errno = 0, (entry = readdir(stream))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (add_name(names, entry->d_name)) continue;
        status = cairn_fail(CAIRN_MEMORY, "%s: no memory to list the folder", folder);
        break;
    }
    if (!entry && errno) status = fail_path(folder, "folder can't be read");
    closedir(stream);
    if (status != CAIRN_OK) cairn_os_names_free(names);
    if (names->count) qsort(names->name, names->count, sizeof *names->name, compare_names);
    return status;
}

void cairn_os_names_free(cairn_os_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->name[i]);
    free(names->name);
    *names = (cairn_os_names){0};
}

cairn_status cairn_os_make_folders(const char *path)
{
    bool made;
    return cairn_os_make_new_folder(path, &made);
}

cairn_status cairn_os_make_new_folder(const char *path, bool *made)
{
    char part[4096];
    *made = false;
    size_t length = strlen(path);
    if (length == 0) return cairn_fail(CAIRN_FILE, "a folder can't have an empty name");
    if (length >= sizeof part) return cairn_fail(CAIRN_FILE, "%.80s...: path is too long", path);
    for (size_t end = 1; end <= length; end++) {
        if (path[end] != '/' && path[end] != '\0') continue;
        memcpy(part, path, end);
        part[end] = '\0';
        *made = mkdir(part, 0777) == 0;
        if (*made) continue;
        int reason = errno; /* why it can't be made, which asking whether it is there would replace */
        if (cairn_os_stat(part, NULL) == CAIRN_OS_FOLDER) continue;
        errno = reason;
        return fail_path(part, "folder can't be made");
    }
    return CAIRN_OK;
}

cairn_status cairn_os_check_writable(const char *folder)
{
    char path[4096];
    CAIRN_TRY(cairn_os_join(path, sizeof path, folder, ".cairn-write-test-XXXXXX"));
    int fd = mkstemp(path);
    if (fd < 0) return fail_path(folder, "folder can't be written to");
    bool written = write(fd, "x", 1) == 1;
    cairn_status status = written ? CAIRN_OK : fail_path(folder, "folder can't be written to");
    close(fd);
    unlink(path);
    return status;
}

/* Opens `path` for writing and locks it: a descriptor, -1 on failure, or -2 while someone else holds it. */
static int open_locked(const char *path)
{
    for (;;) {
        struct stat opened, standing;
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0) return -1;
        if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            close(fd);
            return -2;
        }
        /* Whoever held it until now may have renamed it: then this is their finished file and must not be touched. Or removed it: then the
         * lock is on a file that nobody else will find. */
        if (fstat(fd, &opened) != 0) return fd;
        bool standing_known = stat(path, &standing) == 0;
        if (standing_known ? opened.st_ino == standing.st_ino && opened.st_dev == standing.st_dev : errno != ENOENT)
            return fd;
        close(fd);
    }
}

cairn_status cairn_os_open_partial(const char *path, char *partial, size_t size, FILE **out)
{
    int fd = -2;
    for (int n = 0; fd == -2; n++) {
        int length = n ? snprintf(partial, size, "%s.partial%d", path, n) : snprintf(partial, size, "%s.partial", path);
        if (length < 0 || (size_t)length >= size) return cairn_fail(CAIRN_FILE, "%.80s...: path is too long", path);
        fd = open_locked(partial);
    }
    *out = fd >= 0 && ftruncate(fd, 0) == 0 ? fdopen(fd, "wb") : NULL;
    if (*out) return CAIRN_OK;
    cairn_status status = fail_path(path, "can't be opened for writing");
    if (fd >= 0) close(fd);
    return status;
}

struct cairn_os_lock {
    int fd;
    char path[];
};

cairn_status cairn_os_lock_take(const char *path, long long *holder, cairn_os_lock **out)
{
    size_t size = strlen(path) + 1;
    char text[32] = "";
    *out = NULL;
    *holder = 0;
    int fd = open_locked(path);
    if (fd == -2) {
        FILE *file = fopen(path, "r");
        if (file && fgets(text, sizeof text, file)) *holder = strtoll(text, NULL, 10);
        if (file) fclose(file);
        return CAIRN_OK;
    }
    if (fd < 0) return fail_path(path, "can't be opened for writing");
    cairn_os_lock *lock = malloc(sizeof *lock + size);
    int length = snprintf(text, sizeof text, "%lld\n", (long long)getpid());
    if (!lock || ftruncate(fd, 0) != 0 || write(fd, text, (size_t)length) != length) {
        cairn_status status =
            lock ? fail_path(path, "can't be written") : cairn_fail(CAIRN_MEMORY, "%s: no memory to lock it", path);
        free(lock);
        unlink(path);
        close(fd);
        return status;
    }
    lock->fd = fd;
    memcpy(lock->path, path, size);
    *out = lock;
    return CAIRN_OK;
}

void cairn_os_lock_release(cairn_os_lock *lock)
{
    if (!lock) return;
    unlink(lock->path); /* while it is still locked: whoever waits for it notices */
    close(lock->fd);
    free(lock);
}

cairn_status cairn_os_rename(const char *from, const char *to)
{
    if (rename(from, to) == 0) return CAIRN_OK;
    return cairn_fail(CAIRN_FILE, "%s: can't be renamed to %s: %s", from, to, strerror(errno));
}

cairn_status cairn_os_remove(const char *path)
{
    return unlink(path) == 0 || errno == ENOENT ? CAIRN_OK : fail_path(path, "can't be removed");
}

cairn_status cairn_os_sync_file(FILE *file, const char *path)
{
    if (fflush(file) != 0) return fail_path(path, "can't be written");
    return fsync(fileno(file)) == 0 || errno == EINVAL ? CAIRN_OK : fail_path(path, "can't be flushed to the disk");
}

cairn_status cairn_os_sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return fail_path(path, "folder can't be opened");
    bool synced = fsync(fd) == 0 || errno == EINVAL; /* EINVAL: a file system that can't sync folders */
    cairn_status status = synced ? CAIRN_OK : fail_path(path, "folder can't be flushed to the disk");
    close(fd);
    return status;
}
