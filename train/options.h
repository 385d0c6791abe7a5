/* options.h - a run's options made complete, and as text. Private to this room; the struct stands in train/trainer.h. */
#ifndef CAIRN_TRAIN_OPTIONS_H
#define CAIRN_TRAIN_OPTIONS_H

#include "train/trainer.h"

/* Fills in what was left to be chosen, now that the number of training pictures is known: model's names, micro_batch, resize, epochs, rate,
 * warm-up and length of the schedule. */
cairn_status cairn_train_options_resolve(cairn_train_options *options, int64_t train_count);

/* The options that shape the numbers of a run, as "name=value name=value". */
void cairn_train_options_recipe(const cairn_train_options *options, char *text, size_t size);

/* What became of a recipe, for people: "epochs 20, was 10; learning-rate 0.001, was 0.0002"; empty where nothing did. Cut to `size`. */
void cairn_train_recipe_difference(const char *before, const char *now, char *text, size_t size);

#endif
