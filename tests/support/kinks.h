/* kinks.h - how often two runs of a net took different sides of a kink: a ReLU's 0, or another winner of a max-pool's window.
 *
 *     int64_t turned = kinks_between(net, reference);        both planned with keep_activations and no_fusion, after a forward
 *
 * Sums in another order differ by rounding, and where a unit stands within rounding of 0 its gradient is there in one run and not in
 * the other. That moves all gradients below by much more than rounding, and says nothing about either run's correctness. So a test
 * that compares gradients looks first whether this has happened.
 */
#ifndef CAIRN_TESTS_SUPPORT_KINKS_H
#define CAIRN_TESTS_SUPPORT_KINKS_H

#include "layers/net.h"

/* Units of the inputs of all ReLUs whose signs differ, and windows of the 3x3 stride 2 max-pools with another winner. A unit that differs
 * by more than 1e-5 of its layer's root mean square is no rounding: a test failure. */
int64_t kinks_between(const cairn_net *net, const cairn_net *reference);

#endif
