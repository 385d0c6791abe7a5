#include "layers/init.h"
#include <math.h>

static float factor(const cairn_init *init)
{
    return init->value == 0.0f ? 1.0f : init->value;
}

static void fill_constant(float value, float *values, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++)
        values[i] = value;
}

static void fill_normal(float deviation, cairn_rng rng, float *values, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++)
        values[i] = deviation * cairn_rng_normal(rng, (uint64_t)i);
}

static void fill_uniform(float bound, cairn_rng rng, float *values, int64_t begin, int64_t end)
{
    cairn_rng_uniform_fill(rng, (uint64_t)begin, values + begin, end - begin);
    for (int64_t i = begin; i < end; i++)
        values[i] = bound * (2.0f * values[i] - 1.0f);
}

void cairn_init_fill(const cairn_init *init, int64_t fan_in, int64_t fan_out, cairn_rng rng, float *values,
                     int64_t begin, int64_t end)
{
    switch (init->kind) {
    case CAIRN_INIT_DEFAULT: /* resolved by every layer */
    case CAIRN_INIT_CONSTANT:
        fill_constant(init->value, values, begin, end);
        break;
    case CAIRN_INIT_NORMAL:
        fill_normal(init->value, rng, values, begin, end);
        break;
    case CAIRN_INIT_UNIFORM:
        fill_uniform(init->value, rng, values, begin, end);
        break;
    case CAIRN_INIT_HE_NORMAL:
        fill_normal(factor(init) * sqrtf(2.0f / (float)fan_in), rng, values, begin, end);
        break;
    case CAIRN_INIT_HE_UNIFORM:
        fill_uniform(factor(init) * sqrtf(6.0f / (float)fan_in), rng, values, begin, end);
        break;
    case CAIRN_INIT_XAVIER_UNIFORM:
        fill_uniform(factor(init) * sqrtf(6.0f / (float)(fan_in + fan_out)), rng, values, begin, end);
        break;
    }
}
