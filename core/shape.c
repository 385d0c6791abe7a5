#include "core/shape.h"
#include <stdio.h>

cairn_shape cairn_shape_of(int rank, const int64_t *dims)
{
    cairn_shape shape = {.rank = rank < 0 ? 0 : rank > CAIRN_MAX_RANK ? CAIRN_MAX_RANK : rank, .dim = {1, 1, 1, 1}};
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = dims[i];
    return shape;
}

int64_t cairn_shape_count(cairn_shape shape)
{
    int64_t count = 1;
    for (int i = 0; i < shape.rank; i++) {
        if (shape.dim[i] < 0 || __builtin_mul_overflow(count, shape.dim[i], &count)) return -1;
    }
    return count;
}

bool cairn_shape_equal(cairn_shape a, cairn_shape b)
{
    if (a.rank != b.rank) return false;
    for (int i = 0; i < a.rank; i++)
        if (a.dim[i] != b.dim[i]) return false;
    return true;
}

char *cairn_shape_format(cairn_shape shape, char *text, size_t size)
{
    size_t used = 0;
    snprintf(text, size, "%s", shape.rank ? "" : "scalar");
    for (int i = 0; i < shape.rank && used < size; i++) {
        int n = snprintf(text + used, size - used, "%s%lld", i ? "x" : "", (long long)shape.dim[i]);
        if (n > 0) used += (size_t)n;
    }
    return text;
}
