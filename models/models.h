/* models.h - nets by name: AlexNet's presets and LeNet.
 *
 *     cairn_net *net;
 *     CAIRN_TRY(cairn_model_create("alexnet", "owt", 10, &(cairn_model_options){.dropout = 0.5f}, &net));
 */
#ifndef CAIRN_MODELS_MODELS_H
#define CAIRN_MODELS_MODELS_H

#include "layers/net.h"

typedef struct cairn_model_options {
    float dropout; /* rate; negative takes the preset's own (0.5) */
    bool
        paper_init; /* N(0, 0.01) and biases 0 and 0.1 as Krizhevsky et al. 2012 instead of the default start, see docs/defaults.md */
    int64_t
        image_size; /* side of the square pictures it takes; 0: the preset's own. Too small is told by the layer that can't go on */
    int64_t width_divisor; /* tests: channels and features divided by this (at least 8 left); 0 or 1 for the real net */
} cairn_model_options;

/* What the command line can choose. Static data. */
typedef struct cairn_model_info {
    const char *name;                /* "alexnet" */
    const char *preset;              /* "owt"; "" where the model has one form only */
    const char *about;               /* one line */
    int64_t channels, height, width; /* of its input */
    cairn_status (*build)(const struct cairn_model_info *info, int64_t classes, const cairn_model_options *options,
                          cairn_net **out);
} cairn_model_info;

/* Every model and preset; ends with name NULL. The first preset of a name is its default. */
const cairn_model_info *cairn_models(void);

/* CAIRN_USAGE listing what there is. `preset` NULL or "" takes the model's first. */
cairn_status cairn_model_find(const char *name, const char *preset, const cairn_model_info **out);

/* Builds the net for `classes` outputs (>= 1); not yet planned. `options` may be NULL. The caller destroys it. */
cairn_status cairn_model_create(const char *name, const char *preset, int64_t classes,
                                const cairn_model_options *options, cairn_net **out);

#endif
