#include "train/feed.h"
#include "core/backend.h"
#include <inttypes.h>
#include <stdlib.h>

/* One slab holds, in this order and each 64-byte aligned: */
typedef struct feed_parts {
    size_t rgb;           /* u8  [batch][size][size][3] */
    size_t crop;          /* i32 [batch][3], zeros: the loader crops and mirrors */
    size_t labels;        /* i32 [batch] */
    size_t scale;         /* f32 [batch] */
    size_t class_weights; /* f32 [classes] */
    size_t totals;        /* f32 [4] */
    size_t bytes;
} feed_parts;

struct cairn_feed {
    cairn_net *net;
    cairn_device *device;
    int64_t batch;
    cairn_preprocess preprocess;
    bool weighted;
    cairn_slab slab;
    feed_parts at;
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

    size_t batch = (size_t)feed->batch, classes = (size_t)cairn_net_classes(net);
    feed_parts *at = &feed->at;
    at->rgb = place(&at->bytes, rgb_bytes(feed));
    at->crop = place(&at->bytes, batch * 3 * sizeof(int32_t));
    at->labels = place(&at->bytes, batch * sizeof(int32_t));
    at->scale = place(&at->bytes, batch * sizeof(float));
    at->class_weights = place(&at->bytes, classes * sizeof(float));
    at->totals = place(&at->bytes, 4 * sizeof(float));
    CAIRN_TRY_DONE(cairn_slab_create(feed->device, at->bytes, "input pictures", &feed->slab));
    if (class_weights)
        CAIRN_TRY_DONE(
            cairn_device_upload(feed->device, part(feed, at->class_weights), class_weights, classes * sizeof(float)));
    *out = feed;
done:
    if (status != CAIRN_OK) cairn_feed_destroy(feed);
    return status;
}

void cairn_feed_destroy(cairn_feed *feed)
{
    if (!feed) return;
    cairn_slab_destroy(&feed->slab);
    free(feed);
}

cairn_status cairn_feed_images(cairn_feed *feed, const uint8_t *rgb)
{
    const cairn_preprocess *p = &feed->preprocess;
    CAIRN_TRY(cairn_device_upload(feed->device, part(feed, feed->at.rgb), rgb, rgb_bytes(feed)));
    cairn_augment augment = {
        .batch = feed->batch,
        .src_h = p->size,
        .src_w = p->size,
        .height = p->size,
        .width = p->size,
        .src = part(feed, feed->at.rgb),
        .crop = part(feed, feed->at.crop),
        .mean = {p->mean[0], p->mean[1], p->mean[2]},
        .std = {p->std[0], p->std[1], p->std[2]},
        .dst = cairn_net_input(feed->net).data,
    };
    return feed->device->backend->augment(feed->device, &augment);
}

cairn_status cairn_feed_loss(cairn_feed *feed, const int32_t *labels, const float *scale, float smoothing, bool train)
{
    size_t batch = (size_t)feed->batch;
    void *device_labels = part(feed, feed->at.labels), *device_scale = part(feed, feed->at.scale);
    CAIRN_TRY(cairn_device_upload(feed->device, device_labels, labels, batch * sizeof *labels));
    CAIRN_TRY(cairn_device_upload(feed->device, device_scale, scale, batch * sizeof *scale));
    return cairn_net_loss(feed->net, &(cairn_loss){
                                         .labels = device_labels,
                                         .scale = device_scale,
                                         .class_weights = feed->weighted ? part(feed, feed->at.class_weights) : NULL,
                                         .smoothing = smoothing,
                                         .train = train,
                                         .totals = part(feed, feed->at.totals),
                                     });
}

cairn_status cairn_feed_totals(cairn_feed *feed, float totals[4])
{
    void *device_totals = part(feed, feed->at.totals);
    CAIRN_TRY(cairn_device_download(feed->device, totals, device_totals, 4 * sizeof *totals));
    return cairn_device_zero(feed->device, device_totals, 4 * sizeof *totals);
}
