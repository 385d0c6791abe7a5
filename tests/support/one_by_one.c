#include "tests/support/one_by_one.h"
#include "backends/backends.h"
#include "tests/support/golden.h"

enum { RELU, LRN, POOL, PARTS };

typedef struct one_by_one {
    cairn_plan base;
    bool relu;
    cairn_plan *part[PARTS];
    void *between[PARTS]; /* what the part before writes, and the gradient there; the first is a copy of the source */
    void *gradient[PARTS];
    void *saved[PARTS], *workspace[PARTS];
} one_by_one;

static void *dst_of(const one_by_one *plan, int part, void *dst)
{
    return part + 1 < PARTS ? plan->between[part + 1] : dst;
}

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const one_by_one *plan = (const one_by_one *)base;
    const void *src = operands->src;
    for (int i = plan->relu ? RELU : LRN; i < PARTS; i++) {
        cairn_operands part = {.src = src,
                               .dst = dst_of(plan, i, operands->dst),
                               .saved = plan->saved[i],
                               .workspace = plan->workspace[i],
                               .train = operands->train};
        CAIRN_TRY(plan->part[i]->ops->forward(plan->part[i], &part));
        src = part.dst;
    }
    return CAIRN_OK;
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    const one_by_one *plan = (const one_by_one *)base;
    int first = plan->relu ? RELU : LRN;
    void *gradient = operands->diff_dst;
    for (int i = POOL; i >= first; i--) {
        cairn_operands part = {.src = i == first ? operands->src : plan->between[i],
                               .dst = dst_of(plan, i, operands->dst),
                               .diff_dst = gradient,
                               .diff_src = i == first ? operands->diff_src : plan->gradient[i],
                               .saved = plan->saved[i],
                               .workspace = plan->workspace[i],
                               .train = true};
        CAIRN_TRY(plan->part[i]->ops->backward(plan->part[i], &part));
        gradient = part.diff_src;
    }
    return CAIRN_OK;
}

static void destroy(cairn_plan *base)
{
    one_by_one *plan = (one_by_one *)base;
    for (int i = 0; i < PARTS; i++) {
        cairn_plan_destroy(plan->part[i]);
        free(plan->between[i]);
        free(plan->gradient[i]);
        free(plan->saved[i]);
        free(plan->workspace[i]);
    }
    free(plan);
}

cairn_status one_by_one_plan_lrn_pool(cairn_device *device, const cairn_lrn_pool_desc *desc, cairn_plan **out)
{
    static const cairn_plan_ops ops = {.forward = forward, .backward = backward, .destroy = destroy};
    const cairn_backend *ref = &cairn_backend_ref;
    cairn_lrn_desc lrn = desc->lrn;
    cairn_pool2d_desc pool = desc->pool;
    lrn.src_layout = pool.src_layout = NULL;
    const cairn_relu_desc relu = {.src = lrn.src, .train = lrn.train, .dtype = lrn.dtype};
    int64_t elements = cairn_shape_count(lrn.src) + 1;
    one_by_one *plan = golden_alloc(1, sizeof *plan);
    *plan = (one_by_one){.base = {.ops = &ops, .device = device, .algorithm = "one by one"}, .relu = desc->relu};
    *out = &plan->base;
    CAIRN_TRY(ref->plan_relu(device, &relu, &plan->part[RELU]));
    CAIRN_TRY(ref->plan_lrn(device, &lrn, &plan->part[LRN]));
    CAIRN_TRY(ref->plan_pool2d(device, &pool, &plan->part[POOL]));
    for (int i = 0; i < PARTS; i++) {
        plan->between[i] = golden_alloc(elements, sizeof(float));
        plan->gradient[i] = golden_alloc(elements, sizeof(float));
        plan->saved[i] = golden_alloc((int64_t)plan->part[i]->saved + 1, 1);
        plan->workspace[i] = golden_alloc((int64_t)plan->part[i]->workspace + 1, 1);
    }
    return CAIRN_OK;
}
