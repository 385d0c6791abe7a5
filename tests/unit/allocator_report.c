/* What the growth allocator tells: the out-of-memory message, the snapshot, what is still to be had. */
#include "tests/support/fake_memory.h"
#include "tests/test.h"
#include <jansson.h>

static const size_t kib = 1024, mib = 1024 * 1024;

static void out_of_memory_tells_all_there_is_to_know(void)
{
    fake_memory m = {.capacity = 10 * mib};
    cairn_allocator_options options = cairn_allocator_defaults("fake:1");
    options.advice = "a smaller batch needs less";
    cairn_allocator *a = fake_memory_open(&m, &options);
    void *none;
    char *gradients = must_take(a, 2 * mib, "gradients"), *weights = must_take(a, 5 * mib, "weights"),
         *small = must_take(a, 100 * kib, "totals");
    CHECK_FAILS(
        cairn_allocator_alloc(a, 3 * mib, "activations", &none), CAIRN_MEMORY,
        "fake:1: out of memory: 3.00 MiB for activations "
        "is more than the device has free; held 7.10 MiB: weights 5.00 MiB, gradients 2.00 MiB, totals 100.00 KiB; "
        "limit none; taken from the device 9.00 MiB in 3 chunks, largest free block 1.90 MiB; a smaller batch needs "
        "less");
    CHECK(!none);
    must_give(a, gradients);
    must_give(a, weights);
    must_give(a, small);
    CHECK_TEXT(fake_memory_close(&m, a), "");
}

static void the_largest_holders_are_named(void)
{
    enum { uses = 50 };
    fake_memory m = {.capacity = 100 * mib};
    const cairn_allocator_options options = cairn_allocator_defaults("fake");
    cairn_allocator *a = fake_memory_open(&m, &options);
    char name[uses][8], *block[uses];
    void *none;
    for (int i = 0; i < uses; i++) {
        snprintf(name[i], sizeof name[i], "use%d", i);
        block[i] = must_take(a, i == 20 ? 2 * kib : i == 40 ? 0 : kib, name[i]);
    }
    CHECK_FAILS(cairn_allocator_alloc(a, 200 * mib, "one more", &none), CAIRN_MEMORY,
                "held 50.00 KiB: use20 2.00 KiB, ");
    CHECK_FAILS(cairn_allocator_alloc(a, 200 * mib, "one more", &none), CAIRN_MEMORY,
                " 1.00 KiB, others 41.00 KiB; limit");
    for (int i = 0; i < uses; i++)
        must_give(a, block[i]);
    CHECK_FAILS(cairn_allocator_alloc(a, 200 * mib, "one more", &none), CAIRN_MEMORY, "held 0 B; limit");
    CHECK_TEXT(fake_memory_close(&m, a), "");
}

/* The value at "key.3.key"; NULL where there is none. */
static const json_t *at(const json_t *json, const char *path)
{
    char key[64];
    while (json && *path) {
        size_t length = strcspn(path, ".");
        snprintf(key, sizeof key, "%.*s", (int)length, path);
        json = json_is_array(json) ? json_array_get(json, strtoul(key, NULL, 10)) : json_object_get(json, key);
        path += length + (path[length] == '.');
    }
    return json;
}

static void the_snapshot_shows_every_block(void)
{
    fake_memory m = {.capacity = 100 * mib};
    cairn_allocator_options options = cairn_allocator_defaults("fake");
    options.limit = 50 * mib;
    cairn_allocator *a = fake_memory_open(&m, &options);
    char *first = must_take(a, 1000, "totals"), *second = must_take(a, 3000, "labels"),
         *large = must_take(a, 3 * mib, "weights"), *text;
    fake_memory_work(&m, 0);
    CHECK_OK(cairn_allocator_use(a, second, fake_memory_stream(&m, 0)));
    must_give(a, second);
    REQUIRE_OK(cairn_allocator_snapshot(a, &text));
    json_t *root = json_loads(text, 0, NULL);
    free(text);
    REQUIRE(root != NULL);
    static const struct {
        const char *path;
        int64_t want;
    } number[] = {
        {"limit", 50 << 20},
        {"alignment", 256},
        {"stats.held", (3 << 20) + 1000},
        {"stats.peak", (3 << 20) + 4000},
        {"stats.taken", 5 << 20},
        {"stats.waiting", 3072},
        {"stats.allocations", 3},
        {"stats.frees", 1},
        {"stats.raw_allocations", 2},
        {"chunks.0.bytes", 2 << 20},
        {"chunks.0.blocks.0.asked", 1000},
        {"chunks.0.blocks.0.bytes", 1024},
        {"chunks.0.blocks.1.offset", 1024},
        {"chunks.0.blocks.1.bytes", 3072},
        {"chunks.0.blocks.2.bytes", (2 << 20) - 4096},
        {"chunks.1.blocks.0.asked", 3 << 20},
        {"holders.1.held", 0},
        {"holders.1.peak", 3000},
    };
    static const struct {
        const char *path, *want;
    } word[] = {
        {"name", "fake"},
        {"holders.0.name", "totals"},
        {"holders.2.name", "weights"},
        {"chunks.0.blocks.0.holder", "totals"},
        {"chunks.0.blocks.0.state", "held"},
        {"chunks.0.blocks.1.holder", "labels"},
        {"chunks.0.blocks.1.state", "waiting"},
        {"chunks.0.blocks.2.state", "free"},
        {"chunks.1.blocks.0.holder", "weights"},
    };
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        if (!json_is_integer(at(root, number[i].path)) ||
            json_integer_value(at(root, number[i].path)) != number[i].want)
            TEST_FAIL("%s is %lld", number[i].path, (long long)json_integer_value(at(root, number[i].path)));
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
        const char *got = json_string_value(at(root, word[i].path));
        if (!got || strcmp(got, word[i].want) != 0) TEST_FAIL("%s is %s", word[i].path, got ? got : "not there");
    }
    CHECK(json_is_true(at(root, "chunks.0.shared")) && json_is_false(at(root, "chunks.1.shared")));
    CHECK(!at(root, "chunks.2") && !at(root, "chunks.0.blocks.3") && !at(root, "chunks.0.blocks.2.holder"));
    json_decref(root);
    must_give(a, first);
    must_give(a, large);
    CHECK_TEXT(fake_memory_close(&m, a), "");
}

static void what_is_available_can_be_asked(void)
{
    fake_memory m = {.capacity = 40 * mib};
    cairn_allocator_options options = cairn_allocator_defaults("fake");
    cairn_allocator *a = fake_memory_open(&m, &options);
    char *block = must_take(a, 10 * mib, "weights");
    CHECK_NEAR(cairn_allocator_available(a, 100 * mib), 30 * mib, 100. / 64 * (double)mib + 1);
    CHECK(cairn_allocator_available(a, 100 * mib) <= 30 * mib);
    CHECK_INT(cairn_allocator_available(a, 20 * mib), 20 * mib);
    CHECK_INT(m.taken, 10 * mib);
    CHECK_INT(cairn_allocator_stats(a).taken_peak, 10 * mib);
    must_give(a, block);
    cairn_allocator_destroy(a);

    options.limit = 5 * mib;
    a = fake_memory_open(&m, &options);
    CHECK_INT(cairn_allocator_available(a, 100 * mib), 5 * mib);
    block = must_take(a, 1000, "totals");
    must_give(a, must_take(a, 2 * mib - 1024, "workspace"));
    CHECK_INT(cairn_allocator_available(a, 100 * mib), 3 * mib);
    char *rest = must_take(a, 3 * mib, "weights");
    CHECK_INT(cairn_allocator_available(a, 100 * mib), 2 * mib - 1024);
    must_give(a, block);
    must_give(a, rest);
    CHECK_TEXT(fake_memory_close(&m, a), "");
}

int main(void)
{
    RUN(out_of_memory_tells_all_there_is_to_know);
    RUN(the_largest_holders_are_named);
    RUN(the_snapshot_shows_every_block);
    RUN(what_is_available_can_be_asked);
    return test_result();
}
