#include "train/step.h"
#include "train/feed.h"
#include "train/nonfinite.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The host never falls further behind than this, however rare reports are. */
enum { MOST_UNREAD = 256 };

struct cairn_stepper {
    cairn_step_options options;
    cairn_feed *feed;
    float *class_weights; /* [classes], or NULL */
    float *scale;         /* [batch] */
    int slice;            /* slots of one pass */
    size_t picture_bytes;
    int64_t read_every; /* 0: after each update, and the loss even before it */
    int64_t unread;     /* updates asked for and not yet read */
    double weight;      /* the sum of theirs */
    float learning_rate;
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
    s->read_every = cairn_net_device(options->net)->backend->event_create ? options->read_every : 0;
    if (!s->scale) CAIRN_TRY_DONE(cairn_fail(CAIRN_MEMORY, "no memory for %d sample weights", options->batch));
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
        .train = true, .step = (uint32_t)cairn_optimizer_attempts(s->options.optimizer), .first_sample = first};
}

static cairn_status run_slice(cairn_stepper *s, const cairn_batch *batch, int first, bool accumulate)
{
    const cairn_step_options *o = &s->options;
    const cairn_forward forward = forward_of(s, first);
    CAIRN_TRY(cairn_feed_images(s->feed, slice_rgb(s, batch, first), batch->label + first, s->scale + first));
    CAIRN_TRY(cairn_net_forward(o->net, &forward));
    CAIRN_TRY(cairn_feed_loss(s->feed, o->smoothing, cairn_optimizer_loss_scale(o->optimizer), true));
    return cairn_net_backward(o->net, accumulate);
}

/* ---- what goes wrong ---- */

/* "update 12", or "updates 9 to 12" where the host looks at several at a time. */
static void name_updates(const cairn_stepper *s, char text[64])
{
    int64_t last = cairn_optimizer_attempts(s->options.optimizer), first = last - s->unread + 1;
    if (first >= last)
        snprintf(text, 64, "update %" PRId64, s->unread > 0 ? last : last + 1);
    else
        snprintf(text, 64, "updates %" PRId64 " to %" PRId64, first, last);
}

static const char *advise(const cairn_stepper *s, char text[200])
{
    double rate = (double)s->learning_rate;
    if (cairn_net_dtype(s->options.net) == CAIRN_F16)
        snprintf(text, 200,
                 "f16 holds no number beyond 65504: try --precision bf16 or fp32, or a --learning-rate below %.3g",
                 rate);
    else
        snprintf(text, 200, "the learning rate (%.3g) is too high: try --learning-rate %.2g, or a longer --warmup",
                 rate, rate / 3);
    return text;
}

/* A loss is not finite: looks for the first weight that isn't and, with the pictures at hand, runs them again, looking at every layer. Always
 * fails. */
static cairn_status explain_loss(cairn_stepper *s, const cairn_batch *batch)
{
    char updates[64], what[80], advice[200];
    cairn_status found = cairn_find_nonfinite_weight(s->options.net);
    for (int first = 0; batch && found == CAIRN_OK && first < s->options.batch; first += s->slice) {
        const cairn_forward forward = forward_of(s, first);
        if (slice_counts(s, first))
            found = cairn_find_nonfinite(s->options.net, s->feed, slice_rgb(s, batch, first), &forward);
    }
    name_updates(s, updates);
    snprintf(what, sizeof what, "%s: the loss", updates);
    return cairn_fail_nonfinite(found, what, advise(s, advice));
}

/* A gradient that is not finite need not show in the loss, for a ReLU turns NaN into 0. */
static cairn_status explain_gradients(const cairn_stepper *s)
{
    char updates[64], advice[200];
    cairn_status found = cairn_find_nonfinite_weight(s->options.net);
    if (found != CAIRN_OK && found != CAIRN_NONFINITE) return found;
    char where[CAIRN_ERROR_MESSAGE_SIZE] = "no weight shows it yet";
    if (found != CAIRN_OK) snprintf(where, sizeof where, "%s", cairn_error_last()->message);
    name_updates(s, updates);
    return cairn_fail(CAIRN_NONFINITE, "%s: a gradient is not finite: %s: %s", updates, where, advise(s, advice));
}

static cairn_status check_state(const cairn_stepper *s, const cairn_update_state *state)
{
    bool skips = cairn_optimizer_loss_scale(s->options.optimizer) != NULL;
    if (state->nonfinite && !skips) return explain_gradients(s);
    if (state->skipped_in_a_row < CAIRN_STEP_MOST_SKIPS) return CAIRN_OK;
    return cairn_fail(
        CAIRN_NONFINITE,
        "after update %" PRId64 " %d in a row were skipped: gradients overflow f16 even with a loss scale of %g: "
        "try --precision bf16 or fp32, or a --learning-rate below %.3g",
        state->updates, (int)state->skipped_in_a_row, (double)state->loss_scale, (double)s->learning_rate);
}

/* ---- reading ---- */

/* The totals of what is unread, or of `updates` with the one under way. `batch` as in explain_loss. */
static cairn_status read_totals(cairn_stepper *s, const cairn_batch *batch, int64_t updates, cairn_step_outcome *out)
{
    CAIRN_TRY(cairn_feed_totals(s->feed, out->totals));
    if (!isfinite(out->totals[0])) return explain_loss(s, batch);
    out->totals[0] /= (float)updates;
    out->updates = updates;
    out->weight = s->weight;
    out->learning_rate = s->learning_rate;
    s->weight = 0;
    return CAIRN_OK;
}

static cairn_status read_state(cairn_stepper *s, cairn_step_outcome *out)
{
    CAIRN_TRY(cairn_optimizer_read(s->options.optimizer, &out->state));
    CAIRN_TRY(check_state(s, &out->state));
    s->unread = 0;
    return CAIRN_OK;
}

cairn_status cairn_stepper_catch_up(cairn_stepper *stepper, cairn_step_outcome *out)
{
    *out = (cairn_step_outcome){0};
    if (stepper->unread == 0) return CAIRN_OK;
    CAIRN_TRY(read_totals(stepper, NULL, stepper->unread, out));
    return read_state(stepper, out);
}

/* ---- running ---- */

static cairn_status run_slices(cairn_stepper *s, const cairn_batch *batch)
{
    bool accumulate = false;
    for (int first = 0; first < s->options.batch; first += s->slice) {
        if (!slice_counts(s, first)) continue;
        CAIRN_TRY(run_slice(s, batch, first, accumulate));
        accumulate = true;
    }
    return cairn_feed_taken(s->feed);
}

static cairn_status update(const cairn_step_options *o)
{
    cairn_slab weights = cairn_net_weights(o->net), gradients = cairn_net_gradients(o->net);
    CAIRN_TRY(cairn_optimizer_step_scheduled(o->optimizer, &weights, &gradients, &o->schedule));
    return cairn_net_refresh(o->net, true);
}

cairn_status cairn_stepper_run(cairn_stepper *stepper, const cairn_batch *batch, cairn_step_outcome *out)
{
    cairn_stepper *s = stepper;
    const cairn_step_options *o = &s->options;
    *out = (cairn_step_outcome){0};
    double weight = weigh(s, batch);
    if (!(weight > 0)) return CAIRN_OK;
    s->weight += weight;
    s->learning_rate = cairn_schedule_at(&o->schedule, cairn_optimizer_updates(o->optimizer));

    CAIRN_TRY(run_slices(s, batch));
    if (s->read_every == 0) CAIRN_TRY(read_totals(s, batch, 1, out));
    CAIRN_TRY(update(o));
    s->unread++;
    if (s->read_every == 0) return read_state(s, out);
    if (cairn_optimizer_attempts(o->optimizer) % s->read_every != 0 && s->unread < MOST_UNREAD) return CAIRN_OK;
    CAIRN_TRY(read_totals(s, batch, s->unread, out));
    return read_state(s, out);
}
