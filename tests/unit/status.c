/* Failures as they travel: recorded once, given context, kept apart by thread, carried across. And the log's sink. */
#include "core/log.h"
#include "core/os.h"
#include "tests/test.h"

static void nothing_failed_yet(void)
{
    CHECK_INT(cairn_error_last()->status, CAIRN_OK);
    CHECK_TEXT(cairn_error_last()->message, "");
}

static cairn_status leaf(int value)
{
    return value > 3 ? cairn_fail(CAIRN_DATA, "value %d is above %d", value, 3) : CAIRN_OK;
}

static cairn_status middle(int value, int *reached)
{
    CAIRN_TRY(leaf(value));
    (*reached)++;
    return CAIRN_OK;
}

static void try_passes_a_failure_up(void)
{
    int reached = 0;
    CHECK_OK(middle(3, &reached));
    CHECK_FAILS(middle(4, &reached), CAIRN_DATA, "value 4 is above 3");
    CHECK_INT(reached, 1);
    CHECK(strstr(cairn_error_last()->file, "status.c"));
    CHECK(cairn_error_last()->line > 0);
}

static void context_goes_in_front(void)
{
    cairn_fail(CAIRN_LIBRARY, "no kernel");
    CHECK_INT(cairn_error_add_context("conv%d", 2), CAIRN_LIBRARY);
    CHECK_INT(cairn_error_add_context("epoch 1"), CAIRN_LIBRARY);
    CHECK_TEXT(cairn_error_last()->message, "epoch 1: conv2: no kernel");
}

static void a_message_may_quote_the_last_one(void)
{
    cairn_fail(CAIRN_FILE, "inner");
    cairn_fail(CAIRN_USAGE, "outer (%s)", cairn_error_last()->message);
    CHECK_TEXT(cairn_error_last()->message, "outer (inner)");
}

static void long_messages_are_cut(void)
{
    char text[3000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    cairn_fail(CAIRN_USAGE, "%s", text);
    CHECK_INT(strlen(cairn_error_last()->message), CAIRN_ERROR_MESSAGE_SIZE - 1);
    cairn_error_add_context("%s", text);
    CHECK_INT(strlen(cairn_error_last()->message), CAIRN_ERROR_MESSAGE_SIZE - 1);
}

static void fail_elsewhere(void *argument)
{
    CHECK_INT(cairn_error_last()->status, CAIRN_OK);
    cairn_fail(CAIRN_NONFINITE, "on the other thread");
    *(cairn_error *)argument = *cairn_error_last();
}

static void threads_keep_their_own(void)
{
    cairn_error carried = {0};
    cairn_thread *thread;
    cairn_fail(CAIRN_USAGE, "on this thread");
    REQUIRE_OK(cairn_thread_start(&thread, "failing", fail_elsewhere, &carried));
    cairn_thread_join(thread);
    CHECK_TEXT(cairn_error_last()->message, "on this thread");
    CHECK_INT(cairn_error_raise(&carried), CAIRN_NONFINITE);
    CHECK_TEXT(cairn_error_last()->message, "on the other thread");
}

static void every_status_has_a_name(void)
{
    for (int s = CAIRN_OK; s <= CAIRN_INTERRUPTED; s++)
        CHECK(strcmp(cairn_status_name((cairn_status)s), "unknown") != 0);
    CHECK_TEXT(cairn_status_name((cairn_status)(CAIRN_INTERRUPTED + 1)), "unknown");
}

static void keep(void *context, cairn_log_level level, const char *text)
{
    snprintf(context, 2100, "%d %s", (int)level, text);
}

static void the_log_formats_filters_and_cuts(void)
{
    char seen[2100] = "", lengthy[3000];
    cairn_log log = {.write = keep, .context = seen, .level = CAIRN_LOG_INFO};
    cairn_log_write(&log, CAIRN_LOG_DEBUG, "dropped");
    CHECK_TEXT(seen, "");
    cairn_log_write(&log, CAIRN_LOG_WARNING, "%d classes", 10);
    CHECK_TEXT(seen, "2 10 classes");
    memset(lengthy, 'x', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';
    cairn_log_write(&log, CAIRN_LOG_ERROR, "%s", lengthy);
    CHECK_INT(strlen(seen), 2 + 1999);
    cairn_log_write(NULL, CAIRN_LOG_ERROR, "nobody listens");
    cairn_log_write(&(cairn_log){0}, CAIRN_LOG_ERROR, "nobody listens");
}

int main(void)
{
    RUN(nothing_failed_yet);
    RUN(try_passes_a_failure_up);
    RUN(context_goes_in_front);
    RUN(a_message_may_quote_the_last_one);
    RUN(long_messages_are_cut);
    RUN(threads_keep_their_own);
    RUN(every_status_has_a_name);
    RUN(the_log_formats_filters_and_cuts);
    return test_result();
}
