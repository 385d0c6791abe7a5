/* feed.h - the way of pictures into a net and of its loss back out: the device memory both need, taken once.
 *
 *     cairn_feed *feed;
 *     CAIRN_TRY(cairn_feed_create(net, &preprocess, class_weights, &feed));
 *     CAIRN_TRY(cairn_feed_images(feed, batch->rgb, batch->label, scale));  u8 pictures, normalised into the net's input
 *     CAIRN_TRY(cairn_net_forward(net, &forward));
 *     CAIRN_TRY(cairn_feed_loss(feed, 0, NULL, true));                      added to the totals on the device
 *     CAIRN_TRY(cairn_feed_taken(feed));                                    batch->rgb may be written again
 *     CAIRN_TRY(cairn_feed_totals(feed, totals));
 *     cairn_feed_destroy(feed);
 *
 * On a device with queues pictures come over the copy queue into one of two places, so that the copy of a batch overlaps with the work on
 * the one before it; the host waits only when it is two batches ahead.
 *
 * Private to this room.
 */
#ifndef CAIRN_TRAIN_FEED_H
#define CAIRN_TRAIN_FEED_H

#include "data/transform.h"
#include "layers/net.h"

typedef struct cairn_feed cairn_feed;

/* For a planned net that takes `preprocess->size` pixels square in three channels; it must outlive the feed. class_weights: host,
 * f32 [classes], copied; NULL: all 1. */
cairn_status cairn_feed_create(cairn_net *net, const cairn_preprocess *preprocess, const float *class_weights,
                               cairn_feed **out);
void cairn_feed_destroy(cairn_feed *feed); /* NULL is allowed */

/* Writes the net's input from host pictures, u8 [net's batch][size][size][3], already cropped and mirrored, and keeps what the loss of
 * the coming forward needs: labels i32 and scale f32 [net's batch] on the host, meaning as in cairn_loss; both NULL where no loss is
 * asked. `rgb` is memory of cairn_host_alloc and stays as it is until cairn_feed_taken; the other two may be reused at once. */
cairn_status cairn_feed_images(cairn_feed *feed, const uint8_t *rgb, const int32_t *labels, const float *scale);

/* Waits until the pictures of all calls so far have left the host's memory, though not for what is computed from them. */
cairn_status cairn_feed_taken(cairn_feed *feed);

/* The loss of the last forward; loss_scale as in cairn_loss, on the device. */
cairn_status cairn_feed_loss(cairn_feed *feed, float smoothing, const float *loss_scale, bool train);

/* Reads the totals of all losses since the last reading and sets them to zero. Waits for the device. */
cairn_status cairn_feed_totals(cairn_feed *feed, float totals[4]);

#endif
