/* lrn_pool.c - LRN and the max-pool behind it, and the ReLU before it, as one operation: what lies between them is never stored. */
#include "backends/cuda/cuda.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/pool_shape.h"

typedef struct lrn_pool_plan {
    cairn_plan base;
    cairn_dtype dtype;
    cairn_lrn_pool_args args; /* but for the pointers */
} lrn_pool_plan;

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const lrn_pool_plan *plan = (const lrn_pool_plan *)base;
    cairn_cuda *cuda = cairn_cuda_of(base->device);
    cairn_lrn_pool_args args = plan->args;
    args.src = operands->src;
    args.pool.dst = operands->dst;
    args.pool.winner = operands->train ? operands->saved : NULL;
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDA_TRY(cairn_launch_lrn_pool(&args, plan->dtype, cuda->compute));
    return CAIRN_OK;
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    const lrn_pool_plan *plan = (const lrn_pool_plan *)base;
    cairn_cuda *cuda = cairn_cuda_of(base->device);
    cairn_lrn_pool_args args = plan->args;
    args.src = operands->src;
    args.pool.src = operands->diff_dst;
    args.pool.dst = operands->diff_src;
    args.pool.winner = operands->saved;
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDA_TRY(cairn_launch_lrn_pool_backward(&args, plan->dtype, cuda->compute));
    return CAIRN_OK;
}

static const cairn_plan_ops ops[2] = {
    {.forward = forward, .destroy = cairn_cuda_plan_destroy},
    {.forward = forward, .backward = backward, .destroy = cairn_cuda_plan_destroy},
};

/* Rows of dst that a thread walks down: the more, the fewer source rows are normalised twice, but not so many that multiprocessors idle.
 * Two save a sixth of the work of one and so are the least. Results don't hang on it. */
static int strip_of(const cairn_cuda *cuda, const cairn_pool_args *pool, cairn_dtype dtype)
{
    int64_t width = 16 / (int64_t)cairn_dtype_size(dtype), packs = (pool->channels + width - 1) / width;
    int64_t resident = (int64_t)cuda->properties.multiProcessorCount * 2048; /* threads that are held at most */
    int64_t strip = pool->batch * pool->dst_h * pool->dst_w * packs / (resident > 0 ? resident : 1);
    if (strip < 2) strip = 2;
    return strip > pool->dst_h ? pool->dst_h : (int)strip;
}

static cairn_status check(const cairn_device *device, const cairn_lrn_pool_desc *desc)
{
    if (device->options.library_kernels)
        return cairn_fail(CAIRN_DEVICE, "lrn_pool on cuda: cuDNN computes LRN and max-pool one by one");
    if (desc->lrn.size != CAIRN_LRN_WINDOW)
        return cairn_fail(CAIRN_DEVICE, "lrn_pool on cuda: a window of %lld channels is not fused; %d are",
                          (long long)desc->lrn.size, CAIRN_LRN_WINDOW);
    if (desc->pool.kind != CAIRN_POOL_MAX || desc->pool.relu_backward)
        return cairn_fail(CAIRN_DEVICE, "lrn_pool on cuda: only a max-pool without a mask is fused");
    if (desc->lrn.dtype != desc->pool.dtype || !cairn_shape_equal(desc->lrn.src, desc->pool.src))
        return cairn_fail(CAIRN_USAGE, "lrn_pool: what LRN gives is not what the pool takes");
    return CAIRN_OK;
}

cairn_status cairn_cuda_plan_lrn_pool(cairn_device *device, const cairn_lrn_pool_desc *desc, cairn_plan **out)
{
    const cairn_lrn_desc *lrn = &desc->lrn;
    cairn_pool2d_desc pool = desc->pool;
    cairn_pool_args args;
    CAIRN_TRY(cairn_cuda_check_dtype(device, "lrn_pool", lrn->dtype));
    CAIRN_TRY(check(device, desc));
    CAIRN_TRY(cairn_pool_shape(&pool, &args));
    CAIRN_TRY(cairn_cuda_plan_create(device, sizeof(lrn_pool_plan), &ops[lrn->train], "fused", out));
    lrn_pool_plan *plan = (lrn_pool_plan *)*out;
    plan->base.spares_dst = true;
    plan->dtype = lrn->dtype;
    plan->args = (cairn_lrn_pool_args){.pool = args,
                                       .k = lrn->k,
                                       .factor = lrn->alpha / (float)lrn->size,
                                       .beta = lrn->beta,
                                       .relu = desc->relu,
                                       .strip = strip_of(cairn_cuda_of(device), &args, lrn->dtype)};
    if (lrn->train) plan->base.saved = cairn_pool_winner_bytes(&args);
    pool.src_layout = lrn->src_layout;
    cairn_status status = cairn_pool_layouts(device, &pool, *out);
    if (status != CAIRN_OK) cairn_cuda_plan_destroy(*out);
    return status;
}
