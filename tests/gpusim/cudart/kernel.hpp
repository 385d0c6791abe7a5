/* kernel.hpp - the kernels that have a host version, found by mangled name. */
#pragma once

#include "../shim/shim.hpp"

namespace gpusim
{

/* The product's, written by kernel_table.sh from the plug-in that nvcc built; ends with a NULL name. */
extern const host_kernel product_kernels[];

/* Adds a table of a test's own, which ends with a NULL name and stays. */
void offer_kernels(const host_kernel *table);

} // namespace gpusim
