/* The device registry and the account of memory, over fake backends that fail where they are told to. */
#include "core/backend.h"
#include "core/os.h"
#include "core/queue.h"
#include "core/tensor.h"
#include "tests/test.h"
#include <string.h>

typedef struct fake_device {
    cairn_device base;
    int64_t allocations_left; /* raw_alloc gives NULL after so many; negative: never */
} fake_device;

static int open_devices; /* of this test program: every open is matched by a close */

extern const cairn_backend fake_works;

static cairn_status probe_works(bool *present)
{
    *present = true;
    return CAIRN_OK;
}

static cairn_status probe_absent(bool *present)
{
    *present = false;
    return cairn_fail(CAIRN_DEVICE, "no such card in this machine");
}

static cairn_status probe_broken(bool *present)
{
    *present = true;
    return cairn_fail(CAIRN_DEVICE, "the driver is too old: install 550 or later");
}

static cairn_status probe_by_name_only(bool *present)
{
    *present = false;
    return CAIRN_OK;
}

static cairn_status fake_open(const cairn_device_options *options, cairn_device **out)
{
    fake_device *device = calloc(1, sizeof *device);
    if (!device) return cairn_fail(CAIRN_MEMORY, "no memory");
    device->base.backend = &fake_works;
    device->base.options = *options;
    device->allocations_left = -1;
    snprintf(device->base.name, sizeof device->base.name, "fake");
    open_devices++;
    *out = &device->base;
    return CAIRN_OK;
}

static cairn_status fails_to_open(const cairn_device_options *options, cairn_device **out)
{
    (void)options, (void)out;
    return cairn_fail(CAIRN_LIBRARY, "engine can't be made");
}

static void fake_close(cairn_device *device)
{
    open_devices--;
    free(device);
}

static void *fake_alloc(cairn_device *device, size_t bytes)
{
    fake_device *fake = (fake_device *)device;
    if (fake->allocations_left == 0) return NULL;
    if (fake->allocations_left > 0) fake->allocations_left--;
    return cairn_os_aligned_alloc(bytes);
}

static void fake_free(cairn_device *device, void *memory, size_t bytes)
{
    (void)device, (void)bytes;
    cairn_os_aligned_free(memory);
}

static cairn_status fake_copy(cairn_device *device, void *to, const void *from, size_t bytes)
{
    (void)device;
    memcpy(to, from, bytes);
    return CAIRN_OK;
}

static cairn_status fake_zero(cairn_device *device, void *to, size_t bytes)
{
    (void)device;
    memset(to, 0, bytes);
    return CAIRN_OK;
}

static cairn_status fake_synchronize(cairn_device *device)
{
    (void)device;
    return CAIRN_OK;
}

/* The fake's one layout: six f32, the last first. */
static size_t fake_layout_bytes(cairn_device *device, const cairn_layout *layout, cairn_dtype dtype)
{
    (void)device, (void)layout;
    return 6 * cairn_dtype_size(dtype);
}

static const char *fake_layout_name(cairn_device *device, const cairn_layout *layout)
{
    (void)device, (void)layout;
    return "reversed";
}

static cairn_status reverse(cairn_plan *plan, const cairn_operands *operands)
{
    (void)plan;
    for (int i = 0; i < 6; i++)
        ((float *)operands->dst)[i] = ((const float *)operands->src)[5 - i];
    return CAIRN_OK;
}

static void destroy_plan(cairn_plan *plan)
{
    free(plan);
}

static cairn_status fake_reorder(cairn_device *device, const cairn_reorder_desc *desc, cairn_plan **out)
{
    static const cairn_plan_ops ops = {.forward = reverse, .destroy = destroy_plan};
    (void)desc;
    *out = calloc(1, sizeof **out);
    if (!*out) return cairn_fail(CAIRN_MEMORY, "no memory");
    (*out)->ops = &ops;
    (*out)->device = device;
    (*out)->workspace = 256;
    return CAIRN_OK;
}

#define FAKE(word, probe_function, open_function)                                                                      \
    {                                                                                                                  \
        .abi = CAIRN_BACKEND_ABI, .name = (word), .probe = (probe_function), .open = (open_function),                  \
        .close = fake_close, .raw_alloc = fake_alloc, .raw_free = fake_free, .upload = fake_copy,                      \
        .download = fake_copy, .zero = fake_zero, .synchronize = fake_synchronize, .layout_bytes = fake_layout_bytes,  \
        .layout_name = fake_layout_name, .plan_reorder = fake_reorder,                                                 \
    }

const cairn_backend fake_works = FAKE("works", probe_works, fake_open);
static const cairn_backend fake_absent = FAKE("absent", probe_absent, fake_open);
static const cairn_backend fake_broken = FAKE("broken", probe_broken, fake_open);
static const cairn_backend fake_oracle = FAKE("oracle", probe_by_name_only, fake_open);
static const cairn_backend fake_unopenable = FAKE("unopenable", probe_works, fails_to_open);

static cairn_status select_from(const char *request, cairn_device **out, const cairn_backend *first,
                                const cairn_backend *second)
{
    const cairn_backend *const table[] = {first, second, NULL};
    return cairn_device_select(table, request, NULL, out);
}

static void auto_passes_over_what_is_not_there(void)
{
    cairn_device *device;
    REQUIRE_OK(select_from("auto", &device, &fake_absent, &fake_works));
    CHECK_TEXT(cairn_device_backend_name(device), "works");
    CHECK_TEXT(cairn_device_name(device), "fake");
    CHECK_TEXT(cairn_device_library(device), "");
    CHECK_INT(cairn_device_threads(device), 1);
    cairn_device_close(device);
    cairn_device_close(NULL);
    CHECK_INT(open_devices, 0);
}

static void auto_never_falls_past_a_broken_device(void)
{
    cairn_device *device;
    CHECK_FAILS(select_from("auto", &device, &fake_broken, &fake_works), CAIRN_DEVICE, "driver is too old");
    CHECK(!device);
}

static void auto_leaves_out_what_is_taken_by_name_only(void)
{
    cairn_device *device;
    CHECK_FAILS(select_from("auto", &device, &fake_absent, &fake_oracle), CAIRN_DEVICE,
                "absent: no such card in this machine");
    REQUIRE_OK(select_from("oracle", &device, &fake_absent, &fake_oracle));
    cairn_device_close(device);
}

static void a_name_takes_that_one_or_says_why_not(void)
{
    cairn_device *device;
    CHECK_FAILS(select_from("absent", &device, &fake_absent, &fake_works), CAIRN_DEVICE, "no such card");
    CHECK_FAILS(select_from("tpu", &device, &fake_absent, &fake_works), CAIRN_USAGE,
                "'tpu'; there are: auto, absent, works");
    CHECK_FAILS(select_from("unopenable", &device, &fake_unopenable, &fake_works), CAIRN_LIBRARY, "engine");
    CHECK(!device);
    cairn_backend foreign = fake_works;
    foreign.abi++;
    CHECK_FAILS(select_from("auto", &device, &foreign, &fake_works), CAIRN_DEVICE, "ABI");
    CHECK_FAILS(select_from("works", &device, &foreign, NULL), CAIRN_DEVICE, "ABI");
}

static void a_colon_chooses_among_several(void)
{
    cairn_device *device;
    cairn_backend several = fake_works;
    several.numbered = true;
    CHECK_FAILS(select_from("works:1", &device, &fake_works, NULL), CAIRN_USAGE, "no 'works:1'");
    CHECK_FAILS(select_from("work:1", &device, &several, NULL), CAIRN_USAGE, "'work:1'; there are");
    REQUIRE_OK(select_from("works:1", &device, &several, NULL));
    cairn_device_close(device);
}

/* The fake has no queues: what is asked is done at once. */
static void without_queues_copies_are_done_at_once(void)
{
    cairn_device *device;
    cairn_event *event;
    void *pinned = NULL, *memory = NULL;
    const char text[] = "pictures";
    char back[sizeof text] = "";
    bool reached = false;
    REQUIRE_OK(select_from("works", &device, &fake_works, NULL));
    REQUIRE_OK(cairn_host_alloc(device, sizeof text, "test", &pinned));
    REQUIRE_OK(cairn_device_alloc(device, sizeof text, "test", &memory));
    REQUIRE_OK(cairn_event_create(device, &event));
    memcpy(pinned, text, sizeof text);
    CHECK_OK(cairn_queue_copy_in(device, CAIRN_QUEUE_COPY, memory, pinned, sizeof text));
    CHECK_OK(cairn_event_record(device, event, CAIRN_QUEUE_COPY));
    CHECK_OK(cairn_event_wait(device, event, CAIRN_QUEUE_COMPUTE));
    CHECK_OK(cairn_queue_copy_out(device, CAIRN_QUEUE_COMPUTE, back, memory, sizeof text));
    CHECK_OK(cairn_event_synchronize(device, event));
    CHECK_OK(cairn_event_reached(device, event, &reached));
    CHECK(reached);
    CHECK_TEXT(back, text);
    cairn_event_destroy(device, event);
    cairn_device_free(device, memory, sizeof text, "test");
    cairn_host_free(device, pinned, sizeof text);
    cairn_device_close(device);
}

static void the_ledger_counts(void)
{
    cairn_device *device;
    void *a, *b, *none;
    REQUIRE_OK(select_from("works", &device, &fake_works, NULL));
    CHECK_OK(cairn_device_alloc(device, 1000, "weights", &a));
    CHECK_OK(cairn_device_alloc(device, 500, "gradients", &b));
    CHECK_OK(cairn_device_alloc(device, 0, "nothing", &none));
    CHECK(!none);
    CHECK_INT((uintptr_t)a % 64, 0);
    CHECK_INT(cairn_device_memory(device).held, 1500);
    cairn_device_free(device, a, 1000, "weights");
    cairn_device_free(device, NULL, 77, "weights");
    CHECK_INT(cairn_device_memory(device).held, 500);
    CHECK_INT(cairn_device_memory(device).peak, 1500);
    CHECK_INT(cairn_device_memory(device).allocations, 2);
    cairn_device_free(device, b, 500, "gradients");
    CHECK_INT(cairn_device_memory(device).held, 0);
    cairn_device_close(device);
}

static void out_of_memory_names_request_holders_and_limit(void)
{
    const cairn_backend *const table[] = {&fake_works, NULL};
    const size_t kib = 1024;
    cairn_device *device;
    void *weights, *more;
    REQUIRE_OK(cairn_device_select(table, "works", &(cairn_device_options){.memory_limit = 1024 * kib}, &device));
    CHECK_OK(cairn_device_alloc(device, 768 * kib, "weights", &weights));
    CHECK_FAILS(cairn_device_alloc(device, 512 * kib, "activations", &more), CAIRN_MEMORY,
                "512.00 KiB for activations would pass the limit; held 768.00 KiB: weights 768.00 KiB; limit 1.00 MiB");
    CHECK(!more);
    CHECK_FAILS(cairn_device_alloc(device, SIZE_MAX, "activations", &more), CAIRN_MEMORY, "activations");
    CHECK_OK(cairn_device_alloc(device, 256 * kib, "activations", &more));
    cairn_device_free(device, more, 256 * kib, "activations");
    CHECK_INT(cairn_device_memory(device).held, 768 * kib);
    cairn_device_free(device, weights, 768 * kib, "weights");
    cairn_device_close(device);

    REQUIRE_OK(select_from("works", &device, &fake_works, NULL));
    ((fake_device *)device)->allocations_left = 0;
    CHECK_FAILS(cairn_device_alloc(device, 100, "activations", &more), CAIRN_MEMORY,
                "100 B for activations is more than the device has free; held 0 B; limit none");
    cairn_device_close(device);
}

static void plain_tensors_convert(void)
{
    static const cairn_dtype dtypes[] = {CAIRN_F32, CAIRN_F16, CAIRN_BF16, CAIRN_U8, CAIRN_I32};
    const float values[6] = {0, 1, 2, 3, 4, 250};
    float back[6];
    cairn_device *device;
    cairn_slab slab;
    REQUIRE_OK(select_from("works", &device, &fake_works, NULL));
    REQUIRE_OK(cairn_slab_create(device, sizeof values, "test", &slab));
    for (size_t i = 0; i < sizeof values; i++)
        CHECK(((char *)slab.data)[i] == 0);
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        cairn_tensor tensor = cairn_tensor_view(device, slab.data, cairn_shape_make(2, 2, 3), dtypes[d], NULL);
        CHECK_INT(cairn_tensor_bytes(&tensor), 6 * cairn_dtype_size(dtypes[d]));
        memset(back, 0xff, sizeof back);
        CHECK_OK(cairn_tensor_write(&tensor, values, 6));
        CHECK_OK(cairn_tensor_read(&tensor, back, 6));
        CHECK(memcmp(values, back, sizeof back) == 0);
        CHECK_FAILS(cairn_tensor_read(&tensor, back, 5), CAIRN_USAGE, "2x3 is not 5 elements");
        CHECK_FAILS(cairn_tensor_write(&tensor, back, 7), CAIRN_USAGE, "2x3 is not 7 elements");
    }
    cairn_slab_destroy(&slab);
    cairn_slab_destroy(&slab);
    CHECK_INT(cairn_device_memory(device).held, 0);
    REQUIRE_OK(cairn_slab_create(device, 0, "test", &slab));
    CHECK(!slab.data);
    cairn_slab_destroy(&slab);
    cairn_device_close(device);
}

static void tensors_in_a_layout_are_reordered(void)
{
    const float values[6] = {0, 1, 2, 3, 4, 250};
    float back[6];
    cairn_device *device;
    cairn_slab slab;
    REQUIRE_OK(select_from("works", &device, &fake_works, NULL));
    REQUIRE_OK(cairn_slab_create(device, sizeof values, "test", &slab));
    cairn_tensor tensor = cairn_tensor_view(device, slab.data, cairn_shape_make(2, 2, 3), CAIRN_F32,
                                            (const cairn_layout *)(const void *)values);
    CHECK_TEXT(cairn_layout_name(device, tensor.layout), "reversed");
    CHECK_TEXT(cairn_layout_name(device, NULL), "plain");
    CHECK_OK(cairn_tensor_write(&tensor, values, 6));
    CHECK(((float *)slab.data)[0] == 250);
    CHECK_OK(cairn_tensor_read(&tensor, back, 6));
    CHECK(memcmp(values, back, sizeof back) == 0);
    CHECK_INT(cairn_device_memory(device).held, sizeof values);
    cairn_slab_destroy(&slab);
    cairn_device_close(device);
}

/* No memory for the plain copy, then none for the workspace of 256 bytes. */
static void a_tensor_in_a_layout_needs_memory_to_be_read(void)
{
    static const size_t limits[] = {40, 100, 300};
    const cairn_backend *const table[] = {&fake_works, NULL};
    float back[6] = {0};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        cairn_device *device;
        cairn_slab slab;
        REQUIRE_OK(cairn_device_select(table, "works", &(cairn_device_options){.memory_limit = limits[i]}, &device));
        REQUIRE_OK(cairn_slab_create(device, sizeof back, "test", &slab));
        cairn_tensor tensor = cairn_tensor_view(device, slab.data, cairn_shape_make(2, 2, 3), CAIRN_F32,
                                                (const cairn_layout *)(const void *)back);
        CHECK_FAILS(cairn_tensor_read(&tensor, back, 6), CAIRN_MEMORY, "out of memory");
        CHECK_FAILS(cairn_tensor_write(&tensor, back, 6), CAIRN_MEMORY, "out of memory");
        CHECK_INT(cairn_device_memory(device).held, sizeof back);
        cairn_slab_destroy(&slab);
        cairn_device_close(device);
    }
}

int main(void)
{
    RUN(auto_passes_over_what_is_not_there);
    RUN(auto_never_falls_past_a_broken_device);
    RUN(auto_leaves_out_what_is_taken_by_name_only);
    RUN(a_name_takes_that_one_or_says_why_not);
    RUN(a_colon_chooses_among_several);
    RUN(without_queues_copies_are_done_at_once);
    RUN(the_ledger_counts);
    RUN(out_of_memory_names_request_holders_and_limit);
    RUN(plain_tensors_convert);
    RUN(tensors_in_a_layout_are_reordered);
    RUN(a_tensor_in_a_layout_needs_memory_to_be_read);
    CHECK_INT(open_devices, 0);
    return test_result();
}
