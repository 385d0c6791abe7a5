/* low_precision.h - the slots of the table that take bf16: each plans in f32 as its file does, or in bf16.
 *
 * oneDNN has convolutions, products and max-pools in bf16; the rest is worked out in f32 (see wide_plan.h).
 */
#ifndef CAIRN_BACKENDS_CPU_LOW_PRECISION_H
#define CAIRN_BACKENDS_CPU_LOW_PRECISION_H

#include "backends/cpu/cpu.h"

/* CAIRN_OK where the processor has instructions for the type, or the device is to do without; else CAIRN_DEVICE with the reason. */
cairn_status cairn_cpu_supports_dtype(cairn_device *device, cairn_dtype dtype);

cairn_status cairn_cpu_any_conv2d(cairn_device *device, const cairn_conv2d_desc *desc, cairn_plan **out);
cairn_status cairn_cpu_any_linear(cairn_device *device, const cairn_linear_desc *desc, cairn_plan **out);
cairn_status cairn_cpu_any_pool2d(cairn_device *device, const cairn_pool2d_desc *desc, cairn_plan **out);
cairn_status cairn_cpu_any_relu(cairn_device *device, const cairn_relu_desc *desc, cairn_plan **out);
cairn_status cairn_cpu_any_lrn(cairn_device *device, const cairn_lrn_desc *desc, cairn_plan **out);
cairn_status cairn_cpu_any_dropout(cairn_device *device, const cairn_dropout_desc *desc, cairn_plan **out);
cairn_status cairn_cpu_any_batchnorm(cairn_device *device, const cairn_batchnorm_desc *desc, cairn_plan **out);

#endif
