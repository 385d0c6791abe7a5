#include "data/dataset.h"
#include "core/os.h"
#include "core/rng.h"
#include "data/dataset_build.h"
#include <stdlib.h>
#include <string.h>

/* The random streams of the split count classes in 16 bits. */
enum { MAX_CLASSES = 65535 };

/* Folders that mean a split when both are there; in the order they are looked for. */
static const char *const validation_names[] = {"val", "validation", "valid", "test"};

static cairn_status check_folder(const char *folder)
{
    switch (cairn_os_stat(folder, NULL)) {
    case CAIRN_OS_FOLDER:
        return CAIRN_OK;
    case CAIRN_OS_MISSING:
        return cairn_fail(CAIRN_DATA, "%s: no such folder", folder);
    default:
        return cairn_fail(CAIRN_DATA, "%s: not a folder: give the folder that holds one sub-folder for each class",
                          folder);
    }
}

/* Counts the folders that hold a file, says which don't, and refuses what nobody can learn from. */
static cairn_status check_folders(const char *root, const cairn_class_folders *found, int least, const cairn_log *log)
{
    if (found->count == 0 && found->loose > 0)
        return cairn_fail(CAIRN_DATA,
                          "%s: %lld loose file%s and no sub-folders: put the pictures of each class in a sub-folder",
                          root, (long long)found->loose, found->loose == 1 ? "" : "s");
    if (found->count == 0)
        return cairn_fail(CAIRN_DATA, "%s: empty: put the pictures of each class in a sub-folder of it", root);
    int filled = 0;
    const char *name = "";
    for (int i = 0; i < found->count; i++) {
        if (found->item[i].count == 0) continue;
        name = found->item[i].name;
        filled++;
    }
    if (filled == 0)
        return cairn_fail(CAIRN_DATA, "%s: no file in any of its %d sub-folders: put the pictures of each class there",
                          root, found->count);
    if (filled < least)
        return cairn_fail(CAIRN_DATA, "%s: only one class, \"%s\": at least two sub-folders with pictures are needed",
                          root, name);
    for (int i = 0; i < found->count; i++)
        if (found->item[i].count == 0)
            cairn_log_write(log, CAIRN_LOG_WARNING, "%s: class \"%s\" has no files and stays out", root,
                            found->item[i].name);
    if (found->loose > 0)
        cairn_log_write(log, CAIRN_LOG_WARNING, "%s: %lld loose file%s beside the class folders stay%s out", root,
                        (long long)found->loose, found->loose == 1 ? "" : "s", found->loose == 1 ? "s" : "");
    return CAIRN_OK;
}

/* Labels are the places of the folders that hold files... */
static cairn_status name_classes(cairn_dataset *dataset, const cairn_class_folders *found)
{
    const char **names = calloc((size_t)found->count + 1, sizeof *names);
    if (!names) return cairn_dataset_no_memory(dataset);
    int count = 0;
    for (int i = 0; i < found->count; i++)
        if (found->item[i].count > 0) names[count++] = found->item[i].name;
    cairn_status status = count > MAX_CLASSES ? cairn_fail(CAIRN_DATA, "%s: %d classes; %d are the most",
                                                           dataset->folder, count, (int)MAX_CLASSES)
                                              : cairn_dataset_set_classes(dataset, names, count);
    free(names);
    return status;
}

/* ... or the places that the dataset's class names already have: label[i] of folder i, -1 for an empty folder. `whose` says in the message
 * who knows the names. */
static cairn_status find_labels(const cairn_dataset *dataset, const char *root, const cairn_class_folders *found,
                                const char *whose, int *label)
{
    for (int i = 0; i < found->count; i++)
        label[i] = -1;
    for (int c = 0; c < dataset->classes; c++) {
        int i = cairn_class_folders_find(found, dataset->class_name[c]);
        if (i >= 0) label[i] = c;
    }
    for (int i = 0; i < found->count; i++)
        if (label[i] < 0 && found->item[i].count > 0)
            return cairn_fail(CAIRN_DATA, "%s: class \"%s\" is not among the %d classes of %s", root,
                              found->item[i].name, dataset->classes, whose);
    return CAIRN_OK;
}

/* How many of `count` files become validation: the share, but neither none nor all where there are two. */
static int64_t validation_share(int64_t count, double share)
{
    if (share <= 0 || count < 2) return 0;
    int64_t n = (int64_t)((double)count * share + 0.5);
    return n < 1 ? 1 : n > count - 1 ? count - 1 : n;
}

/* Adds a class: the first files of a seeded permutation are validation. Both lists keep the order of the folder. */
static cairn_status add_split(cairn_dataset *dataset, const cairn_class_folder *folder, int label,
                              const cairn_dataset_options *options)
{
    int64_t validation = validation_share(folder->count, options->val_split);
    int64_t *order = calloc((size_t)folder->count, sizeof *order);
    bool *chosen = calloc((size_t)folder->count, sizeof *chosen);
    cairn_status status = CAIRN_OK;
    if (!order || !chosen) {
        status = cairn_dataset_no_memory(dataset);
        goto done;
    }
    cairn_rng_permutation(cairn_rng_make(options->seed, CAIRN_RNG_SPLIT, (uint32_t)label, 0), order, folder->count);
    for (int64_t i = 0; i < validation; i++)
        chosen[order[i]] = true;
    for (int64_t i = 0; i < folder->count; i++)
        CAIRN_TRY_DONE(cairn_dataset_add(dataset, chosen[i], folder->path[i], label));
done:
    free(order);
    free(chosen);
    return status;
}

typedef enum list_choice { TO_TRAIN, TO_VALIDATION, TO_BOTH } list_choice;

static cairn_status add_folders(cairn_dataset *dataset, const char *root, const cairn_class_folders *found,
                                list_choice to, const char *whose, const cairn_dataset_options *options)
{
    int *label = calloc((size_t)found->count + 1, sizeof *label);
    if (!label) return cairn_dataset_no_memory(dataset);
    cairn_status status = CAIRN_OK;
    CAIRN_TRY_DONE(find_labels(dataset, root, found, whose, label));
    for (int i = 0; i < found->count; i++) {
        const cairn_class_folder *folder = &found->item[i];
        if (label[i] < 0) continue;
        if (to == TO_BOTH && folder->count > 0) CAIRN_TRY_DONE(add_split(dataset, folder, label[i], options));
        for (int64_t k = 0; k < folder->count && to != TO_BOTH; k++)
            CAIRN_TRY_DONE(cairn_dataset_add(dataset, to == TO_VALIDATION, folder->path[k], label[i]));
    }
done:
    free(label);
    return status;
}

/* Scans `root` and adds what it holds; the first root names the classes unless the options do. */
static cairn_status add_root(cairn_dataset *dataset, const char *root, list_choice to,
                             const cairn_dataset_options *options)
{
    cairn_class_folders found;
    cairn_status status;
    bool named = options->classes != NULL || to == TO_VALIDATION;
    const char *whose = options->classes ? "the model" : "train/";
    CAIRN_TRY_DONE(cairn_class_folders_scan(dataset, root, &found));
    CAIRN_TRY_DONE(check_folders(root, &found, named ? 1 : 2, options->log));
    if (dataset->classes == 0)
        CAIRN_TRY_DONE(options->classes ? cairn_dataset_set_classes(dataset, options->classes, options->class_count)
                                        : name_classes(dataset, &found));
    CAIRN_TRY_DONE(add_folders(dataset, root, &found, to, whose, options));
done:
    cairn_class_folders_release(&found);
    return status;
}

/* The folders of a split the folder brings along; *train stays NULL without one. */
static cairn_status find_own_split(cairn_dataset *dataset, const char **train, const char **validation)
{
    *train = *validation = NULL;
    const char *path = cairn_dataset_join(dataset, dataset->folder, "train");
    if (!path) return cairn_dataset_no_memory(dataset);
    if (cairn_os_stat(path, NULL) != CAIRN_OS_FOLDER) return CAIRN_OK;
    for (size_t i = 0; i < sizeof validation_names / sizeof *validation_names; i++) {
        *validation = cairn_dataset_join(dataset, dataset->folder, validation_names[i]);
        if (!*validation) return cairn_dataset_no_memory(dataset);
        if (cairn_os_stat(*validation, NULL) != CAIRN_OS_FOLDER) continue;
        *train = path;
        return CAIRN_OK;
    }
    return CAIRN_OK;
}

static cairn_status fill(cairn_dataset *dataset, const cairn_dataset_options *options)
{
    const char *train, *validation;
    CAIRN_TRY(find_own_split(dataset, &train, &validation));
    if (!train) return add_root(dataset, dataset->folder, TO_BOTH, options);
    dataset->own_split = true;
    cairn_log_write(options->log, CAIRN_LOG_INFO, "%s is split by its own folders: train and %s", dataset->folder,
                    validation + strlen(dataset->folder) + 1);
    CAIRN_TRY(add_root(dataset, train, TO_TRAIN, options));
    return add_root(dataset, validation, TO_VALIDATION, options);
}

cairn_status cairn_dataset_open(const char *folder, const cairn_dataset_options *options, cairn_dataset **out)
{
    *out = NULL;
    if (!(options->val_split >= 0 && options->val_split < 1))
        return cairn_fail(CAIRN_USAGE, "val_split is %g: give a share from 0 up to, not including, 1",
                          options->val_split);
    CAIRN_TRY(check_folder(folder));
    cairn_dataset *dataset;
    CAIRN_TRY(cairn_dataset_begin(folder, &dataset));
    cairn_status status = fill(dataset, options);
    if (status != CAIRN_OK) {
        cairn_dataset_close(dataset);
        return status;
    }
    if (dataset->ignored > 0)
        cairn_log_write(options->log, CAIRN_LOG_INFO, "%s: %lld hidden and system files are ignored", dataset->folder,
                        (long long)dataset->ignored);
    *out = dataset;
    return CAIRN_OK;
}
