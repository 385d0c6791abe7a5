#include "train/alarms.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* How near to ln(classes) a loss counts as guessing: real learning is past this within the first dozens of updates. */
static const double plateau_share = 0.98;
static const double diverging_factor = 1.5;
static const double unbalanced_share = 0.6;
static const double one_answer_share = 0.95, one_class_share = 0.8;

bool cairn_alarm_plateau(double loss, int classes, double learning_rate, char *text, size_t size)
{
    double guessing = log((double)classes);
    if (classes < 2 || !(loss >= plateau_share * guessing)) return false;
    if (loss > diverging_factor * guessing)
        snprintf(text, size,
                 "the training loss of this epoch is %.3f, far above the %.3f of guessing among %d classes: the run "
                 "diverges. "
                 "The learning rate (%.2g) is too high: try --learning-rate %.2g, or a longer --warmup",
                 loss, guessing, classes, learning_rate, learning_rate / 10);
    else
        snprintf(text, size,
                 "the training loss of this epoch is %.3f, and guessing among %d classes gives ln(%d) = %.3f: the net "
                 "has learned nothing yet. "
                 "The learning rate (%.2g) is too high or the start too rough: try --learning-rate %.2g, a longer "
                 "--warmup, or --optimizer adamw",
                 loss, classes, classes, guessing, learning_rate, learning_rate / 3);
    return true;
}

bool cairn_alarm_waiting(double share, double limit, int loader_threads, char *text, size_t size)
{
    if (!(share > limit)) return false;
    snprintf(text, size,
             "%.0f %% of the time went into waiting for pictures (%d loader threads): decoding is the bottleneck. "
             "Try more --loader-threads, smaller picture files (short side 256), or a faster disk",
             100 * share, loader_threads);
    return true;
}

bool cairn_alarm_unbalanced(const int64_t *count, int classes, const char *const *name, bool weighted, char *text,
                            size_t size)
{
    int64_t all = 0;
    int largest = 0;
    for (int c = 0; c < classes; c++) {
        all += count[c];
        if (count[c] > count[largest]) largest = c;
    }
    if (classes < 2 || all == 0 || weighted || (double)count[largest] <= unbalanced_share * (double)all) return false;
    double share = 100 * (double)count[largest] / (double)all;
    snprintf(text, size,
             "class \"%s\" has %.0f %% of the training pictures: a net that always answers it is right that often. "
             "Look at the accuracy of each class (cairn eval), add pictures of the others, or try --class-weights",
             name[largest], share);
    return true;
}

bool cairn_alarm_one_answer(int64_t predicted, int64_t of_class, int64_t samples, const char *name, char *text,
                            size_t size)
{
    if (samples < 1 || (double)predicted <= one_answer_share * (double)samples ||
        (double)of_class >= one_class_share * (double)samples)
        return false;
    snprintf(text, size,
             "the net answers \"%s\" for %" PRId64 " of %" PRId64 " validation pictures, and %" PRId64
             " are of it: it has collapsed onto one class. "
             "Try a lower learning rate, a longer warm-up, or --class-weights",
             name, predicted, samples, of_class);
    return true;
}
