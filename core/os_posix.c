/* os_posix.c - os.h on Linux and its relatives. The one file that includes a POSIX header.
 *
 * Two facts belong to the process and not to any object, so they are static here: the processors it was given at its start, and
 * the signal it has caught. */
#define _GNU_SOURCE
#include "core/os.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- time and memory ---- */

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double cairn_os_seconds(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

static struct timespec timespec_of(double seconds)
{
    if (!(seconds > 0)) seconds = 0;
    if (seconds > 1e9) seconds = 1e9; /* thirty years; keeps time_t from overflowing */
    time_t whole = (time_t)seconds;
    return (struct timespec){.tv_sec = whole, .tv_nsec = (long)((seconds - (double)whole) * 1e9)};
}

void cairn_os_sleep(double seconds)
{
    struct timespec left = timespec_of(seconds);
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

void cairn_os_timestamp(char *text, size_t size)
{
    time_t now = time(NULL);
    struct tm parts;
    localtime_r(&now, &parts);
    if (!strftime(text, size, "%Y-%m-%dT%H:%M:%S", &parts) && size) text[0] = '\0';
}

/* The number after `key` in /proc/self/status, which is in KiB. */
static int64_t status_bytes(const char *key)
{
    char line[256];
    long long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    if (!file) return 0;
    while (fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0) kib = strtoll(line + strlen(key), NULL, 10);
    fclose(file);
    return kib * 1024;
}

int64_t cairn_os_resident_bytes(void)
{
    return status_bytes("VmRSS:");
}

int64_t cairn_os_peak_resident_bytes(void)
{
    return status_bytes("VmHWM:"); /* getrusage's ru_maxrss would count what ran before exec, too */
}

void *cairn_os_aligned_alloc(size_t bytes)
{
    /* Large blocks ask for huge pages: AlexNet's first update touches 860 MB, and 210,000 page faults of 4 KB cost a second of it. */
    const size_t page = 4096, huge_page = (size_t)2 << 20;
    bool huge = bytes >= 4 * huge_page;
    size_t alignment = huge ? huge_page : bytes >= 16 * page ? page : 64;
    void *memory = NULL;
    if (posix_memalign(&memory, alignment, bytes ? bytes : 1) != 0) return NULL;
    if (huge)
        (void)madvise(memory, bytes / huge_page * huge_page,
                      MADV_HUGEPAGE); /* a wish: where it isn't granted nothing is lost */
    return memory;
}

void cairn_os_aligned_free(void *memory)
{
    free(memory);
}

/* ---- processors ---- */

static cpu_set_t processors_at_start;

__attribute__((constructor)) static void note_processors(void)
{
    if (sched_getaffinity(0, sizeof processors_at_start, &processors_at_start) == 0) return;
    CPU_ZERO(&processors_at_start); /* more processors than a cpu_set_t holds: let the system choose among them */
}

int cairn_os_processor_count(void)
{
    int count = CPU_COUNT(&processors_at_start);
    if (count == 0) count = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? count : 1;
}

void cairn_os_pin_thread(int n)
{
    int count = CPU_COUNT(&processors_at_start), place = count ? (n % count + count) % count : 0;
    for (size_t cpu = 0; count && cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &processors_at_start) || place-- > 0) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        pthread_setaffinity_np(pthread_self(), sizeof one, &one);
        return;
    }
}

void cairn_os_processor_name(char *text, size_t size)
{
    char line[512];
    snprintf(text, size, "unknown processor");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file) return;
    while (fgets(line, sizeof line, file)) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value) continue;
        value += 1 + strspn(value + 1, " \t");
        value[strcspn(value, "\n")] = '\0';
        if (*value) snprintf(text, size, "%s", value);
        break;
    }
    fclose(file);
}

/* ---- threads ---- */

struct cairn_thread {
    pthread_t id;
    char name[16];
    void (*run)(void *);
    void *argument;
};

struct cairn_mutex {
    pthread_mutex_t native;
};

struct cairn_cond {
    pthread_cond_t native;
};

static void *run_thread(void *argument)
{
    cairn_thread *thread = argument;
    pthread_setname_np(pthread_self(), thread->name);
    if (CPU_COUNT(&processors_at_start))
        pthread_setaffinity_np(pthread_self(), sizeof processors_at_start, &processors_at_start);
    thread->run(thread->argument);
    return NULL;
}

cairn_status cairn_thread_start(cairn_thread **out, const char *name, void (*run)(void *), void *argument)
{
    cairn_thread *thread = calloc(1, sizeof *thread);
    *out = NULL;
    if (!thread) return cairn_fail(CAIRN_MEMORY, "no memory to start thread '%s'", name);
    snprintf(thread->name, sizeof thread->name, "%.15s", name);
    thread->run = run;
    thread->argument = argument;
    int error = pthread_create(&thread->id, NULL, run_thread, thread);
    if (error) {
        free(thread);
        return cairn_fail(CAIRN_MEMORY, "thread '%s' can't be started: %s", name, strerror(error));
    }
    *out = thread;
    return CAIRN_OK;
}

void cairn_thread_join(cairn_thread *thread)
{
    if (!thread) return;
    pthread_join(thread->id, NULL);
    free(thread);
}

cairn_status cairn_mutex_create(cairn_mutex **out)
{
    cairn_mutex *mutex = calloc(1, sizeof *mutex);
    *out = mutex;
    if (!mutex) return cairn_fail(CAIRN_MEMORY, "no memory for a mutex");
    pthread_mutex_init(&mutex->native, NULL);
    return CAIRN_OK;
}

void cairn_mutex_destroy(cairn_mutex *mutex)
{
    if (!mutex) return;
    pthread_mutex_destroy(&mutex->native);
    free(mutex);
}

void cairn_mutex_lock(cairn_mutex *mutex)
{
    pthread_mutex_lock(&mutex->native);
}

void cairn_mutex_unlock(cairn_mutex *mutex)
{
    pthread_mutex_unlock(&mutex->native);
}

cairn_status cairn_cond_create(cairn_cond **out)
{
    cairn_cond *cond = calloc(1, sizeof *cond);
    *out = cond;
    if (!cond) return cairn_fail(CAIRN_MEMORY, "no memory for a condition");
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC); /* a set clock must not stretch a wait */
    pthread_cond_init(&cond->native, &attributes);
    pthread_condattr_destroy(&attributes);
    return CAIRN_OK;
}

void cairn_cond_destroy(cairn_cond *cond)
{
    if (!cond) return;
    pthread_cond_destroy(&cond->native);
    free(cond);
}

void cairn_cond_wait(cairn_cond *cond, cairn_mutex *mutex)
{
    pthread_cond_wait(&cond->native, &mutex->native);
}

bool cairn_cond_wait_for(cairn_cond *cond, cairn_mutex *mutex, double seconds)
{
    struct timespec until = timespec_of(cairn_os_seconds() + (seconds > 0 ? seconds : 0));
    return pthread_cond_timedwait(&cond->native, &mutex->native, &until) != ETIMEDOUT;
}

void cairn_cond_signal(cairn_cond *cond)
{
    pthread_cond_signal(&cond->native);
}

void cairn_cond_broadcast(cairn_cond *cond)
{
    pthread_cond_broadcast(&cond->native);
}

/* ---- files and folders ---- */

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
    char part[4096];
    size_t length = strlen(path);
    if (length == 0) return cairn_fail(CAIRN_FILE, "a folder can't have an empty name");
    if (length >= sizeof part) return cairn_fail(CAIRN_FILE, "%.80s...: path is too long", path);
    for (size_t end = 1; end <= length; end++) {
        if (path[end] != '/' && path[end] != '\0') continue;
        memcpy(part, path, end);
        part[end] = '\0';
        if (mkdir(part, 0777) == 0) continue;
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
        /* Whoever held it until now may have renamed it: then this is their finished file and must not be touched. */
        if (fstat(fd, &opened) != 0 || stat(path, &standing) != 0 || opened.st_ino == standing.st_ino) return fd;
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

/* ---- signals and terminals ---- */

static atomic_int caught_signal;

static void note_signal(int number)
{
    int none = 0;
    if (!atomic_compare_exchange_strong(&caught_signal, &none, number)) _exit(128 + number);
}

void cairn_os_catch_signals(void)
{
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a file over the user's size limit is then a failed write, told like any other */
}

int cairn_os_caught_signal(void)
{
    return atomic_load(&caught_signal);
}

bool cairn_os_is_terminal(FILE *file)
{
    return isatty(fileno(file)) == 1;
}

int cairn_os_terminal_width(FILE *file)
{
    struct winsize size;
    return ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* ---- dynamic libraries ---- */

cairn_status cairn_os_library_open(const char *path, void **handle)
{
    *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*handle) return CAIRN_OK;
    const char *reason = dlerror();
    return cairn_fail(CAIRN_LIBRARY, "%s: can't be loaded: %s", path, reason ? reason : "no reason given");
}

void *cairn_os_library_symbol(void *handle, const char *name)
{
    return dlsym(handle, name);
}

void cairn_os_library_close(void *handle)
{
    if (handle) dlclose(handle);
}
