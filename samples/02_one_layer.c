/* 02_one_layer.c - one convolution with its ReLU, forward and backward, on two devices that must agree.
 *
 *     build/samples/02_one_layer
 *
 * An operation is planned once for its shapes, and then run as often as wanted. The plan chooses an algorithm and says in which layout it
 * wants each operand: plain NCHW on "ref", often something blocked on "cpu". A tensor with that layout takes and gives plain numbers.
 */
#include "cairn.h"
#include <math.h>
#include <stdlib.h>

enum { SRC = 2 * 3 * 16 * 16, WEIGHTS = 8 * 3 * 3 * 3, BIAS = 8, DST = 2 * 8 * 16 * 16 };

/* What one device computed, in plain order. */
typedef struct result {
    float y[DST], dx[SRC], dw[WEIGHTS], db[BIAS];
} result;

/* A slab of device memory and a tensor that covers it. */
typedef struct operand {
    cairn_slab slab;
    cairn_tensor tensor;
} operand;

/* Memory for an operand in the layout that the plan asks for, filled with random numbers in [-1, 1) where `stream` isn't 0. */
static cairn_status make(cairn_device *device, cairn_shape shape, const cairn_layout *layout, uint32_t stream,
                         operand *out)
{
    CAIRN_TRY(cairn_slab_create(device, cairn_layout_bytes(device, shape, CAIRN_F32, layout), "sample", &out->slab));
    out->tensor = cairn_tensor_view(device, out->slab.data, shape, CAIRN_F32, layout);
    if (stream == 0) return CAIRN_OK;
    int64_t count = cairn_shape_count(shape);
    float value[DST];
    cairn_rng rng = cairn_rng_make(1, CAIRN_RNG_SYNTHETIC, stream, 0);
    for (int64_t i = 0; i < count; i++)
        value[i] = 2 * cairn_rng_uniform(rng, (uint64_t)i) - 1;
    return cairn_tensor_write(&out->tensor, value, count);
}

/* y = max(0, x * w + b), and from dy the gradients dx, dw and db. */
static cairn_status run(cairn_device *device, cairn_plan *plan, operand o[7], cairn_slab *saved, cairn_slab *workspace,
                        result *r)
{
    operand *x = &o[0], *w = &o[1], *b = &o[2], *y = &o[3], *dy = &o[4], *dx = &o[5], *dw = &o[6];
    operand db = {0};
    cairn_status status = CAIRN_OK;
    CAIRN_TRY_DONE(make(device, cairn_shape_make(4, 2, 3, 16, 16), plan->layout.src, 1, x));
    CAIRN_TRY_DONE(make(device, cairn_shape_make(4, 8, 3, 3, 3), plan->layout.weights, 2, w));
    CAIRN_TRY_DONE(make(device, cairn_shape_make(1, 8), NULL, 3, b));
    CAIRN_TRY_DONE(make(device, cairn_shape_make(4, 2, 8, 16, 16), plan->layout.dst, 0, y));
    CAIRN_TRY_DONE(make(device, cairn_shape_make(4, 2, 8, 16, 16), plan->layout.diff_dst, 4, dy));
    CAIRN_TRY_DONE(make(device, cairn_shape_make(4, 2, 3, 16, 16), plan->layout.diff_src, 0, dx));
    CAIRN_TRY_DONE(make(device, cairn_shape_make(4, 8, 3, 3, 3), plan->layout.weights, 0, dw));
    CAIRN_TRY_DONE(make(device, cairn_shape_make(1, 8), NULL, 0, &db));
    CAIRN_TRY_DONE(cairn_slab_create(device, plan->saved, "saved", saved));
    CAIRN_TRY_DONE(cairn_slab_create(device, plan->workspace, "workspace", workspace));
    const cairn_operands operands = {.src = x->slab.data,
                                     .weights = w->slab.data,
                                     .bias = b->slab.data,
                                     .dst = y->slab.data,
                                     .diff_dst = dy->slab.data,
                                     .diff_src = dx->slab.data,
                                     .diff_weights = dw->slab.data,
                                     .diff_bias = db.slab.data,
                                     .saved = saved->data,
                                     .workspace = workspace->data,
                                     .train = true};
    CAIRN_TRY_DONE(plan->ops->forward(plan, &operands));
    CAIRN_TRY_DONE(plan->ops->backward(plan, &operands));
    CAIRN_TRY_DONE(cairn_tensor_read(&y->tensor, r->y, DST));
    CAIRN_TRY_DONE(cairn_tensor_read(&dx->tensor, r->dx, SRC));
    CAIRN_TRY_DONE(cairn_tensor_read(&dw->tensor, r->dw, WEIGHTS));
    CAIRN_TRY_DONE(cairn_tensor_read(&db.tensor, r->db, BIAS));
done:
    cairn_slab_destroy(&db.slab);
    return status;
}

static cairn_status convolve_on(const char *name, result *r)
{
    const cairn_conv2d_desc desc = {.src = cairn_shape_make(4, 2, 3, 16, 16),
                                    .out_channels = 8,
                                    .kernel_h = 3,
                                    .kernel_w = 3,
                                    .stride_h = 1,
                                    .stride_w = 1,
                                    .pad_h = 1,
                                    .pad_w = 1,
                                    .groups = 1,
                                    .has_bias = true,
                                    .relu = true,
                                    .relu_backward = true,
                                    .train = true,
                                    .need_diff_src = true,
                                    .dtype = CAIRN_F32};
    cairn_device *device = NULL;
    cairn_plan *plan = NULL;
    operand o[7] = {0};
    cairn_slab saved = {0}, workspace = {0};
    cairn_status status = CAIRN_OK;
    CAIRN_TRY_DONE(cairn_device_open(name, &(cairn_device_options){0}, &device));
    CAIRN_TRY_DONE(device->backend->plan_conv2d(device, &desc, &plan));
    printf("%s: algorithm %s, weights in layout %s\n", name, plan->algorithm,
           cairn_layout_name(device, plan->layout.weights));
    CAIRN_TRY_DONE(run(device, plan, o, &saved, &workspace, r));
done:
    for (int i = 0; i < 7; i++)
        cairn_slab_destroy(&o[i].slab);
    cairn_slab_destroy(&saved);
    cairn_slab_destroy(&workspace);
    cairn_plan_destroy(plan);
    cairn_device_close(device);
    return status;
}

/* |a - b| / |a|, over all elements. */
static double difference(const float *a, const float *b, int count)
{
    double error = 0, size = 0;
    for (int i = 0; i < count; i++) {
        error += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        size += (double)a[i] * (double)a[i];
    }
    return sqrt(error / size);
}

int main(void)
{
    result ref, cpu;
    if (convolve_on("ref", &ref) != CAIRN_OK || convolve_on("cpu", &cpu) != CAIRN_OK) {
        fprintf(stderr, "02_one_layer: %s\n", cairn_error_last()->message);
        return 1;
    }
    double y = difference(ref.y, cpu.y, DST), dx = difference(ref.dx, cpu.dx, SRC),
           dw = difference(ref.dw, cpu.dw, WEIGHTS), db = difference(ref.db, cpu.db, BIAS);
    printf("relative difference: y %.1e, dx %.1e, dw %.1e, db %.1e\n", y, dx, dw, db);
    return y < 1e-5 && dx < 1e-5 && dw < 1e-5 && db < 1e-5 ? 0 : 1;
}
