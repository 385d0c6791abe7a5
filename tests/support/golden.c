#include "tests/support/golden.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void give_up(const char *what, const char *name)
{
    printf("FAILED golden data: %s: %s\n", name, what);
    exit(1);
}

void *golden_alloc(int64_t count, size_t size)
{
    void *memory = calloc(count > 0 ? (size_t)count : 1, size);
    if (!memory) give_up("no memory", "array");
    return memory;
}

uint32_t golden_hash(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    return x ^ x >> 16;
}

void golden_fill(uint32_t seed, double lo, double hi, float *value, int64_t count)
{
    uint32_t key = golden_hash(seed);
    for (int64_t i = 0; i < count; i++)
        value[i] = (float)(lo + (hi - lo) * (golden_hash((uint32_t)i ^ key) >> 8) * 0x1p-24);
}

void golden_labels(uint32_t seed, int32_t classes, int32_t *label, int64_t count)
{
    uint32_t key = golden_hash(seed);
    for (int64_t i = 0; i < count; i++)
        label[i] = (int32_t)(golden_hash((uint32_t)i ^ key) % (uint32_t)classes);
}

json_t *golden_load(const char *path)
{
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    if (!root) give_up(error.text, path);
    return root;
}

const json_t *golden_get(const json_t *object, const char *key)
{
    const json_t *member = json_object_get(object, key);
    if (!member) give_up("no such member", key);
    return member;
}

double golden_number(const json_t *object, const char *key)
{
    const json_t *member = golden_get(object, key);
    if (!json_is_number(member)) give_up("not a number", key);
    return json_number_value(member);
}

int64_t golden_integer(const json_t *object, const char *key)
{
    return (int64_t)golden_number(object, key);
}

cairn_shape golden_shape(const json_t *object)
{
    const json_t *dims = golden_get(object, "shape");
    int64_t dim[CAIRN_MAX_RANK] = {0};
    int rank = (int)json_array_size(dims);
    if (!json_is_array(dims) || rank > CAIRN_MAX_RANK) give_up("not a shape", "shape");
    for (int i = 0; i < rank; i++)
        dim[i] = json_integer_value(json_array_get(dims, (size_t)i));
    return cairn_shape_of(rank, dim);
}

float *golden_numbers(const json_t *array, int64_t *count)
{
    if (!json_is_array(array)) give_up("not an array", "numbers");
    int64_t n = (int64_t)json_array_size(array);
    float *value = golden_alloc(n, sizeof *value);
    for (int64_t i = 0; i < n; i++)
        value[i] = (float)json_number_value(json_array_get(array, (size_t)i));
    if (count) *count = n;
    return value;
}

float *golden_input(const json_t *spec, int64_t *count)
{
    int64_t n = cairn_shape_count(golden_shape(spec));
    float *value = golden_alloc(n, sizeof *value);
    golden_fill((uint32_t)golden_integer(spec, "seed"), golden_number(spec, "lo"), golden_number(spec, "hi"), value, n);
    if (count) *count = n;
    return value;
}

double relative_l2(const float *got, const float *want, int64_t count)
{
    double off = 0, norm = 0;
    for (int64_t i = 0; i < count; i++) {
        double difference = (double)got[i] - (double)want[i];
        off += difference * difference;
        norm += (double)want[i] * (double)want[i];
    }
    if (!isfinite(off) || !isfinite(norm)) return INFINITY;
    return norm > 0 ? sqrt(off / norm) : sqrt(off);
}

double golden_stats_error(const float *got, int64_t count, const json_t *stats)
{
    const json_t *index = golden_get(stats, "index");
    double sum = 0, squares = 0, l2 = golden_number(stats, "l2");
    int64_t samples;
    float *want = golden_numbers(golden_get(stats, "value"), &samples), *have = golden_alloc(samples, sizeof *have);
    if (count != cairn_shape_count(golden_shape(stats))) give_up("a tensor of another size", "stats");
    for (int64_t i = 0; i < count; i++) {
        sum += (double)got[i];
        squares += (double)got[i] * (double)got[i];
    }
    for (int64_t i = 0; i < samples; i++)
        have[i] = got[json_integer_value(json_array_get(index, (size_t)i))];
    double error = relative_l2(have, want, samples);
    error = fmax(error, fabs(sqrt(squares) - l2) / l2);
    error = fmax(error, fabs(sum - golden_number(stats, "sum")) / (sqrt((double)count) * l2));
    free(want);
    free(have);
    return isfinite(squares) ? error : INFINITY;
}
