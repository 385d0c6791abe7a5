#include "cli/device.h"
#include "cairn.h"
#include <string.h>

static void warn_of_threads(int threads, cli_terminal *terminal)
{
    int processors = cairn_os_processor_count();
    if (threads > processors)
        cli_warn(terminal, "--threads %d: there %s %d processor%s for them, and more threads than that take turns",
                 threads, processors == 1 ? "is" : "are", processors, processors == 1 ? "" : "s");
}

cairn_status cli_device_open(const cli_options *options, cli_terminal *terminal, cairn_device **out)
{
    char folder[CAIRN_PATH_SIZE];
    const char *cache = cli_text(options, OPTION_PLAN_CACHE);
    if (!cache) {
        cairn_os_cache_folder(folder, sizeof folder);
        cache = folder;
    } else if (strcmp(cache, "none") == 0)
        cache = NULL;
    else if (cairn_os_make_folders(cache) != CAIRN_OK || cairn_os_check_writable(cache) != CAIRN_OK)
        cli_warn(terminal, "--plan-cache: %s: choices of algorithms are measured again in every run",
                 cairn_error_last()->message);
    warn_of_threads((int)cli_int(options, OPTION_THREADS), terminal);
    /* auto may come to TF32, where the device has it */
    const char *precision =
        cli_options_takes(options->command, OPTION_PRECISION) ? cli_text(options, OPTION_PRECISION) : "fp32";
    const cairn_device_options device = {.threads = (int)cli_int(options, OPTION_THREADS),
                                         .deterministic = cli_flag(options, OPTION_DETERMINISTIC),
                                         .direct = cli_flag(options, OPTION_DIRECT),
                                         .tf32 = strcmp(precision, "auto") == 0 || strcmp(precision, "tf32") == 0,
                                         .library_kernels = strcmp(cli_text(options, OPTION_KERNELS), "cudnn") == 0,
                                         .cache = cache,
                                         .memory_limit = (size_t)cli_int(options, OPTION_MEMORY_LIMIT),
                                         .memory_snapshot = cli_text(options, OPTION_MEMORY_SNAPSHOT),
                                         .log = cli_terminal_log(terminal)};
    return cairn_device_open(cli_text(options, OPTION_DEVICE), &device, out);
}
