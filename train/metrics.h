/* metrics.h - sums of loss and hits over batches, and their means.
 *
 *     cairn_metrics m = {0};
 *     cairn_metrics_add(&m, totals, weight);            totals: the f32[4] of cairn_net_loss, once a batch
 *     printf("loss %.4f, top-1 %.1f %%\n", cairn_metrics_loss(&m), 100 * cairn_metrics_top1(&m));
 */
#ifndef CAIRN_TRAIN_METRICS_H
#define CAIRN_TRAIN_METRICS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cairn_metrics {
    double loss;   /* sum of (weighted) losses */
    double weight; /* what it is divided by */
    int64_t samples, top1, top5;
} cairn_metrics;

/* Adds one update or batch: totals = { loss, top-1 hits, top-5 hits, samples }, as core/backend.h's softmax_loss leaves them when the scale of a
 * sample was 1 / `weight`: totals[0] is then a mean, and counts as much as its samples weigh. */
void cairn_metrics_add(cairn_metrics *metrics, const float totals[4], double weight);

/* Means; 0 before the first sample. Shares are in 0..1. */
double cairn_metrics_loss(const cairn_metrics *metrics);
double cairn_metrics_top1(const cairn_metrics *metrics);
double cairn_metrics_top5(const cairn_metrics *metrics);

/* Top-5 says nothing with five classes or fewer, and isn't shown then. */
bool cairn_metrics_has_top5(int classes);

/* The class with the largest logit; ties go to the lower class, as in softmax_loss. */
int cairn_best_class(const float *logits, int classes);

#endif
