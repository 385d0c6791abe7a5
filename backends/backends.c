#include "backends/backends.h"
#include <stddef.h>

const cairn_backend *const *cairn_backends(void)
{
    static const cairn_backend *const table[] = {&cairn_backend_cuda, &cairn_backend_cpu, &cairn_backend_ref, NULL};
    return table;
}

cairn_status cairn_device_open(const char *request, const cairn_device_options *options, cairn_device **out)
{
    return cairn_device_select(cairn_backends(), request, options, out);
}
