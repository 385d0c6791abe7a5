/* builders.h - the functions behind the table of models; used inside models/ only. */
#ifndef CAIRN_MODELS_BUILDERS_H
#define CAIRN_MODELS_BUILDERS_H

#include "models/models.h"

/* `value` divided by options->width_divisor, at least 8 left and even, so that two groups still divide it. */
int64_t cairn_model_width(int64_t value, const cairn_model_options *options);

/* cairn_model_info.build of AlexNet, which looks for info->preset in its own table, and of LeNet. On failure *out is NULL. */
cairn_status cairn_alexnet_build(const cairn_model_info *info, int64_t classes, const cairn_model_options *options,
                                 cairn_net **out);
cairn_status cairn_lenet_build(const cairn_model_info *info, int64_t classes, const cairn_model_options *options,
                               cairn_net **out);

#endif
