/* What os.h promises: threads, conditions with a time limit, processors, folders, files, libraries, signals. With an argument: a process
 * for signals.sh that waits to be signalled. */
#include "core/os.h"
#include "tests/support/scratch.h"
#include "tests/test.h"
#include <signal.h>

static char folder[SCRATCH_SIZE];

typedef struct shared {
    cairn_mutex *mutex;
    cairn_cond *cond;
    int count;
    bool go;
} shared;

static cairn_status shared_create(shared *s)
{
    *s = (shared){0};
    CAIRN_TRY(cairn_mutex_create(&s->mutex));
    return cairn_cond_create(&s->cond);
}

static void shared_destroy(shared *s)
{
    cairn_cond_destroy(s->cond);
    cairn_mutex_destroy(s->mutex);
}

static void count_when_told(void *argument)
{
    shared *s = argument;
    cairn_mutex_lock(s->mutex);
    while (!s->go)
        cairn_cond_wait(s->cond, s->mutex);
    cairn_mutex_unlock(s->mutex);
    for (int i = 0; i < 1000; i++) {
        cairn_mutex_lock(s->mutex);
        s->count++;
        cairn_mutex_unlock(s->mutex);
    }
}

static void threads_wait_for_a_broadcast_and_exclude_each_other(void)
{
    shared s;
    cairn_thread *thread[4];
    REQUIRE_OK(shared_create(&s));
    for (int i = 0; i < 4; i++)
        REQUIRE_OK(cairn_thread_start(&thread[i], "a name longer than fifteen", count_when_told, &s));
    cairn_mutex_lock(s.mutex);
    CHECK_INT(s.count, 0);
    s.go = true;
    cairn_cond_broadcast(s.cond);
    cairn_mutex_unlock(s.mutex);
    for (int i = 0; i < 4; i++)
        cairn_thread_join(thread[i]);
    CHECK_INT(s.count, 4000);
    shared_destroy(&s);
    cairn_thread_join(NULL);
    cairn_mutex_destroy(NULL);
    cairn_cond_destroy(NULL);
}

static void signal_soon(void *argument)
{
    shared *s = argument;
    cairn_os_sleep(0.02);
    cairn_mutex_lock(s->mutex);
    s->go = true;
    cairn_cond_signal(s->cond);
    cairn_mutex_unlock(s->mutex);
}

static void a_wait_ends_with_its_time_or_a_signal(void)
{
    shared s;
    cairn_thread *thread;
    REQUIRE_OK(shared_create(&s));
    cairn_mutex_lock(s.mutex);
    double start = cairn_os_seconds();
    while (cairn_cond_wait_for(s.cond, s.mutex, 0.05) && cairn_os_seconds() - start < 0.05) {
    }
    CHECK(cairn_os_seconds() - start >= 0.049);
    CHECK(!cairn_cond_wait_for(s.cond, s.mutex, -1));
    REQUIRE_OK(cairn_thread_start(&thread, "signaller", signal_soon, &s));
    bool in_time = true;
    while (in_time && !s.go)
        in_time = cairn_cond_wait_for(s.cond, s.mutex, 1e300); /* as good as for ever */
    CHECK(in_time && s.go);
    cairn_mutex_unlock(s.mutex);
    cairn_thread_join(thread);
    shared_destroy(&s);
}

/* The value of a line of /proc/thread-self/status; "" on systems without it. */
static void thread_fact(const char *key, char out[64])
{
    void *data;
    size_t bytes;
    out[0] = '\0';
    if (cairn_os_read_file("/proc/thread-self/status", 1 << 16, &data, &bytes) != CAIRN_OK) return;
    const char *line = strstr(data, key);
    if (line) snprintf(out, 64, "%.*s", (int)strcspn(line, "\n"), line);
    free(data);
}

static void note_processors(void *argument)
{
    thread_fact("Cpus_allowed_list:", argument);
}

/* A pinned thread starts threads that are not. */
static void threads_do_not_inherit_a_pin(void)
{
    char free_list[64], inherited[64], pinned[64];
    cairn_thread *thread;
    thread_fact("Cpus_allowed_list:", free_list);
    CHECK(cairn_os_processor_count() >= 1);
    cairn_os_pin_thread(cairn_os_processor_count() + 1); /* any number is a processor */
    cairn_os_pin_thread(-1);
    thread_fact("Cpus_allowed_list:", pinned);
    CHECK(!strchr(pinned, ',') && !strchr(pinned, '-'));
    REQUIRE_OK(cairn_thread_start(&thread, "free", note_processors, inherited));
    cairn_thread_join(thread);
    CHECK_TEXT(inherited, free_list);
}

static void time_and_memory_are_plausible(void)
{
    char text[64], name[128];
    double start = cairn_os_seconds();
    cairn_os_sleep(0.01);
    CHECK(cairn_os_seconds() - start >= 0.01);
    cairn_os_sleep(-1);
    cairn_os_timestamp(text, sizeof text);
    CHECK_INT(strlen(text), 19);
    CHECK(text[10] == 'T');
    cairn_os_processor_name(name, sizeof name);
    CHECK(name[0] != '\0');
    int64_t now = cairn_os_resident_bytes();
    CHECK(now > 100000);
    CHECK(cairn_os_peak_resident_bytes() > now / 2); /* the kernel counts in lumps, so the peak may lag a little */
    static const size_t sizes[] = {0, 1, 100, 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *memory = cairn_os_aligned_alloc(sizes[i]);
        REQUIRE(memory);
        CHECK_INT((uintptr_t)memory % (sizes[i] >= 1 << 16 ? 4096 : 64), 0);
        memset(memory, 1, sizes[i]);
        cairn_os_aligned_free(memory);
    }
    CHECK(!cairn_os_aligned_alloc(SIZE_MAX / 2));
    cairn_os_aligned_free(NULL);
}

static void put(const char *name, const char *text)
{
    char path[SCRATCH_SIZE];
    FILE *file = fopen(scratch_path(folder, name, path), "wb");
    REQUIRE(file);
    fputs(text, file);
    CHECK_OK(cairn_os_sync_file(file, path));
    fclose(file);
}

static void folders_are_made_and_listed_in_byte_order(void)
{
    char deep[SCRATCH_SIZE], blocked[SCRATCH_SIZE];
    cairn_os_names names;
    scratch_path(folder, "list/b/c//d/", deep);
    CHECK_OK(cairn_os_make_folders(deep));
    CHECK_OK(cairn_os_make_folders(deep));
    CHECK_INT(cairn_os_stat(deep, NULL), CAIRN_OS_FOLDER);
    put("list/z", "");
    put("list/\xc3\xa4", "");
    put("list/B", "");
    put("list/.hidden", "");
    scratch_path(folder, "list", deep);
    REQUIRE_OK(cairn_os_list(deep, &names));
    static const char *const want[] = {".hidden", "B", "b", "z", "\xc3\xa4"};
    REQUIRE(names.count == 5);
    for (size_t i = 0; i < 5; i++)
        CHECK_TEXT(names.name[i], want[i]);
    cairn_os_names_free(&names);
    cairn_os_names_free(&names);
    CHECK_FAILS(cairn_os_make_folders(scratch_path(folder, "list/z/a", blocked)), CAIRN_FILE, "/list/z: folder can't");
    CHECK_FAILS(cairn_os_list(blocked, &names), CAIRN_FILE, "folder can't be read");
    CHECK_FAILS(cairn_os_make_folders(""), CAIRN_FILE, "empty name");
    CHECK_OK(cairn_os_check_writable(deep));
    CHECK_INT(scratch_count(deep), 5);
    CHECK_FAILS(cairn_os_check_writable(blocked), CAIRN_FILE, "can't be written to");
    CHECK_OK(cairn_os_sync_folder(deep));
    CHECK_FAILS(cairn_os_sync_folder(blocked), CAIRN_FILE, "can't be opened");
}

static void a_thing_has_one_real_path(void)
{
    char straight[SCRATCH_SIZE], round_about[SCRATCH_SIZE], other[SCRATCH_SIZE];
    CHECK_OK(cairn_os_make_folders(scratch_path(folder, "real/a", other)));
    CHECK_OK(cairn_os_real_path(straight, sizeof straight, other));
    CHECK_OK(cairn_os_real_path(round_about, sizeof round_about, scratch_path(folder, "real/./a/../a/", other)));
    CHECK(strcmp(straight, round_about) == 0);
    CHECK(straight[0] == '/');
    CHECK_FAILS(cairn_os_real_path(other, 3, straight), CAIRN_USAGE, "too long");
    scratch_path(folder, "real/gone", other);
    CHECK_FAILS(cairn_os_real_path(straight, sizeof straight, other), CAIRN_FILE, "real/gone: can't be found");
}

static void files_are_read_up_to_a_limit(void)
{
    char path[SCRATCH_SIZE], other[SCRATCH_SIZE];
    void *data;
    size_t bytes;
    int64_t size;
    put("ten", "0123456789");
    put("empty", "");
    scratch_path(folder, "ten", path);
    REQUIRE_OK(cairn_os_read_file(path, 10, &data, &bytes));
    CHECK_INT(bytes, 10);
    CHECK_TEXT((char *)data, "0123456789");
    free(data);
    CHECK_FAILS(cairn_os_read_file(path, 9, &data, &bytes), CAIRN_FILE, "larger than the limit of 9 bytes");
    CHECK(!data && bytes == 0);
    REQUIRE_OK(cairn_os_read_file(scratch_path(folder, "empty", other), 0, &data, &bytes));
    CHECK(data && bytes == 0);
    free(data);
    CHECK_FAILS(cairn_os_read_file("/dev/zero", 100000, &data, &bytes), CAIRN_FILE, "larger than the limit");
    CHECK_FAILS(cairn_os_read_file(folder, 100, &data, &bytes), CAIRN_FILE, "can't be read: Is a directory");
    CHECK_INT(cairn_os_stat(path, &size), CAIRN_OS_FILE);
    CHECK_INT(size, 10);
    CHECK_INT(cairn_os_stat("/dev/null", &size), CAIRN_OS_OTHER);
    CHECK_OK(cairn_os_rename(path, scratch_path(folder, "renamed", other)));
    CHECK_INT(cairn_os_stat(path, &size), CAIRN_OS_MISSING);
    CHECK_FAILS(cairn_os_rename(path, other), CAIRN_FILE, "can't be renamed");
    CHECK_OK(cairn_os_remove(other));
    CHECK_OK(cairn_os_remove(other));
    CHECK_FAILS(cairn_os_remove(folder), CAIRN_FILE, "can't be removed");
}

static void a_full_device_is_told_by_sync(void)
{
    FILE *full = fopen("/dev/full", "wb");
    if (!full) return; /* a system without this device */
    fputs("x", full);
    CHECK_FAILS(cairn_os_sync_file(full, "full"), CAIRN_FILE, "full: can't be written: No space left");
    fclose(full);
}

static void paths_join(void)
{
    char out[8];
    CHECK_OK(cairn_os_join(out, sizeof out, "a", "b"));
    CHECK_TEXT(out, "a/b");
    CHECK_OK(cairn_os_join(out, sizeof out, "a/", "b"));
    CHECK_TEXT(out, "a/b");
    CHECK_OK(cairn_os_join(out, sizeof out, "", "b"));
    CHECK_TEXT(out, "b");
    CHECK_OK(cairn_os_join(out, sizeof out, "abc", "def"));
    CHECK_FAILS(cairn_os_join(out, sizeof out, "abcd", "def"), CAIRN_USAGE, "longer than 7 bytes");
}

static void libraries_load(void)
{
    void *handle;
    CHECK_FAILS(cairn_os_library_open("libcairn_none.so", &handle), CAIRN_LIBRARY, "libcairn_none.so: can't be loaded");
    REQUIRE_OK(cairn_os_library_open("libm.so.6", &handle));
    CHECK(cairn_os_library_symbol(handle, "cos"));
    CHECK(!cairn_os_library_symbol(handle, "no_such_function"));
    cairn_os_library_close(handle);
    cairn_os_library_close(NULL);
}

static void terminals(void)
{
    FILE *file = fopen("/dev/null", "rb");
    REQUIRE(file);
    CHECK(!cairn_os_is_terminal(file));
    CHECK_INT(cairn_os_terminal_width(file), 80);
    fclose(file);
}

/* For signals.sh: is signalled twice, and says what it noted in between. The second ends the process, so 1 is never returned but for no
 * signal at all. */
static int wait_for_signals(void)
{
    sigset_t blocked;
    cairn_os_catch_signals();
    /* Not taken by a thread that may be computing. */
    if (sigprocmask(SIG_BLOCK, NULL, &blocked) != 0 || !sigismember(&blocked, SIGINT) ||
        !sigismember(&blocked, SIGTERM))
        return 2;
    puts("ready");
    fflush(stdout);
    for (int i = 0; i < 1000 && !cairn_os_caught_signal(); i++)
        cairn_os_sleep(0.01);
    printf("noted %d\n", cairn_os_caught_signal());
    fflush(stdout);
    cairn_os_sleep(10);
    return 1;
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], "wait") == 0) return wait_for_signals();
    scratch_make(CAIRN_TEST_BUILD, "os", folder);
    RUN(threads_wait_for_a_broadcast_and_exclude_each_other);
    RUN(a_wait_ends_with_its_time_or_a_signal);
    RUN(threads_do_not_inherit_a_pin);
    RUN(time_and_memory_are_plausible);
    RUN(folders_are_made_and_listed_in_byte_order);
    RUN(a_thing_has_one_real_path);
    RUN(files_are_read_up_to_a_limit);
    RUN(a_full_device_is_told_by_sync);
    RUN(paths_join);
    RUN(libraries_load);
    RUN(terminals);
    return test_result();
}
