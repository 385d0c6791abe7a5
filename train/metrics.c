#include "train/metrics.h"

void cairn_metrics_add(cairn_metrics *metrics, const float totals[4], double weight)
{
    metrics->loss += (double)totals[0] * weight;
    metrics->weight += weight;
    metrics->top1 += (int64_t)totals[1];
    metrics->top5 += (int64_t)totals[2];
    metrics->samples += (int64_t)totals[3];
}

double cairn_metrics_loss(const cairn_metrics *metrics)
{
    return metrics->weight > 0 ? metrics->loss / metrics->weight : 0;
}

static double share(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

double cairn_metrics_top1(const cairn_metrics *metrics)
{
    return share(metrics->top1, metrics->samples);
}

double cairn_metrics_top5(const cairn_metrics *metrics)
{
    return share(metrics->top5, metrics->samples);
}

bool cairn_metrics_has_top5(int classes)
{
    return classes > 5;
}

int cairn_best_class(const float *logits, int classes)
{
    int best = 0;
    for (int c = 1; c < classes; c++)
        if (logits[c] > logits[best]) best = c;
    return best;
}
