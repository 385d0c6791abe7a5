#include "train/evaluate.h"
#include "core/os.h"
#include "data/loader.h"
#include "train/feed.h"
#include "train/metrics.h"
#include "train/nonfinite.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cairn_evaluator {
    cairn_net *net;
    const cairn_sample_list *samples;
    cairn_evaluate_options options;
    cairn_loader *loader;
    cairn_feed *feed;
    float *logits; /* [batch][classes] */
    float *scale;  /* [batch] */
    int batch, classes;
    cairn_class_score *score; /* [classes] */
    int64_t *predicted;       /* [classes]: how often each was the answer */
};

cairn_status cairn_evaluator_create(cairn_net *net, const cairn_sample_list *samples,
                                    const cairn_evaluate_options *options, cairn_evaluator **out)
{
    *out = NULL;
    if (samples->count < 1) return cairn_fail(CAIRN_DATA, "there is no picture to evaluate on");
    cairn_status status = CAIRN_OK;
    cairn_evaluator *e = calloc(1, sizeof *e);
    if (!e) return cairn_fail(CAIRN_MEMORY, "no memory for the record of an evaluation");
    e->net = net;
    e->samples = samples;
    e->options = *options;
    e->batch = (int)cairn_net_batch(net);
    e->classes = (int)cairn_net_classes(net);
    e->logits = calloc((size_t)e->batch * (size_t)e->classes, sizeof *e->logits);
    e->scale = calloc((size_t)e->batch, sizeof *e->scale);
    e->score = calloc((size_t)e->classes, sizeof *e->score);
    e->predicted = calloc((size_t)e->classes, sizeof *e->predicted);
    if (!e->logits || !e->scale || !e->score || !e->predicted)
        CAIRN_TRY_DONE(cairn_fail(CAIRN_MEMORY, "no memory for the results of an evaluation: %d classes, batch %d",
                                  e->classes, e->batch));
    CAIRN_TRY_DONE(cairn_feed_create(net, &options->preprocess, NULL, &e->feed));
    cairn_loader_options loader = {
        .samples = samples,
        .preprocess = options->preprocess,
        .augment = CAIRN_AUGMENT_NONE,
        .batch = e->batch,
        .threads = options->loader_threads,
        .max_bad = options->max_bad,
        .max_pixels = options->max_pixels,
        .device = cairn_net_device(net),
        .log = options->log,
    };
    CAIRN_TRY_DONE(cairn_loader_create(&loader, &e->loader));
    *out = e;
done:
    if (status != CAIRN_OK) cairn_evaluator_destroy(e);
    return status;
}

void cairn_evaluator_destroy(cairn_evaluator *evaluator)
{
    if (!evaluator) return;
    cairn_loader_destroy(evaluator->loader);
    cairn_feed_destroy(evaluator->feed);
    free(evaluator->logits);
    free(evaluator->scale);
    free(evaluator->score);
    free(evaluator->predicted);
    free(evaluator);
}

/* Each class by itself, from the logits of the batch. */
static cairn_status count_classes(cairn_evaluator *e, const cairn_batch *batch)
{
    cairn_tensor output = cairn_net_output(e->net);
    CAIRN_TRY(cairn_device_download(output.device, e->logits, output.data,
                                    (size_t)e->batch * (size_t)e->classes * sizeof *e->logits));
    for (int i = 0; i < batch->count; i++) {
        if (!batch->valid[i]) continue;
        int answer = cairn_best_class(e->logits + (size_t)i * (size_t)e->classes, e->classes);
        e->predicted[answer]++;
        e->score[batch->label[i]].samples++;
        e->score[batch->label[i]].correct += answer == batch->label[i];
    }
    return CAIRN_OK;
}

static cairn_status run_batch(cairn_evaluator *e, const cairn_batch *batch, cairn_metrics *metrics)
{
    int valid = 0;
    for (int i = 0; i < e->batch; i++)
        valid += batch->valid[i] != 0;
    if (valid == 0) return CAIRN_OK;
    for (int i = 0; i < e->batch; i++)
        e->scale[i] = batch->valid[i] ? 1.0f / (float)valid : 0;
    const cairn_forward forward = {.train = false};
    CAIRN_TRY(cairn_feed_images(e->feed, batch->rgb, batch->label, e->scale));
    CAIRN_TRY(cairn_net_forward(e->net, &forward));
    CAIRN_TRY(cairn_feed_loss(e->feed, 0, NULL, false));
    float totals[4];
    CAIRN_TRY(cairn_feed_totals(e->feed, totals));
    if (!isfinite(totals[0])) {
        cairn_status found = cairn_find_nonfinite(e->net, e->feed, batch->rgb, &forward);
        return cairn_fail_nonfinite(found, "evaluation: the loss", "");
    }
    cairn_metrics_add(metrics, totals, valid);
    return count_classes(e, batch);
}

static cairn_status run_batches(cairn_evaluator *e, cairn_metrics *metrics)
{
    const cairn_evaluate_options *o = &e->options;
    int64_t done = 0;
    CAIRN_TRY(cairn_loader_start(e->loader, 0, 0));
    for (;;) {
        const cairn_batch *batch;
        CAIRN_TRY(cairn_loader_next(e->loader, &batch));
        if (!batch) return CAIRN_OK;
        cairn_status status = run_batch(e, batch, metrics);
        done += batch->count;
        cairn_loader_release(e->loader, batch);
        CAIRN_TRY(status);
        if (o->progress) o->progress(o->context, done, e->samples->count);
        if (o->stop_requested && o->stop_requested(o->context))
            return cairn_fail(CAIRN_INTERRUPTED, "stopped as asked, after %" PRId64 " of %" PRId64 " pictures", done,
                              e->samples->count);
    }
}

cairn_status cairn_evaluator_run(cairn_evaluator *evaluator, cairn_evaluation *out)
{
    cairn_evaluator *e = evaluator;
    cairn_metrics metrics = {0};
    double start = cairn_os_seconds();
    memset(e->score, 0, (size_t)e->classes * sizeof *e->score);
    memset(e->predicted, 0, (size_t)e->classes * sizeof *e->predicted);
    CAIRN_TRY(run_batches(e, &metrics));
    if (metrics.samples == 0)
        return cairn_fail(CAIRN_DATA, "none of the %" PRId64 " pictures to evaluate on can be read", e->samples->count);
    *out = (cairn_evaluation){
        .samples = metrics.samples,
        .unreadable = e->samples->count - metrics.samples,
        .loss = cairn_metrics_loss(&metrics),
        .top1 = cairn_metrics_top1(&metrics),
        .top5 = cairn_metrics_top5(&metrics),
        .classes = e->classes,
        .per_class = e->score,
        .seconds = cairn_os_seconds() - start,
    };
    for (int c = 0; c < e->classes; c++) {
        if (e->predicted[c] <= out->most_predicted) continue;
        out->most_predicted = e->predicted[c];
        out->most_predicted_class = c;
    }
    return CAIRN_OK;
}
