/* settings.hpp - what the environment says: GPUSIM_... as README.md lists them. */
#pragma once

#include <cstdint>
#include <string>

namespace gpusim
{

/* The variable's text, or `otherwise` where it is unset or empty. */
std::string setting(const char *name, const char *otherwise);

/* The variable as a number; the program ends where it is none. */
std::uint64_t setting_number(const char *name, std::uint64_t otherwise);

} // namespace gpusim
