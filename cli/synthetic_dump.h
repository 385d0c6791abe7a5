/* synthetic_dump.h - the start of a benchmark in a file, so that another program can be shown to compute the same from it.
 *
 * start.safetensors holds the initial weights under the net's names in plain layout, "images" f32 (batch, C, H, W) and "labels" i32
 * (batch). samples/baselines reads it.
 */
#ifndef CAIRN_CLI_SYNTHETIC_DUMP_H
#define CAIRN_CLI_SYNTHETIC_DUMP_H

#include "layers/net.h"

/* Writes `folder`/start.safetensors; makes the folder. `labels` is host memory, [batch]. CAIRN_FILE with path and reason. */
cairn_status cli_synthetic_dump(const cairn_net *net, const int32_t *labels, int64_t batch, const char *folder);

#endif
