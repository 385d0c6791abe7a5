/* checkpoint_info.h - a checkpoint's information to and from the text metadata of its file. Private to train/checkpoint*.c. */
#ifndef CAIRN_TRAIN_CHECKPOINT_INFO_H
#define CAIRN_TRAIN_CHECKPOINT_INFO_H

#include "core/safetensors.h"
#include "train/checkpoint.h"

cairn_status cairn_checkpoint_info_write(const cairn_checkpoint_info *info, cairn_safetensors_writer *writer);

/* `path` stands in messages. The class names are allocated; release them also after a failure. `out` is overwritten. */
cairn_status cairn_checkpoint_info_read(const cairn_safetensors *file, const char *path, cairn_checkpoint_info *out);
void cairn_checkpoint_info_release(cairn_checkpoint_info *info);

#endif
