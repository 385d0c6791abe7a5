/* bench.c - `cairn bench`: the training step on made-up pictures, timed. */
#include "cairn.h"
#include "cli/command.h"
#include "cli/device.h"
#include "cli/json.h"
#include "cli/synthetic.h"
#include "cli/table.h"
#include <stddef.h>
#include <stdlib.h>

enum { FIRST_LOSSES = 3 };

/* What was measured; times are medians in milliseconds. */
typedef struct measurement {
    cairn_precision precision;
    double step, forward, backward, update;
    double images_per_second, gflops;
    double peak_before, peak_after, peak_share;
    double first_update;               /* seconds from the start of the program */
    int64_t resident, peak_resident;   /* of the process */
    int64_t device_bytes, device_peak; /* see cairn_device_footprint */
    float loss[FIRST_LOSSES];          /* of the first updates */
    int losses;
} measurement;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *value, int count)
{
    qsort(value, (size_t)count, sizeof *value, by_value);
    return count % 2 ? value[count / 2] : 0.5 * (value[count / 2 - 1] + value[count / 2]);
}

/* Runs `steps` steps and keeps the medians of their parts. */
static cairn_status time_steps(cli_synthetic *synthetic, int steps, measurement *m)
{
    double *seconds = calloc((size_t)steps * 4, sizeof *seconds);
    if (!seconds) return cairn_fail(CAIRN_MEMORY, "no memory for the times of %d steps", steps);
    cairn_status status = CAIRN_OK;
    for (int i = 0; i < steps && status == CAIRN_OK; i++) {
        cli_step_times t = {0};
        status = cli_synthetic_step(synthetic, &t);
        seconds[i] = t.forward + t.backward + t.update;
        seconds[steps + i] = t.forward;
        seconds[2 * steps + i] = t.backward;
        seconds[3 * steps + i] = t.update;
    }
    if (status == CAIRN_OK) {
        m->step = 1e3 * median(seconds, steps);
        m->forward = 1e3 * median(seconds + steps, steps);
        m->backward = 1e3 * median(seconds + 2 * (ptrdiff_t)steps, steps);
        m->update = 1e3 * median(seconds + 3 * (ptrdiff_t)steps, steps);
    }
    free(seconds);
    return status;
}

/* The steps before the measured ones. Their losses show that another program computes the same. */
static cairn_status warm_up(cairn_device *device, cli_synthetic *synthetic, cli_terminal *terminal, int steps,
                            measurement *m)
{
    for (int i = 0; i < steps; i++) {
        cli_step_times t;
        CAIRN_TRY(cli_synthetic_step(synthetic, &t));
        if (i == 0) {
            m->first_update = cli_terminal_age(terminal);
            m->peak_before = device->backend->peak_gflops(device, cairn_precision_dtype(m->precision));
        }
        if (i < FIRST_LOSSES) CAIRN_TRY(cli_synthetic_loss(synthetic, &m->loss[m->losses++]));
    }
    return CAIRN_OK;
}

static cairn_status measure(const cli_options *options, cairn_device *device, cli_synthetic *synthetic,
                            cli_terminal *terminal, measurement *m)
{
    int steps = (int)cli_int(options, OPTION_STEPS), untimed = (int)cli_int(options, OPTION_UNTIMED);
    CAIRN_TRY(warm_up(device, synthetic, terminal, untimed, m));
    cli_progress(terminal, "timing %d steps", steps);
    CAIRN_TRY(time_steps(synthetic, steps, m));
    m->peak_after = device->backend->peak_gflops(device, cairn_precision_dtype(m->precision));
    m->resident = cairn_os_resident_bytes();
    m->peak_resident = cairn_os_peak_resident_bytes();
    cairn_device_footprint(device, &m->device_bytes, &m->device_peak);
    m->images_per_second = 1e3 * (double)cli_synthetic_batch(synthetic) / m->step;
    m->gflops = cli_synthetic_flops(synthetic) / (m->step * 1e-3) * 1e-9;
    double peak = 0.5 * (m->peak_before + m->peak_after);
    m->peak_share = peak > 0 ? m->gflops / peak : 0;
    float last;
    return cli_synthetic_loss(synthetic, &last);
}

static cairn_status print_text(const measurement *m, const cli_terminal *terminal)
{
    cli_table *table;
    CAIRN_TRY(cli_table_create(3, (const char *[]){"part", ">ms", ">share"}, &table));
    const struct {
        const char *name;
        double ms;
    } part[] = {{"forward and loss", m->forward}, {"backward", m->backward}, {"update", m->update}, {"step", m->step}};
    cairn_status status = CAIRN_OK;
    for (int i = 0; i < 4 && status == CAIRN_OK; i++) {
        char ms[32], share[32];
        snprintf(ms, sizeof ms, "%.1f", part[i].ms);
        snprintf(share, sizeof share, "%.0f %%", 100 * part[i].ms / m->step);
        if (i == 3) status = cli_table_rule(table);
        if (status == CAIRN_OK) status = cli_table_row(table, (const char *[]){part[i].name, ms, share});
    }
    if (status == CAIRN_OK) cli_table_print(table, terminal, stdout);
    cli_table_destroy(table);
    char now[32], most[32];
    printf("\nspeed         %.1f images/s, %.1f GFLOP/s of direct convolution\n", m->images_per_second, m->gflops);
    if (m->peak_share > 0)
        printf("FMA peak      %.0f GFLOP/s before, %.0f after; the step reaches %.0f %% of it\n", m->peak_before,
               m->peak_after, 100 * m->peak_share);
    printf("memory        %s, %s at most\n", cairn_format_bytes((double)m->device_bytes, now, sizeof now),
           cairn_format_bytes((double)m->device_peak, most, sizeof most));
    printf("first update  done %.2f s after the start of the program\n", m->first_update);
    return status;
}

static cairn_status print_json(const cli_options *options, const cairn_device *device, const measurement *m)
{
    const cairn_model_info *model;
    CAIRN_TRY(cairn_model_find(cli_text(options, OPTION_MODEL), cli_text(options, OPTION_PRESET), &model));
    json_t *root = json_object();
    json_object_set_new(root, "images_per_second", cli_json_real(m->images_per_second, 2));
    json_object_set_new(root, "ms", cli_json_real(m->step, 3));
    json_object_set_new(root, "ms_forward", cli_json_real(m->forward, 3));
    json_object_set_new(root, "ms_backward", cli_json_real(m->backward, 3));
    json_object_set_new(root, "ms_update", cli_json_real(m->update, 3));
    json_object_set_new(root, "gflops", cli_json_real(m->gflops, 2));
    json_object_set_new(root, "peak_gflops_before", cli_json_real(m->peak_before, 2));
    json_object_set_new(root, "peak_gflops_after", cli_json_real(m->peak_after, 2));
    json_object_set_new(root, "peak_share", cli_json_real(m->peak_share, 4));
    json_object_set_new(root, "resident_bytes", json_integer(m->resident));
    json_object_set_new(root, "peak_resident_bytes", json_integer(m->peak_resident));
    json_object_set_new(root, "device_bytes", json_integer(m->device_bytes));
    json_object_set_new(root, "peak_device_bytes", json_integer(m->device_peak));
    json_object_set_new(root, "first_update_seconds", cli_json_real(m->first_update, 3));
    json_t *losses = json_array();
    for (int i = 0; i < m->losses; i++)
        json_array_append_new(losses, cli_json_real((double)m->loss[i], 7));
    json_object_set_new(root, "losses", losses);
    json_object_set_new(root, "device", cli_json_text(cairn_device_name(device)));
    json_object_set_new(root, "threads", json_integer(cairn_device_threads(device)));
    json_object_set_new(root, "model", cli_json_text(model->name));
    json_object_set_new(root, "preset", cli_json_text(model->preset));
    json_object_set_new(root, "classes", json_integer(cli_int(options, OPTION_CLASSES)));
    json_object_set_new(root, "width_divisor", json_integer(cli_int(options, OPTION_WIDTH_DIVISOR)));
    json_object_set_new(root, "optimizer", cli_json_text(options->value[OPTION_OPTIMIZER].text));
    json_object_set_new(root, "precision", cli_json_text(cairn_precision_name(m->precision)));
    json_object_set_new(root, "dropout", cli_json_real(cli_real(options, OPTION_DROPOUT), 4));
    json_object_set_new(root, "batch", json_integer(cli_int(options, OPTION_BATCH)));
    json_object_set_new(root, "steps", json_integer(cli_int(options, OPTION_STEPS)));
    return cli_json_print(root);
}

static cairn_status run(const cli_options *options, cli_terminal *terminal)
{
    cairn_device *device = NULL;
    cli_synthetic *synthetic = NULL;
    measurement m = {0};
    char reason[CAIRN_PRECISION_REASON_SIZE];
    cairn_status status = CAIRN_OK;
    CAIRN_TRY_DONE(cli_device_open(options, terminal, &device));
    cli_say(terminal, "%s, batch %lld, %s, dropout %s, on %s", options->value[OPTION_MODEL].text,
            (long long)cli_int(options, OPTION_BATCH), options->value[OPTION_OPTIMIZER].text,
            options->value[OPTION_DROPOUT].text, cairn_device_name(device));
    CAIRN_TRY_DONE(cli_synthetic_precision(options, device, &m.precision, reason));
    cli_say(terminal, "precision %s%s%s", cairn_precision_name(m.precision), *reason ? ": " : "", reason);
    CAIRN_TRY_DONE(cli_synthetic_create(options, device, m.precision, &synthetic));
    CAIRN_TRY_DONE(measure(options, device, synthetic, terminal, &m));
    cli_progress_clear(terminal);
    status = cli_flag(options, OPTION_JSON) ? print_json(options, device, &m) : print_text(&m, terminal);
done:
    cli_synthetic_destroy(synthetic);
    cairn_device_close(device);
    return status;
}

const cli_command cli_command_bench = {
    .name = "bench",
    .mask = BENCH,
    .arguments = "",
    .about = "Times training steps on made-up pictures that are in memory already: forward, backward and update.",
    .example = "cairn bench --batch 128\n"
               "cairn bench --preset paper --batch 32 --dropout 0.5 --json",
    .notes = "The step is what training does once its pictures are there. Dropout is off unless asked for, so that the "
             "figure compares with programs that "
             "leave it out. FLOPs are those of direct convolution, two a multiply-add, whatever algorithm ran; so "
             "Winograd can pass 100 % of the peak.",
    .defaults = (const cli_default[]){{OPTION_BATCH, "32"},
                                      {OPTION_DROPOUT, "0"},
                                      {OPTION_OPTIMIZER, "sgd"},
                                      {OPTION_MOMENTUM, "0.9"},
                                      {OPTION_WEIGHT_DECAY, "0.0005"},
                                      {OPTION_COUNT, NULL}},
    .run = run,
};
