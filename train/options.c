#include "train/options.h"
#include "models/models.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What suits each optimizer: the rate after warm-up and the weight decay, see docs/defaults.md. */
static const struct {
    float rate, decay;
} usual[] = {
    [CAIRN_UPDATE_SGD] = {3e-3f, 5e-4f},
    [CAIRN_UPDATE_ADAM] = {2e-4f, 0},
    [CAIRN_UPDATE_ADAMW] = {2e-4f, 0.01f},
};

/* A run of no given length makes at least this many updates, within these numbers of epochs. */
enum { USUAL_UPDATES = 400, FEWEST_EPOCHS = 10, MOST_EPOCHS = 200 };

/* The usual warm-up: a tenth of the run, at most this many updates. */
enum { WARMUP_SHARE = 10, MOST_WARMUP = 500 };

cairn_train_options cairn_train_defaults(void)
{
    cairn_train_options o = {
        .model = "alexnet",
        .preset = "owt",
        .dropout = -1,
        .batch = 32,
        .optimizer = cairn_optimizer_defaults(CAIRN_UPDATE_ADAMW),
        .schedule = {.kind = CAIRN_SCHEDULE_COSINE, .warmup = -1, .step_size = 1000, .gamma = 0.1f, .power = 1},
        .augment = CAIRN_AUGMENT_CROP,
        .val_split = 0.2,
        .max_bad = 0.01,
        .seed = 1,
        .report_every = 10,
        .alarm_wait = 0.5,
    };
    o.optimizer.weight_decay = -1;
    return o;
}

static cairn_status check_ranges(const cairn_train_options *o)
{
    const struct {
        const char *option;
        double value, least, most;
    } range[] = {
        {"--epochs", (double)o->epochs, 0, 1e6},
        {"--batch", o->batch, 1, 65536},
        {"--micro-batch", o->micro_batch, 0, o->batch},
        {"--dropout", (double)o->dropout, -INFINITY, (double)0.99f},
        {"--label-smoothing", (double)o->label_smoothing, 0, (double)0.99f},
        {"--learning-rate", (double)o->schedule.base, 0, 1000},
        {"--warmup", (double)o->schedule.warmup, -1, 1e9},
        {"--image-size", o->image_size, 0, 8192},
        {"--resize", o->resize, 0, 8192},
        {"--val-split", o->val_split, 0, 0.99},
        {"--max-bad", o->max_bad, 0, 1},
        {"--max-pixels", (double)o->max_pixels, 0, 1e15},
        {"--loader-threads", o->loader_threads, 0, 1024},
        {"--checkpoint-every", (double)o->checkpoint_every, 0, 1e12},
        {"--report-every", (double)o->report_every, 1, 1e12},
    };
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        if (!(range[i].value >= range[i].least && range[i].value <= range[i].most))
            return cairn_fail(CAIRN_USAGE, "%s is %g, and goes from %g to %g", range[i].option, range[i].value,
                              range[i].least, range[i].most);
    return CAIRN_OK;
}

cairn_status cairn_train_check(const cairn_train_options *options)
{
    const cairn_model_info *model;
    if (!options->device) return cairn_fail(CAIRN_USAGE, "there is no device to train on: open one first");
    if (!options->folder || !options->folder[0])
        return cairn_fail(CAIRN_USAGE, "there is no folder of pictures: name one, with a sub-folder for each class");
    CAIRN_TRY(check_ranges(options));
    if (options->micro_batch > 0 && options->batch % options->micro_batch != 0)
        return cairn_fail(CAIRN_USAGE, "--micro-batch %d doesn't divide --batch %d: give a divisor of it",
                          options->micro_batch, options->batch);
    CAIRN_TRY(cairn_model_find(options->model, options->preset, &model));
    int64_t size = options->image_size > 0 ? options->image_size : model->height;
    if (options->resize > 0 && options->resize < size)
        return cairn_fail(CAIRN_USAGE,
                          "--resize %d is less than the %" PRId64
                          " pixels that the net sees: give more, or a smaller --image-size",
                          options->resize, size);
    return CAIRN_OK;
}

cairn_status cairn_train_options_resolve(cairn_train_options *options, int64_t train_count)
{
    cairn_train_options *o = options;
    const cairn_model_info *model;
    CAIRN_TRY(cairn_model_find(o->model, o->preset, &model));
    o->model = model->name;
    o->preset = model->preset;
    if (o->micro_batch == 0) o->micro_batch = o->batch;
    if (o->image_size == 0) o->image_size = (int)model->height;
    if (o->resize == 0) o->resize = cairn_preprocess_default(o->image_size).resize;

    int64_t updates = (train_count + o->batch - 1) / o->batch; /* of an epoch */
    if (o->epochs == 0) {
        o->epochs = (USUAL_UPDATES + updates - 1) / updates;
        if (o->epochs < FEWEST_EPOCHS) o->epochs = FEWEST_EPOCHS;
        if (o->epochs > MOST_EPOCHS) o->epochs = MOST_EPOCHS;
    }
    o->schedule.updates = updates * o->epochs;
    if (o->schedule.base == 0) o->schedule.base = usual[o->optimizer.kind].rate;
    if (o->optimizer.weight_decay < 0) o->optimizer.weight_decay = usual[o->optimizer.kind].decay;
    if (o->schedule.warmup < 0) {
        o->schedule.warmup = o->schedule.updates / WARMUP_SHARE;
        if (o->schedule.warmup > MOST_WARMUP) o->schedule.warmup = MOST_WARMUP;
    }
    if (o->schedule.floor > o->schedule.base)
        return cairn_fail(CAIRN_USAGE,
                          "--floor %g is above the learning rate of %g: give a lower one, or a higher --learning-rate",
                          (double)o->schedule.floor, (double)o->schedule.base);
    if (o->schedule.warmup >= o->schedule.updates)
        return cairn_fail(CAIRN_USAGE,
                          "--warmup %" PRId64 " is not below the %" PRId64
                          " updates of the run: give fewer, or more --epochs",
                          o->schedule.warmup, o->schedule.updates);
    return cairn_schedule_check(&o->schedule);
}

void cairn_train_options_recipe(const cairn_train_options *options, char *text, size_t size)
{
    const cairn_train_options *o = options;
    const cairn_optimizer_options *p = &o->optimizer;
    const cairn_schedule *s = &o->schedule;
    snprintf(
        text, size,
        "epochs=%" PRId64
        " batch=%d micro-batch=%d optimizer=%s momentum=%.9g nesterov=%d beta1=%.9g beta2=%.9g eps=%.9g "
        "weight-decay=%.9g decay-biases=%d schedule=%s learning-rate=%.9g floor=%.9g warmup=%" PRId64
        " step-size=%" PRId64
        " gamma=%.9g power=%.9g label-smoothing=%.9g class-weights=%d augment=%s no-flip=%d max-bad=%.9g dropout=%.9g "
        "precision=%s",
        o->epochs, o->batch, o->micro_batch, cairn_optimizer_name(p->kind), (double)p->momentum, p->nesterov,
        (double)p->beta1, (double)p->beta2, (double)p->eps, (double)p->weight_decay, p->decay_biases,
        cairn_schedule_name(s->kind), (double)s->base, (double)s->floor, s->warmup, s->step_size, (double)s->gamma,
        (double)s->power, (double)o->label_smoothing, o->class_weights, cairn_augment_name(o->augment), o->no_flip,
        o->max_bad, (double)o->dropout, cairn_precision_name(o->precision));
}

/* The value of a name in a recipe, and its length; NULL where it isn't there. */
static const char *find_value(const char *recipe, const char *name, size_t length, size_t *value_length)
{
    for (const char *at = recipe; *at; at += strspn(at, " ")) {
        size_t whole = strcspn(at, " ");
        if (whole > length && at[length] == '=' && strncmp(at, name, length) == 0) {
            *value_length = whole - length - 1;
            return at + length + 1;
        }
        at += whole;
    }
    return NULL;
}

/* A recipe's value for a person: a float's 9 digits, which read back to the same, become the 6 that were meant. */
static void format_value(const char *value, size_t length, char text[32])
{
    char *end;
    snprintf(text, 32, "%.*s", (int)(length < 31 ? length : 31), value);
    double number = strtod(text, &end);
    if (end != text && *end == '\0' && strpbrk(text, ".e")) snprintf(text, 32, "%.6g", number);
}

void cairn_train_recipe_difference(const char *before, const char *now, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (const char *at = now; *at && used < size; at += strspn(at, " ")) {
        size_t name = strcspn(at, "= "), whole = strcspn(at, " "), there_length = 0, here_length = whole - name - 1;
        const char *there = find_value(before, at, name, &there_length), *here = at + name + 1;
        if (there && (there_length != here_length || strncmp(there, here, here_length) != 0)) {
            char was[32], is[32];
            format_value(there, there_length, was);
            format_value(here, here_length, is);
            int n = snprintf(text + used, size - used, "%s%.*s %s, was %s", used ? "; " : "", (int)name, at, is, was);
            used += n > 0 ? (size_t)n : 0;
        }
        at += whole;
    }
}
