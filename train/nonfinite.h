/* nonfinite.h - where numbers stopped being finite. For the moment after a loss turned out NaN or infinite: slow. Private to this room. */
#ifndef CAIRN_TRAIN_NONFINITE_H
#define CAIRN_TRAIN_NONFINITE_H

#include "layers/net.h"
#include "train/feed.h"

/* CAIRN_NONFINITE names the first parameter that is not finite; CAIRN_OK when all are. */
cairn_status cairn_find_nonfinite_weight(const cairn_net *net);

/* Feeds the pictures (u8 [net's batch][size][size][3]) and runs them forward as `forward` says, looking at every weight and every layer's output.
 * CAIRN_NONFINITE names the first parameter or layer that is not finite; CAIRN_OK when all are. */
cairn_status cairn_find_nonfinite(cairn_net *net, cairn_feed *feed, const uint8_t *rgb, const cairn_forward *forward);

/* The end of the story, when a loss is not finite. `found` is what one of the two gave. Fails with CAIRN_NONFINITE, joining whose loss
 * ("update 12: the loss"), the place that was found, and what to try ("" for nothing). */
cairn_status cairn_fail_nonfinite(cairn_status found, const char *what, const char *advice);

#endif
