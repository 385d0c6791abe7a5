/* block.hpp - runs the threads of one block of a kernel; shim.hpp says how they are laid out in time. */
#pragma once

#include "../shim/shim.hpp"

namespace gpusim
{

/* block_index, block_size and grid_size are set beforehand. Dynamic shared memory is not offered. */
void run_block(const host_kernel &kernel, void *const *arguments, unsigned threads);

} // namespace gpusim
