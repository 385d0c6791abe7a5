/* transform.h - from a picture of any size to the window a net sees: which part, mirrored or not, resized with antialiasing.
 *
 * The part is a box in source pixels (fractional), so that only what the net sees is ever resized:
 *   crop:  short side to `resize` (256), a random `size` x `size` window, mirrored half of the time (Krizhevsky et al. 2012, 4.1);
 *   rrc:   random area 8..100 %, aspect 3/4..4/3, ten tries, else the centre (Szegedy et al. 2015; torchvision's RandomResizedCrop), mirrored half of the time;
 *   none:  as in evaluation: short side to `resize`, centre window.
 * Draws come from Philox by (seed, epoch, sample), never from the order in which threads work.
 */
#ifndef CAIRN_DATA_TRANSFORM_H
#define CAIRN_DATA_TRANSFORM_H

#include "core/status.h"
#include "data/image.h"
#include <stdbool.h>

typedef enum cairn_augment_kind { CAIRN_AUGMENT_NONE, CAIRN_AUGMENT_CROP, CAIRN_AUGMENT_RRC } cairn_augment_kind;

const char *cairn_augment_name(cairn_augment_kind kind); /* "none", "crop", "rrc" */
cairn_status cairn_augment_parse(const char *text, cairn_augment_kind *out);

/* Everything that turns a file into the net's input: stored in checkpoints, used again by eval and predict. */
typedef struct cairn_preprocess {
    int size;              /* window, pixels: 224 */
    int resize;            /* short side before the window: 256 */
    float mean[3], std[3]; /* of RGB in 0..1; applied by the device */
} cairn_preprocess;

/* For nets that take size x size: resize = size * 256 / 224 rounded, ImageNet's mean and std
 * (0.485, 0.456, 0.406; 0.229, 0.224, 0.225: torchvision's models). */
cairn_preprocess cairn_preprocess_default(int size);

typedef struct cairn_window {
    double left, top, right, bottom; /* box in source pixels */
    bool flip;
    bool
        isolated; /* pixels beside the box don't count, as if it were cut out first (rrc); else the filter reaches over its border,
                      as if the whole picture were resized and then cut (crop, none) */
} cairn_window;

/* The window of a training sample (kind, seed, epoch, index of the sample in the dataset), and of evaluation. */
cairn_window cairn_window_train(cairn_augment_kind kind, const cairn_preprocess *p, int width, int height,
                                uint64_t seed, uint32_t epoch, uint64_t sample);
cairn_window cairn_window_eval(const cairn_preprocess *p, int width, int height);

/* Scratch memory of one thread, grown as needed and used again. Zero it before the first use. */
typedef struct cairn_resize_scratch {
    void *memory;
    size_t bytes;
} cairn_resize_scratch;
void cairn_resize_scratch_release(cairn_resize_scratch *scratch);

/* Resizes the box of `image` to width x height RGB in `rgb`: a triangle filter widened by the scale when shrinking, in fixed point, rounded to
 * 8 bits after each of the two passes, as Pillow's BILINEAR and to the same numbers. The box is cut to the picture; CAIRN_USAGE if nothing is left. */
cairn_status cairn_resize(const cairn_image *image, const cairn_window *window, int width, int height, uint8_t *rgb,
                          cairn_resize_scratch *scratch);

#endif
