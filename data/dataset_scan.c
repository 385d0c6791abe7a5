/* The walk through a folder of class folders. */
#include "core/os.h"
#include "data/dataset_build.h"
#include <stdlib.h>
#include <string.h>

/* A link that leads back to its own parent would never end. */
enum { MAX_DEPTH = 32 };

static bool same_ignoring_case(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        char x = *a >= 'A' && *a <= 'Z' ? (char)(*a + 32) : *a, y = *b >= 'A' && *b <= 'Z' ? (char)(*b + 32) : *b;
        if (x != y) return false;
    }
    return *a == *b;
}

/* Files and folders that systems leave beside pictures. */
static bool is_ignored(const char *name)
{
    static const char *const names[] = {"__MACOSX", "Thumbs.db", "desktop.ini"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (same_ignoring_case(name, names[i])) return true;
    return name[0] == '.';
}

static cairn_status add_file(cairn_dataset *dataset, cairn_class_folder *folder, const char *path)
{
    if (folder->count == folder->capacity) {
        int64_t capacity = folder->capacity ? 2 * folder->capacity : 64;
        const char **grown = realloc(folder->path, (size_t)capacity * sizeof *grown);
        if (!grown) return cairn_dataset_no_memory(dataset);
        folder->path = grown;
        folder->capacity = capacity;
    }
    folder->path[folder->count++] = path;
    return CAIRN_OK;
}

/* Adds every file below `path`, folders in their place among the files. */
static cairn_status walk(cairn_dataset *dataset, const char *path, int depth, cairn_class_folder *folder)
{
    if (depth > MAX_DEPTH)
        return cairn_fail(CAIRN_DATA, "%s: more than %d folders deep: does a link lead back to a folder above it?",
                          path, (int)MAX_DEPTH);
    cairn_os_names names;
    CAIRN_TRY(cairn_os_list(path, &names));
    cairn_status status = CAIRN_OK;
    for (size_t i = 0; i < names.count; i++) {
        if (is_ignored(names.name[i])) {
            dataset->ignored++;
            continue;
        }
        const char *child = cairn_dataset_join(dataset, path, names.name[i]);
        if (!child) {
            status = cairn_dataset_no_memory(dataset);
            goto done;
        }
        cairn_os_kind kind = cairn_os_stat(child, NULL);
        if (kind == CAIRN_OS_FOLDER)
            CAIRN_TRY_DONE(walk(dataset, child, depth + 1, folder));
        else if (kind == CAIRN_OS_OTHER)
            dataset->ignored++;
        else /* a link to nothing too: it is named when it can't be read */
            CAIRN_TRY_DONE(add_file(dataset, folder, child));
    }
done:
    cairn_os_names_free(&names);
    return status;
}

/* Sorts one entry of the root: a class folder to be walked, a loose file, or nothing. */
static cairn_status take_entry(cairn_dataset *dataset, const char *root, const char *name, cairn_class_folders *out)
{
    const char *path = cairn_dataset_join(dataset, root, name);
    if (!path) return cairn_dataset_no_memory(dataset);
    if (cairn_os_stat(path, NULL) != CAIRN_OS_FOLDER) {
        out->loose++;
        return CAIRN_OK;
    }
    cairn_class_folder *folder = &out->item[out->count++];
    folder->name = path + strlen(root) + 1;
    return walk(dataset, path, 1, folder);
}

cairn_status cairn_class_folders_scan(cairn_dataset *dataset, const char *root, cairn_class_folders *out)
{
    *out = (cairn_class_folders){0};
    cairn_os_names names;
    CAIRN_TRY(cairn_os_list(root, &names));
    cairn_status status = CAIRN_OK;
    out->item = calloc(names.count + 1, sizeof *out->item);
    if (!out->item) {
        status = cairn_dataset_no_memory(dataset);
        goto done;
    }
    for (size_t i = 0; i < names.count; i++) {
        if (is_ignored(names.name[i]))
            dataset->ignored++;
        else
            CAIRN_TRY_DONE(take_entry(dataset, root, names.name[i], out));
    }
done:
    cairn_os_names_free(&names);
    return status;
}

void cairn_class_folders_release(cairn_class_folders *folders)
{
    for (int i = 0; i < folders->count; i++)
        free(folders->item[i].path);
    free(folders->item);
    *folders = (cairn_class_folders){0};
}

static int compare_names(const void *key, const void *item)
{
    return strcmp(key, ((const cairn_class_folder *)item)->name);
}

int cairn_class_folders_find(const cairn_class_folders *folders, const char *name)
{
    const cairn_class_folder *found =
        folders->count ? bsearch(name, folders->item, (size_t)folders->count, sizeof *folders->item, compare_names)
                       : NULL;
    return found ? (int)(found - folders->item) : -1;
}
