/* dataset.h - a folder of pictures, one sub-folder a class, split into training and validation.
 *
 *     cairn_dataset *dataset;
 *     CAIRN_TRY(cairn_dataset_open("photos", &(cairn_dataset_options){.val_split = 0.2, .seed = 1}, &dataset));
 *     printf("%d classes, %lld pictures to train on\n", dataset->classes, (long long)dataset->train.count);
 *     cairn_dataset_close(dataset);
 *
 * If the folder has train/ and val/ (or "validation", "valid", "test"), these are the split, and val's classes are matched to train's by name.
 * Otherwise each class is cut by one seeded permutation. Classes are in byte order of their names. Nested files count to their class;
 * dot-folders, dot-files, __MACOSX, Thumbs.db and desktop.ini are ignored and counted. Nothing is decoded here.
 */
#ifndef CAIRN_DATA_DATASET_H
#define CAIRN_DATA_DATASET_H

#include "core/log.h"
#include "core/status.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct cairn_sample {
    const char *path; /* owned by the dataset; folder as given + '/' + relative path */
    int32_t label;
} cairn_sample;

typedef struct cairn_sample_list {
    cairn_sample *sample;
    int64_t count;
} cairn_sample_list;

typedef struct cairn_dataset {
    char *folder;
    int classes;
    char **class_name; /* [classes] */
    cairn_sample_list train, validation;
    int64_t *train_count, *validation_count; /* [classes] */
    int64_t ignored;                         /* hidden and system files passed over */
    bool own_split;                          /* the folder had train/ and val/ */
    void *storage;                           /* private */
} cairn_dataset;

typedef struct cairn_dataset_options {
    double
        val_split; /* share of each class that becomes validation, in [0, 1); at least one and not all of a class with 2 or more */
    uint64_t seed;
    const char *const
        *classes; /* NULL, or the class names a checkpoint has: labels follow them, others are CAIRN_DATA */
    int class_count;
    const cairn_log *log; /* what was ignored is said here; may be NULL */
} cairn_dataset_options;

/* CAIRN_DATA, naming the folder and what to do, for: a missing folder, no sub-folder, one class, no file, a class of val/ that train/
 * lacks, loose files only. An empty class is a warning and stays out. */
cairn_status cairn_dataset_open(const char *folder, const cairn_dataset_options *options, cairn_dataset **out);
void cairn_dataset_close(cairn_dataset *dataset); /* NULL is allowed */

/* The split as text, one "train<TAB>class<TAB>relative path" or "val..." a line, and back: a saved split wins over seed and val_split. A file that
 * is gone is CAIRN_DATA naming it. */
cairn_status cairn_dataset_save_split(const cairn_dataset *dataset, const char *path);
cairn_status cairn_dataset_open_split(const char *folder, const char *split_path, const cairn_dataset_options *options,
                                      cairn_dataset **out);

#endif
