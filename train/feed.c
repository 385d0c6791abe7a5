#include "train/feed.h"
#include "core/backend.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SLOTS = 2 };

/* Where pictures and what belongs to them arrive; offsets into the slab. */
typedef struct feed_slot {
    size_t rgb;            /* u8  [batch][size][size][3] */
    size_t labels;         /* i32 [batch], and right behind it the scale, f32 [batch]: copied as one */
    void *stage;           /* host: labels and scale on their way */
    cairn_event *copied;   /* in the copy queue: all has arrived */
    cairn_event *consumed; /* in the compute queue: the loss, or the input where there was none, is worked out */
} feed_slot;

struct cairn_feed {
    cairn_net *net;
    cairn_device *device;
    int64_t batch;
    cairn_preprocess preprocess;
    bool weighted;
    /* One slab: the slots, and, each 64-byte aligned: */
    cairn_slab slab;
    size_t crop;          /* i32 [batch][3], zeros: the loader crops and mirrors */
    size_t class_weights; /* f32 [classes] */
    size_t totals;        /* f32 [4] */
    feed_slot slot[MOST_SLOTS];
    int slots;   /* 1 where copies are done when they return: a second place would gain nothing */
    int current; /* the slot filled last */
};

static size_t place(size_t *end, size_t bytes)
{
    size_t start = *end;
    *end = (start + bytes + 63) / 64 * 64;
    return start;
}

static void *part(const cairn_feed *feed, size_t offset)
{
    return (uint8_t *)feed->slab.data + offset;
}

/* Labels and scale of a batch. */
static size_t target_bytes(const cairn_feed *feed)
{
    return (size_t)feed->batch * (sizeof(int32_t) + sizeof(float));
}

static size_t rgb_bytes(const cairn_feed *feed)
{
    size_t size = (size_t)feed->preprocess.size;
    return (size_t)feed->batch * size * size * 3;
}

static cairn_status check_input(const cairn_net *net, const cairn_preprocess *preprocess)
{
    cairn_shape input = cairn_net_input(net).shape;
    if (input.rank == 4 && input.dim[1] == 3 && input.dim[2] == preprocess->size && input.dim[3] == preprocess->size)
        return CAIRN_OK;
    return cairn_fail(CAIRN_USAGE,
                      "%s takes %" PRId64 " channels of %" PRId64 "x%" PRId64
                      ", and pictures come as 3 channels of %dx%d: choose another model",
                      cairn_net_name(net), input.dim[1], input.dim[2], input.dim[3], preprocess->size,
                      preprocess->size);
}

/* The compute queue zeroes a new slab: the first copy into the slot waits for that as for a batch that is being used. */
static cairn_status make_slot(cairn_feed *feed, feed_slot *slot)
{
    CAIRN_TRY(cairn_host_alloc(feed->device, target_bytes(feed), "labels", &slot->stage));
    CAIRN_TRY(cairn_event_create(feed->device, &slot->copied));
    CAIRN_TRY(cairn_event_create(feed->device, &slot->consumed));
    return cairn_event_record(feed->device, slot->consumed, CAIRN_QUEUE_COMPUTE);
}

cairn_status cairn_feed_create(cairn_net *net, const cairn_preprocess *preprocess, const float *class_weights,
                               cairn_feed **out)
{
    *out = NULL;
    CAIRN_TRY(check_input(net, preprocess));
    cairn_status status = CAIRN_OK;
    cairn_feed *feed = calloc(1, sizeof *feed);
    if (!feed) return cairn_fail(CAIRN_MEMORY, "no memory for the record of the net's input");
    feed->net = net;
    feed->device = cairn_net_device(net);
    feed->batch = cairn_net_batch(net);
    feed->preprocess = *preprocess;
    feed->weighted = class_weights != NULL;

    feed->slots = feed->device->backend->event_create ? MOST_SLOTS : 1;

    size_t bytes = 0, classes = (size_t)cairn_net_classes(net) * sizeof(float);
    for (int i = 0; i < feed->slots; i++) {
        feed->slot[i].rgb = place(&bytes, rgb_bytes(feed));
        feed->slot[i].labels = place(&bytes, target_bytes(feed));
    }
    feed->crop = place(&bytes, (size_t)feed->batch * 3 * sizeof(int32_t));
    feed->class_weights = place(&bytes, classes);
    feed->totals = place(&bytes, 4 * sizeof(float));
    CAIRN_TRY_DONE(cairn_slab_create(feed->device, bytes, "input pictures", &feed->slab));
    for (int i = 0; i < feed->slots; i++)
        CAIRN_TRY_DONE(make_slot(feed, &feed->slot[i]));
    if (class_weights)
        CAIRN_TRY_DONE(cairn_device_upload(feed->device, part(feed, feed->class_weights), class_weights, classes));
    *out = feed;
done:
    if (status != CAIRN_OK) cairn_feed_destroy(feed);
    return status;
}

void cairn_feed_destroy(cairn_feed *feed)
{
    if (!feed) return;
    cairn_device_synchronize(feed->device); /* a failed run may have left copies on their way */
    for (int i = 0; i < feed->slots; i++) {
        cairn_event_destroy(feed->device, feed->slot[i].copied);
        cairn_event_destroy(feed->device, feed->slot[i].consumed);
        cairn_host_free(feed->device, feed->slot[i].stage, target_bytes(feed));
    }
    cairn_slab_destroy(&feed->slab);
    free(feed);
}

/* Sends a batch into the next slot, once what came there before is used up. */
static cairn_status copy_in(cairn_feed *feed, const uint8_t *rgb, const int32_t *labels, const float *scale)
{
    feed->current = (feed->current + 1) % feed->slots;
    feed_slot *slot = &feed->slot[feed->current];
    cairn_device *device = feed->device;
    size_t labels_bytes = (size_t)feed->batch * sizeof *labels;
    CAIRN_TRY(cairn_event_wait(device, slot->consumed, CAIRN_QUEUE_COPY));
    CAIRN_TRY(cairn_queue_copy_in(device, CAIRN_QUEUE_COPY, part(feed, slot->rgb), rgb, rgb_bytes(feed)));
    if (labels) {
        CAIRN_TRY(cairn_event_synchronize(device, slot->copied)); /* of two batches ago: the stage is read */
        memcpy(slot->stage, labels, labels_bytes);
        memcpy((uint8_t *)slot->stage + labels_bytes, scale, (size_t)feed->batch * sizeof *scale);
        CAIRN_TRY(
            cairn_queue_copy_in(device, CAIRN_QUEUE_COPY, part(feed, slot->labels), slot->stage, target_bytes(feed)));
    }
    CAIRN_TRY(cairn_event_record(device, slot->copied, CAIRN_QUEUE_COPY));
    return cairn_event_wait(device, slot->copied, CAIRN_QUEUE_COMPUTE);
}

cairn_status cairn_feed_images(cairn_feed *feed, const uint8_t *rgb, const int32_t *labels, const float *scale)
{
    const cairn_preprocess *p = &feed->preprocess;
    const cairn_tensor input = cairn_net_input(feed->net);
    CAIRN_TRY(copy_in(feed, rgb, labels, scale));
    feed_slot *slot = &feed->slot[feed->current];
    cairn_augment augment = {
        .batch = feed->batch,
        .src_h = p->size,
        .src_w = p->size,
        .height = p->size,
        .width = p->size,
        .src = part(feed, slot->rgb),
        .crop = part(feed, feed->crop),
        .mean = {p->mean[0], p->mean[1], p->mean[2]},
        .std = {p->std[0], p->std[1], p->std[2]},
        .dtype = input.dtype,
        .dst_layout = input.layout,
        .dst = input.data,
    };
    CAIRN_TRY(feed->device->backend->augment(feed->device, &augment));
    return cairn_event_record(feed->device, slot->consumed, CAIRN_QUEUE_COMPUTE);
}

cairn_status cairn_feed_taken(cairn_feed *feed)
{
    return cairn_event_synchronize(feed->device, feed->slot[feed->current].copied);
}

cairn_status cairn_feed_loss(cairn_feed *feed, float smoothing, const float *loss_scale, bool train)
{
    const feed_slot *slot = &feed->slot[feed->current];
    const int32_t *labels = part(feed, slot->labels);
    CAIRN_TRY(cairn_net_loss(feed->net, &(cairn_loss){
                                            .labels = labels,
                                            .scale = (const float *)(labels + feed->batch),
                                            .class_weights = feed->weighted ? part(feed, feed->class_weights) : NULL,
                                            .loss_scale = loss_scale,
                                            .smoothing = smoothing,
                                            .train = train,
                                            .totals = part(feed, feed->totals),
                                        }));
    return cairn_event_record(feed->device, slot->consumed, CAIRN_QUEUE_COMPUTE);
}

cairn_status cairn_feed_totals(cairn_feed *feed, float totals[4])
{
    void *device_totals = part(feed, feed->totals);
    CAIRN_TRY(cairn_device_download(feed->device, totals, device_totals, 4 * sizeof *totals));
    return cairn_device_zero(feed->device, device_totals, 4 * sizeof *totals);
}
