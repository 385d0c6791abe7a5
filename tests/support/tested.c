#include "tests/support/tested.h"
#include "backends/backends.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static tested choose(int argc, char **argv, bool ref)
{
    tested chosen = {.count = 0};
    for (int i = 1; i < argc && chosen.count < TESTED_MOST; i++)
        chosen.name[chosen.count++] = argv[i];
    if (chosen.count > 0) return chosen;
    for (const cairn_backend *const *b = cairn_backends(); *b && chosen.count < TESTED_MOST; b++) {
        bool present = false;
        if (!ref && strcmp((*b)->name, "ref") == 0) continue;
        if ((*b)->probe(&present) == CAIRN_OK || present)
            chosen.name[chosen.count++] = (*b)->name;
        else
            printf("%s is left out: %s\n", (*b)->name, cairn_error_last()->message);
    }
    return chosen;
}

tested tested_backends(int argc, char **argv)
{
    return choose(argc, argv, true);
}

tested tested_against_ref(int argc, char **argv)
{
    return choose(argc, argv, false);
}
