/* A device's memory: the growth allocator over a backend's raw calls and events, and what is told of it. */
#include "core/backend.h"
#include "core/os.h"
#include "tests/support/scratch.h"
#include "tests/test.h"
#include <jansson.h>

static const size_t mib = 1024 * 1024;

/* A device with a copy queue on which nothing is done before someone waits for it. */
typedef struct fake_device {
    cairn_device base;
    void *own; /* a block that the backend itself took, and frees as it closes */
    int64_t raw_blocks, events;
    bool eventless; /* no event can be made */
} fake_device;

typedef struct fake_event {
    bool reached;
} fake_event;

extern const cairn_backend fake_backend;
static int64_t blocks_left; /* of raw memory when the last device was closed */

static cairn_status fake_probe(bool *present)
{
    *present = true;
    return CAIRN_OK;
}

static cairn_status fake_open(const cairn_device_options *options, cairn_device **out)
{
    fake_device *fake = calloc(1, sizeof *fake);
    if (!fake) return cairn_fail(CAIRN_MEMORY, "no memory");
    fake->base.backend = &fake_backend;
    fake->base.options = *options;
    *out = &fake->base;
    return CAIRN_OK;
}

static void fake_close(cairn_device *device)
{
    fake_device *fake = (fake_device *)device;
    cairn_device_free(device, fake->own, 100, "backend");
    blocks_left = fake->raw_blocks;
    free(fake);
}

static void *fake_alloc(cairn_device *device, size_t bytes)
{
    if (bytes > 16 * mib) return NULL;
    ((fake_device *)device)->raw_blocks++;
    return cairn_os_aligned_alloc(bytes);
}

static void fake_free(cairn_device *device, void *memory, size_t bytes)
{
    (void)bytes;
    ((fake_device *)device)->raw_blocks--;
    cairn_os_aligned_free(memory);
}

static cairn_status fake_synchronize(cairn_device *device)
{
    (void)device;
    return CAIRN_OK;
}

static cairn_status event_create(cairn_device *device, cairn_event **out)
{
    fake_device *fake = (fake_device *)device;
    *out = fake->eventless ? NULL : calloc(1, sizeof(fake_event));
    if (!*out) return cairn_fail(CAIRN_DEVICE, "no more events");
    fake->events++;
    return CAIRN_OK;
}

static void event_destroy(cairn_device *device, cairn_event *event)
{
    ((fake_device *)device)->events--;
    free(event);
}

static cairn_status event_record(cairn_device *device, cairn_event *event, cairn_queue queue)
{
    (void)device;
    ((fake_event *)event)->reached = queue == CAIRN_QUEUE_COMPUTE;
    return CAIRN_OK;
}

static cairn_status event_synchronize(cairn_device *device, cairn_event *event)
{
    (void)device;
    ((fake_event *)event)->reached = true;
    return CAIRN_OK;
}

static cairn_status event_reached(cairn_device *device, cairn_event *event, bool *reached)
{
    (void)device;
    *reached = ((fake_event *)event)->reached;
    return CAIRN_OK;
}

const cairn_backend fake_backend = {
    .abi = CAIRN_BACKEND_ABI,
    .name = "fake",
    .probe = fake_probe,
    .open = fake_open,
    .close = fake_close,
    .raw_alloc = fake_alloc,
    .raw_free = fake_free,
    .synchronize = fake_synchronize,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_synchronize = event_synchronize,
    .event_reached = event_reached,
};

static fake_device *open_fake(const cairn_device_options *options)
{
    const cairn_backend *const table[] = {&fake_backend, NULL};
    cairn_device *device = NULL;
    CHECK_OK(cairn_device_select(table, "fake", options, &device));
    return (fake_device *)device;
}

static void *take(fake_device *fake, size_t bytes)
{
    void *memory = NULL;
    CHECK_OK(cairn_device_alloc(&fake->base, bytes, "test", &memory));
    return memory;
}

static void closing_gives_everything_back(void)
{
    fake_device *fake = open_fake(NULL);
    fake->own = take(fake, 100);
    void *large = take(fake, 3 * mib), *small = take(fake, 1000);
    CHECK_INT(cairn_device_memory(&fake->base).held, 3 * mib + 1100);
    cairn_device_free(&fake->base, large, 3 * mib, "test");
    cairn_device_free(&fake->base, small, 1000, "test");
    CHECK_INT(cairn_device_memory(&fake->base).held, 100);
    CHECK_INT(cairn_device_memory(&fake->base).allocations, 3);
    cairn_device_close(&fake->base);
    CHECK_INT(blocks_left, 0);
}

static void a_block_waits_for_the_copy_queue(void)
{
    fake_device *fake = open_fake(&(cairn_device_options){.memory_limit = 12 * mib});
    cairn_device *device = &fake->base;
    void *pictures = take(fake, 5 * mib), *other = take(fake, 4 * mib);
    CHECK_OK(cairn_queue_use(device, CAIRN_QUEUE_COMPUTE, pictures));
    CHECK_OK(cairn_queue_use(device, CAIRN_QUEUE_COPY, pictures));
    CHECK_FAILS(cairn_queue_use(device, CAIRN_QUEUE_COPY, fake), CAIRN_USAGE, "is no block");
    cairn_device_free(device, pictures, 5 * mib, "test");
    CHECK_INT(fake->events, 1);
    CHECK_INT(cairn_device_memory(device).waiting, 5 * mib);
    void *small = take(fake, 2 * mib);
    CHECK_INT(cairn_device_memory(device).waits, 0);
    void *more = take(fake, 5 * mib); /* too much without it */
    CHECK_INT(cairn_device_memory(device).waits, 1);
    CHECK_INT(fake->events, 0);
    CHECK_OK(cairn_queue_use(device, CAIRN_QUEUE_COPY, more));
    fake->eventless = true;
    cairn_device_free(device, more, 5 * mib, "test"); /* waits itself instead */
    CHECK_INT(cairn_device_memory(device).waiting, 0);
    cairn_device_free(device, small, 2 * mib, "test");
    cairn_device_free(device, other, 4 * mib, "test");
    cairn_device_close(device);
    CHECK_INT(blocks_left, 0);
}

static void what_is_available_can_be_asked(void)
{
    fake_device *fake = open_fake(&(cairn_device_options){.memory_limit = 12 * mib});
    void *block = take(fake, 10 * mib);
    CHECK_INT(cairn_device_memory_available(&fake->base, 100 * mib), 2 * mib);
    cairn_device_free(&fake->base, block, 10 * mib, "test");
    CHECK_INT(cairn_device_memory_available(&fake->base, 100 * mib), 12 * mib);
    cairn_device_close(&fake->base);
}

static void keep_text(void *context, cairn_log_level level, const char *text)
{
    (void)level;
    snprintf(context, 400, "%s", text);
}

static void running_out_leaves_a_snapshot(void)
{
    char folder[SCRATCH_SIZE], path[SCRATCH_SIZE], said[400] = "";
    const cairn_log log = {.write = keep_text, .context = said};
    void *none;
    scratch_make(CAIRN_TEST_BUILD, "device_memory", folder);
    scratch_path(folder, "memory.json", path);
    fake_device *fake = open_fake(&(cairn_device_options){.memory_snapshot = path, .log = &log});
    void *block = take(fake, 5 * mib);
    CHECK_INT(scratch_count(folder), 0);
    CHECK_FAILS(cairn_device_alloc(&fake->base, 17 * mib, "weights", &none), CAIRN_MEMORY, "17.00 MiB for weights");
    json_t *root = json_load_file(path, 0, NULL);
    CHECK_INT(json_integer_value(json_object_get(json_object_get(root, "stats"), "held")), 5 * mib);
    CHECK_TEXT(said, "");
    json_decref(root);
    cairn_device_free(&fake->base, block, 5 * mib, "test");
    cairn_device_close(&fake->base);

    scratch_path(folder, "missing/memory.json", path);
    fake = open_fake(&(cairn_device_options){.memory_snapshot = path, .log = &log});
    CHECK_FAILS(cairn_device_memory_snapshot(&fake->base, path), CAIRN_FILE, "memory.json");
    CHECK_FAILS(cairn_device_alloc(&fake->base, 17 * mib, "weights", &none), CAIRN_MEMORY, "17.00 MiB for weights");
    CHECK(strstr(said, "no memory snapshot: ") && strstr(said, "memory.json"));
    cairn_device_close(&fake->base);
}

static void a_wrong_free_is_told_and_harmless(void)
{
    char said[400] = "";
    const cairn_log log = {.write = keep_text, .context = said};
    fake_device *fake = open_fake(&(cairn_device_options){.log = &log});
    void *block = take(fake, 100);
    cairn_device_free(&fake->base, fake, 100, "totals");
    CHECK(strstr(said, "100 bytes for totals can't be freed: fake: ") != NULL);
    CHECK_INT(cairn_device_memory(&fake->base).held, 100);
    cairn_device_free(&fake->base, block, 100, "test");
    cairn_device_close(&fake->base);
    CHECK_INT(blocks_left, 0);
}

int main(void)
{
    RUN(closing_gives_everything_back);
    RUN(a_block_waits_for_the_copy_queue);
    RUN(what_is_available_can_be_asked);
    RUN(running_out_leaves_a_snapshot);
    RUN(a_wrong_free_is_told_and_harmless);
    return test_result();
}
