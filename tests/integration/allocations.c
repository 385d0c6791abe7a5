/* After the second update of a run Cairn takes no memory from the host: malloc and its like are counted here while a net trains on JPEG files, each
 * call booked by the code it came from. Counted as Cairn's is what the program, libcairn and its plug-ins call themselves. What other libraries
 * take for their own use is theirs, and only told: oneDNN keeps a table of arguments for each primitive it runs, libjpeg a pool for each picture.
 *
 * The pictures are all of one size, for a thread of the loader keeps buffers as large as the largest picture it has met. */
#include "tests/test.h"
#if !defined CAIRN_HAVE_JPEG || !defined __GLIBC__
int main(void)
{
    TEST_SKIP("needs libjpeg, for stb_image is compiled into Cairn and allocates for every picture, and glibc's names "
              "of its own malloc");
}
#else
#include "cairn.h"
#include "tests/support/jpeg.h"
#include "tests/support/pictures.h"
#include <errno.h>
#include <stdatomic.h>

/* glibc's own, which the definitions below stand before. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
int posix_memalign(void **out, size_t alignment, size_t bytes);

enum { MAPS = 64, UPDATES = 8, BATCH = 8, CLASSES = 2 };

/* Where code of ours lies in memory. */
static struct {
    uintptr_t from, to;
} code[MAPS];
static int code_count;

static atomic_bool counting;
static atomic_int_fast64_t ours, others;
static _Atomic(uintptr_t) culprit; /* the last caller of ours */

static bool is_ours(uintptr_t address)
{
    for (int i = 0; i < code_count; i++)
        if (address >= code[i].from && address < code[i].to) return true;
    return false;
}

static void count(void *caller)
{
    if (!atomic_load(&counting)) return;
    if (is_ours((uintptr_t)caller)) {
        atomic_fetch_add(&ours, 1);
        atomic_store(&culprit, (uintptr_t)caller);
    } else {
        atomic_fetch_add(&others, 1);
    }
}

#define COUNT_CALLER() count(__builtin_return_address(0))

void *malloc(size_t bytes)
{
    COUNT_CALLER();
    return __libc_malloc(bytes);
}

void *calloc(size_t items, size_t bytes)
{
    COUNT_CALLER();
    return __libc_calloc(items, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    COUNT_CALLER();
    return __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    COUNT_CALLER();
    return __libc_memalign(alignment, bytes);
}

int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    COUNT_CALLER();
    *out = __libc_memalign(alignment, bytes);
    return *out ? 0 : ENOMEM;
}

/* Executable mappings of files below the build folder. */
static void find_code(void)
{
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    if (!maps) TEST_SKIP("there is no /proc/self/maps to tell whose code allocates");
    while (fgets(line, sizeof line, maps)) {
        unsigned long long from, to;
        char rights[5];
        if (sscanf(line, "%llx-%llx %4s", &from, &to, rights) != 3 || rights[2] != 'x') continue;
        if (!strstr(line, CAIRN_TEST_BUILD "/") || code_count == MAPS) continue;
        code[code_count].from = (uintptr_t)from;
        code[code_count++].to = (uintptr_t)to;
    }
    fclose(maps);
}

/* What lies at an address, as file and offset: readable by addr2line. */
static void describe(uintptr_t address, char *text, size_t size)
{
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    snprintf(text, size, "nowhere");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long long from, to, offset;
        int path = 0;
        if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %n", &from, &to, &offset, &path) != 3 || path == 0) continue;
        if (address < from || address >= to) continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(text, size, "%s+0x%llx", line + path, address - from + offset);
    }
    if (maps) fclose(maps);
}

static char root[SCRATCH_SIZE], folder[SCRATCH_SIZE];

static cairn_status put(const char *path, const uint8_t *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    if (!file) return cairn_fail(CAIRN_FILE, "%s: cannot be made", path);
    bool written = fwrite(data, 1, bytes, file) == bytes;
    return fclose(file) == 0 && written ? CAIRN_OK : cairn_fail(CAIRN_FILE, "%s: cannot be written", path);
}

/* Two classes, each of one picture many times over. */
static cairn_status make_pictures(int each)
{
    scratch_path(root, "jpegs", folder);
    for (int label = 0; label < CLASSES; label++) {
        char name[32], class_folder[SCRATCH_SIZE], path[SCRATCH_SIZE];
        size_t bytes = 0;
        uint8_t *jpeg = test_jpeg(&(test_jpeg_options){.width = 320, .height = 240, .quality = 80, .seed = 7}, &bytes);
        cairn_status status = cairn_os_make_folders(scratch_path(folder, label ? "dog" : "cat", class_folder));
        for (int i = 0; i < each && status == CAIRN_OK; i++) {
            snprintf(name, sizeof name, "%03d.jpg", i);
            status = put(scratch_path(class_folder, name, path), jpeg, bytes);
        }
        free(jpeg);
        CAIRN_TRY(status);
    }
    return CAIRN_OK;
}

/* Counts from the end of the second update of an epoch to the end of its last but one; the epoch's end, where checkpoints are written, is no step. */
static void watch(void *context, const cairn_progress *p)
{
    (void)context;
    int64_t in_epoch = p->evaluating ? 0 : (p->update - 1) % UPDATES + 1;
    atomic_store(&counting, in_epoch >= 2 && in_epoch < UPDATES - 1);
}

static void updates_take_no_memory(const char *backend, int threads, const char *preset, int micro_batch)
{
    char run[SCRATCH_SIZE], where[SCRATCH_SIZE + 64];
    cairn_device *device = NULL;
    snprintf(run, sizeof run, "%.900s/run-%s-%s-%d", root, backend, preset, micro_batch);
    REQUIRE_OK(cairn_device_open(backend, &(cairn_device_options){.threads = threads}, &device));
    cairn_train_options o = pictures_options(device, folder, run);
    o.model = "alexnet";
    o.preset = preset;
    o.image_size = 67;
    o.width_divisor = 8;
    o.micro_batch = micro_batch;
    o.val_split = 0;
    o.report_every = 3;
    o.progress = watch;
    atomic_store(&ours, 0);
    atomic_store(&others, 0);
    CHECK_OK(cairn_train(&o, NULL));
    atomic_store(&counting, false);
    cairn_device_close(device);
    printf("%s %s, slices of %d: %lld allocations by Cairn, %lld by the libraries it calls\n", backend, preset,
           micro_batch, (long long)ours, (long long)others);
    if (atomic_load(&ours) == 0) return;
    describe(atomic_load(&culprit), where, sizeof where);
    TEST_FAIL("%s %s: %lld allocations after the second update; the last from %s", backend, preset, (long long)ours,
              where);
}

static void the_count_sees_an_allocation_of_ours(void)
{
    void *memory;
    atomic_store(&ours, 0);
    atomic_store(&counting, true);
    memory = cairn_os_aligned_alloc(100);
    atomic_store(&counting, false);
    CHECK_INT(ours, 1);
    cairn_os_aligned_free(memory);
}

static void no_memory_is_taken_on_the_cpu(void)
{
    updates_take_no_memory("cpu", 2, "owt", 0);
    updates_take_no_memory("cpu", 1, "caffenet", BATCH / 2);
}

static void no_memory_is_taken_on_ref(void)
{
    updates_take_no_memory("ref", 1, "paper", 0);
}

int main(void)
{
    find_code();
    scratch_make(CAIRN_TEST_BUILD, "allocations", root);
    CHECK_OK(make_pictures(UPDATES * BATCH / CLASSES));
    RUN(the_count_sees_an_allocation_of_ours);
    RUN(no_memory_is_taken_on_the_cpu);
    RUN(no_memory_is_taken_on_ref);
    return test_result();
}
#endif
