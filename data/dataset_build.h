/* dataset_build.h - how a dataset is put together: text that lives as long as it, class folders found by a walk, samples added one by
 * one. Private to data/; programs use dataset.h.
 */
#ifndef CAIRN_DATA_DATASET_BUILD_H
#define CAIRN_DATA_DATASET_BUILD_H

#include "data/dataset.h"
#include <stddef.h>

/* An empty dataset of `folder`, whose trailing slashes are dropped. Released with cairn_dataset_close. */
cairn_status cairn_dataset_begin(const char *folder, cairn_dataset **out);

/* Copies text into the dataset's memory; NULL when there is none. */
char *cairn_dataset_text(cairn_dataset *dataset, const char *text);

/* "folder/name" in the dataset's memory. */
char *cairn_dataset_join(cairn_dataset *dataset, const char *folder, const char *name);

/* Sets the class names, which are copied, and the counters to 0. Once. */
cairn_status cairn_dataset_set_classes(cairn_dataset *dataset, const char *const *name, int count);

/* Adds one sample; `path` is text of the dataset. */
cairn_status cairn_dataset_add(cairn_dataset *dataset, bool validation, const char *path, int label);

/* The dataset's failure for want of memory. */
cairn_status cairn_dataset_no_memory(const cairn_dataset *dataset);

/* One sub-folder and every file below it, in byte order; strings are text of the dataset. */
typedef struct cairn_class_folder {
    const char *name;
    const char **path;
    int64_t count, capacity;
} cairn_class_folder;

typedef struct cairn_class_folders {
    cairn_class_folder *item; /* in byte order of their names */
    int count;
    int64_t loose; /* files beside the folders */
} cairn_class_folders;

/* Walks `root`. What is passed over adds to dataset->ignored. Release what it found also after a failure. */
cairn_status cairn_class_folders_scan(cairn_dataset *dataset, const char *root, cairn_class_folders *out);
void cairn_class_folders_release(cairn_class_folders *folders);

/* The folder of that name, or -1. */
int cairn_class_folders_find(const cairn_class_folders *folders, const char *name);

#endif
