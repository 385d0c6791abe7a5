/* golden.h - what tests against tests/golden/data need: the deterministic numbers its scripts start from, its JSON, and the error
 * between what was computed and what stands there.
 *
 *     json_t *cases = golden_load(GOLDEN_DATA("ops.json"));
 *     float *x = golden_input(json_object_get(inputs, "x"), &count);         value i of {"seed", "shape", "lo", "hi"}
 *     float *want = golden_numbers(json_object_get(y, "value"), &count);
 *     CHECK(relative_l2(got, want, count) < 5e-6);
 *
 * Nothing here fails softly: a missing file, a wrong type or no memory prints what is wrong and ends the program with 1, since no test can
 * go on without its data. Arrays are released with free, JSON with json_decref.
 */
#ifndef CAIRN_TESTS_SUPPORT_GOLDEN_H
#define CAIRN_TESTS_SUPPORT_GOLDEN_H

#include "core/shape.h"
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* Path of a golden file in the source tree. */
#define GOLDEN_DATA(name) CAIRN_TEST_SOURCE "/tests/golden/data/" name

/* malloc of `count` elements of `size` bytes that never returns NULL. */
void *golden_alloc(int64_t count, size_t size);

/* The scripts' fill: value[i] = lo + (hi - lo) * (h(i ^ h(seed)) >> 8) * 2^-24, rounded once to float; h mixes 32 bits. */
uint32_t golden_hash(uint32_t x);
void golden_fill(uint32_t seed, double lo, double hi, float *value, int64_t count);

/* The scripts' labels: h(i ^ h(seed)) % classes. */
void golden_labels(uint32_t seed, int32_t classes, int32_t *label, int64_t count);

/* A JSON file whole. */
json_t *golden_load(const char *path);

/* Members of an object that must be there. */
const json_t *golden_get(const json_t *object, const char *key);
double golden_number(const json_t *object, const char *key);
int64_t golden_integer(const json_t *object, const char *key);
cairn_shape golden_shape(const json_t *object); /* its "shape" */

/* An array of numbers rounded to float. `count` may be NULL. */
float *golden_numbers(const json_t *array, int64_t *count);

/* The tensor that {"seed", "shape", "lo", "hi"} describes. */
float *golden_input(const json_t *spec, int64_t *count);

/* |got - want|_2 / |want|_2; the plain norm of got where want is all zeros; infinity where either holds a NaN or infinity. */
double relative_l2(const float *got, const float *want, int64_t count);

/* Against {"sum", "l2", "index", "value"} of a tensor that was `count` long: the largest of the relative error of its norm, the relative L2
 * of its samples, and the error of its sum as a part of sqrt(count) * l2 (which bounds any sum of that norm). */
double golden_stats_error(const float *got, int64_t count, const json_t *stats);

#endif
