/* pool_shape.h - the windows of a pool as kernels want to know them, and what of them can't be. */
#ifndef CAIRN_BACKENDS_CUDA_POOL_SHAPE_H
#define CAIRN_BACKENDS_CUDA_POOL_SHAPE_H

#include "backends/cuda/cuda.h"
#include "backends/cuda/kernels/args.h"

/* CAIRN_USAGE where windows are impossible; CAIRN_DEVICE where a picture is too large to be counted in 32 bits. */
cairn_status cairn_pool_shape(const cairn_pool2d_desc *desc, cairn_pool_args *out);

/* Bytes of a max-pool's winners. */
size_t cairn_pool_winner_bytes(const cairn_pool_args *args);

/* The layouts of a pool: NHWC on both sides. */
cairn_status cairn_pool_layouts(cairn_device *device, const cairn_pool2d_desc *desc, cairn_plan *plan);

#endif
