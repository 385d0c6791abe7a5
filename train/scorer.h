/* scorer.h - a checkpoint against a folder of pictures: `cairn eval` behind one call.
 *
 *     cairn_scorer *scorer;
 *     CAIRN_TRY(cairn_scorer_create("runs/photos/best.safetensors", "photos", CAIRN_PART_VALIDATION, 32, device, &options, &scorer));
 *     cairn_evaluation result;
 *     CAIRN_TRY(cairn_scorer_run(scorer, &result));
 *     printf("%s: top-1 %.1f %%\n", cairn_scorer_what(scorer), 100 * result.top1);
 *     cairn_scorer_destroy(scorer);
 */
#ifndef CAIRN_TRAIN_SCORER_H
#define CAIRN_TRAIN_SCORER_H

#include "core/device.h"
#include "train/checkpoint.h"
#include "train/evaluate.h"

typedef enum cairn_evaluate_part {
    /* val/ of the folder, or for the folder that was trained on the validation lines of split.tsv beside the checkpoint; all where neither
     * is there. */
    CAIRN_PART_VALIDATION,
    CAIRN_PART_TRAIN,
    CAIRN_PART_ALL,
} cairn_evaluate_part;

typedef struct cairn_scorer cairn_scorer;

/* Reads the checkpoint, opens the folder with its class names (others are CAIRN_DATA), and plans the net for `batch` (0: 32).
 * options->preprocess is taken from the checkpoint. */
cairn_status cairn_scorer_create(const char *checkpoint, const char *folder, cairn_evaluate_part part, int batch,
                                 cairn_device *device, const cairn_evaluate_options *options, cairn_scorer **out);
cairn_status cairn_scorer_run(cairn_scorer *scorer, cairn_evaluation *out); /* per_class is valid until destroy */
const char *cairn_scorer_class_name(const cairn_scorer *scorer, int index);
const char *cairn_scorer_what(const cairn_scorer *scorer); /* for people: "800 validation pictures of photos" */
void cairn_scorer_destroy(cairn_scorer *scorer);           /* NULL is allowed */

#endif
