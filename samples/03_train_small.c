/* 03_train_small.c - a training loop written out: forward, loss, backward, update. LeNet learns to tell four patterns apart.
 *
 *     build/samples/03_train_small
 *
 * The pictures are made up as they are needed: stripes across, stripes down, stripes aslant and a chessboard, each of a random width,
 * place and contrast, under noise. So every batch is new, and the test at the end shows pictures that the net has never seen.
 */
#include "cairn.h"
#include <math.h>

enum { SIDE = 32, CHANNELS = 3, CLASSES = 4, BATCH = 32, UPDATES = 60, PIXELS = CHANNELS * SIDE * SIDE };

/* What a training step needs besides the net. All of it is memory on the device. */
typedef struct targets {
    cairn_slab labels; /* i32 [BATCH] */
    cairn_slab scale;  /* f32 [BATCH]: how much each picture counts; 1 / BATCH makes the loss a mean */
    cairn_slab totals; /* f32 [4]: loss, right at first guess, right among five, pictures; the device adds to them */
} targets;

/* Picture `index` of all that there are: its pattern is its label. Values are about as large as those of normalised photos. */
static int32_t draw(uint64_t index, float *pixel)
{
    cairn_rng rng = cairn_rng_make(7, CAIRN_RNG_SYNTHETIC, 0, (uint32_t)index);
    int32_t label = (int32_t)cairn_rng_below(rng, 0, CLASSES);
    float period = 4 + 6 * cairn_rng_uniform(rng, 1), phase = 10 * cairn_rng_uniform(rng, 2);
    float contrast = 0.5f + cairn_rng_uniform(rng, 3), slant = cairn_rng_uniform(rng, 4) < 0.5f ? 1.0f : -1.0f;
    for (int i = 0; i < PIXELS; i++) {
        float x = (float)(i % SIDE), y = (float)(i / SIDE % SIDE), turn = 6.2831853f / period;
        float wave = label == 0   ? sinf(turn * y + phase)
                     : label == 1 ? sinf(turn * x + phase)
                     : label == 2 ? sinf(turn * 0.7f * (x + slant * y) + phase)
                                  : sinf(turn * x + phase) * sinf(turn * y + phase);
        pixel[i] = contrast * (wave > 0 ? 1.0f : -1.0f) + 2 * cairn_rng_uniform(rng, (uint64_t)i + 8) - 1;
    }
    return label;
}

/* Puts a batch of pictures into the net's input and their labels beside it. */
static cairn_status feed(cairn_net *net, const targets *t, uint64_t first)
{
    float pictures[BATCH * PIXELS];
    int32_t label[BATCH];
    for (int n = 0; n < BATCH; n++)
        label[n] = draw(first + (uint64_t)n, pictures + (long)n * PIXELS);
    cairn_tensor input = cairn_net_input(net);
    CAIRN_TRY(cairn_tensor_write(&input, pictures, cairn_shape_count(input.shape)));
    return cairn_device_upload(cairn_net_device(net), t->labels.data, label, sizeof label);
}

/* Runs the net on the batch it holds and adds up the loss. With `train`, dropout draws, and the loss leaves its gradient for backward. */
static cairn_status look(cairn_net *net, const targets *t, bool train, uint32_t step, float totals[4])
{
    cairn_device *device = cairn_net_device(net);
    CAIRN_TRY(cairn_device_zero(device, t->totals.data, t->totals.bytes));
    CAIRN_TRY(cairn_net_forward(net, &(cairn_forward){.train = train, .step = step}));
    CAIRN_TRY(cairn_net_loss(
        net,
        &(cairn_loss){.labels = t->labels.data, .scale = t->scale.data, .train = train, .totals = t->totals.data}));
    return cairn_device_download(device, totals, t->totals.data, 4 * sizeof *totals);
}

static cairn_status train(cairn_net *net, cairn_optimizer *optimizer, const targets *t)
{
    const cairn_schedule schedule = {
        .kind = CAIRN_SCHEDULE_COSINE, .base = 0.005f, .updates = UPDATES, .warmup = 10, .floor = 0.0f};
    cairn_slab weights = cairn_net_weights(net), gradients = cairn_net_gradients(net);
    CAIRN_TRY(cairn_schedule_check(&schedule));
    for (uint32_t update = 0; update < UPDATES; update++) {
        float totals[4];
        CAIRN_TRY(feed(net, t, (uint64_t)update * BATCH));
        CAIRN_TRY(look(net, t, true, update, totals)); /* 1. what does it say, and how wrong is that? */
        CAIRN_TRY(cairn_net_backward(net, false));     /* 2. how does every weight change the loss? */
        float rate = cairn_schedule_at(&schedule, update);
        CAIRN_TRY(cairn_optimizer_step(optimizer, &weights, &gradients, rate)); /* 3. a step downhill */
        if (update % 10 == 9)
            printf("update %3u  loss %.3f  right %3.0f %%  rate %.4f\n", update + 1, (double)totals[0],
                   100 * (double)totals[1] / BATCH, (double)rate);
    }
    return CAIRN_OK;
}

/* Share of 256 pictures that come after all those trained on. */
static cairn_status test(cairn_net *net, const targets *t, double *right)
{
    *right = 0;
    for (uint64_t batch = 0; batch < 8; batch++) {
        float totals[4];
        CAIRN_TRY(feed(net, t, (UPDATES + batch) * BATCH));
        CAIRN_TRY(look(net, t, false, 0, totals));
        *right += (double)totals[1] / (8 * BATCH);
    }
    return CAIRN_OK;
}

/* The optimizer is told which runs of the parameter slab there are, and which of them are weights: biases aren't decayed. */
static cairn_status make_optimizer(cairn_net *net, cairn_optimizer **out)
{
    cairn_optimizer_options options = cairn_optimizer_defaults(CAIRN_UPDATE_SGD);
    options.weight_decay = 5e-4f;
    CAIRN_TRY(cairn_optimizer_create(cairn_net_device(net), &options, cairn_net_slab_count(net), out));
    for (int i = 0; i < cairn_net_parameter_count(net); i++) {
        const cairn_parameter *p = cairn_net_parameter(net, i);
        CAIRN_TRY(cairn_optimizer_add(*out, p->offset, p->count, p->decay));
    }
    return CAIRN_OK;
}

int main(void)
{
    cairn_device *device = NULL;
    cairn_net *net = NULL;
    cairn_optimizer *optimizer = NULL;
    targets t = {0};
    double right = 0;
    float scale[BATCH];
    for (int n = 0; n < BATCH; n++)
        scale[n] = 1.0f / BATCH;

    cairn_status status = CAIRN_OK;
    CAIRN_TRY_DONE(cairn_device_open("auto", &(cairn_device_options){0}, &device));
    CAIRN_TRY_DONE(cairn_model_create("lenet", NULL, CLASSES, NULL, &net));
    CAIRN_TRY_DONE(cairn_net_plan(net, device, &(cairn_net_options){.batch = BATCH, .train = true}));
    CAIRN_TRY_DONE(cairn_net_init(net, 1));
    CAIRN_TRY_DONE(make_optimizer(net, &optimizer));
    CAIRN_TRY_DONE(cairn_slab_create(device, BATCH * sizeof(int32_t), "labels", &t.labels));
    CAIRN_TRY_DONE(cairn_slab_create(device, sizeof scale, "scale", &t.scale));
    CAIRN_TRY_DONE(cairn_slab_create(device, 4 * sizeof(float), "totals", &t.totals));
    CAIRN_TRY_DONE(cairn_device_upload(device, t.scale.data, scale, sizeof scale));
    CAIRN_TRY_DONE(train(net, optimizer, &t));
    CAIRN_TRY_DONE(test(net, &t, &right));
    printf("of 256 further pictures %.1f %% are right\n", 100 * right);
done:
    if (status != CAIRN_OK) fprintf(stderr, "03_train_small: %s\n", cairn_error_last()->message);
    cairn_slab_destroy(&t.totals);
    cairn_slab_destroy(&t.scale);
    cairn_slab_destroy(&t.labels);
    cairn_optimizer_destroy(optimizer);
    cairn_net_destroy(net);
    cairn_device_close(device);
    return status == CAIRN_OK && right > 0.9 ? 0 : 1;
}
