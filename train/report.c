#include "core/os.h"
#include "train/alarms.h"
#include "train/trainer_state.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* Before this many updates a loss at ln(classes) tells nothing: small folders have several epochs in that time. */
enum { UPDATES_TO_LEARN = 100 };

static const double memory_interval = 1; /* seconds between two looks at the process's memory */

static double waited(const trainer *t)
{
    return cairn_loader_statistics(t->loader).waited;
}

static void window_start(const trainer *t, trainer_window *w)
{
    *w = (trainer_window){.start = cairn_os_seconds(), .waited = waited(t)};
}

static void window_add(trainer_window *w, const cairn_step_outcome *outcome)
{
    cairn_metrics_add(&w->metrics, outcome->totals, outcome->weight);
    w->pictures += (int64_t)outcome->totals[3];
    w->updates += outcome->updates;
}

/* Share of the time since the window's start that went into waiting for data. */
static double window_waiting(const trainer *t, const trainer_window *w)
{
    double seconds = cairn_os_seconds() - w->start;
    return seconds > 0 ? (waited(t) - w->waited) / seconds : 0;
}

static double window_rate(const trainer_window *w)
{
    double seconds = cairn_os_seconds() - w->start;
    return seconds > 0 ? (double)w->pictures / seconds : 0;
}

/* The window under way and the one before it: figures that don't jump when a report ends. */
static trainer_window recent(const trainer *t)
{
    trainer_window w = t->window;
    const trainer_window *p = &t->previous;
    if (p->updates == 0) return w;
    w.start = p->start;
    w.waited = p->waited;
    w.pictures += p->pictures;
    w.metrics.loss += p->metrics.loss;
    w.metrics.weight += p->metrics.weight;
    w.metrics.samples += p->metrics.samples;
    w.metrics.top1 += p->metrics.top1;
    w.metrics.top5 += p->metrics.top5;
    return w;
}

static void read_memory(trainer *t)
{
    double now = cairn_os_seconds();
    if (t->memory > 0 && now - t->memory_read < memory_interval) return;
    cairn_device_footprint(t->options.device, &t->memory, &t->memory_peak);
    t->memory_read = now;
}

static double seconds_left(const trainer *t)
{
    int64_t done = t->state.update - t->first_update, left = t->options.schedule.updates - t->state.update;
    if (done < 1) return -1;
    return (cairn_os_seconds() - t->start_training) / (double)done * (double)left;
}

static void show_progress(trainer *t, bool report)
{
    const cairn_train_options *o = &t->options;
    char text[CAIRN_PROGRESS_SIZE];
    if (!o->progress && !report) return;
    trainer_window w = report ? t->window : recent(t); /* what is kept says the same as metrics.jsonl */
    read_memory(t);
    const cairn_progress progress = {
        .epoch = t->state.epoch + 1,
        .epochs = o->epochs,
        .update = t->state.update,
        .updates = o->schedule.updates,
        .loss = cairn_metrics_loss(&w.metrics),
        .top1 = cairn_metrics_top1(&w.metrics),
        .learning_rate = t->learning_rate,
        .images_per_second = window_rate(&w),
        .waiting = window_waiting(t, &w),
        .eta = seconds_left(t),
        .memory = t->memory,
        .memory_peak = t->memory_peak,
        .device_memory = cairn_device_memory(o->device).held,
        .device = cairn_device_backend_name(o->device),
        .precision = cairn_precision_name(o->precision),
        .report = report,
    };
    if (report) cairn_run_folder_note(t->run, CAIRN_LOG_INFO, cairn_progress_format(&progress, text, sizeof text));
    if (o->progress) o->progress(o->progress_context, &progress);
}

/* One line of metrics.jsonl; takes the object. */
static cairn_status put_line(trainer *t, json_t *object)
{
    char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(object);
    if (!text) return cairn_fail(CAIRN_MEMORY, "no memory for a line of metrics.jsonl");
    cairn_status status = cairn_run_folder_metrics(t->run, text);
    free(text);
    return status;
}

static cairn_status end_report(trainer *t)
{
    const trainer_window *w = &t->window;
    if (w->updates == 0) return CAIRN_OK;
    read_memory(t);
    json_t *line = json_pack("{s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:I, s:f}", "kind", "train", "epoch",
                             (json_int_t)t->state.epoch + 1, "update", (json_int_t)t->state.update, "loss",
                             cairn_metrics_loss(&w->metrics), "top1", cairn_metrics_top1(&w->metrics), "learning_rate",
                             t->learning_rate, "images_per_second", window_rate(w), "waiting", window_waiting(t, w),
                             "memory", (json_int_t)t->memory, "seconds", cairn_os_seconds() - t->start);
    if (line && t->state.loss_scale > 0) {
        json_object_set_new(line, "loss_scale", json_real((double)t->state.loss_scale));
        json_object_set_new(line, "skipped", json_integer(t->state.skipped));
    }
    cairn_status status = put_line(t, line);
    t->previous = *w;
    window_start(t, &t->window);
    return status;
}

void trainer_report_start(trainer *t)
{
    t->start_training = cairn_os_seconds();
    t->first_update = t->state.update;
}

void trainer_report_start_epoch(trainer *t)
{
    t->previous = (trainer_window){0};
    t->part_of_epoch = t->state.position > 0;
    window_start(t, &t->window);
    window_start(t, &t->epoch);
}

cairn_status trainer_report_update(trainer *t, const cairn_step_outcome *outcome)
{
    t->learning_rate = (double)outcome->learning_rate;
    window_add(&t->window, outcome);
    window_add(&t->epoch, outcome);
    bool report = cairn_optimizer_attempts(t->optimizer) % t->options.report_every == 0;
    show_progress(t, report);
    return report ? end_report(t) : CAIRN_OK;
}

void trainer_report_evaluating(trainer *t, int64_t done, int64_t total)
{
    const cairn_train_options *o = &t->options;
    if (!o->progress) return;
    read_memory(t);
    const cairn_progress progress = {
        .epoch = t->state.epoch + 1,
        .epochs = o->epochs,
        .update = done,
        .updates = total,
        .eta = -1,
        .memory = t->memory,
        .memory_peak = t->memory_peak,
        .device_memory = cairn_device_memory(o->device).held,
        .device = cairn_device_backend_name(o->device),
        .precision = cairn_precision_name(o->precision),
        .evaluating = true,
    };
    o->progress(o->progress_context, &progress);
}

cairn_status trainer_report_trained(trainer *t)
{
    char text[CAIRN_ALARM_SIZE];
    const trainer_window *e = &t->epoch;
    CAIRN_TRY(end_report(t));
    if (e->updates == 0) return CAIRN_OK; /* resumed after the last update of an epoch */
    double loss = cairn_metrics_loss(&e->metrics), seconds = cairn_os_seconds() - e->start;
    t->training_seconds += seconds;
    t->training_pictures += e->pictures;
    t->result->train_loss = loss;
    cairn_log_write(t->log, CAIRN_LOG_INFO,
                    "epoch %" PRId64 "/%" PRId64
                    ": training   loss %.4f, top-1 %.1f %%, %.1f images/s, waiting %.0f %%%s",
                    t->state.epoch + 1, t->options.epochs, loss, 100 * cairn_metrics_top1(&e->metrics), window_rate(e),
                    100 * window_waiting(t, e), t->part_of_epoch ? ", all since the resume" : "");
    if (!t->told_plateau && t->state.update >= UPDATES_TO_LEARN &&
        cairn_alarm_plateau(loss, t->state.classes, (double)t->options.schedule.base, text, sizeof text)) {
        cairn_log_write(t->log, CAIRN_LOG_WARNING, "%s", text);
        t->told_plateau = true;
    }
    int threads = t->options.loader_threads > 0 ? t->options.loader_threads : cairn_os_processor_count();
    if (!t->told_waiting &&
        cairn_alarm_waiting(window_waiting(t, e), t->options.alarm_wait, threads, text, sizeof text)) {
        cairn_log_write(t->log, CAIRN_LOG_WARNING, "%s", text);
        t->told_waiting = true;
    }
    return CAIRN_OK;
}

cairn_status trainer_report_evaluated(trainer *t, const cairn_evaluation *evaluation, bool best)
{
    char text[CAIRN_ALARM_SIZE], top5[48] = "";
    const cairn_evaluation *v = evaluation;
    bool show_top5 = cairn_metrics_has_top5(v->classes);
    if (show_top5) snprintf(top5, sizeof top5, ", top-5 %.1f %%", 100 * v->top5);
    cairn_log_write(t->log, CAIRN_LOG_INFO, "epoch %" PRId64 "/%" PRId64 ": validation loss %.4f, top-1 %.1f %%%s%s",
                    t->state.epoch + 1, t->options.epochs, v->loss, 100 * v->top1, top5,
                    best ? ", the best so far" : "");
    int most = v->most_predicted_class;
    if (t->state.update >= UPDATES_TO_LEARN &&
        cairn_alarm_one_answer(v->most_predicted, v->per_class[most].samples, v->samples, t->state.class_name[most],
                               text, sizeof text))
        cairn_log_write(t->log, CAIRN_LOG_WARNING, "%s", text);
    json_t *line = json_pack("{s:s, s:I, s:I, s:I, s:I, s:f, s:f, s:b, s:f}", "kind", "evaluation", "epoch",
                             (json_int_t)t->state.epoch + 1, "update", (json_int_t)t->state.update, "samples",
                             (json_int_t)v->samples, "unreadable", (json_int_t)v->unreadable, "loss", v->loss, "top1",
                             v->top1, "best", (int)best, "seconds", v->seconds);
    if (line && show_top5 && json_object_set_new(line, "top5", json_real(v->top5)) != 0) {
        json_decref(line);
        line = NULL;
    }
    return put_line(t, line);
}
