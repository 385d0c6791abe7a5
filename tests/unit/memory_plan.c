/* The memory plan on random lifetimes: buffers alive together never overlap, and the arena stays near what any plan needs. */
#include "core/memory_plan.h"
#include "core/rng.h"
#include "tests/test.h"

typedef struct life {
    size_t bytes;
    int first, last;
} life;

static size_t rounded(size_t bytes)
{
    return (bytes + CAIRN_MEMORY_PLAN_ALIGNMENT - 1) / CAIRN_MEMORY_PLAN_ALIGNMENT * CAIRN_MEMORY_PLAN_ALIGNMENT;
}

/* What is alive in the fullest step: no arena can be smaller. */
static size_t lower_bound(const life *lives, int count, int steps)
{
    size_t most = 0;
    for (int step = 0; step < steps; step++) {
        size_t alive = 0;
        for (int i = 0; i < count; i++)
            if (lives[i].first <= step && step <= lives[i].last) alive += rounded(lives[i].bytes);
        if (alive > most) most = alive;
    }
    return most;
}

static size_t solve_and_check(const life *lives, int count)
{
    cairn_memory_plan *plan;
    if (cairn_memory_plan_create(&plan) != CAIRN_OK) return 0;
    for (int i = 0; i < count; i++)
        CHECK_INT(cairn_memory_plan_add(plan, lives[i].bytes, lives[i].first, lives[i].last), i);
    CHECK_OK(cairn_memory_plan_solve(plan));
    size_t arena = cairn_memory_plan_bytes(plan);
    for (int i = 0; i < count; i++) {
        size_t start = cairn_memory_plan_offset(plan, i), end = start + lives[i].bytes;
        if (start % CAIRN_MEMORY_PLAN_ALIGNMENT) TEST_FAIL("buffer %d starts at %zu", i, start);
        if (end > arena) TEST_FAIL("buffer %d ends at %zu of %zu", i, end, arena);
        for (int j = 0; j < i; j++) {
            size_t other = cairn_memory_plan_offset(plan, j);
            bool together = lives[i].first <= lives[j].last && lives[j].first <= lives[i].last;
            bool overlap = start < other + lives[j].bytes && other < end;
            if (together && overlap) TEST_FAIL("buffers %d and %d overlap", i, j);
        }
    }
    cairn_memory_plan_destroy(plan);
    return arena;
}

static void random_lives_never_overlap(void)
{
    enum { most = 60, steps = 40 };
    double worst = 1;
    for (uint32_t round = 0; round < 400; round++) {
        cairn_rng rng = cairn_rng_make(1, CAIRN_RNG_SYNTHETIC, 0, round);
        uint64_t draw = 0;
        life lives[most];
        int count = 1 + (int)cairn_rng_below(rng, draw++, most);
        for (int i = 0; i < count; i++) {
            lives[i].bytes = cairn_rng_below(rng, draw++, round % 2 ? 1u << 20 : 30000);
            lives[i].first = (int)cairn_rng_below(rng, draw++, steps);
            lives[i].last = lives[i].first + (int)cairn_rng_below(rng, draw++, (uint32_t)(steps - lives[i].first));
        }
        size_t arena = solve_and_check(lives, count), bound = lower_bound(lives, count, steps);
        CHECK(arena >= bound);
        if (bound && (double)arena / (double)bound > worst) worst = (double)arena / (double)bound;
    }
    printf("largest arena over the lower bound: %.3f\n", worst);
    CHECK(worst < 1.5);
}

/* A chain of layers whose neighbours' buffers alone live together needs the two largest neighbours and no more. */
static void a_chain_needs_two_neighbours(void)
{
    const size_t page = CAIRN_MEMORY_PLAN_ALIGNMENT;
    life lives[] = {{10 * page, 0, 1}, {6 * page, 1, 2}, {4 * page, 2, 3}, {2 * page, 3, 4}};
    CHECK_INT(solve_and_check(lives, 4), 16 * page);
}

static void edges(void)
{
    cairn_memory_plan *plan;
    CHECK_INT(solve_and_check(NULL, 0), 0);
    CHECK_INT(solve_and_check(&(life){0, 0, 9}, 1), 0);
    CHECK_INT(solve_and_check(&(life){1, 3, 3}, 1), CAIRN_MEMORY_PLAN_ALIGNMENT);
    REQUIRE_OK(cairn_memory_plan_create(&plan));
    CHECK_INT(cairn_memory_plan_add(plan, SIZE_MAX - 10, 0, 1), -1);
    CHECK_FAILS(cairn_memory_plan_solve(plan), CAIRN_MEMORY, "no memory");
    cairn_memory_plan_destroy(plan);
    REQUIRE_OK(cairn_memory_plan_create(&plan));
    cairn_memory_plan_add(plan, SIZE_MAX / 2, 0, 1);
    cairn_memory_plan_add(plan, SIZE_MAX / 2 + 2, 0, 1);
    CHECK_FAILS(cairn_memory_plan_solve(plan), CAIRN_MEMORY, "address space");
    cairn_memory_plan_destroy(plan);
    cairn_memory_plan_destroy(NULL);
}

int main(void)
{
    RUN(random_lives_never_overlap);
    RUN(a_chain_needs_two_neighbours);
    RUN(edges);
    return test_result();
}
