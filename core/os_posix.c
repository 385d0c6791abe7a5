/* os_posix.c - os.h on Linux and its relatives, but for files, which are in os_posix_files.c. No other file includes a POSIX header.
 *
 * Two facts belong to the process and not to any object, so they are static here: the processors it was given at its start, and
 * the signal it has caught. */
#define _GNU_SOURCE
#include "core/os.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
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

/* ---- signals and terminals ---- */

static atomic_int caught_signal;

static void note_signal(int number)
{
    int none = 0;
    if (!atomic_compare_exchange_strong(&caught_signal, &none, number)) _exit(128 + number);
}

static void *take_signals(void *unused)
{
    (void)unused;
    for (;;)
        pause();
    return NULL;
}

/* A handler must not run on the stack of a thread that computes: oneDNN's matrix products keep their stack pointer in a buffer too small
 * for a signal's frame, and one that came then overwrote the heap (2 runs of 100 stopped by SIGINT crashed). So one thread of its own,
 * started before they are blocked here and in every thread that starts later, takes them. */
void cairn_os_catch_signals(void)
{
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART}, before;
    sigset_t taken;
    pthread_t taker;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    bool hangs_up = sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN; /* ignored under nohup */
    if (hangs_up) sigaction(SIGHUP, &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a file over the user's size limit is then a failed write, told like any other */
    if (pthread_create(&taker, NULL, take_signals, NULL) != 0) return;
    pthread_detach(taker);
    sigemptyset(&taken);
    sigaddset(&taken, SIGINT);
    sigaddset(&taken, SIGTERM);
    if (hangs_up) sigaddset(&taken, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &taken, NULL);
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

cairn_status cairn_os_file_of(void (*function)(void), char *out, size_t size)
{
    union { /* ISO C has no conversion between the two, POSIX says they are alike */
        void (*function)(void);
        const void *address;
    } code = {.function = function};
    Dl_info info;
    if (dladdr(code.address, &info) == 0 || !info.dli_fname)
        return cairn_fail(CAIRN_FILE, "the loader doesn't know where this program's code came from");
    return cairn_os_real_path(out, size, info.dli_fname);
}
