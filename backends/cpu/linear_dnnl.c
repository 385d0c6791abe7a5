#include "backends/cpu/linear_dnnl.h"
#include "backends/cpu/primitive.h"
#include <string.h>

int cairn_linear_dnnl_weights(cairn_linear_pass pass)
{
    return pass == CAIRN_LINEAR_BACKWARD_WEIGHTS ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS;
}

cairn_status cairn_linear_dnnl_describe(cairn_cpu *cpu, const cairn_linear_desc *desc, cairn_linear_pass pass,
                                        int64_t out_features, const cairn_layout *layout, dnnl_primitive_desc_t *out)
{
    const cairn_layout *src, *weights = layout, *bias, *dst;
    const int64_t dims[] = {out_features, desc->in_features};
    CAIRN_TRY(cairn_layout_tag(cpu, cairn_shape_make(2, desc->batch, desc->in_features), dnnl_ab, &src));
    CAIRN_TRY(cairn_layout_tag(cpu, cairn_shape_make(2, desc->batch, out_features), dnnl_ab, &dst));
    CAIRN_TRY(cairn_layout_plain(cpu, 1, &out_features, &bias));
    if (!weights) CAIRN_TRY(cairn_layout_tag_dims(cpu, 2, dims, dnnl_format_tag_any, &weights));

    cairn_dnnl_product p = {.src = cairn_layout_md(src),
                            .weights = cairn_layout_md(weights),
                            .bias = desc->has_bias ? cairn_layout_md(bias) : NULL,
                            .dst = cairn_layout_md(dst)};
    dnnl_primitive_desc_t forward = NULL;
    *out = NULL;
    dnnl_status_t status =
        cairn_dnnl_product_forward(&forward, cpu->engine, &p, desc->relu ? cpu->relu_attributes : cpu->attributes);
    if (status == dnnl_success && pass == CAIRN_LINEAR_FORWARD) {
        *out = forward;
        return CAIRN_OK;
    }
    p.hint = forward;
    if (status == dnnl_success)
        status = pass == CAIRN_LINEAR_BACKWARD_DATA
                     ? cairn_dnnl_product_backward_data(out, cpu->engine, &p, cpu->attributes)
                     : cairn_dnnl_product_backward_weights(out, cpu->engine, &p, cpu->attributes);
    if (forward) dnnl_primitive_desc_destroy(forward);
    if (status != dnnl_unimplemented) CAIRN_DNNL(status, "plan a matrix product");
    return CAIRN_OK;
}

/* oneDNN's free choice for one pass. */
typedef struct choice {
    bool needed;
    const cairn_layout *layout;
    char implementation[48];
} choice;

static cairn_status choose_freely(cairn_cpu *cpu, const cairn_linear_desc *desc, cairn_linear_pass pass, choice *out)
{
    dnnl_primitive_desc_t pd;
    *out = (choice){.needed = pass == CAIRN_LINEAR_FORWARD ||
                              (desc->train && (pass == CAIRN_LINEAR_BACKWARD_WEIGHTS || desc->need_diff_src))};
    if (!out->needed) return CAIRN_OK;
    CAIRN_TRY(cairn_linear_dnnl_describe(cpu, desc, pass, desc->out_features, NULL, &pd));
    if (!pd) return cairn_fail(CAIRN_DEVICE, "oneDNN has no matrix product for this shape");
    strncpy(out->implementation, cairn_primitive_implementation(pd), sizeof out->implementation - 1);
    cairn_status status = cairn_primitive_layout(cpu, pd, cairn_linear_dnnl_weights(pass), &out->layout);
    dnnl_primitive_desc_destroy(pd);
    return status;
}

/* Does the pass take this layout with the same kernels as its own choice? */
static cairn_status takes(cairn_cpu *cpu, const cairn_linear_desc *desc, cairn_linear_pass pass, const choice *own,
                          const cairn_layout *layout, bool *out)
{
    dnnl_primitive_desc_t pd;
    *out = true;
    if (!own->needed || own->layout == layout) return CAIRN_OK;
    CAIRN_TRY(cairn_linear_dnnl_describe(cpu, desc, pass, desc->out_features, layout, &pd));
    *out = pd && strcmp(cairn_primitive_implementation(pd), own->implementation) == 0;
    if (pd) dnnl_primitive_desc_destroy(pd);
    return CAIRN_OK;
}

cairn_status cairn_linear_dnnl_layout(cairn_cpu *cpu, const cairn_linear_desc *desc, const cairn_layout **out)
{
    choice own[CAIRN_LINEAR_PASSES];
    for (int pass = 0; pass < CAIRN_LINEAR_PASSES; pass++)
        CAIRN_TRY(choose_freely(cpu, desc, (cairn_linear_pass)pass, &own[pass]));
    const cairn_layout *plain;
    const int64_t dims[] = {desc->out_features, desc->in_features};
    CAIRN_TRY(cairn_layout_plain(cpu, 2, dims, &plain));
    const cairn_layout *layouts[] = {plain, own[0].layout, own[1].layout, own[2].layout};
    int best = -1;
    for (int i = 0; i < 4; i++) {
        int score = 0;
        bool taken = true;
        for (int pass = 0; layouts[i] && pass < CAIRN_LINEAR_PASSES; pass++) {
            CAIRN_TRY(takes(cpu, desc, (cairn_linear_pass)pass, &own[pass], layouts[i], &taken));
            score += taken;
        }
        if (!layouts[i] || !taken || score <= best) continue; /* the last pass asked is the weight gradient */
        best = score;
        *out = layouts[i];
    }
    return CAIRN_OK;
}
