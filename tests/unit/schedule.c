/* Learning-rate schedules: values at the ends, at drops and past the end, and what is refused. */
#include "optim/schedule.h"
#include "tests/test.h"

static void constant_stays(void)
{
    const cairn_schedule s = {.kind = CAIRN_SCHEDULE_CONSTANT, .base = 0.01f};
    REQUIRE_OK(cairn_schedule_check(&s));
    CHECK_NEAR(cairn_schedule_at(&s, 0), 0.01, 1e-9);
    CHECK_NEAR(cairn_schedule_at(&s, 1000000), 0.01, 1e-9);
}

static void warmup_rises_in_a_line_to_the_base(void)
{
    const cairn_schedule s = {.kind = CAIRN_SCHEDULE_CONSTANT, .base = 0.4f, .warmup = 4};
    REQUIRE_OK(cairn_schedule_check(&s));
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(cairn_schedule_at(&s, i), 0.1 * (i + 1), 1e-7);
    CHECK_NEAR(cairn_schedule_at(&s, 4), 0.4, 1e-7);
}

static void step_drops_every_so_many_updates(void)
{
    const cairn_schedule s = {
        .kind = CAIRN_SCHEDULE_STEP, .base = 1.0f, .floor = 0.02f, .step_size = 10, .gamma = 0.1f};
    REQUIRE_OK(cairn_schedule_check(&s));
    CHECK_NEAR(cairn_schedule_at(&s, 9), 1.0, 1e-7);
    CHECK_NEAR(cairn_schedule_at(&s, 10), 0.1, 1e-7);
    CHECK_NEAR(cairn_schedule_at(&s, 19), 0.1, 1e-7);
    CHECK_NEAR(cairn_schedule_at(&s, 25), 0.02, 1e-7); /* 0.01 is below the floor */
    CHECK_NEAR(cairn_schedule_at(&s, INT64_MAX), 0.02, 1e-7);
}

static void cosine_falls_from_base_to_floor(void)
{
    const cairn_schedule s = {.kind = CAIRN_SCHEDULE_COSINE, .base = 1.0f, .floor = 0.2f, .updates = 110, .warmup = 10};
    REQUIRE_OK(cairn_schedule_check(&s));
    CHECK_NEAR(cairn_schedule_at(&s, 9), 1.0, 1e-7);
    CHECK_NEAR(cairn_schedule_at(&s, 10), 1.0, 1e-7);
    CHECK_NEAR(cairn_schedule_at(&s, 35), 0.2 + 0.8 * 0.5 * (1 + sqrt(0.5)), 1e-6);
    CHECK_NEAR(cairn_schedule_at(&s, 60), 0.6, 1e-6);
    CHECK_NEAR(cairn_schedule_at(&s, 110), 0.2, 1e-7);
    CHECK_NEAR(cairn_schedule_at(&s, 5000), 0.2, 1e-7);
}

static void polynomial_is_caffes_poly(void)
{
    const cairn_schedule s = {
        .kind = CAIRN_SCHEDULE_POLYNOMIAL, .base = 0.5f, .floor = 0.1f, .updates = 100, .power = 2.0f};
    REQUIRE_OK(cairn_schedule_check(&s));
    CHECK_NEAR(cairn_schedule_at(&s, 0), 0.5, 1e-7);
    CHECK_NEAR(cairn_schedule_at(&s, 50), 0.1 + 0.4 * 0.25, 1e-7);
    CHECK_NEAR(cairn_schedule_at(&s, 100), 0.1, 1e-7);
    CHECK_NEAR(cairn_schedule_at(&s, 101), 0.1, 1e-7);
}

static void what_is_out_of_range_is_named(void)
{
    const cairn_schedule good = {.kind = CAIRN_SCHEDULE_POLYNOMIAL,
                                 .base = 0.1f,
                                 .updates = 100,
                                 .warmup = 10,
                                 .step_size = 10,
                                 .gamma = 0.1f,
                                 .power = 1.0f};
    CHECK_OK(cairn_schedule_check(&good));
    cairn_schedule s = good;
#define REFUSED(field, bad)                                                                                            \
    do {                                                                                                               \
        s.field = (bad);                                                                                               \
        CHECK_FAILS(cairn_schedule_check(&s), CAIRN_USAGE, "schedule: " #field " is ");                                \
        s.field = good.field;                                                                                          \
    } while (0)
    REFUSED(base, 0.0f);
    REFUSED(base, NAN);
    REFUSED(base, INFINITY);
    REFUSED(floor, -0.1f);
    REFUSED(floor, 0.2f);
    REFUSED(updates, 0);
    REFUSED(warmup, -1);
    REFUSED(warmup, 100);
    REFUSED(power, 0.0f);
    REFUSED(kind, (cairn_schedule_kind)4);
    s.kind = CAIRN_SCHEDULE_STEP;
    REFUSED(step_size, 0);
    REFUSED(gamma, 0.0f);
    REFUSED(gamma, 1.5f);
#undef REFUSED
}

static void names_go_both_ways(void)
{
    for (int i = 0; i < 4; i++) {
        cairn_schedule_kind kind;
        REQUIRE_OK(cairn_schedule_parse(cairn_schedule_name((cairn_schedule_kind)i), &kind));
        CHECK_INT(kind, i);
    }
    cairn_schedule_kind kind;
    CHECK_FAILS(cairn_schedule_parse("linear", &kind), CAIRN_USAGE, "constant, step, cosine, polynomial");
}

int main(void)
{
    RUN(constant_stays);
    RUN(warmup_rises_in_a_line_to_the_base);
    RUN(step_drops_every_so_many_updates);
    RUN(cosine_falls_from_base_to_floor);
    RUN(polynomial_is_caffes_poly);
    RUN(what_is_out_of_range_is_named);
    RUN(names_go_both_ways);
    return test_result();
}
