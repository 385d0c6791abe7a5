#include "backends/cpu/conv2d_choose.h"

static bool needed(const cairn_conv2d_desc *desc, cairn_conv2d_pass pass)
{
    if (pass == CAIRN_CONV2D_FORWARD) return true;
    return desc->train && (pass == CAIRN_CONV2D_BACKWARD_WEIGHTS || desc->need_diff_src);
}

cairn_status cairn_conv2d_choose(cairn_cpu *cpu, const cairn_conv2d_desc *desc, cairn_conv2d_layouts *homes,
                                 cairn_conv2d_candidate *out[CAIRN_CONV2D_PASSES])
{
    CAIRN_TRY(cairn_conv2d_dnnl_layouts(cpu, desc, homes));
    for (int pass = 0; pass < CAIRN_CONV2D_PASSES; pass++) {
        if (!needed(desc, (cairn_conv2d_pass)pass)) continue;
        CAIRN_TRY(
            cairn_conv2d_dnnl_create(cpu, desc, homes, dnnl_convolution_direct, (cairn_conv2d_pass)pass, &out[pass]));
        if (!out[pass]) return cairn_fail(CAIRN_DEVICE, "oneDNN has no convolution for this shape");
    }
    return CAIRN_OK;
}
