/* evaluate.h - how well a net does on a list of pictures: loss, top-1, top-5, and each class by itself.
 *
 *     cairn_evaluator *evaluator;
 *     CAIRN_TRY(cairn_evaluator_create(net, &dataset->validation, &options, &evaluator));
 *     cairn_evaluation result;
 *     CAIRN_TRY(cairn_evaluator_run(evaluator, &result));             as often as wanted; allocates nothing
 *     cairn_evaluator_destroy(evaluator);
 *
 * Each picture counts once, whatever the batch; unreadable ones are left out and counted. Loss is the plain cross-entropy, without smoothing or
 * class weights.
 */
#ifndef CAIRN_TRAIN_EVALUATE_H
#define CAIRN_TRAIN_EVALUATE_H

#include "core/log.h"
#include "data/dataset.h"
#include "data/transform.h"
#include "layers/net.h"

typedef struct cairn_class_score {
    int64_t samples, correct;
} cairn_class_score;

typedef struct cairn_evaluation {
    int64_t samples;    /* pictures counted */
    int64_t unreadable; /* left out */
    double loss, top1, top5;
    int classes;
    const cairn_class_score *per_class; /* [classes]; the evaluator's, until its next run */
    int64_t most_predicted;             /* how often the class predicted most often was predicted */
    int most_predicted_class;
    double seconds;
} cairn_evaluation;

typedef struct cairn_evaluator cairn_evaluator;

typedef struct cairn_evaluate_options {
    cairn_preprocess preprocess;
    int loader_threads; /* 0: as many as processors */
    double max_bad;     /* as in data/loader.h */
    int64_t max_pixels;
    const cairn_log *log; /* bad files are named here; may be NULL */

    /* After each batch, both may be NULL: how far it is, and whether to stop (the run then ends with CAIRN_INTERRUPTED). */
    void (*progress)(void *context, int64_t done, int64_t total);
    bool (*stop_requested)(void *context);
    void *context;
} cairn_evaluate_options;

/* The net is planned; its batch is the evaluation's. It and the samples must outlive the evaluator. */
cairn_status cairn_evaluator_create(cairn_net *net, const cairn_sample_list *samples,
                                    const cairn_evaluate_options *options, cairn_evaluator **out);
cairn_status cairn_evaluator_run(cairn_evaluator *evaluator, cairn_evaluation *out);
void cairn_evaluator_destroy(cairn_evaluator *evaluator); /* NULL is allowed */

#endif
