/* conformance.h - one operation on two devices: ref, which is right by definition, and the one under test.
 *
 *     conformance pair;
 *     REQUIRE_OK(conformance_open("cpu", NULL, &pair));
 *     if (!conformance_holds(&pair, &op, 1e-5, text, sizeof text)) TEST_FAIL("%s", text);
 *     conformance_close(&pair);
 */
#ifndef CAIRN_TESTS_SUPPORT_CONFORMANCE_H
#define CAIRN_TESTS_SUPPORT_CONFORMANCE_H

#include "tests/support/operation.h"

typedef struct conformance {
    cairn_device *ref, *tested;
} conformance;

/* `options` are the tested device's; NULL for the usual. */
cairn_status conformance_open(const char *tested, const cairn_device_options *options, conformance *out);
void conformance_close(conformance *pair);

/* What an algorithm may be off by (relative L2): `direct`, or 1e-4 where it is Winograd's, whose transforms cost about a digit. */
double conformance_tolerance(const char *algorithm, double direct);

/* Runs the operation on both and compares every operand; if it doesn't hold, `text` says what is wrong. */
bool conformance_holds(const conformance *pair, const operation *op, double tolerance, char *text, size_t size);

/* Draws and checks operations with the seeds first .. first + count - 1; stops at the first that doesn't hold, and `text` says its seed. */
bool conformance_holds_for(const conformance *pair, operation_kind kind, uint32_t first, uint32_t count,
                           double tolerance, char *text, size_t size);

#endif
