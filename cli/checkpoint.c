#include "cli/checkpoint.h"
#include "core/os.h"
#include <string.h>

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
