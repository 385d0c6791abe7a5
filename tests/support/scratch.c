#include "tests/support/scratch.h"
#include "core/os.h"
#include <stdio.h>
#include <stdlib.h>

static void require(cairn_status status)
{
    if (status == CAIRN_OK) return;
    printf("FAILED scratch folder: %s\n", cairn_error_last()->message);
    exit(1);
}

const char *scratch_path(const char *folder, const char *name, char out[SCRATCH_SIZE])
{
    require(cairn_os_join(out, SCRATCH_SIZE, folder, name));
    return out;
}

static void empty(const char *folder)
{
    cairn_os_names names;
    char path[SCRATCH_SIZE];
    require(cairn_os_list(folder, &names));
    for (size_t i = 0; i < names.count; i++) {
        scratch_path(folder, names.name[i], path);
        if (cairn_os_stat(path, NULL) == CAIRN_OS_FOLDER) empty(path);
        remove(path);
    }
    cairn_os_names_free(&names);
}

void scratch_make(const char *build, const char *name, char folder[SCRATCH_SIZE])
{
    char parent[SCRATCH_SIZE];
    scratch_path(build, "tests/scratch", parent);
    scratch_path(parent, name, folder);
    require(cairn_os_make_folders(folder));
    empty(folder);
}

int scratch_count(const char *folder)
{
    cairn_os_names names;
    require(cairn_os_list(folder, &names));
    int count = (int)names.count;
    cairn_os_names_free(&names);
    return count;
}
