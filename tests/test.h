/* test.h - what a test program needs: checks that print what they saw, and a skip that says why.
 *
 * A test program is a main that calls its test functions and returns test_result(). Each file tests/<area>/<name>.c becomes the CTest
 * "<area>.<name>". Exit 77 is a skip: CTest lists it by name, and the reason is on stdout.
 *
 *     static void rounds_to_even(void) { CHECK_INT(cairn_f32_to_bf16(1.00390625f), 0x3f80); }
 *     int main(void) { RUN(rounds_to_even); return test_result(); }
 */
#ifndef CAIRN_TESTS_TEST_H
#define CAIRN_TESTS_TEST_H

#include "core/status.h"
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int test_failures_;
static const char *test_name_ = "main";

static inline void test_fail_(const char *file, int line, const char *text)
{
    test_failures_++;
    printf("FAILED %s at %s:%d: %s\n", test_name_, file, line, text);
}

#define TEST_FAIL(...)                                                                                                 \
    do {                                                                                                               \
        char test_text_[1400];                                                                                         \
        snprintf(test_text_, sizeof test_text_, __VA_ARGS__);                                                          \
        test_fail_(__FILE__, __LINE__, test_text_);                                                                    \
    } while (0)

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) TEST_FAIL("%s is false", #condition);                                                        \
    } while (0)

#define CHECK_INT(got, want)                                                                                           \
    do {                                                                                                               \
        long long got_ = (long long)(got), want_ = (long long)(want);                                                  \
        if (got_ != want_) TEST_FAIL("%s is %lld, want %lld", #got, got_, want_);                                      \
    } while (0)

#define CHECK_TEXT(got, want)                                                                                          \
    do {                                                                                                               \
        const char *got_ = (got), *want_ = (want);                                                                     \
        if (strcmp(got_, want_) != 0) TEST_FAIL("%s is \"%s\", want \"%s\"", #got, got_, want_);                       \
    } while (0)

/* |got - want| <= tolerance; NaN fails. */
#define CHECK_NEAR(got, want, tolerance)                                                                               \
    do {                                                                                                               \
        double got_ = (double)(got), want_ = (double)(want);                                                           \
        if (!(fabs(got_ - want_) <= (tolerance)))                                                                      \
            TEST_FAIL("%s is %.9g, want %.9g within %.3g", #got, got_, want_, (double)(tolerance));                    \
    } while (0)

/* The expression succeeds; else its message is shown. */
#define CHECK_OK(expression)                                                                                           \
    do {                                                                                                               \
        if ((expression) != CAIRN_OK) TEST_FAIL("%s: %s", #expression, cairn_error_last()->message);                   \
    } while (0)

/* The same, and leaves the test function when it fails. */
#define REQUIRE_OK(expression)                                                                                         \
    do {                                                                                                               \
        if ((expression) != CAIRN_OK) {                                                                                \
            TEST_FAIL("%s: %s", #expression, cairn_error_last()->message);                                             \
            return;                                                                                                    \
        }                                                                                                              \
    } while (0)

#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            TEST_FAIL("%s is false", #condition);                                                                      \
            return;                                                                                                    \
        }                                                                                                              \
    } while (0)

/* The expression fails with this status, and the message holds `part`. */
#define CHECK_FAILS(expression, want, part)                                                                            \
    do {                                                                                                               \
        cairn_status status_ = (expression);                                                                           \
        if (status_ != (want))                                                                                         \
            TEST_FAIL("%s gave %s, want %s (%s)", #expression, cairn_status_name(status_), cairn_status_name(want),    \
                      cairn_error_last()->message);                                                                    \
        else if (!strstr(cairn_error_last()->message, (part)))                                                         \
            TEST_FAIL("%s: message \"%s\" lacks \"%s\"", #expression, cairn_error_last()->message, (part));            \
    } while (0)

#define RUN(function)                                                                                                  \
    do {                                                                                                               \
        int before_ = test_failures_;                                                                                  \
        test_name_ = #function;                                                                                        \
        function();                                                                                                    \
        printf("%s %s\n", test_failures_ == before_ ? "ok    " : "FAILED", #function);                                 \
        fflush(stdout);                                                                                                \
    } while (0)

static inline int test_result(void)
{
    if (test_failures_) printf("%d checks failed\n", test_failures_);
    return test_failures_ ? 1 : 0;
}

/* Ends the program as skipped, with the reason. */
#define TEST_SKIP(reason)                                                                                              \
    do {                                                                                                               \
        printf("SKIPPED: %s\n", (reason));                                                                             \
        exit(77);                                                                                                      \
    } while (0)

#endif
