#include "backends/cpu/low_precision.h"
#include "backends/cpu/conv2d_dnnl.h"
#include "backends/cpu/operations.h"
#include "backends/cpu/wide_plan.h"

/* What the processor can, as oneDNN sees it: bits of avx512_core_bf16 (AMX's include them). */
static bool has_bf16(void)
{
    return (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core_bf16) == dnnl_cpu_isa_avx512_core_bf16;
}

cairn_status cairn_cpu_supports_dtype(cairn_device *device, cairn_dtype dtype)
{
    if (dtype == CAIRN_F32) return CAIRN_OK;
    if (dtype != CAIRN_BF16)
        return cairn_fail(CAIRN_DEVICE, "cpu: nets compute in f32 or bf16 here, not in %s", cairn_dtype_name(dtype));
    if (has_bf16() || device->options.emulate) return CAIRN_OK;
    return cairn_fail(CAIRN_DEVICE, "cpu: this processor has no instructions for bf16 (AVX-512 BF16 or AMX)");
}

/* An operation in f32 made one in bf16: `type` names it in the desc's and the planning function's names. */
#define PLAN_WIDE(type, ...)                                                                                           \
    cairn_status cairn_cpu_any_##type(cairn_device *device, const cairn_##type##_desc *desc, cairn_plan **out)         \
    {                                                                                                                  \
        if (desc->dtype != CAIRN_BF16) return cairn_cpu_plan_##type(device, desc, out);                                \
        cairn_##type##_desc wide = *desc;                                                                              \
        const cairn_wide_operands operands = {__VA_ARGS__};                                                            \
        cairn_plan *inner;                                                                                             \
        wide.dtype = CAIRN_F32;                                                                                        \
        CAIRN_TRY(cairn_cpu_supports_dtype(device, desc->dtype));                                                      \
        CAIRN_TRY(cairn_wide_plan_source(device, desc->src_layout, &wide.src_layout));                                 \
        CAIRN_TRY(cairn_cpu_plan_##type(device, &wide, &inner));                                                       \
        return cairn_wide_plan_create(inner, &operands, out);                                                          \
    }

PLAN_WIDE(relu, .src = desc->src, .dst = desc->src)
PLAN_WIDE(lrn, .src = desc->src, .dst = desc->src)
PLAN_WIDE(dropout, .src = desc->src, .dst = desc->src)
PLAN_WIDE(batchnorm, .src = desc->src, .dst = desc->src)
PLAN_WIDE(pool2d, .src = desc->src,
          .dst = cairn_shape_make(4, desc->src.dim[0], desc->src.dim[1], desc->out_h, desc->out_w),
          .masks = desc->relu_backward)
PLAN_WIDE(conv2d, .src = desc->src, .dst = cairn_conv2d_dst(desc),
          .weights = desc->out_channels * (desc->src.dim[1] / desc->groups) * desc->kernel_h * desc->kernel_w,
          .bias = desc->has_bias ? desc->out_channels : 0, .masks = desc->relu_backward)
PLAN_WIDE(linear, .src = cairn_shape_make(2, desc->batch, desc->in_features),
          .dst = cairn_shape_make(2, desc->batch, desc->out_features),
          .weights = desc->out_features * desc->in_features, .bias = desc->has_bias ? desc->out_features : 0,
          .masks = desc->relu_backward)
