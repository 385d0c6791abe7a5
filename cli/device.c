#include "cli/device.h"
#include "cairn.h"
#include <string.h>

cairn_status cli_device_open(const cli_options *options, cli_terminal *terminal, cairn_device **out)
{
    char folder[CAIRN_PATH_SIZE];
    const char *cache = cli_text(options, OPTION_PLAN_CACHE);
    if (!cache) {
        cairn_os_cache_folder(folder, sizeof folder);
        cache = folder;
    } else if (strcmp(cache, "none") == 0)
        cache = NULL;
    const cairn_device_options device = {.threads = (int)cli_int(options, OPTION_THREADS),
                                         .deterministic = cli_flag(options, OPTION_DETERMINISTIC),
                                         .direct = cli_flag(options, OPTION_DIRECT),
                                         .cache = cache,
                                         .memory_limit = (size_t)cli_int(options, OPTION_MEMORY_LIMIT),
                                         .log = cli_terminal_log(terminal)};
    return cairn_device_open(cli_text(options, OPTION_DEVICE), &device, out);
}
