#include "train/step.h"
#include "train/feed.h"
#include "train/nonfinite.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cairn_stepper {
    cairn_step_options options;
    cairn_feed *feed;
    float *class_weights; /* [classes], or NULL */
    float *scale;         /* [batch] */
    float *first_weights; /* host copy of the first parameter, as it lies in the slab */
    int slice;            /* slots of one pass */
    size_t picture_bytes;
};

cairn_status cairn_stepper_create(const cairn_step_options *options, cairn_stepper **out)
{
    cairn_status status = CAIRN_OK;
    cairn_stepper *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s) return cairn_fail(CAIRN_MEMORY, "no memory for the record of the training step");
    s->options = *options;
    s->slice = (int)cairn_net_batch(options->net);
    s->picture_bytes = (size_t)options->preprocess.size * (size_t)options->preprocess.size * 3;
    s->scale = calloc((size_t)options->batch, sizeof *s->scale);
    s->first_weights = malloc((size_t)cairn_net_parameter(options->net, 0)->count * sizeof *s->first_weights);
    if (!s->scale || !s->first_weights)
        CAIRN_TRY_DONE(cairn_fail(CAIRN_MEMORY, "no memory for %d sample weights", options->batch));
    if (options->class_weights) {
        size_t bytes = (size_t)cairn_net_classes(options->net) * sizeof(float);
        s->class_weights = malloc(bytes);
        if (!s->class_weights) CAIRN_TRY_DONE(cairn_fail(CAIRN_MEMORY, "no memory for the class weights"));
        memcpy(s->class_weights, options->class_weights, bytes);
    }
    CAIRN_TRY_DONE(cairn_feed_create(options->net, &options->preprocess, options->class_weights, &s->feed));
    *out = s;
done:
    if (status != CAIRN_OK) cairn_stepper_destroy(s);
    return status;
}

void cairn_stepper_destroy(cairn_stepper *stepper)
{
    if (!stepper) return;
    cairn_feed_destroy(stepper->feed);
    free(stepper->class_weights);
    free(stepper->scale);
    free(stepper->first_weights);
    free(stepper);
}

/* Fills scale[] for the whole update before its first pass, so that slices add up to the mean over all of it. Returns the sum of weights. */
static double weigh(cairn_stepper *s, const cairn_batch *batch)
{
    double sum = 0;
    for (int i = 0; i < s->options.batch; i++)
        if (batch->valid[i]) sum += s->class_weights ? (double)s->class_weights[batch->label[i]] : 1;
    for (int i = 0; i < s->options.batch; i++)
        s->scale[i] = batch->valid[i] ? (float)(1 / sum) : 0;
    return sum;
}

/* Is there a valid picture in the slice that starts at slot `first`? Without one there is nothing to run. */
static bool slice_counts(const cairn_stepper *s, int first)
{
    for (int i = first; i < first + s->slice; i++)
        if (s->scale[i] > 0) return true;
    return false;
}

static const uint8_t *slice_rgb(const cairn_stepper *s, const cairn_batch *batch, int first)
{
    return batch->rgb + (size_t)first * s->picture_bytes;
}

static cairn_forward forward_of(const cairn_stepper *s, int first)
{
    return (cairn_forward){
        .train = true, .step = (uint32_t)cairn_optimizer_updates(s->options.optimizer), .first_sample = first};
}

static cairn_status run_slice(cairn_stepper *s, const cairn_batch *batch, int first, bool accumulate)
{
    const cairn_step_options *o = &s->options;
    const cairn_forward forward = forward_of(s, first);
    CAIRN_TRY(cairn_feed_images(s->feed, slice_rgb(s, batch, first), batch->label + first, s->scale + first));
    CAIRN_TRY(cairn_net_forward(o->net, &forward));
    CAIRN_TRY(cairn_feed_loss(s->feed, o->smoothing, true));
    return cairn_net_backward(o->net, accumulate);
}

/* The loss is not finite: runs the same pictures again, looking at every layer. Always fails. */
static cairn_status explain_nonfinite(cairn_stepper *s, const cairn_batch *batch, float rate)
{
    char what[64], advice[160];
    cairn_status found = CAIRN_OK;
    for (int first = 0; found == CAIRN_OK && first < s->options.batch; first += s->slice) {
        const cairn_forward forward = forward_of(s, first);
        if (slice_counts(s, first))
            found = cairn_find_nonfinite(s->options.net, s->feed, slice_rgb(s, batch, first), &forward);
    }
    snprintf(what, sizeof what, "update %" PRId64, cairn_optimizer_updates(s->options.optimizer) + 1);
    snprintf(advice, sizeof advice,
             "the learning rate (%.3g) is too high: try --learning-rate %.2g, or a longer --warmup", (double)rate,
             (double)rate / 3);
    return cairn_fail_nonfinite(found, what, advice);
}

/* A gradient that is not finite need not show in the loss, for a ReLU turns NaN into 0; but going backward it reaches the first layer. */
static cairn_status check_first_weights(cairn_stepper *s, float rate)
{
    const cairn_net *net = s->options.net;
    const cairn_parameter *first = cairn_net_parameter(net, 0);
    const float *weights = (const float *)cairn_net_weights(net).data + first->offset;
    CAIRN_TRY(cairn_device_download(cairn_net_device(net), s->first_weights, weights,
                                    (size_t)first->count * sizeof *weights));
    for (int64_t i = 0; i < first->count; i++)
        if (!isfinite(s->first_weights[i]))
            return cairn_fail(CAIRN_NONFINITE,
                              "update %" PRId64 ": %s is not finite after it: the learning rate (%.3g) is too high: "
                              "try --learning-rate %.2g, or a longer --warmup",
                              cairn_optimizer_updates(s->options.optimizer), first->name, (double)rate,
                              (double)rate / 3);
    return CAIRN_OK;
}

cairn_status cairn_stepper_run(cairn_stepper *stepper, const cairn_batch *batch, cairn_step_outcome *out)
{
    cairn_stepper *s = stepper;
    const cairn_step_options *o = &s->options;
    *out =
        (cairn_step_outcome){.weight = weigh(s, batch),
                             .learning_rate = cairn_schedule_at(&o->schedule, cairn_optimizer_updates(o->optimizer))};
    if (!(out->weight > 0)) return CAIRN_OK;

    bool accumulate = false;
    for (int first = 0; first < o->batch; first += s->slice) {
        if (!slice_counts(s, first)) continue;
        CAIRN_TRY(run_slice(s, batch, first, accumulate));
        accumulate = true;
    }
    CAIRN_TRY(cairn_feed_taken(s->feed));
    CAIRN_TRY(cairn_feed_totals(s->feed, out->totals));
    if (!isfinite(out->totals[0])) return explain_nonfinite(s, batch, out->learning_rate);

    cairn_slab weights = cairn_net_weights(o->net), gradients = cairn_net_gradients(o->net);
    CAIRN_TRY(cairn_optimizer_step(o->optimizer, &weights, &gradients, out->learning_rate));
    return check_first_weights(s, out->learning_rate);
}
