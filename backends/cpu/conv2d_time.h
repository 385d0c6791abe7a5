/* conv2d_time.h - which of several candidates for one pass is the fastest, by running them.
 *
 *     int fastest;
 *     CAIRN_TRY(cairn_conv2d_time(&desc, &homes, candidates, count, &fastest));
 */
#ifndef CAIRN_BACKENDS_CPU_CONV2D_TIME_H
#define CAIRN_BACKENDS_CPU_CONV2D_TIME_H

#include "backends/cpu/conv2d_dnnl.h"

/* Runs each on buffers of its own making, which are gone when it returns; more often where the first runs are close. A candidate may be NULL;
 * one that fails is out. Index of the fastest; CAIRN_MEMORY when there is no room for the buffers. */
cairn_status cairn_conv2d_time(const cairn_conv2d_desc *desc, const cairn_conv2d_layouts *homes,
                               cairn_conv2d_candidate *const *candidates, int count, int *fastest);

#endif
