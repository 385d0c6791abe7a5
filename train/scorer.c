#include "train/scorer.h"
#include "core/os.h"
#include "train/run_folder.h"
#include "train/trainer.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cairn_scorer {
    cairn_checkpoint *checkpoint;
    cairn_dataset *dataset;
    cairn_net *net;
    cairn_evaluator *evaluator;
    cairn_sample_list samples; /* what is scored; `joined` where it is of both parts, else the dataset's */
    cairn_sample *joined;
    char what[CAIRN_PATH_SIZE + 64];
};

enum { USUAL_BATCH = 32 };

/* The split that the run of this checkpoint made: split.tsv beside it. */
static bool find_split(const char *checkpoint, char *path, size_t size)
{
    char folder[CAIRN_PATH_SIZE];
    return cairn_run_folder_of(checkpoint, folder, sizeof folder) == CAIRN_OK &&
           cairn_os_join(path, size, folder, "split.tsv") == CAIRN_OK && cairn_os_stat(path, NULL) == CAIRN_OS_FILE;
}

/* The folder that the run beside the split was trained on, as its manifest tells it; false where that can't be told or the folder is gone. */
static bool find_trained_folder(const char *split, char *folder, size_t size)
{
    char run[CAIRN_PATH_SIZE], path[CAIRN_PATH_SIZE];
    const char *told = NULL;
    if (cairn_run_folder_of(split, run, sizeof run) != CAIRN_OK) return false;
    if (cairn_os_join(path, sizeof path, run, "manifest.json") != CAIRN_OK) return false;
    json_t *manifest = json_load_file(path, 0, NULL);
    json_unpack(manifest, "{s:{s:s}}", "data", "folder", &told);
    bool found = told && cairn_os_real_path(folder, size, told) == CAIRN_OK;
    json_decref(manifest);
    return found;
}

/* Is the split's first picture in the folder? */
static bool has_first_picture(const char *split, const char *folder)
{
    char line[CAIRN_PATH_SIZE], path[2 * CAIRN_PATH_SIZE];
    bool found = false;
    FILE *file = fopen(split, "r");
    if (!file) return false;
    if (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = '\0';
        const char *relative = strrchr(line, '\t');
        found = relative && cairn_os_join(path, sizeof path, folder, relative + 1) == CAIRN_OK &&
                cairn_os_stat(path, NULL) == CAIRN_OS_FILE;
    }
    fclose(file);
    return found;
}

/* Was the split made of this folder? A set of pictures that is numbered alike is none of it. Where the folder trained on is gone, it may
 * have been moved, and one that has the split's first picture is taken for it. */
static bool split_is_of(const char *split, const char *folder, const cairn_log *log)
{
    char trained[CAIRN_PATH_SIZE], given[CAIRN_PATH_SIZE];
    if (!find_trained_folder(split, trained, sizeof trained)) return has_first_picture(split, folder);
    if (cairn_os_real_path(given, sizeof given, folder) != CAIRN_OK) return false;
    if (strcmp(given, trained) == 0) return true;
    cairn_log_write(log, CAIRN_LOG_INFO, "%s is not the folder trained on (%s): every picture of it counts", folder,
                    trained);
    return false;
}

static cairn_status open_pictures(cairn_scorer *s, const char *checkpoint, const char *folder, cairn_evaluate_part part,
                                  const cairn_log *log)
{
    const cairn_checkpoint_info *info = cairn_checkpoint_information(s->checkpoint);
    char split[CAIRN_PATH_SIZE];
    cairn_dataset_options options = {.classes = info->class_name, .class_count = info->classes, .log = log};
    if (part != CAIRN_PART_ALL && find_split(checkpoint, split, sizeof split) && split_is_of(split, folder, log))
        return cairn_dataset_open_split(folder, split, &options, &s->dataset);
    return cairn_dataset_open(folder, &options, &s->dataset);
}

/* Picks the part; one that is empty falls back to all pictures. */
static cairn_status pick_samples(cairn_scorer *s, cairn_evaluate_part part)
{
    const cairn_sample_list *train = &s->dataset->train, *validation = &s->dataset->validation;
    const char *word = "pictures";
    if (part == CAIRN_PART_VALIDATION && validation->count > 0) {
        s->samples = *validation;
        word = "validation pictures";
    } else if (part == CAIRN_PART_TRAIN && train->count > 0 && validation->count > 0) {
        s->samples = *train;
        word = "training pictures";
    } else {
        s->samples.count = train->count + validation->count;
        s->joined = malloc((size_t)s->samples.count * sizeof *s->joined + 1);
        if (!s->joined)
            return cairn_fail(CAIRN_MEMORY, "no memory for a list of %" PRId64 " pictures", s->samples.count);
        memcpy(s->joined, train->sample, (size_t)train->count * sizeof *s->joined);
        if (validation->count > 0)
            memcpy(s->joined + train->count, validation->sample, (size_t)validation->count * sizeof *s->joined);
        s->samples.sample = s->joined;
    }
    snprintf(s->what, sizeof s->what, "%" PRId64 " %s of %s", s->samples.count, word, s->dataset->folder);
    return CAIRN_OK;
}

cairn_status cairn_scorer_create(const char *checkpoint, const char *folder, cairn_evaluate_part part, int batch,
                                 cairn_device *device, const cairn_evaluate_options *options, cairn_scorer **out)
{
    cairn_status status = CAIRN_OK;
    cairn_scorer *s = calloc(1, sizeof *s);
    cairn_evaluate_options evaluate = *options;
    *out = NULL;
    if (!s) return cairn_fail(CAIRN_MEMORY, "no memory for the record of a scoring");
    CAIRN_TRY_DONE(cairn_checkpoint_open(checkpoint, &s->checkpoint));
    CAIRN_TRY_DONE(open_pictures(s, checkpoint, folder, part, options->log));
    CAIRN_TRY_DONE(pick_samples(s, part));
    CAIRN_TRY_DONE(cairn_checkpoint_build(s->checkpoint, &s->net));
    CAIRN_TRY_DONE(cairn_net_plan(s->net, device, &(cairn_net_options){.batch = batch > 0 ? batch : USUAL_BATCH}));
    CAIRN_TRY_DONE(cairn_checkpoint_load(s->checkpoint, s->net, NULL));
    cairn_checkpoint_drop_tensors(s->checkpoint);
    evaluate.preprocess = cairn_checkpoint_information(s->checkpoint)->preprocess;
    CAIRN_TRY_DONE(cairn_evaluator_create(s->net, &s->samples, &evaluate, &s->evaluator));
    *out = s;
done:
    if (status != CAIRN_OK) cairn_scorer_destroy(s);
    return status;
}

cairn_status cairn_scorer_run(cairn_scorer *scorer, cairn_evaluation *out)
{
    return cairn_evaluator_run(scorer->evaluator, out);
}

const char *cairn_scorer_class_name(const cairn_scorer *scorer, int index)
{
    return cairn_checkpoint_information(scorer->checkpoint)->class_name[index];
}

const char *cairn_scorer_what(const cairn_scorer *scorer)
{
    return scorer->what;
}

void cairn_scorer_destroy(cairn_scorer *scorer)
{
    if (!scorer) return;
    cairn_evaluator_destroy(scorer->evaluator);
    cairn_net_destroy(scorer->net);
    cairn_dataset_close(scorer->dataset);
    cairn_checkpoint_close(scorer->checkpoint);
    free(scorer->joined);
    free(scorer);
}
