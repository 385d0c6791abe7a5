#include "tests/support/conformance.h"
#include "backends/backends.h"
#include "tests/support/random_operation.h"
#include <stdio.h>
#include <string.h>

cairn_status conformance_open(const char *tested, const cairn_device_options *options, conformance *out)
{
    *out = (conformance){0};
    CAIRN_TRY(cairn_device_open("ref", NULL, &out->ref));
    cairn_status status = cairn_device_open(tested, options, &out->tested);
    if (status != CAIRN_OK) conformance_close(out);
    return status;
}

void conformance_close(conformance *pair)
{
    cairn_device_close(pair->tested);
    cairn_device_close(pair->ref);
    *pair = (conformance){0};
}

double conformance_tolerance(const char *algorithm, double direct)
{
    bool winograd = strstr(algorithm, "wino") || strstr(algorithm, "Wino");
    return winograd && direct < 1e-4 ? 1e-4 : direct;
}

bool conformance_holds(const conformance *pair, const operation *op, double tolerance, char *text, size_t size)
{
    operation_result want = {0}, got = {0};
    bool holds = operation_run(pair->ref, op, &want) == CAIRN_OK && operation_run(pair->tested, op, &got) == CAIRN_OK;
    if (!holds)
        snprintf(text, size, "%s", cairn_error_last()->message);
    else
        holds = operation_agrees(op, &want, &got, conformance_tolerance(got.algorithm, tolerance), text, size);
    operation_result_free(&want);
    operation_result_free(&got);
    return holds;
}

bool conformance_holds_for(const conformance *pair, operation_kind kind, uint32_t first, uint32_t count,
                           double tolerance, char *text, size_t size)
{
    bool holds = true;
    for (uint32_t seed = first; holds && seed < first + count; seed++) {
        operation op;
        char why[1100];
        random_operation(kind, seed, &op);
        holds = conformance_holds(pair, &op, tolerance, why, sizeof why);
        if (!holds) snprintf(text, size, "seed %u: %s", seed, why);
        operation_free(&op);
    }
    return holds;
}
