/* The growth allocator, rule by rule, on a device that is only addresses. allocator_fuzz.c holds it to a model, allocator_report.c reads what it
 * tells. */
#include "tests/support/fake_memory.h"
#include "tests/test.h"

static const size_t kib = 1024, mib = 1024 * 1024;

static void starts_with_nothing_and_doubles(void)
{
    fake_memory m = {.capacity = 1000 * mib};
    cairn_allocator_options options = cairn_allocator_defaults("fake");
    options.chunk_max = 8 * mib;
    cairn_allocator *a = fake_memory_open(&m, &options);
    CHECK_INT(m.raw_allocs, 0);
    char *block[40];
    static const size_t taken[] = {2, 2, 4, 4, 8, 8, 8, 8, 8, 16}; /* MiB: chunks of 2, 2, 4, 8, and 8 ever after */
    for (int i = 0; i < 40; i++) {
        block[i] = must_take(a, mib / 2 + mib / 4, "activations"); /* two of them a chunk of 2 MiB */
        if (i < 10) CHECK_INT(cairn_allocator_stats(a).taken, taken[i] * mib);
    }
    CHECK_INT((cairn_allocator_stats(a).taken - 16 * mib) % (8 * mib), 0);
    for (int i = 0; i < 40; i++)
        must_give(a, block[i]);
    CHECK_INT(cairn_allocator_stats(a).blocks, cairn_allocator_stats(a).chunks);
    CHECK_TEXT(fake_memory_close(&m, a), "");
}

static void large_requests_have_chunks_of_their_size(void)
{
    fake_memory m = {.capacity = 1000 * mib};
    const cairn_allocator_options options = cairn_allocator_defaults("fake");
    cairn_allocator *a = fake_memory_open(&m, &options);
    char *large = must_take(a, 300 * mib + 1, "weights"), *least = must_take(a, mib, "workspace");
    CHECK_INT(cairn_allocator_stats(a).taken, 301 * mib + 1);
    CHECK_INT(cairn_allocator_stats(a).chunks, 2);
    CHECK_INT((uintptr_t)large % FAKE_ALIGNMENT, 0);
    must_give(a, large);
    CHECK(must_take(a, 300 * mib, "gradients") == large); /* the same chunk again */
    CHECK_INT(m.raw_allocs, 2);
    must_give(a, least);
    must_give(a, large);
    CHECK_TEXT(fake_memory_close(&m, a), "");
}

static void the_smallest_that_suffices_is_taken_and_split(void)
{
    fake_memory m = {.capacity = 100 * mib};
    const cairn_allocator_options options = cairn_allocator_defaults("fake");
    cairn_allocator *a = fake_memory_open(&m, &options);
    char *first = must_take(a, 100 * kib, "a"), *wall = must_take(a, 1, "wall"), *second = must_take(a, 10 * kib, "b"),
         *wall2 = must_take(a, 1, "wall");
    CHECK(wall == first + 100 * kib && second == wall + 256 && wall2 == second + 10 * kib);
    must_give(a, first);
    must_give(a, second);
    CHECK(must_take(a, 9 * kib, "c") == second);           /* not the 100 KiB before it */
    CHECK(must_take(a, 1 * kib, "d") == second + 9 * kib); /* what was split off */
    CHECK(must_take(a, 50 * kib, "e") == first);
    CHECK_INT(cairn_allocator_stats(a).splits, 4 + 1 + 1);
    CHECK_NEAR(cairn_allocator_stats(a).fragmentation, 50. / (50 + (2048 - 110 - 0.5)), 1e-9);
    must_give(a, second);
    must_give(a, wall);
    CHECK(must_take(a, 59 * kib, "f") == first + 50 * kib); /* 50 KiB, the wall and 9 KiB melted together */
    must_give(a, first);
    must_give(a, first + 50 * kib);
    must_give(a, second + 9 * kib);
    must_give(a, wall2);
    CHECK_INT(cairn_allocator_stats(a).blocks, 1);
    CHECK_INT(cairn_allocator_stats(a).largest_free, 2 * mib);
    CHECK_INT(m.raw_allocs, 1);
    CHECK_TEXT(fake_memory_close(&m, a), "");
}

static void the_alignment_can_be_set(void)
{
    for (size_t alignment = 1; alignment <= FAKE_ALIGNMENT; alignment *= 2) {
        fake_memory m = {.capacity = 100 * mib};
        cairn_allocator_options options = cairn_allocator_defaults("fake");
        options.alignment = alignment;
        cairn_allocator *a = fake_memory_open(&m, &options);
        char *one = must_take(a, 1, "a"), *next = must_take(a, 3, "b");
        CHECK_INT(next - one, alignment);
        CHECK_INT(cairn_allocator_stats(a).held, 4);
        must_give(a, one);
        must_give(a, next);
        CHECK_TEXT(fake_memory_close(&m, a), "");
    }
}

static void the_limit_holds_and_is_used_up(void)
{
    fake_memory m = {.capacity = 100 * mib};
    cairn_allocator_options options = cairn_allocator_defaults("fake");
    options.limit = 3 * mib;
    cairn_allocator *a = fake_memory_open(&m, &options);
    void *none;
    char *small = must_take(a, kib, "a");    /* a chunk of 2 MiB */
    char *rest = must_take(a, mib, "b");     /* fits there */
    char *more = must_take(a, mib - 1, "c"); /* a chunk of what the limit leaves */
    CHECK_INT(cairn_allocator_stats(a).taken, 3 * mib);
    CHECK_FAILS(cairn_allocator_alloc(a, mib, "d", &none), CAIRN_MEMORY, "1.00 MiB for d would pass the limit");
    CHECK(!none);
    CHECK_FAILS(cairn_allocator_alloc(a, 4 * mib, "d", &none), CAIRN_MEMORY, "would pass the limit");
    CHECK_FAILS(cairn_allocator_alloc(a, SIZE_MAX, "d", &none), CAIRN_MEMORY, "would pass the limit");
    must_give(a, rest);
    must_give(a, small);
    char *whole = must_take(a, 2 * mib, "d");
    must_give(a, more);
    must_give(a, whole);
    more = must_take(a, 3 * mib, "e"); /* both chunks are given back for it */
    CHECK_INT(m.raw_frees, 2);
    CHECK_INT(cairn_allocator_stats(a).taken_peak, 3 * mib);
    must_give(a, more);
    CHECK_TEXT(fake_memory_close(&m, a), "");
}

static void empty_chunks_are_given_back_when_memory_is_short(void)
{
    fake_memory m = {.capacity = 10 * mib};
    const cairn_allocator_options options = cairn_allocator_defaults("fake");
    cairn_allocator *a = fake_memory_open(&m, &options);
    char *first = must_take(a, 5 * mib, "a"), *second = must_take(a, 4 * mib, "b");
    must_give(a, first);
    CHECK_INT(m.raw_frees, 0);
    first = must_take(a, 6 * mib, "c");
    CHECK_INT(m.raw_frees, 1);
    CHECK_INT(cairn_allocator_stats(a).taken, 10 * mib);
    must_give(a, first);
    must_give(a, second);
    CHECK_TEXT(fake_memory_close(&m, a), "");
}

static void a_shared_chunk_may_be_smaller_when_memory_is_short(void)
{
    fake_memory m = {.capacity = mib};
    const cairn_allocator_options options = cairn_allocator_defaults("fake");
    cairn_allocator *a = fake_memory_open(&m, &options);
    char *first = must_take(a, 1000, "a"), *second = must_take(a, 2000, "b");
    CHECK_INT(cairn_allocator_stats(a).taken, 3000);
    CHECK_INT(m.refusals, 2);
    must_give(a, first);
    must_give(a, second);
    CHECK_TEXT(fake_memory_close(&m, a), "");
}

static void trimming_gives_back_what_is_empty(void)
{
    fake_memory m = {.capacity = 100 * mib};
    const cairn_allocator_options options = cairn_allocator_defaults("fake");
    cairn_allocator *a = fake_memory_open(&m, &options);
    char *first = must_take(a, 5 * mib, "a"), *second = must_take(a, 4 * mib, "b"), *small = must_take(a, 1, "c");
    CHECK_INT(cairn_allocator_trim(a), 0);
    must_give(a, first);
    CHECK_INT(cairn_allocator_stats(a).taken, 11 * mib);
    CHECK_INT(cairn_allocator_trim(a), 5 * mib);
    CHECK_INT(cairn_allocator_trim(a), 0);
    CHECK_OK(cairn_allocator_use(a, second, fake_memory_stream(&m, 0)));
    fake_memory_work(&m, 0);
    must_give(a, second);
    CHECK_INT(cairn_allocator_trim(a), 4 * mib); /* waits for the stream */
    CHECK_INT(m.waits, 1);
    must_give(a, small);
    CHECK_INT(cairn_allocator_trim(a), 2 * mib);
    CHECK_INT(cairn_allocator_stats(a).chunks, 0);
    CHECK_TEXT(fake_memory_close(&m, a), "");
}

static void no_more_is_retained_than_asked(void)
{
    fake_memory m = {.capacity = 100 * mib};
    cairn_allocator_options options = cairn_allocator_defaults("fake");
    options.retain = 6 * mib;
    cairn_allocator *a = fake_memory_open(&m, &options);
    char *first = must_take(a, 5 * mib, "a"), *second = must_take(a, 4 * mib, "b"), *third = must_take(a, 7 * mib, "c");
    must_give(a, third);
    CHECK_INT(m.taken, 9 * mib);
    must_give(a, first);
    CHECK_INT(m.taken, 9 * mib);
    must_give(a, second);
    CHECK_INT(m.taken, 5 * mib);
    cairn_allocator_retain(a, 5 * mib);
    CHECK_INT(m.taken, 5 * mib);
    cairn_allocator_retain(a, 5 * mib - 1);
    CHECK_INT(m.taken, 0);
    CHECK_TEXT(fake_memory_close(&m, a), "");
}

static void a_freed_block_waits_for_its_streams(void)
{
    fake_memory m = {.capacity = 100 * mib};
    const cairn_allocator_options options = cairn_allocator_defaults("fake");
    cairn_allocator *a = fake_memory_open(&m, &options);
    char *block = must_take(a, 10 * mib, "pictures"), *other;
    for (int stream = 0; stream < 2; stream++) {
        fake_memory_work(&m, stream);
        CHECK_OK(cairn_allocator_use(a, block, fake_memory_stream(&m, stream)));
        CHECK_OK(cairn_allocator_use(a, block, fake_memory_stream(&m, stream)));
    }
    must_give(a, block);
    CHECK_INT(m.fences, 2);
    CHECK_INT(cairn_allocator_stats(a).held, 0);
    CHECK_INT(cairn_allocator_stats(a).waiting, 10 * mib);
    other = must_take(a, 10 * mib, "pictures");
    CHECK(other != block);
    must_give(a, other);
    fake_memory_finish(&m, 0, 1);
    CHECK(must_take(a, 10 * mib, "pictures") == other);
    CHECK_INT(m.fences, 1);
    fake_memory_work(&m, 1); /* later work on the stream is none of the block's business */
    fake_memory_finish(&m, 1, 1);
    CHECK(must_take(a, 10 * mib, "pictures") == block);
    CHECK_INT(m.fences, 0);
    CHECK_INT(cairn_allocator_stats(a).waiting, 0);
    CHECK_INT(m.waits, 0);
    must_give(a, block); /* handed out anew, it knows no stream */
    CHECK_INT(cairn_allocator_stats(a).waiting, 0);
    must_give(a, other);
    CHECK_TEXT(fake_memory_close(&m, a), "");
}

static void the_host_waits_only_when_memory_would_run_out(void)
{
    fake_memory m = {.capacity = 10 * mib};
    const cairn_allocator_options options = cairn_allocator_defaults("fake");
    cairn_allocator *a = fake_memory_open(&m, &options);
    char *block[2];
    for (int i = 0; i < 2; i++) {
        block[i] = must_take(a, 4 * mib, "pictures");
        fake_memory_work(&m, i);
        CHECK_OK(cairn_allocator_use(a, block[i], fake_memory_stream(&m, i)));
    }
    must_give(a, block[1]);
    must_give(a, block[0]);
    char *small = must_take(a, 2 * mib, "small");
    CHECK_INT(m.waits, 0);
    CHECK(must_take(a, 4 * mib, "pictures") == block[1]); /* freed first, waited for first */
    CHECK_INT(m.waits, 1);
    CHECK_INT(cairn_allocator_stats(a).waits, 1);
    must_give(a, small);
    char *large = must_take(a, 6 * mib, "large"); /* waits for block 0 and gives two chunks back */
    CHECK_INT(m.waits, 2);
    CHECK_INT(m.taken, 10 * mib);
    must_give(a, large);
    must_give(a, block[1]);
    CHECK_TEXT(fake_memory_close(&m, a), "");
}

static void without_fences_every_stream_is_the_main_one(void)
{
    fake_memory m = {.capacity = 100 * mib};
    const cairn_allocator_options options = cairn_allocator_defaults("fake");
    const cairn_allocator_calls calls = fake_memory_calls_without_streams(&m);
    cairn_allocator *a;
    REQUIRE_OK(cairn_allocator_create(&options, &calls, &a));
    char *block = must_take(a, mib, "a");
    fake_memory_work(&m, 0);
    CHECK_OK(cairn_allocator_use(a, block, fake_memory_stream(&m, 0)));
    must_give(a, block);
    CHECK(must_take(a, mib, "a") == block);
    must_give(a, block);
    CHECK_TEXT(fake_memory_close(&m, a), "");
}

static void too_many_streams_are_refused(void)
{
    fake_memory m = {.capacity = 100 * mib};
    const cairn_allocator_options options = cairn_allocator_defaults("fake");
    cairn_allocator *a = fake_memory_open(&m, &options);
    char *block = must_take(a, 1, "a");
    for (int i = 0; i < 2 * CAIRN_ALLOCATOR_STREAMS; i++) {
        fake_memory_work(&m, i % CAIRN_ALLOCATOR_STREAMS);
        CHECK_OK(cairn_allocator_use(a, block, fake_memory_stream(&m, i % CAIRN_ALLOCATOR_STREAMS)));
    }
    CHECK_FAILS(cairn_allocator_use(a, block, fake_memory_stream(&m, CAIRN_ALLOCATOR_STREAMS)), CAIRN_USAGE,
                "more than 32 streams");
    must_give(a, block);
    CHECK_INT(m.fences, CAIRN_ALLOCATOR_STREAMS);
    cairn_allocator_trim(a);
    CHECK_TEXT(fake_memory_close(&m, a), "");
}

static void strangers_are_refused(void)
{
    fake_memory m = {.capacity = 100 * mib};
    const cairn_allocator_options options = cairn_allocator_defaults("fake");
    cairn_allocator *a = fake_memory_open(&m, &options);
    void *none = &m;
    CHECK_OK(cairn_allocator_alloc(a, 0, "nothing", &none));
    CHECK(!none);
    CHECK_OK(cairn_allocator_free(a, NULL));
    char *block = must_take(a, 1000, "a");
    CHECK_FAILS(cairn_allocator_free(a, &m), CAIRN_USAGE, "is no block that is held: it was freed before");
    CHECK_FAILS(cairn_allocator_free(a, block + 1), CAIRN_USAGE, "is no block");
    CHECK_FAILS(cairn_allocator_use(a, block + 1, fake_memory_stream(&m, 0)), CAIRN_USAGE, "a stream can't use it");
    must_give(a, block);
    CHECK_FAILS(cairn_allocator_free(a, block), CAIRN_USAGE, "is no block");
    CHECK_INT(cairn_allocator_stats(a).allocations, 1);
    CHECK_INT(cairn_allocator_stats(a).frees, 1);
    CHECK_TEXT(fake_memory_close(&m, a), "");
}

static void options_must_fit_together(void)
{
    fake_memory m = {.capacity = mib};
    cairn_allocator_calls calls = fake_memory_calls(&m);
    cairn_allocator_options options = cairn_allocator_defaults("fake");
    cairn_allocator *a;
    options.alignment = 48;
    CHECK_FAILS(cairn_allocator_create(&options, &calls, &a), CAIRN_USAGE, "an alignment of 48: a power of two");
    options.alignment = 0;
    CHECK_FAILS(cairn_allocator_create(&options, &calls, &a), CAIRN_USAGE, "an alignment of 0");
    options = cairn_allocator_defaults("fake");
    options.own_chunk = options.chunk_min + 1;
    CHECK_FAILS(cairn_allocator_create(&options, &calls, &a), CAIRN_USAGE, "own_chunk <= chunk_min <= chunk_max");
    options = cairn_allocator_defaults("fake");
    options.chunk_max = options.chunk_min - 1;
    CHECK_FAILS(cairn_allocator_create(&options, &calls, &a), CAIRN_USAGE, "own_chunk <= chunk_min <= chunk_max");
    options = cairn_allocator_defaults("fake");
    calls.fence_wait = NULL;
    CHECK_FAILS(cairn_allocator_create(&options, &calls, &a), CAIRN_USAGE, "all four of fences or none");
    calls = fake_memory_calls(&m);
    calls.raw_free = NULL;
    CHECK_FAILS(cairn_allocator_create(&options, &calls, &a), CAIRN_USAGE, "both raw calls");
    CHECK(!a);
    cairn_allocator_destroy(NULL);
}

/* Its holder may be using it: what else there is goes, and the leak can be seen. */
static void a_block_that_is_held_outlives_the_allocator(void)
{
    fake_memory m = {.capacity = 40 * mib};
    const cairn_allocator_options options = cairn_allocator_defaults("fake");
    cairn_allocator *a = fake_memory_open(&m, &options);
    char *workspace = must_take(a, 10 * mib, "workspace");
    must_take(a, 5 * mib, "weights");
    must_give(a, workspace);
    cairn_allocator_destroy(a);
    CHECK_INT(m.taken, 5 * mib);
}

int main(void)
{
    RUN(starts_with_nothing_and_doubles);
    RUN(large_requests_have_chunks_of_their_size);
    RUN(the_smallest_that_suffices_is_taken_and_split);
    RUN(the_alignment_can_be_set);
    RUN(the_limit_holds_and_is_used_up);
    RUN(empty_chunks_are_given_back_when_memory_is_short);
    RUN(a_shared_chunk_may_be_smaller_when_memory_is_short);
    RUN(trimming_gives_back_what_is_empty);
    RUN(no_more_is_retained_than_asked);
    RUN(a_freed_block_waits_for_its_streams);
    RUN(the_host_waits_only_when_memory_would_run_out);
    RUN(without_fences_every_stream_is_the_main_one);
    RUN(too_many_streams_are_refused);
    RUN(strangers_are_refused);
    RUN(options_must_fit_together);
    RUN(a_block_that_is_held_outlives_the_allocator);
    return test_result();
}
