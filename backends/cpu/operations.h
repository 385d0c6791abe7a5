/* operations.h - the operations of the CPU backend, one file each; what they compute stands in core/backend.h. */
#ifndef CAIRN_BACKENDS_CPU_OPERATIONS_H
#define CAIRN_BACKENDS_CPU_OPERATIONS_H

#include "core/backend.h"

cairn_status cairn_cpu_plan_conv2d(cairn_device *device, const cairn_conv2d_desc *desc, cairn_plan **out);
cairn_status cairn_cpu_plan_linear(cairn_device *device, const cairn_linear_desc *desc, cairn_plan **out);
cairn_status cairn_cpu_plan_pool2d(cairn_device *device, const cairn_pool2d_desc *desc, cairn_plan **out);
cairn_status cairn_cpu_plan_relu(cairn_device *device, const cairn_relu_desc *desc, cairn_plan **out);
cairn_status cairn_cpu_plan_lrn(cairn_device *device, const cairn_lrn_desc *desc, cairn_plan **out);
cairn_status cairn_cpu_plan_dropout(cairn_device *device, const cairn_dropout_desc *desc, cairn_plan **out);
cairn_status cairn_cpu_plan_batchnorm(cairn_device *device, const cairn_batchnorm_desc *desc, cairn_plan **out);
cairn_status cairn_cpu_plan_reorder(cairn_device *device, const cairn_reorder_desc *desc, cairn_plan **out);
cairn_status cairn_cpu_softmax_loss(cairn_device *device, const cairn_softmax_loss *args);
cairn_status cairn_cpu_augment(cairn_device *device, const cairn_augment *args);
cairn_status cairn_cpu_update(cairn_device *device, const cairn_update *args);

#endif
