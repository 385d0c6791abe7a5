/* operation_run.c - plans an operation on a device, runs it between guard zones and reads everything back. */
#include "core/tensor.h"
#include "tests/support/golden.h"
#include "tests/support/guarded.h"
#include "tests/support/one_by_one.h"
#include "tests/support/operation.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
    cairn_device *device;
    const operation *op;
    cairn_plan *plan;
    guarded memory[OPERANDS], saved, workspace;
    const guarded *place[OPERANDS]; /* where an operand lies: its own memory, or another's when in place */
} run;

static cairn_status plan_lrn_pool(cairn_device *device, cairn_lrn_pool_desc desc, const cairn_layout *src_layout,
                                  cairn_plan **out)
{
    desc.lrn.src_layout = desc.pool.src_layout = src_layout;
    desc.pool.src = desc.lrn.src;
    desc.pool.dtype = desc.lrn.dtype;
    desc.pool.train = desc.lrn.train;
    if (device->backend->plan_lrn_pool) return device->backend->plan_lrn_pool(device, &desc, out);
    return one_by_one_plan_lrn_pool(device, &desc, out);
}

static cairn_status plan_with(cairn_device *device, operation op, const cairn_layout *src_layout, cairn_plan **out)
{
    const cairn_backend *backend = device->backend;
#define PLAN(member) (op.desc.member.src_layout = src_layout, backend->plan_##member(device, &op.desc.member, out))
    switch (op.kind) {
    case OPERATION_LINEAR:
        return PLAN(linear);
    case OPERATION_POOL2D:
        return PLAN(pool2d);
    case OPERATION_RELU:
        return PLAN(relu);
    case OPERATION_LRN:
        return PLAN(lrn);
    case OPERATION_DROPOUT:
        return PLAN(dropout);
    case OPERATION_BATCHNORM:
        return PLAN(batchnorm);
    case OPERATION_LRN_POOL:
        return plan_lrn_pool(device, op.desc.lrn_pool, src_layout, out);
    default:
        return PLAN(conv2d);
    }
#undef PLAN
}

/* The layout in which a convolution of this device leaves a tensor of the operation's source shape. */
static cairn_status blocked_layout(cairn_device *device, const operation *op, const cairn_layout **out)
{
    cairn_shape src = operation_source(op);
    cairn_conv2d_desc desc = {.src = src,
                              .out_channels = src.dim[1],
                              .kernel_h = 1,
                              .kernel_w = 1,
                              .stride_h = 1,
                              .stride_w = 1,
                              .groups = 1,
                              .train = true,
                              .need_diff_src = true,
                              .dtype = operation_dtype(op)};
    cairn_plan *plan;
    CAIRN_TRY(device->backend->plan_conv2d(device, &desc, &plan));
    *out = plan->layout.dst;
    cairn_plan_destroy(plan);
    return CAIRN_OK;
}

static const cairn_layout *layout_of(const run *r, operand id)
{
    switch (id) {
    case OPERAND_SRC:
        return r->plan->layout.src;
    case OPERAND_WEIGHTS:
        return operation_operand_dtype(r->op, id) == CAIRN_F32 ? r->plan->layout.weights : r->plan->layout.weights_low;
    case OPERAND_DIFF_WEIGHTS:
        return r->plan->layout.weights;
    case OPERAND_DST:
        return r->plan->layout.dst;
    case OPERAND_DIFF_DST:
        return r->plan->layout.diff_dst;
    case OPERAND_DIFF_SRC:
        return r->plan->layout.diff_src;
    default:
        return NULL;
    }
}

static cairn_tensor tensor_of(const run *r, operand id)
{
    return cairn_tensor_view(r->device, r->place[id]->data, r->op->shape[id], operation_operand_dtype(r->op, id),
                             layout_of(r, id));
}

/* The operand whose memory `id` shares. */
static operand shared_with(const run *r, operand id)
{
    bool in_place = r->op->in_place && (r->op->kind == OPERATION_RELU || r->op->kind == OPERATION_DROPOUT);
    if (in_place && id == OPERAND_DIFF_SRC && r->plan->layout.diff_src == r->plan->layout.diff_dst)
        return OPERAND_DIFF_DST;
    if (in_place && r->op->kind == OPERATION_DROPOUT && id == OPERAND_DST && r->plan->layout.src == r->plan->layout.dst)
        return OPERAND_SRC;
    return id;
}

static bool is_input(const operation *op, operand id)
{
    if (id == OPERAND_DIFF_WEIGHTS || id == OPERAND_DIFF_BIAS) return op->accumulate;
    return id != OPERAND_DST && id != OPERAND_DIFF_SRC;
}

static cairn_status place_operands(run *r)
{
    for (operand id = 0; id < OPERANDS; id++) {
        operand owner = shared_with(r, id);
        r->place[id] = &r->memory[owner];
        if (r->op->shape[id].rank == 0 || owner != id) continue;
        size_t bytes =
            cairn_layout_bytes(r->device, r->op->shape[id], operation_operand_dtype(r->op, id), layout_of(r, id));
        CAIRN_TRY(guarded_create(r->device, bytes, &r->memory[id]));
        cairn_tensor tensor = tensor_of(r, id);
        if (is_input(r->op, id))
            CAIRN_TRY(cairn_tensor_write(&tensor, r->op->value[id], cairn_shape_count(tensor.shape)));
    }
    CAIRN_TRY(guarded_create(r->device, r->plan->saved, &r->saved));
    return guarded_create(r->device, r->plan->workspace, &r->workspace);
}

static cairn_operands operands_of(const run *r)
{
    void *at[OPERANDS];
    for (operand id = 0; id < OPERANDS; id++)
        at[id] = r->op->shape[id].rank ? r->place[id]->data : NULL;
    return (cairn_operands){.src = at[OPERAND_SRC],
                            .weights = at[OPERAND_WEIGHTS],
                            .bias = at[OPERAND_BIAS],
                            .dst = at[OPERAND_DST],
                            .diff_dst = at[OPERAND_DIFF_DST],
                            .diff_src = at[OPERAND_DIFF_SRC],
                            .diff_weights = at[OPERAND_DIFF_WEIGHTS],
                            .diff_bias = at[OPERAND_DIFF_BIAS],
                            .saved = r->saved.data,
                            .workspace = r->workspace.data,
                            .train = operation_runs_backward(r->op),
                            .accumulate = r->op->accumulate,
                            .step = r->op->step,
                            .first_sample = r->op->first_sample,
                            .running_mean = at[OPERAND_RUNNING_MEAN],
                            .running_variance = at[OPERAND_RUNNING_VARIANCE]};
}

static cairn_status read_operand(const run *r, operand id, operation_result *result)
{
    cairn_tensor tensor = tensor_of(r, id);
    int64_t count = cairn_shape_count(tensor.shape);
    result->value[id] = golden_alloc(count, sizeof(float));
    return cairn_tensor_read(&tensor, result->value[id], count);
}

static cairn_status run_plan(run *r, operation_result *result)
{
    cairn_operands operands = operands_of(r);
    CAIRN_TRY(r->plan->ops->forward(r->plan, &operands));
    CAIRN_TRY(cairn_device_synchronize(r->device));
    CAIRN_TRY(read_operand(r, OPERAND_DST, result));
    if (!operands.train) return CAIRN_OK;
    if (r->op->given_dst) {
        cairn_tensor dst = tensor_of(r, OPERAND_DST);
        CAIRN_TRY(cairn_tensor_write(&dst, r->op->value[OPERAND_DST], cairn_shape_count(dst.shape)));
    }
    CAIRN_TRY(guarded_poison(&r->workspace));
    if (r->plan->spares_src) operands.src = NULL; /* as the net does */
    if (r->plan->spares_dst) operands.dst = NULL;
    CAIRN_TRY(r->plan->ops->backward(r->plan, &operands));
    return cairn_device_synchronize(r->device);
}

/* Reads what is left after all, but for dst, which was read after forward, and what another operand was written over. */
static cairn_status read_back(const run *r, operation_result *result)
{
    memcpy(result->algorithm, r->plan->algorithm, sizeof result->algorithm);
    for (operand id = 0; id < OPERANDS; id++) {
        bool overwritten = r->op->in_place && (id == OPERAND_SRC || id == OPERAND_DIFF_DST);
        if (r->op->shape[id].rank == 0 || id == OPERAND_DST || overwritten) continue;
        CAIRN_TRY(read_operand(r, id, result));
    }
    return CAIRN_OK;
}

static cairn_status check_untouched(const run *r, const operation_result *result)
{
    CAIRN_TRY(guarded_check(&r->saved, "saved"));
    CAIRN_TRY(guarded_check(&r->workspace, "workspace"));
    for (operand id = 0; id < OPERANDS; id++) {
        CAIRN_TRY(guarded_check(&r->memory[id], operand_name(id)));
        bool read_only = id == OPERAND_SRC || id == OPERAND_WEIGHTS || id == OPERAND_BIAS;
        if (!read_only || !result->value[id] || operation_operand_dtype(r->op, id) != CAIRN_F32) continue;
        size_t bytes = (size_t)cairn_shape_count(r->op->shape[id]) * sizeof(float);
        if (memcmp(result->value[id], r->op->value[id], bytes) != 0)
            return cairn_fail(CAIRN_DATA, "%s was changed, though it is only to be read", operand_name(id));
    }
    return CAIRN_OK;
}

cairn_status operation_run(cairn_device *device, const operation *op, operation_result *result)
{
    run r = {.device = device, .op = op};
    const cairn_layout *src_layout = NULL;
    char what[512];
    cairn_status status = CAIRN_OK;
    *result = (operation_result){0};
    if (op->blocked_source) CAIRN_TRY_DONE(blocked_layout(device, op, &src_layout));
    CAIRN_TRY_DONE(plan_with(device, *op, src_layout, &r.plan));
    CAIRN_TRY_DONE(place_operands(&r));
    CAIRN_TRY_DONE(run_plan(&r, result));
    CAIRN_TRY_DONE(read_back(&r, result));
    CAIRN_TRY_DONE(check_untouched(&r, result));
done:
    for (operand id = 0; id < OPERANDS; id++)
        guarded_destroy(&r.memory[id]);
    guarded_destroy(&r.saved);
    guarded_destroy(&r.workspace);
    cairn_plan_destroy(r.plan);
    operation_describe(op, what, sizeof what);
    return status == CAIRN_OK ? status : cairn_error_add_context("%s on %s", what, cairn_device_backend_name(device));
}
