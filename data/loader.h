/* loader.h - threads that fill a ring of batches ahead of the training step, in order.
 *
 *     cairn_loader *loader;
 *     CAIRN_TRY(cairn_loader_create(&options, &loader));
 *     CAIRN_TRY(cairn_loader_start(loader, epoch, first_sample));
 *     const cairn_batch *batch;
 *     while (CAIRN_TRY-ed cairn_loader_next(loader, &batch), batch) {
 *         ... use batch->rgb ...
 *         cairn_loader_release(loader, batch);
 *     }
 *     cairn_loader_destroy(loader);
 *
 * What a batch holds depends on seed, epoch and position only, never on the number of threads. Memory is taken at creation; only the
 * buffers that each thread decodes into grow, to fit the largest picture it has met.
 */
#ifndef CAIRN_DATA_LOADER_H
#define CAIRN_DATA_LOADER_H

#include "core/device.h"
#include "core/log.h"
#include "data/dataset.h"
#include "data/transform.h"

typedef struct cairn_loader cairn_loader;

typedef struct cairn_loader_options {
    const cairn_sample_list *samples; /* must outlive the loader */
    cairn_preprocess preprocess;
    cairn_augment_kind augment;
    bool no_flip; /* leave the mirroring of cairn_window_train out */
    bool shuffle; /* a new permutation each epoch, from the seed */
    uint64_t seed;
    int batch;      /* slots of a batch */
    int threads;    /* 0: as many as processors */
    int depth;      /* batches in the ring; 0 means 3 */
    double max_bad; /* share of all samples that may be unreadable; beyond it cairn_loader_next fails with CAIRN_DATA */
    int64_t max_pixels; /* see cairn_image_options */
    cairn_device
        *device; /* pictures lie in memory that this device reads by itself (core/queue.h); NULL: ordinary memory */
    const cairn_log *log; /* each bad file is named here once, with its reason */
} cairn_loader_options;

/* One filled batch; belongs to the loader, valid until released. */
typedef struct cairn_batch {
    uint8_t *rgb;    /* [batch][size][size][3], already cropped and mirrored */
    int32_t *label;  /* [batch] */
    uint8_t *valid;  /* [batch]: 0 for a bad file and for slots past the end of the epoch; their pixels are 0 */
    int64_t *sample; /* [batch]: index in samples, -1 past the end */
    int count;       /* slots that stand for a sample of the epoch, good or bad: batch, or less in the last one */
    int64_t first;   /* position of slot 0 in the epoch's order */
} cairn_batch;

cairn_status cairn_loader_create(const cairn_loader_options *options, cairn_loader **out);
void cairn_loader_destroy(cairn_loader *loader); /* stops the threads; NULL is allowed */

/* Begins an epoch at a position of its order (a multiple of batch, except when resuming: any). An epoch under way is dropped:
 * batches handed out before are void and not to be released. */
cairn_status cairn_loader_start(cairn_loader *loader, uint32_t epoch, int64_t first);

/* The next batch in order, waiting if it isn't ready; *out is NULL after the last. Fails with CAIRN_DATA when too many files are bad. */
cairn_status cairn_loader_next(cairn_loader *loader, const cairn_batch **out);
void cairn_loader_release(cairn_loader *loader, const cairn_batch *batch);

typedef struct cairn_loader_stats {
    double waited;   /* seconds cairn_loader_next spent waiting, since creation */
    int64_t decoded; /* pictures made ready */
    int64_t bad;     /* distinct files found unreadable so far */
} cairn_loader_stats;
cairn_loader_stats cairn_loader_statistics(const cairn_loader *loader);

#endif
