/* image.hpp - for which devices a fat binary holds code. */
#pragma once

namespace gpusim
{

/* Can a device of this compute capability (90 for 9.0) run the kernels of the fat binary that nvcc registered as `wrapper`? Machine code
 * serves its own major version from its minor version on, PTX everything from its version on. */
bool has_image(const void *wrapper, int capability);

} // namespace gpusim
