/* random_operation.h - operations of random shape and flags, small and awkward: odd sizes, ragged channels, groups, a batch of one.
 *
 *     operation op;
 *     random_operation(OPERATION_CONV2D, seed, &op);      the same seed gives the same operation, on every machine
 *     ...
 *     operation_free(&op);
 */
#ifndef CAIRN_TESTS_SUPPORT_RANDOM_OPERATION_H
#define CAIRN_TESTS_SUPPORT_RANDOM_OPERATION_H

#include "tests/support/operation.h"

/* A stream of numbers: a seed and how many were drawn. */
typedef struct chance {
    uint32_t seed, drawn;
} chance;

int64_t chance_between(chance *c, int64_t lo, int64_t hi); /* both included */
bool chance_of(chance *c, int64_t one_in);                 /* true once in `one_in` draws */

/* Draws an operation of the kind and prepares it. */
void random_operation(operation_kind kind, uint32_t seed, operation *op);

#endif
