/* cairn.h - the one header a program includes.
 *
 *     #include "cairn.h"
 *     cc program.c $(pkg-config --cflags --libs cairn)
 *
 * samples/01_tensor.c is the place to start reading.
 */
#ifndef CAIRN_H
#define CAIRN_H

#include "backends/backends.h"
#include "core/atomic_file.h"
#include "core/device.h"
#include "core/dtype.h"
#include "core/log.h"
#include "core/memory_stats.h"
#include "core/os.h"
#include "core/queue.h"
#include "core/rng.h"
#include "core/safetensors.h"
#include "core/shape.h"
#include "core/status.h"
#include "core/tensor.h"
#include "core/version.h"
#include "data/dataset.h"
#include "data/image.h"
#include "data/loader.h"
#include "data/picture.h"
#include "data/transform.h"
#include "layers/layer.h"
#include "layers/net.h"
#include "models/models.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "train/alarms.h"
#include "train/checkpoint.h"
#include "train/evaluate.h"
#include "train/metrics.h"
#include "train/model_table.h"
#include "train/net_optimizer.h"
#include "train/precision.h"
#include "train/predict.h"
#include "train/progress.h"
#include "train/run_folder.h"
#include "train/scorer.h"
#include "train/trainer.h"

#endif
