#include "gpusim.hpp"
#include <cstdarg>
#include <cstdio>
#include <unistd.h>

namespace gpusim
{

void misuse(const char *format, ...)
{
    char text[1000];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    std::fprintf(stderr, "gpusim: %s\n", text);
    std::fflush(nullptr);
    _exit(MISUSE_EXIT); /* no destructors: the process is in a state that no order of them foresaw */
}

} // namespace gpusim
