/* checkpoint.h - a net, and where its training stood, in one safetensors file.
 *
 *     cairn_checkpoint *checkpoint;
 *     CAIRN_TRY(cairn_checkpoint_open("runs/photos/best.safetensors", &checkpoint));
 *     const cairn_checkpoint_info *info = cairn_checkpoint_information(checkpoint);
 *     CAIRN_TRY(cairn_checkpoint_build(checkpoint, &net));              the same model, not yet planned
 *     CAIRN_TRY(cairn_net_plan(net, device, &options));
 *     CAIRN_TRY(cairn_checkpoint_load(checkpoint, net, NULL));
 *     cairn_checkpoint_close(checkpoint);
 *
 * Tensors, all f32 in plain layout: "<parameter>" and batch norm's "<buffer>" under the net's names, optimizer state as
 * "optimizer.<state>.<parameter>". Everything else is metadata, text only. Nothing in it depends on time, paths, device layouts or threads,
 * so equal runs write equal files. A file is written beside the old one and renamed: at any moment one of the two is whole.
 */
#ifndef CAIRN_TRAIN_CHECKPOINT_H
#define CAIRN_TRAIN_CHECKPOINT_H

#include "data/transform.h"
#include "layers/net.h"
#include "models/models.h"
#include "optim/optimizer.h"

#define CAIRN_CHECKPOINT_FORMAT 1 /* grows when an older reader would misread a file */

typedef struct cairn_checkpoint_info {
    char model[32], preset[32];
    cairn_model_options model_options;
    int classes;
    const char *const *class_name; /* [classes] */
    cairn_preprocess preprocess;

    uint64_t seed;
    int batch;        /* pictures of an update */
    int64_t update;   /* updates done */
    int64_t epoch;    /* epochs completed */
    int64_t position; /* pictures of the running epoch's permutation used up; 0 at an epoch's end */
    double best_top1, best_loss;
    int64_t best_epoch; /* counted from 1; 0: never evaluated */
    char split[32];     /* fingerprint of the split into training and validation */
    char recipe[1024];  /* the options that shape the numbers, as "name=value name=value", for comparing at resume */

    char precision[8]; /* "fp32", "tf32", "bf16", "fp16"; the tensors are f32 whichever it was */
    float loss_scale;  /* of f16; 0: none. With these, as core/update_state.h: */
    int good, skipped, skipped_in_a_row;

    char optimizer[16]; /* its name; "" when the file holds no optimizer state */
    char cairn_version[32];
    char library[48]; /* of the device that wrote it: "oneDNN 2.6.3" */
} cairn_checkpoint_info;

/* CAIRN_DATA when a class name can't be stored (it is not UTF-8): to be asked before hours of training. */
cairn_status cairn_checkpoint_check(const cairn_checkpoint_info *info);

/* Writes the file. cairn_version and library of `info` are filled in. `optimizer` NULL: weights only, and info's name is left out. Takes no
 * memory worth speaking of: it goes through the tensors one at a time, with the net's gradients, which nobody needs between updates, as scratch.
 * CAIRN_FILE names the path and the system's reason, CAIRN_NONFINITE the parameter; a file that stood there before is then untouched. */
cairn_status cairn_checkpoint_save(const char *path, const cairn_net *net, const cairn_optimizer *optimizer,
                                   const cairn_checkpoint_info *info);

typedef struct cairn_checkpoint cairn_checkpoint;

/* Reads and checks a file. CAIRN_FILE, one line: missing, truncated, damaged, not written by Cairn, of a later format. */
cairn_status cairn_checkpoint_open(const char *path, cairn_checkpoint **out);

/* As that, of a file, or of the last.safetensors of a run folder. */
cairn_status cairn_checkpoint_open_last(const char *path, cairn_checkpoint **out);

void cairn_checkpoint_close(cairn_checkpoint *checkpoint); /* NULL is allowed */

/* Valid until close. */
const cairn_checkpoint_info *cairn_checkpoint_information(const cairn_checkpoint *checkpoint);

/* Makes the net the file was trained as; the caller destroys it. */
cairn_status cairn_checkpoint_build(const cairn_checkpoint *checkpoint, cairn_net **out);

/* Fills a planned net, and the optimizer unless NULL. CAIRN_FILE names the file, the tensor and the two shapes when it is of another model or
 * class count, or lacks a tensor or the optimizer's state. */
cairn_status cairn_checkpoint_load(const cairn_checkpoint *checkpoint, cairn_net *net, cairn_optimizer *optimizer);

/* Frees the tensors and keeps the information. */
void cairn_checkpoint_drop_tensors(cairn_checkpoint *checkpoint);

#endif
