/* memory.hpp - device memory in an address range of its own, and pinned host memory.
 *
 * Every allocation stands between pages that can't be touched, filled with 0xff (NaN in f32, f16 and bf16), and its addresses are never
 * given out again. The range is out of reach but while the device works, so host code that reads device memory is caught as well.
 */
#pragma once

#include <cstddef>

namespace gpusim
{

/* NULL when the profile's memory or GPUSIM_MEMORY is used up. */
void *device_alloc(std::size_t bytes);
void device_free(void *memory);
void device_memory(std::size_t *free, std::size_t *total);

void *host_alloc(std::size_t bytes);
void host_free(void *memory);
bool is_pinned(const void *memory, std::size_t bytes);

/* Opens the device's memory to the work named `what`, and closes it again; leaving looks for writes behind the end of allocations. */
void enter_device();
void working_on(const char *what);
void leave_device();

} // namespace gpusim
