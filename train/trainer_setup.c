#include "core/os.h"
#include "train/alarms.h"
#include "train/early_log.h"
#include "train/options.h"
#include "train/trainer_state.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- pictures ---- */

static cairn_status open_dataset(trainer *t, const cairn_log *log)
{
    const cairn_train_options *o = &t->options;
    char folder[CAIRN_PATH_SIZE], split[CAIRN_PATH_SIZE];
    cairn_dataset_options options = {.val_split = o->val_split, .seed = o->seed, .log = log};
    if (t->source) {
        const cairn_checkpoint_info *info = cairn_checkpoint_information(t->source);
        if (cairn_os_stat(o->folder, NULL) == CAIRN_OS_MISSING)
            return cairn_fail(CAIRN_DATA,
                              "%s: the pictures are gone from there: bring them back, or say where they are now: cairn "
                              "train NEWFOLDER --resume %s",
                              o->folder, o->resume);
        options.classes = info->class_name;
        options.class_count = info->classes;
        CAIRN_TRY(cairn_run_folder_of(o->resume, folder, sizeof folder));
        CAIRN_TRY(cairn_os_join(split, sizeof split, folder, "split.tsv"));
        if (cairn_os_stat(split, NULL) == CAIRN_OS_FILE)
            return cairn_dataset_open_split(o->folder, split, &options, &t->dataset);
    }
    return cairn_dataset_open(o->folder, &options, &t->dataset);
}

static void tell_dataset(const trainer *t)
{
    const cairn_dataset *d = t->dataset;
    char text[CAIRN_ALARM_SIZE];
    cairn_log_write(t->log, CAIRN_LOG_INFO,
                    "%s: %d classes, %" PRId64 " pictures to train on, %" PRId64 " for validation%s", d->folder,
                    d->classes, d->train.count, d->validation.count, d->own_split ? " (its own train/ and val/)" : "");
    if (t->options.batch > d->train.count)
        cairn_log_write(t->log, CAIRN_LOG_WARNING,
                        "--batch %d is more than the %" PRId64
                        " pictures to train on: an epoch is one update of them all; "
                        "a smaller --batch makes more updates",
                        t->options.batch, d->train.count);
    if (d->validation.count == 0)
        cairn_log_write(t->log, CAIRN_LOG_WARNING,
                        "there are no validation pictures: no best.safetensors is kept, only last.safetensors; "
                        "give --val-split 0.2 or a val/ folder to know how good the net is");
    if (cairn_alarm_unbalanced(d->train_count, d->classes, (const char *const *)d->class_name, t->options.class_weights,
                               text, sizeof text))
        cairn_log_write(t->log, CAIRN_LOG_WARNING, "%s", text);
}

/* ---- the run folder ---- */

/* classes.txt, a name a line. */
static cairn_status write_classes(const trainer *t)
{
    size_t size = 1, used = 0;
    for (int c = 0; c < t->dataset->classes; c++)
        size += strlen(t->dataset->class_name[c]) + 1;
    char *text = malloc(size);
    if (!text) return cairn_fail(CAIRN_MEMORY, "no memory for the class names");
    text[0] = '\0';
    for (int c = 0; c < t->dataset->classes; c++)
        used += (size_t)snprintf(text + used, size - used, "%s\n", t->dataset->class_name[c]);
    cairn_status status = cairn_run_folder_put(t->run, "classes.txt", text);
    free(text);
    return status;
}

static void hash_part(XXH3_state_t *hash, const cairn_dataset *d, const char *part, const cairn_sample_list *list)
{
    size_t skip = strlen(d->folder);
    for (int64_t i = 0; i < list->count; i++) {
        const cairn_sample *sample = &list->sample[i];
        const char *name = d->class_name[sample->label];
        XXH3_64bits_update(hash, part, strlen(part) + 1);
        XXH3_64bits_update(hash, name, strlen(name) + 1);
        XXH3_64bits_update(hash, sample->path + skip, strlen(sample->path + skip) + 1);
    }
}

/* The split's fingerprint: of relative paths, so it is the same wherever the pictures lie. */
static cairn_status fingerprint_split(trainer *t)
{
    XXH3_state_t *hash = XXH3_createState();
    if (!hash || XXH3_64bits_reset(hash) == XXH_ERROR) {
        XXH3_freeState(hash);
        return cairn_fail(CAIRN_MEMORY, "no memory to tell one split from another");
    }
    hash_part(hash, t->dataset, "train", &t->dataset->train);
    hash_part(hash, t->dataset, "val", &t->dataset->validation);
    snprintf(t->state.split, sizeof t->state.split, "%016" PRIx64, (uint64_t)XXH3_64bits_digest(hash));
    XXH3_freeState(hash);
    return CAIRN_OK;
}

static cairn_status write_split(const trainer *t)
{
    char path[CAIRN_PATH_SIZE];
    CAIRN_TRY(cairn_run_folder_file(t->run, "split.tsv", path, sizeof path));
    return cairn_dataset_save_split(t->dataset, path);
}

static cairn_status open_run_folder(trainer *t)
{
    char path[CAIRN_PATH_SIZE];
    if (t->options.run_folder)
        snprintf(path, sizeof path, "%s", t->options.run_folder);
    else if (t->source)
        CAIRN_TRY(cairn_run_folder_of(t->options.resume, path, sizeof path));
    else
        CAIRN_TRY(cairn_run_folder_claim(t->options.folder, path, sizeof path));
    CAIRN_TRY(cairn_run_folder_open(path, t->source != NULL, t->options.log, &t->run));
    t->log = cairn_run_folder_log(t->run);
    return CAIRN_OK;
}

/* ---- net and loader ---- */

static cairn_model_options model_options(const cairn_train_options *o)
{
    return (cairn_model_options){.dropout = o->dropout,
                                 .paper_init = o->paper_init,
                                 .image_size = o->image_size,
                                 .width_divisor = o->width_divisor};
}

static void fill_state(trainer *t)
{
    const cairn_train_options *o = &t->options;
    cairn_checkpoint_info *s = &t->state;
    snprintf(s->model, sizeof s->model, "%s", o->model);
    snprintf(s->preset, sizeof s->preset, "%s", o->preset);
    s->model_options = model_options(o);
    s->classes = t->dataset->classes;
    s->class_name = (const char *const *)t->dataset->class_name;
    s->preprocess = cairn_preprocess_default(o->image_size);
    s->preprocess.resize = o->resize;
    s->seed = o->seed;
    s->batch = o->batch;
    snprintf(s->optimizer, sizeof s->optimizer, "%s", cairn_optimizer_name(o->optimizer.kind));
    snprintf(s->precision, sizeof s->precision, "%s", cairn_precision_name(o->precision));
    cairn_train_options_recipe(o, s->recipe, sizeof s->recipe);
}

static cairn_status make_loader(trainer *t)
{
    const cairn_train_options *o = &t->options;
    const cairn_loader_options options = {
        .samples = &t->dataset->train,
        .preprocess = t->state.preprocess,
        .augment = o->augment,
        .no_flip = o->no_flip,
        .shuffle = true,
        .seed = o->seed,
        .batch = o->batch,
        .threads = o->loader_threads,
        .max_bad = o->max_bad,
        .max_pixels = o->max_pixels,
        .device = o->device,
        .log = t->log,
    };
    return cairn_loader_create(&options, &t->loader);
}

/* ---- all of it ---- */

/* A resumed run goes on in the precision it had, where nothing else is asked for: timing might choose otherwise today. */
static cairn_status resolve_precision(trainer *t, const cairn_log *log)
{
    cairn_train_options *o = &t->options;
    char reason[CAIRN_PRECISION_REASON_SIZE];
    const cairn_precision_trial trial = {
        .device = o->device,
        .model = o->model,
        .preset = o->preset,
        .classes = t->dataset->classes,
        .model_options = model_options(o),
        .batch = o->micro_batch,
    };
    if (t->source && o->precision == CAIRN_PRECISION_AUTO)
        CAIRN_TRY(cairn_precision_parse(cairn_checkpoint_information(t->source)->precision, &o->precision));
    CAIRN_TRY(cairn_precision_resolve(&trial, &o->precision, reason));
    cairn_log_write(log, CAIRN_LOG_INFO, "precision %s%s%s", cairn_precision_name(o->precision), *reason ? ": " : "",
                    reason);
    return CAIRN_OK;
}

/* Nothing of an old run is touched before the checkpoint is known to belong here. */
static cairn_status open_files(trainer *t, const cairn_log *log)
{
    CAIRN_TRY(cairn_train_options_resolve(&t->options, t->dataset->train.count));
    CAIRN_TRY(resolve_precision(t, log));
    fill_state(t);
    CAIRN_TRY(cairn_checkpoint_check(&t->state));
    CAIRN_TRY(fingerprint_split(t));
    if (t->source) CAIRN_TRY(trainer_check_source(t));
    CAIRN_TRY(trainer_create_net(t)); /* before a folder is made for a net that can't be */
    CAIRN_TRY(open_run_folder(t));
    if (!t->source) return CAIRN_OK;
    return trainer_take_position(t);
}

static cairn_status make_parts(trainer *t)
{
    CAIRN_TRY(write_classes(t));
    CAIRN_TRY(write_split(t));
    if (t->options.config_text) CAIRN_TRY(cairn_run_folder_put(t->run, "config", t->options.config_text));
    CAIRN_TRY(trainer_make_passes(t));
    return make_loader(t);
}

cairn_status trainer_open(trainer *t)
{
    /* What is said before there is a log.txt waits, so that it stands there too and the device comes first. */
    cairn_early_log *early;
    CAIRN_TRY(cairn_early_log_create(&early));
    const cairn_log *log = cairn_early_log_sink(early);
    cairn_log_write(log, CAIRN_LOG_INFO, "training on %s", cairn_device_name(t->options.device));
    cairn_status status = trainer_open_source(t);
    if (status == CAIRN_OK) status = open_dataset(t, log);
    if (status == CAIRN_OK) status = open_files(t, log);
    cairn_log warnings = t->log ? *t->log : (cairn_log){0};
    if (warnings.level < CAIRN_LOG_WARNING) warnings.level = CAIRN_LOG_WARNING;
    cairn_early_log_replay(early,
                           status == CAIRN_OK ? t->log : &warnings); /* a refusal comes without the news of a start */
    cairn_early_log_destroy(early);
    CAIRN_TRY(status);

    tell_dataset(t);
    if (t->source) {
        char changes[512];
        const char *recipe = cairn_checkpoint_information(t->source)->recipe;
        cairn_train_recipe_difference(recipe, t->state.recipe, changes, sizeof changes);
        if (changes[0]) cairn_log_write(t->log, CAIRN_LOG_WARNING, "the options differ from those before: %s", changes);
        cairn_log_write(t->log, CAIRN_LOG_INFO, "going on with %s after update %" PRId64 ", epoch %" PRId64,
                        t->options.resume, t->state.update, t->state.epoch);
    }
    cairn_log_write(t->log, CAIRN_LOG_INFO, "run folder %s", cairn_run_folder_path(t->run));
    return make_parts(t);
}

void trainer_close(trainer *t)
{
    cairn_evaluator_destroy(t->evaluator);
    cairn_loader_destroy(t->loader);
    cairn_stepper_destroy(t->stepper);
    cairn_optimizer_destroy(t->optimizer);
    cairn_net_destroy(t->net);
    cairn_run_folder_close(t->run);
    cairn_dataset_close(t->dataset);
    cairn_checkpoint_close(t->source);
}
