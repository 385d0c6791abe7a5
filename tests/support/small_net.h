/* small_net.h - a small net on a device, fed with deterministic numbers, for tests of what a net computes.
 *
 *     small_net s;
 *     REQUIRE_OK(small_net_open("cpu", small_net_convolutional, &(cairn_net_options){.batch = 6, .train = true}, &s));
 *     small_net_feed(&s, 0, 6);                                          images 0..5 of an update of 6
 *     REQUIRE_OK(small_net_step(&s, &(cairn_forward){.train = true}, false));
 *     float *gradients = small_net_gradients(&s, &count);
 *     small_net_close(&s);
 */
#ifndef CAIRN_TESTS_SUPPORT_SMALL_NET_H
#define CAIRN_TESTS_SUPPORT_SMALL_NET_H

#include "layers/net.h"

typedef struct small_net {
    cairn_device *device;
    cairn_net *net;
    cairn_slab labels, scale, totals; /* of the planned batch; totals f32 [4] */
} small_net;

enum { SMALL_CLASSES = 5 };

/* Adds layers to an empty net of 3x13x13 images. */
typedef cairn_status small_net_layers(cairn_net *net);

/* Each kind of layer and each neighbourhood that planning treats in its own way: conv + ReLU + max-pool, LRN, dropout, conv + ReLU, batch
 * norm + ReLU, average pool, flatten, dropout, linear + ReLU, dropout, linear. */
cairn_status small_net_convolutional(cairn_net *net);
/* The same without batch norm, whose statistics depend on how an update is cut into batches. */
cairn_status small_net_without_norm(cairn_net *net);
/* Dropout alone, over the flattened image. */
cairn_status small_net_dropout(cairn_net *net);

/* Opens the device (deterministic, so that two nets choose alike), builds, plans and initialises the net with seed 1. */
cairn_status small_net_open(const char *backend, small_net_layers *layers, const cairn_net_options *options,
                            small_net *out);
/* The same on a device that is open; it belongs to the small net from then on. */
cairn_status small_net_open_on(cairn_device *device, small_net_layers *layers, const cairn_net_options *options,
                               small_net *out);
void small_net_close(small_net *s); /* also after a failed open */

/* Writes images first .. first + batch - 1 of an endless set, and their labels; the update has `samples` images in all. */
void small_net_feed(const small_net *s, int64_t first, int64_t samples);

/* Forward, loss and, with forward->train, backward. */
cairn_status small_net_step(const small_net *s, const cairn_forward *forward, bool accumulate);

/* Logits, and all gradients one after the other, in plain order; freed by the caller. */
float *small_net_logits(const small_net *s, int64_t *count);
float *small_net_gradients(const small_net *s, int64_t *count);
float *small_net_read(const cairn_tensor *tensor, int64_t *count);

#endif
