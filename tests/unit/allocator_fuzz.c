/* The growth allocator against a simple model: a million random calls, and failures at every raw call. */
#include "core/allocator.h"
#include "tests/support/fake_memory.h"
#include "tests/support/random_operation.h"
#include "tests/test.h"
#include <jansson.h>

enum { MOST = 512, STREAMS = 4 };

/* A block that is held, or that was freed while streams used it. */
typedef struct model_block {
    uintptr_t address;
    size_t bytes;
    bool used[STREAMS];
    int64_t until[STREAMS]; /* freed: not before so much work of a stream is done */
} model_block;

typedef struct subject {
    const char *name;
    cairn_allocator_options options;
    size_t capacity, largest; /* of the device; of most requests */
    bool streams;
    fake_memory memory;
    cairn_allocator *allocator;
    model_block held[MOST], freed[16 * MOST];
    size_t held_count, freed_count, held_bytes, peak;
    int64_t allocations, frees, refused;
    chance random;
} subject;

static bool overlap(const model_block *block, uintptr_t address, size_t bytes)
{
    return address < block->address + block->bytes && block->address < address + bytes;
}

static bool is_waiting(const subject *s, const model_block *block)
{
    for (int k = 0; k < STREAMS; k++)
        if (block->used[k] && s->memory.done[k] < block->until[k]) return true;
    return false;
}

/* Nothing that is held, and nothing that a stream still uses, may lie in what is handed out or given back. */
static void check_unused(void *context, uintptr_t address, size_t bytes)
{
    subject *s = context;
    size_t kept = 0;
    for (size_t i = 0; i < s->held_count; i++)
        if (overlap(&s->held[i], address, bytes)) fake_memory_fault(&s->memory, "memory that is held is given away");
    for (size_t i = 0; i < s->freed_count; i++) {
        if (!is_waiting(s, &s->freed[i])) continue;
        if (overlap(&s->freed[i], address, bytes))
            fake_memory_fault(&s->memory, "memory that a stream uses is given away");
        s->freed[kept++] = s->freed[i];
    }
    s->freed_count = kept;
}

static bool open_subject(subject *s, uint32_t seed)
{
    memset(&s->memory, 0, sizeof s->memory);
    s->memory.capacity = s->capacity;
    s->memory.before_free = check_unused;
    s->memory.context = s;
    s->held_count = s->freed_count = s->held_bytes = s->peak = 0;
    s->allocations = s->frees = s->refused = 0;
    s->random = (chance){.seed = seed};
    const cairn_allocator_calls calls =
        s->streams ? fake_memory_calls(&s->memory) : fake_memory_calls_without_streams(&s->memory);
    return cairn_allocator_create(&s->options, &calls, &s->allocator) == CAIRN_OK;
}

/* A refusal must have been inevitable: all that could be waited for or given back was, and still the request fits nowhere. */
static void check_refusal(subject *s, size_t bytes)
{
    const cairn_memory_stats stats = cairn_allocator_stats(s->allocator);
    size_t limit = s->options.limit, left = limit ? limit - stats.taken : SIZE_MAX;
    s->refused++;
    if (bytes > PTRDIFF_MAX || (limit && bytes > limit)) return; /* then nothing is worth trying */
    CHECK(stats.largest_free < bytes);
    CHECK_INT(stats.waiting, 0);
    CHECK(bytes > left || s->memory.refuse_from || bytes > s->capacity - s->memory.taken);
    for (size_t i = 0; i < s->memory.chunk_count; i++) {
        const model_block chunk = {.address = s->memory.chunk[i].address, .bytes = s->memory.chunk[i].bytes};
        size_t k = 0;
        while (k < s->held_count && !overlap(&chunk, s->held[k].address, s->held[k].bytes))
            k++;
        CHECK(k < s->held_count);
    }
}

static size_t draw_size(subject *s)
{
    int64_t kind = chance_between(&s->random, 0, 99);
    if (kind == 0) return SIZE_MAX - (size_t)chance_between(&s->random, 0, 300);
    if (kind < 3) return (size_t)chance_between(&s->random, 1, 1 << 26);
    size_t most = (size_t)1 << chance_between(&s->random, 0, 30); /* evenly over magnitudes */
    return (size_t)chance_between(&s->random, 1, (int64_t)(most < s->largest ? most : s->largest));
}

static void do_alloc(subject *s)
{
    static const char *const holders[] = {"weights", "gradients", "activations", "workspace"};
    size_t bytes = draw_size(s);
    int64_t refusals = s->memory.refusals, waits = s->memory.waits;
    size_t taken = s->memory.taken;
    void *memory;
    cairn_status status = cairn_allocator_alloc(s->allocator, bytes, holders[bytes % 4], &memory);
    bool pressed = s->memory.refusals > refusals ||
                   (s->options.limit && bytes > s->options.limit - taken && bytes <= s->options.limit);
    if (s->memory.waits > waits && !pressed) fake_memory_fault(&s->memory, "the host waited without need");
    if (status != CAIRN_OK) {
        CHECK_INT(status, CAIRN_MEMORY);
        CHECK(!memory);
        check_refusal(s, bytes);
        return;
    }
    check_unused(s, (uintptr_t)memory, bytes);
    CHECK_INT((uintptr_t)memory % s->options.alignment, 0);
    if (!fake_memory_holds(&s->memory, (uintptr_t)memory, bytes))
        fake_memory_fault(&s->memory, "a block lies outside of every chunk");
    s->held[s->held_count++] = (model_block){.address = (uintptr_t)memory, .bytes = bytes};
    s->held_bytes += bytes;
    if (s->held_bytes > s->peak) s->peak = s->held_bytes;
    s->allocations++;
}

static void do_free(subject *s)
{
    if (s->held_count == 0) return;
    size_t i = (size_t)chance_between(&s->random, 0, (int64_t)s->held_count - 1);
    model_block block = s->held[i];
    s->held[i] = s->held[--s->held_count];
    for (int k = 0; k < STREAMS; k++)
        block.until[k] = s->memory.queued[k];
    s->held_bytes -= block.bytes;
    s->frees++;
    if (is_waiting(s, &block) && s->freed_count < sizeof s->freed / sizeof *s->freed)
        s->freed[s->freed_count++] = block;
    CHECK_OK(cairn_allocator_free(s->allocator, (void *)block.address));
}

static void do_use(subject *s)
{
    if (s->held_count == 0) return;
    model_block *block = &s->held[chance_between(&s->random, 0, (int64_t)s->held_count - 1)];
    int stream = (int)chance_between(&s->random, 0, STREAMS - 1);
    fake_memory_work(&s->memory, stream);
    block->used[stream] = true;
    CHECK_OK(cairn_allocator_use(s->allocator, (void *)block->address, fake_memory_stream(&s->memory, stream)));
}

static void do_something(subject *s, size_t wanted)
{
    int64_t kind = chance_between(&s->random, 0, 15);
    if (kind < 4 && s->streams)
        do_use(s);
    else if (kind < 6 && s->streams)
        fake_memory_finish(&s->memory, (int)chance_between(&s->random, 0, STREAMS - 1),
                           chance_between(&s->random, 1, 20));
    else if (s->held_count < MOST && (s->held_count < wanted ? kind < 12 : kind < 8))
        do_alloc(s);
    else
        do_free(s);
    if (chance_of(&s->random, 5000)) CHECK_INT(cairn_allocator_stats(s->allocator).taken, s->memory.taken);
    if (chance_of(&s->random, 20000)) cairn_allocator_trim(s->allocator);
}

static void check_stats(const subject *s)
{
    const cairn_memory_stats stats = cairn_allocator_stats(s->allocator);
    CHECK_INT(stats.held, s->held_bytes);
    CHECK_INT(stats.peak, s->peak);
    CHECK_INT(stats.taken, s->memory.taken);
    CHECK_INT(stats.chunks, s->memory.chunk_count);
    CHECK_INT(stats.allocations, s->allocations);
    CHECK_INT(stats.frees, s->frees);
    CHECK_INT(stats.raw_frees, s->memory.raw_frees);
    CHECK_INT(stats.raw_allocations, s->memory.raw_allocs - s->memory.refusals);
    CHECK_INT(stats.waits, s->memory.waits);
    CHECK_INT(stats.blocks, (int64_t)stats.chunks + stats.splits - stats.merges);
    CHECK(!s->options.limit || stats.taken_peak <= s->options.limit);
}

static size_t json_size(const json_t *object, const char *key)
{
    return (size_t)json_integer_value(json_object_get(object, key));
}

/* The blocks of a chunk, as the snapshot has them, cover it, and no two free ones lie side by side. Adds up what they hold. */
static void check_chunk(const json_t *chunk, size_t alignment, size_t *held, size_t *waiting, size_t *available)
{
    size_t end = 0, i;
    const json_t *block;
    bool was_free = false;
    json_array_foreach(json_object_get(chunk, "blocks"), i, block)
    {
        const char *state = json_string_value(json_object_get(block, "state"));
        size_t bytes = json_size(block, "bytes");
        bool is_free = strcmp(state, "free") == 0, is_held = strcmp(state, "held") == 0;
        CHECK_INT(json_size(block, "offset"), end);
        CHECK_INT(end % alignment, 0);
        CHECK(bytes > 0 && !(is_free && was_free));
        CHECK(is_free == !json_object_get(block, "holder"));
        if (is_held) CHECK(json_size(block, "asked") <= bytes && bytes < json_size(block, "asked") + alignment);
        *(is_free ? available : is_held ? held : waiting) += is_held ? json_size(block, "asked") : bytes;
        was_free = is_free;
        end += bytes;
    }
    CHECK_INT(end, json_size(chunk, "bytes"));
}

static void check_snapshot(const subject *s)
{
    const cairn_memory_stats stats = cairn_allocator_stats(s->allocator);
    char *text;
    REQUIRE_OK(cairn_allocator_snapshot(s->allocator, &text));
    json_t *root = json_loads(text, 0, NULL);
    free(text);
    REQUIRE(root != NULL);
    const json_t *chunk, *holder, *told = json_object_get(root, "stats");
    size_t held = 0, waiting = 0, available = 0, by_holders = 0, empty = 0,
           chunks = json_array_size(json_object_get(root, "chunks")), i;
    json_array_foreach(json_object_get(root, "chunks"), i, chunk)
    {
        size_t before = available, bytes = json_size(chunk, "bytes");
        check_chunk(chunk, s->options.alignment, &held, &waiting, &available);
        if (available - before == bytes) empty += bytes;
    }
    json_array_foreach(json_object_get(root, "holders"), i, holder) by_holders += json_size(holder, "held");
    CHECK(empty <= s->options.retain);
    CHECK_INT(chunks, stats.chunks);
    CHECK_INT(held, s->held_bytes);
    CHECK_INT(by_holders, s->held_bytes);
    CHECK_INT(waiting, stats.waiting);
    CHECK_INT(available, stats.free);
    CHECK_INT(json_size(told, "held"), stats.held);
    CHECK_INT(json_size(told, "taken"), stats.taken);
    CHECK_INT(json_size(told, "largest_free"), stats.largest_free);
    json_decref(root);
}

/* After everything is freed each chunk is one block again, and trimming leaves nothing. */
static void close_subject(subject *s)
{
    while (s->held_count > 0)
        do_free(s);
    for (int k = 0; k < STREAMS; k++)
        fake_memory_finish(&s->memory, k, INT64_MAX);
    void *memory;
    if (cairn_allocator_alloc(s->allocator, 1, "none", &memory) == CAIRN_OK) { /* looks at the fences */
        CHECK_OK(cairn_allocator_free(s->allocator, memory));
        s->allocations++;
        s->frees++;
    }
    const cairn_memory_stats stats = cairn_allocator_stats(s->allocator);
    CHECK_INT(stats.held, 0);
    CHECK_INT(stats.waiting, 0);
    CHECK_INT(stats.blocks, stats.chunks);
    CHECK_INT(stats.free, stats.taken);
    cairn_allocator_trim(s->allocator);
    CHECK_INT(cairn_allocator_stats(s->allocator).taken, 0);
    check_stats(s);
    CHECK_TEXT(fake_memory_close(&s->memory, s->allocator), "");
}

static subject subjects[] = {
    {.name = "roomy", .capacity = (size_t)1 << 40, .largest = 4 << 20, .streams = true},
    {.name = "tight", .capacity = 24 << 20, .largest = 1 << 20, .streams = true},
    {.name = "limited",
     .capacity = (size_t)1 << 40,
     .largest = 1 << 20,
     .streams = true,
     .options = {.limit = 20 << 20}},
    {.name = "without streams", .capacity = 64 << 20, .largest = 2 << 20},
    {.name = "nothing retained", .capacity = 64 << 20, .largest = 4 << 20, .streams = true, .options = {.retain = 1}},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static void set_options(subject *s)
{
    cairn_allocator_options options = cairn_allocator_defaults(s->name);
    options.limit = s->options.limit;
    if (s->options.retain) options.retain = 4 << 20;
    if (s->streams && s->options.limit) options.alignment = 64;
    s->options = options;
}

/* Then everything takes some ten times as long. */
static bool is_sanitized(void)
{
    const char *sanitizers = getenv("CAIRN_SANITIZE");
    return sanitizers && *sanitizers;
}

static void a_million_calls_agree_with_the_model(void)
{
    int64_t calls = is_sanitized() ? 10000 : 1000000 / SUBJECTS;
    for (int i = 0; i < SUBJECTS; i++) {
        subject *s = &subjects[i];
        REQUIRE(open_subject(s, (uint32_t)i));
        size_t wanted = MOST / 2;
        for (int64_t call = 0; call < calls && !s->memory.fault[0] && test_failures_ < 20; call++) {
            if (call % 2000 == 0) wanted = (size_t)chance_between(&s->random, 0, MOST - 1);
            if (call % 10000 == 0) check_snapshot(s);
            if (call % 1000 == 0) check_stats(s);
            do_something(s, wanted);
        }
        check_snapshot(s);
        const cairn_memory_stats stats = cairn_allocator_stats(s->allocator);
        printf("       %s: %lld allocations, %lld refused, %lld chunks taken, %lld waits, fragmentation %.2f\n",
               s->name, (long long)s->allocations, (long long)s->refused, (long long)stats.raw_allocations,
               (long long)stats.waits, stats.fragmentation);
        close_subject(s);
    }
}

/* The same few hundred calls again and again, each time with another raw call refused: once, and from there on. */
static void every_raw_call_may_fail(void)
{
    int64_t refused = 0, runs = 0;
    for (int i = 0; i < SUBJECTS; i++) {
        subject *s = &subjects[i];
        for (int64_t from = 1, most = 1; from <= most && test_failures_ < 20; from++) {
            for (int for_ever = 0; for_ever < 2; for_ever++) {
                REQUIRE(open_subject(s, 77));
                s->memory.refuse_from = from;
                s->memory.refuse_count = for_ever ? INT64_MAX : 1;
                for (int call = 0; call < 400; call++)
                    do_something(s, 100);
                check_stats(s);
                check_snapshot(s);
                if (s->memory.raw_allocs > most) most = s->memory.raw_allocs;
                if (most > 20 && is_sanitized()) most = 20;
                refused += s->refused;
                runs++;
                close_subject(s);
            }
        }
    }
    printf("       %lld runs, %lld refused\n", (long long)runs, (long long)refused);
    CHECK(refused > 1000); /* else the calls before the refused one leave no need for it */
}

int main(void)
{
    for (int i = 0; i < SUBJECTS; i++)
        set_options(&subjects[i]);
    RUN(a_million_calls_agree_with_the_model);
    RUN(every_raw_call_may_fail);
    return test_result();
}
