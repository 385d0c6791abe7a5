/* pictures.h - small folders of made-up pictures that a net can learn, and what tests of training runs need.
 *
 *     static char root[SCRATCH_SIZE], folder[SCRATCH_SIZE];
 *     scratch_make(CAIRN_TEST_BUILD, "integration", root);
 *     REQUIRE_OK(pictures_make(root, "shapes", 3, 20, folder));             3 classes of 20 pictures below root/shapes
 */
#ifndef CAIRN_TESTS_PICTURES_H
#define CAIRN_TESTS_PICTURES_H

#include "core/log.h"
#include "core/status.h"
#include "tests/support/scratch.h"
#include "train/trainer.h"
#include <stdbool.h>
#include <stddef.h>

/* Writes classes "class0", "class1", ... of `count` PPM pictures each, 40 to 50 pixels wide: stripes whose direction and colour tell the class, with
 * noise over them. The path is left in `folder`. */
cairn_status pictures_make(const char *root, const char *name, int classes, int count, char folder[SCRATCH_SIZE]);

/* Puts a file of the given text into the folder. */
cairn_status pictures_write(const char *folder, const char *name, const char *text);

/* Options of a quick run of a small net on `folder`: lenet, 8 pictures an update, two epochs. */
cairn_train_options pictures_options(cairn_device *device, const char *folder, const char *run);

/* In a sanitized build a test tries fewer cases: the paths are the same, and each takes ten times as long. */
bool pictures_few(void);

/* Are two files there and equal, byte for byte? */
bool pictures_same_bytes(const char *a, const char *b);

/* A log sink that keeps all messages as one text. */
typedef struct pictures_log {
    cairn_log log; /* give &p->log */
    char text[64000];
    size_t used;
} pictures_log;
void pictures_log_start(pictures_log *log);

#endif
