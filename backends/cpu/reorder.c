/* reorder.c - a tensor from one layout into another, and between f32 and bf16: a bf16 source is widened, f32 is reordered by oneDNN, and a
 * bf16 result is rounded. */
#include "backends/cpu/bf16.h"
#include "backends/cpu/elementwise.h"
#include "backends/cpu/low_precision.h"
#include "backends/cpu/operations.h"
#include "backends/cpu/primitive.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct reorder_plan {
    cairn_plan base;
    cairn_primitive primitive; /* none where both sides lie alike */
    bool widens, narrows;      /* before it and after it */
    int64_t from_count, to_count;
    size_t wide_from, wide_to; /* offsets in the workspace */
    size_t bytes;              /* of a mere copy; else 0 */
} reorder_plan;

static float *part(const cairn_operands *operands, size_t offset)
{
    return (float *)(void *)((char *)operands->workspace + offset);
}

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const reorder_plan *plan = (const reorder_plan *)base;
    cairn_cpu *cpu = cairn_cpu_of(base->device);
    const void *from = operands->src;
    if (plan->bytes > 0) {
        cairn_elementwise_copy_bytes(cpu, operands->dst, from, (int64_t)plan->bytes);
        return CAIRN_OK;
    }
    if (plan->widens) {
        float *wide = plan->primitive.handle ? part(operands, plan->wide_from) : operands->dst;
        cairn_bf16_widen(cpu, wide, from, plan->from_count);
        from = wide;
    }
    if (plan->primitive.handle) {
        void *to = plan->narrows ? part(operands, plan->wide_to) : operands->dst;
        cairn_cpu_enter(cpu);
        CAIRN_TRY(
            cairn_primitive_run(cpu, &plan->primitive, (void *[]){(void *)(uintptr_t)from, to}, operands->workspace));
        from = to;
    }
    if (plan->narrows) cairn_bf16_narrow(cpu, operands->dst, from, plan->to_count);
    return CAIRN_OK;
}

static void destroy(cairn_plan *base)
{
    cairn_primitive_release(&((reorder_plan *)base)->primitive);
    free(base);
}

static const cairn_plan_ops ops = {.forward = forward, .destroy = destroy};

static cairn_status plan_primitive(reorder_plan *plan, const cairn_layout *from, const cairn_layout *to)
{
    cairn_cpu *cpu = cairn_cpu_of(plan->base.device);
    dnnl_primitive_desc_t pd;
    CAIRN_DNNL(cairn_dnnl_reorder(&pd, cpu->engine, cairn_layout_md(from), cairn_layout_md(to), cpu->attributes),
               "plan a reorder");
    cairn_status status = cairn_primitive_create(cpu, pd, (int[]){DNNL_ARG_FROM, DNNL_ARG_TO, 0}, &plan->primitive);
    dnnl_primitive_desc_destroy(pd);
    plan->base.workspace = plan->primitive.scratchpad;
    snprintf(plan->base.algorithm, sizeof plan->base.algorithm, "%s", plan->primitive.implementation);
    return status;
}

/* Room for one of the two copies in f32. */
static size_t place(reorder_plan *plan, int64_t count)
{
    size_t offset = cairn_cpu_align(plan->base.workspace);
    plan->base.workspace = offset + (size_t)count * sizeof(float);
    return offset;
}

/* Plain layouts of both sides have the dimensions of the other one: a grouped convolution counts its weights in five. */
static cairn_status fill(reorder_plan *plan, const cairn_reorder_desc *desc)
{
    cairn_cpu *cpu = cairn_cpu_of(plan->base.device);
    const cairn_layout *from = desc->from, *to = desc->to;
    plan->from_count = from ? cairn_layout_elements(from) : cairn_shape_count(desc->shape);
    plan->to_count = to ? cairn_layout_elements(to) : cairn_shape_count(desc->shape);
    if (from == to && desc->from_dtype == desc->to_dtype)
        plan->bytes = (size_t)plan->from_count * cairn_dtype_size(desc->from_dtype);
    if (plan->bytes > 0) return CAIRN_OK;
    plan->widens = desc->from_dtype == CAIRN_BF16;
    plan->narrows = desc->to_dtype == CAIRN_BF16;
    if (from == to) return CAIRN_OK;

    if (from) CAIRN_TRY(cairn_layout_twin(cpu, from, dnnl_f32, &from));
    if (to) CAIRN_TRY(cairn_layout_twin(cpu, to, dnnl_f32, &to));
    if (!from) CAIRN_TRY(cairn_layout_plain_of(cpu, to, &from));
    if (!to) CAIRN_TRY(cairn_layout_plain_of(cpu, from, &to));
    if (from == to) return CAIRN_OK;
    CAIRN_TRY(plan_primitive(plan, from, to));
    if (plan->widens) plan->wide_from = place(plan, plan->from_count);
    if (plan->narrows) plan->wide_to = place(plan, plan->to_count);
    return CAIRN_OK;
}

cairn_status cairn_cpu_plan_reorder(cairn_device *device, const cairn_reorder_desc *desc, cairn_plan **out)
{
    CAIRN_TRY(cairn_cpu_supports_dtype(device, desc->from_dtype));
    CAIRN_TRY(cairn_cpu_supports_dtype(device, desc->to_dtype));
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
