/* checkpoint.h - the checkpoint file that a command's argument means.
 *
 *     char path[CAIRN_PATH_SIZE];
 *     CAIRN_TRY(cli_checkpoint_path("runs/photos", path, sizeof path));          runs/photos/best.safetensors
 */
#ifndef CAIRN_CLI_CHECKPOINT_H
#define CAIRN_CLI_CHECKPOINT_H

#include "core/status.h"
#include <stddef.h>

/* A checkpoint file for what the user gave: the file itself, or a run folder's best.safetensors, or its last where there is no best yet.
 * CAIRN_FILE says what is missing. */
cairn_status cli_checkpoint_path(const char *given, char *out, size_t size);

#endif
