/* model_table.h - a net as a table: layer, output shape, parameters, forward FLOPs, memory, and their sums.
 *
 *     CAIRN_TRY(cairn_model_table(net, show, NULL));           show(context, line) prints one line
 */
#ifndef CAIRN_TRAIN_MODEL_TABLE_H
#define CAIRN_TRAIN_MODEL_TABLE_H

#include "layers/net.h"

/* One line (without newline) after the other: a heading, a row a layer, the sums; for a planned net also the memory it holds and the algorithm
 * of each layer. Works before planning too, for one picture. */
cairn_status cairn_model_table(const cairn_net *net, void (*line)(void *context, const char *text), void *context);

#endif
