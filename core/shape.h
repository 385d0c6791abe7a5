/* shape.h - the sizes of a tensor, outermost first.
 *
 *     cairn_shape images = cairn_shape_make(4, batch, 3, 224, 224);      (N, C, H, W)
 *     int64_t n = cairn_shape_count(images);
 */
#ifndef CAIRN_CORE_SHAPE_H
#define CAIRN_CORE_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAIRN_MAX_RANK 4

/* Dimensions past `rank` are 1, so a 2-D (N, C) reads as (N, C, 1, 1). */
typedef struct cairn_shape {
    int rank; /* 0 (a scalar) to CAIRN_MAX_RANK */
    int64_t dim[CAIRN_MAX_RANK];
} cairn_shape;

/* A shape of `rank` int64_t-sized dimensions; int arguments are taken as int. rank is clamped to CAIRN_MAX_RANK. */
cairn_shape cairn_shape_of(int rank, const int64_t *dims);
#define cairn_shape_make(rank, ...) cairn_shape_of((rank), (const int64_t[]){__VA_ARGS__})

/* Number of elements: the product of the dimensions; 1 for rank 0; -1 if a dimension is negative or it overflows. */
int64_t cairn_shape_count(cairn_shape shape);

bool cairn_shape_equal(cairn_shape a, cairn_shape b);

/* Writes "64x3x11x11" (or "scalar") and returns `text`. */
char *cairn_shape_format(cairn_shape shape, char *text, size_t size);

#endif
