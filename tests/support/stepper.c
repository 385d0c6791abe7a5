#include "tests/support/stepper.h"
#include "backends/backends.h"
#include "models/models.h"
#include "tests/support/golden.h"
#include "tests/test.h"
#include "train/net_optimizer.h"

enum { LENET_SIDE = 32, ALEXNET_SIDE = 67 };

static cairn_status make_net(const stepper_options *o, int side, stepper_rig *r)
{
    const cairn_model_options model = {
        .dropout = o->dropout, .width_divisor = o->model ? 16 : 4, .image_size = o->model ? side : 0};
    const cairn_net_options net = {.batch = o->slice, .train = true, .seed = 3, .dtype = o->dtype};
    CAIRN_TRY(cairn_model_create(o->model ? o->model : "lenet", o->preset ? o->preset : "", STEPPER_CLASSES, &model,
                                 &r->net));
    CAIRN_TRY(cairn_net_plan(r->net, r->device, &net));
    return cairn_net_init(r->net, 3);
}

cairn_status stepper_open(const stepper_options *o, stepper_rig *r)
{
    const int side = o->model ? ALEXNET_SIDE : LENET_SIDE;
    *r = (stepper_rig){.device = o->device};
    if (!r->device) CAIRN_TRY(cairn_device_open(o->backend, &(cairn_device_options){.threads = 1}, &r->device));
    CAIRN_TRY(make_net(o, side, r));
    const cairn_optimizer_options sgd = cairn_optimizer_defaults(CAIRN_UPDATE_SGD);
    CAIRN_TRY(cairn_net_optimizer_create(r->net, &sgd, &r->optimizer));
    const cairn_step_options options = {.net = r->net,
                                        .optimizer = r->optimizer,
                                        .schedule = {.kind = CAIRN_SCHEDULE_CONSTANT, .base = o->rate, .updates = 10},
                                        .preprocess = cairn_preprocess_default(side),
                                        .batch = STEPPER_BATCH,
                                        .read_every = o->read_every,
                                        .class_weights = o->class_weights};
    r->rgb = golden_alloc((int64_t)STEPPER_BATCH * side * side * 3, sizeof *r->rgb);
    r->valid = golden_alloc(STEPPER_BATCH, sizeof *r->valid);
    r->label = golden_alloc(STEPPER_BATCH, sizeof *r->label);
    r->sample = golden_alloc(STEPPER_BATCH, sizeof *r->sample);
    r->batch =
        (cairn_batch){.rgb = r->rgb, .label = r->label, .valid = r->valid, .sample = r->sample, .count = STEPPER_BATCH};
    return cairn_stepper_create(&options, &r->stepper);
}

void stepper_close(stepper_rig *r)
{
    cairn_stepper_destroy(r->stepper);
    cairn_optimizer_destroy(r->optimizer);
    cairn_net_destroy(r->net);
    cairn_device_close(r->device);
    free(r->rgb);
    free(r->valid);
    free(r->label);
    free(r->sample);
}

void stepper_fill(stepper_rig *r, int pictures)
{
    const cairn_rng rng = cairn_rng_make(5, CAIRN_RNG_SYNTHETIC, 0, 0);
    int64_t picture = cairn_shape_count(cairn_net_input(r->net).shape) / cairn_net_batch(r->net);
    for (int64_t i = 0; i < STEPPER_BATCH * picture; i++)
        r->rgb[i] = i < pictures * picture ? (uint8_t)cairn_rng_below(rng, (uint64_t)i, 256) : 0;
    for (int i = 0; i < STEPPER_BATCH; i++) {
        r->label[i] = i % STEPPER_CLASSES;
        r->valid[i] = i < pictures;
    }
}

float *stepper_weights(const stepper_rig *r, int64_t *count)
{
    float *all = golden_alloc(cairn_net_parameters_total(r->net), sizeof *all);
    cairn_slab slab = cairn_net_weights(r->net);
    *count = 0;
    for (int p = 0; p < cairn_net_parameter_count(r->net); p++) {
        cairn_tensor view = cairn_net_view(r->net, &slab, p);
        int64_t elements = cairn_shape_count(view.shape);
        CHECK_OK(cairn_tensor_read(&view, all + *count, elements));
        *count += elements;
    }
    return all;
}
