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
                                         .cache = cache,
                                         .memory_limit = (size_t)cli_int(options, OPTION_MEMORY_LIMIT),
                                         .log = cli_terminal_log(terminal)};
    return cairn_device_open(cli_text(options, OPTION_DEVICE), &device, out);
}

cairn_status cli_checkpoint_path(const char *given, char *out, size_t size)
{
    static const char *const names[] = {"best.safetensors", "last.safetensors"};
    switch (cairn_os_stat(given, NULL)) {
    case CAIRN_OS_MISSING:
        return cairn_fail(CAIRN_FILE, "%s: no such file; a run folder or a .safetensors file of cairn train is wanted",
                          given);
    case CAIRN_OS_FOLDER:
        break;
    default:
        if (strlen(given) >= size) return cairn_fail(CAIRN_USAGE, "%s: a path longer than %zu bytes", given, size - 1);
        memcpy(out, given, strlen(given) + 1);
        return CAIRN_OK;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CAIRN_TRY(cairn_os_join(out, size, given, names[i]));
        if (cairn_os_stat(out, NULL) == CAIRN_OS_FILE) return CAIRN_OK;
    }
    return cairn_fail(CAIRN_FILE, "%s: no checkpoint in this folder; a run folder of cairn train has best.safetensors",
                      given);
}
