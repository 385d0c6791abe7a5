/* reorder.c - a tensor from one layout into another. */
#include "backends/cpu/elementwise.h"
#include "backends/cpu/operations.h"
#include "backends/cpu/primitive.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct reorder_plan {
    cairn_plan base;
    cairn_primitive primitive; /* none where both layouts are one: then a copy */
    int64_t count;
} reorder_plan;

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const reorder_plan *plan = (const reorder_plan *)base;
    cairn_cpu *cpu = cairn_cpu_of(base->device);
    if (!plan->primitive.handle) {
        cairn_elementwise_copy(cpu, operands->dst, operands->src, plan->count);
        return CAIRN_OK;
    }
    cairn_cpu_enter(cpu);
    return cairn_primitive_run(cpu, &plan->primitive, (void *[]){(void *)operands->src, operands->dst},
                               operands->workspace);
}

static void destroy(cairn_plan *base)
{
    cairn_primitive_release(&((reorder_plan *)base)->primitive);
    free(base);
}

static const cairn_plan_ops ops = {.forward = forward, .destroy = destroy};

/* Plain layouts of both sides have the dimensions of the other one: a grouped convolution counts its weights in five. */
static cairn_status fill(reorder_plan *plan, const cairn_reorder_desc *desc)
{
    cairn_cpu *cpu = cairn_cpu_of(plan->base.device);
    plan->count = cairn_shape_count(desc->shape);
    if (desc->from == desc->to) {
        if (desc->from) plan->count = (int64_t)(cairn_layout_size(desc->from) / sizeof(float));
        return CAIRN_OK;
    }
    const cairn_layout *from = desc->from, *to = desc->to;
    if (!from) CAIRN_TRY(cairn_layout_plain_of(cpu, to, &from));
    if (!to) CAIRN_TRY(cairn_layout_plain_of(cpu, from, &to));
    dnnl_primitive_desc_t pd;
    CAIRN_DNNL(cairn_dnnl_reorder(&pd, cpu->engine, cairn_layout_md(from), cairn_layout_md(to), cpu->attributes),
               "plan a reorder");
    cairn_status status = cairn_primitive_create(cpu, pd, (int[]){DNNL_ARG_FROM, DNNL_ARG_TO, 0}, &plan->primitive);
    dnnl_primitive_desc_destroy(pd);
    plan->base.workspace = plan->primitive.scratchpad;
    snprintf(plan->base.algorithm, sizeof plan->base.algorithm, "%s", plan->primitive.implementation);
    return status;
}

cairn_status cairn_cpu_plan_reorder(cairn_device *device, const cairn_reorder_desc *desc, cairn_plan **out)
{
    CAIRN_TRY(cairn_cpu_check_dtype(desc->from_dtype));
    CAIRN_TRY(cairn_cpu_check_dtype(desc->to_dtype));
    reorder_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return cairn_fail(CAIRN_MEMORY, "no memory for a reorder");
    plan->base = (cairn_plan){
        .ops = &ops, .device = device, .layout = {.src = desc->from, .dst = desc->to}, .algorithm = "copy"};
    cairn_cpu_enter(cairn_cpu_of(device));
    cairn_status status = fill(plan, desc);
    if (status != CAIRN_OK)
        destroy(&plan->base);
    else
        *out = &plan->base;
    return status;
}
