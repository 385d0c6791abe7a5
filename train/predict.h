/* predict.h - what a trained net sees in a picture: its likeliest classes, with probabilities.
 *
 *     cairn_predictor *predictor;
 *     CAIRN_TRY(cairn_predictor_create("runs/photos/best.safetensors", device, &predictor));
 *     cairn_guess guess[5];
 *     int count;
 *     CAIRN_TRY(cairn_predictor_run(predictor, "cat.jpg", guess, 5, &count));
 *     printf("%s %.1f %%\n", guess[0].name, 100 * guess[0].probability);
 *     cairn_predictor_destroy(predictor);
 *
 * Pictures go through the preprocessing stored in the checkpoint: short side to `resize`, centre window, mean and std.
 */
#ifndef CAIRN_TRAIN_PREDICT_H
#define CAIRN_TRAIN_PREDICT_H

#include "core/device.h"
#include "train/checkpoint.h"

typedef struct cairn_predictor cairn_predictor;

typedef struct cairn_guess {
    int label;
    const char *name; /* the predictor's */
    double probability;
} cairn_guess;

/* Reads a checkpoint file (CAIRN_FILE as cairn_checkpoint_open says) and plans its net for one picture at a time. */
cairn_status cairn_predictor_create(const char *checkpoint, cairn_device *device, cairn_predictor **out);
void cairn_predictor_destroy(cairn_predictor *predictor); /* NULL is allowed; before closing the device */

/* What the checkpoint says of itself. */
const cairn_checkpoint_info *cairn_predictor_information(const cairn_predictor *predictor);

/* The `most` likeliest classes of a picture, best first (ties: the lower class); fewer where the net has fewer. CAIRN_DATA names a file
 * that can't be read; the predictor stays usable. */
cairn_status cairn_predictor_run(cairn_predictor *predictor, const char *path, cairn_guess *guess, int most,
                                 int *count);

#endif
