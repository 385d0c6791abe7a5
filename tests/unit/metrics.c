/* Means over batches of unequal size and weight, ties, and what alarms say of a run. */
#include "train/metrics.h"
#include "tests/test.h"
#include "train/alarms.h"

static void batches_count_by_their_weight(void)
{
    cairn_metrics m = {0};
    CHECK_NEAR(cairn_metrics_loss(&m), 0, 0);
    CHECK_NEAR(cairn_metrics_top1(&m), 0, 0);
    cairn_metrics_add(&m, (const float[]){2.0f, 3, 4, 8}, 8); /* eight pictures, mean 2 */
    cairn_metrics_add(&m, (const float[]){5.0f, 1, 1, 2}, 2); /* the tail: two pictures, mean 5 */
    CHECK_NEAR(cairn_metrics_loss(&m), (8 * 2.0 + 2 * 5.0) / 10, 1e-12);
    CHECK_NEAR(cairn_metrics_top1(&m), 0.4, 1e-12);
    CHECK_NEAR(cairn_metrics_top5(&m), 0.5, 1e-12);
    CHECK_INT(m.samples, 10);
}

static void class_weights_count(void)
{
    cairn_metrics m = {0};
    cairn_metrics_add(&m, (const float[]){1.0f, 0, 0, 4}, 6.5);
    cairn_metrics_add(&m, (const float[]){3.0f, 0, 0, 4}, 1.5);
    CHECK_NEAR(cairn_metrics_loss(&m), (6.5 * 1 + 1.5 * 3) / 8, 1e-12);
}

static void ties_go_to_the_lower_class(void)
{
    CHECK_INT(cairn_best_class((const float[]){1, 3, 3, 2}, 4), 1);
    CHECK_INT(cairn_best_class((const float[]){0, 0, 0}, 3), 0);
    CHECK_INT(cairn_best_class((const float[]){-5, -1}, 2), 1);
}

static void top5_is_shown_where_it_says_something(void)
{
    CHECK(!cairn_metrics_has_top5(2));
    CHECK(!cairn_metrics_has_top5(5));
    CHECK(cairn_metrics_has_top5(6));
}

static void a_plateau_is_told_from_learning_and_from_divergence(void)
{
    char text[CAIRN_ALARM_SIZE];
    CHECK(!cairn_alarm_plateau(2.0, 10, 0.01, text, sizeof text));
    CHECK(cairn_alarm_plateau(2.302, 10, 0.01, text, sizeof text));
    CHECK(strstr(text, "learned nothing") && strstr(text, "2.303") && strstr(text, "--learning-rate"));
    CHECK(cairn_alarm_plateau(9.0, 10, 0.01, text, sizeof text));
    CHECK(strstr(text, "diverges") && strstr(text, "0.001"));
    CHECK(!cairn_alarm_plateau(0, 1, 0.01, text, sizeof text));
}

static void waiting_names_the_bottleneck(void)
{
    char text[CAIRN_ALARM_SIZE];
    CHECK(!cairn_alarm_waiting(0.5, 0.5, 4, text, sizeof text));
    CHECK(cairn_alarm_waiting(0.74, 0.5, 4, text, sizeof text));
    CHECK(strstr(text, "74 %") && strstr(text, "4 loader threads"));
}

static void a_large_class_is_named(void)
{
    static const char *const name[] = {"cat", "dog", "owl"};
    char text[CAIRN_ALARM_SIZE];
    CHECK(!cairn_alarm_unbalanced((const int64_t[]){40, 30, 30}, 3, name, false, text, sizeof text));
    CHECK(cairn_alarm_unbalanced((const int64_t[]){10, 80, 10}, 3, name, false, text, sizeof text));
    CHECK(strstr(text, "\"dog\" has 80 %"));
    CHECK(!cairn_alarm_unbalanced((const int64_t[]){10, 80, 10}, 3, name, true, text, sizeof text));
    CHECK(!cairn_alarm_unbalanced((const int64_t[]){0, 0, 0}, 3, name, false, text, sizeof text));
}

static void a_collapse_onto_one_class_is_named(void)
{
    char text[CAIRN_ALARM_SIZE];
    CHECK(!cairn_alarm_one_answer(90, 30, 100, "cat", text, sizeof text));
    CHECK(cairn_alarm_one_answer(100, 30, 100, "cat", text, sizeof text));
    CHECK(strstr(text, "\"cat\" for 100 of 100"));
    CHECK(!cairn_alarm_one_answer(100, 90, 100, "cat", text, sizeof text)); /* nearly all are cats */
}

int main(void)
{
    RUN(batches_count_by_their_weight);
    RUN(class_weights_count);
    RUN(ties_go_to_the_lower_class);
    RUN(top5_is_shown_where_it_says_something);
    RUN(a_plateau_is_told_from_learning_and_from_divergence);
    RUN(waiting_names_the_bottleneck);
    RUN(a_large_class_is_named);
    RUN(a_collapse_onto_one_class_is_named);
    return test_result();
}
