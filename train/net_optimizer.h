/* net_optimizer.h - the optimizer of a net: every parameter a run, decayed where it is a weight, with its copy in low precision.
 *
 *     CAIRN_TRY(cairn_net_optimizer_create(net, &options, &optimizer));
 *     ... forward, loss times cairn_optimizer_loss_scale, backward ...
 *     CAIRN_TRY(cairn_optimizer_step(optimizer, &weights, &gradients, rate));
 *     CAIRN_TRY(cairn_net_refresh(net, true));
 */
#ifndef CAIRN_TRAIN_NET_OPTIMIZER_H
#define CAIRN_TRAIN_NET_OPTIMIZER_H

#include "layers/net.h"
#include "optim/optimizer.h"

/* For a net planned with train. The loss scale is dynamic exactly where the net is in f16, whatever `options` say. */
cairn_status cairn_net_optimizer_create(const cairn_net *net, const cairn_optimizer_options *options,
                                        cairn_optimizer **out);

#endif
