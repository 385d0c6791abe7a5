#include "cli/train_binding.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum field_type {
    FIELD_INT,
    FIELD_INT64,
    FIELD_UINT64,
    FIELD_FLOAT,
    FIELD_DOUBLE,
    FIELD_BOOL,
    FIELD_NOT, /* a bool that says the opposite of its option */
    FIELD_TEXT,
    FIELD_AUGMENT,
    FIELD_PRECISION,
    FIELD_OPTIMIZER,
    FIELD_SCHEDULE
} field_type;

#define FIELD(option, type, member)                                                                                    \
    {                                                                                                                  \
        OPTION_##option, FIELD_##type, offsetof(cairn_train_options, member)                                           \
    }

static const struct binding {
    cli_option_id id;
    field_type type;
    size_t offset;
} bindings[] = {
    FIELD(FOLDER, TEXT, folder),
    FIELD(VAL_SPLIT, DOUBLE, val_split),
    FIELD(AUGMENT, AUGMENT, augment),
    FIELD(FLIP, NOT, no_flip),
    FIELD(IMAGE_SIZE, INT, image_size),
    FIELD(RESIZE, INT, resize),
    FIELD(MAX_BAD, DOUBLE, max_bad),
    FIELD(MAX_PIXELS, INT64, max_pixels),
    FIELD(LOADER_THREADS, INT, loader_threads),
    FIELD(MODEL, TEXT, model),
    FIELD(PRESET, TEXT, preset),
    FIELD(DROPOUT, FLOAT, dropout),
    FIELD(PAPER_INIT, BOOL, paper_init),
    FIELD(WIDTH_DIVISOR, INT64, width_divisor),
    FIELD(EPOCHS, INT64, epochs),
    FIELD(BATCH, INT, batch),
    FIELD(MICRO_BATCH, INT, micro_batch),
    FIELD(OPTIMIZER, OPTIMIZER, optimizer.kind),
    FIELD(MOMENTUM, FLOAT, optimizer.momentum),
    FIELD(NESTEROV, BOOL, optimizer.nesterov),
    FIELD(BETA1, FLOAT, optimizer.beta1),
    FIELD(BETA2, FLOAT, optimizer.beta2),
    FIELD(EPS, FLOAT, optimizer.eps),
    FIELD(WEIGHT_DECAY, FLOAT, optimizer.weight_decay),
    FIELD(DECAY_BIASES, BOOL, optimizer.decay_biases),
    FIELD(LABEL_SMOOTHING, FLOAT, label_smoothing),
    FIELD(CLASS_WEIGHTS, BOOL, class_weights),
    FIELD(PRECISION, PRECISION, precision),
    FIELD(SEED, UINT64, seed),
    FIELD(LEARNING_RATE, FLOAT, schedule.base),
    FIELD(SCHEDULE, SCHEDULE, schedule.kind),
    FIELD(WARMUP, INT64, schedule.warmup),
    FIELD(FLOOR, FLOAT, schedule.floor),
    FIELD(STEP_SIZE, INT64, schedule.step_size),
    FIELD(GAMMA, FLOAT, schedule.gamma),
    FIELD(POWER, FLOAT, schedule.power),
    FIELD(RUN, TEXT, run_folder),
    FIELD(RESUME, TEXT, resume),
    FIELD(CHECKPOINT_EVERY, INT64, checkpoint_every),
    FIELD(REPORT_EVERY, INT64, report_every),
    FIELD(ALARM_WAIT, DOUBLE, alarm_wait),
};
enum { BINDINGS = sizeof bindings / sizeof *bindings };

/* A pointer of each type a field can have. */
typedef union place {
    void *any;
    int *i;
    int64_t *i64;
    uint64_t *u64;
    float *f;
    double *d;
    bool *b;
    const char **text;
    cairn_augment_kind *augment;
    cairn_precision *precision;
    cairn_update_kind *optimizer;
    cairn_schedule_kind *schedule;
} place;

cairn_status cli_train_binding_fill(const cli_options *options, cairn_train_options *train)
{
    for (int k = 0; k < BINDINGS; k++) {
        cli_option_id id = bindings[k].id;
        place at = {.any = (char *)train + bindings[k].offset};
        switch (bindings[k].type) {
        case FIELD_INT:
            *at.i = (int)cli_int(options, id);
            break;
        case FIELD_INT64:
            *at.i64 = cli_int(options, id);
            break;
        case FIELD_UINT64:
            *at.u64 = (uint64_t)cli_int(options, id);
            break;
        case FIELD_FLOAT:
            *at.f = (float)cli_real(options, id);
            break;
        case FIELD_DOUBLE:
            *at.d = cli_real(options, id);
            break;
        case FIELD_BOOL:
            *at.b = cli_flag(options, id);
            break;
        case FIELD_NOT:
            *at.b = !cli_flag(options, id);
            break;
        case FIELD_TEXT:
            *at.text = cli_text(options, id);
            break;
        case FIELD_AUGMENT:
            CAIRN_TRY(cairn_augment_parse(cli_text(options, id), at.augment));
            break;
        case FIELD_PRECISION:
            CAIRN_TRY(cairn_precision_parse(cli_text(options, id), at.precision));
            break;
        case FIELD_OPTIMIZER:
            CAIRN_TRY(cairn_optimizer_parse(cli_text(options, id), at.optimizer));
            break;
        case FIELD_SCHEDULE:
            CAIRN_TRY(cairn_schedule_parse(cli_text(options, id), at.schedule));
            break;
        }
    }
    return CAIRN_OK;
}

/* The shortest decimal that reads back as `value`: as a float where `single`. */
static void shortest(double value, bool single, char *text)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, CLI_DEFAULT_SIZE, "%.*g", digits, value);
        double back = strtod(text, NULL);
        if (single ? (float)back == (float)value : back == value) return;
    }
}

/* Numbers of an option that has a word for one of them. */
static bool is_word(const cli_option *option, double value, char *text)
{
    if (!option->word || value != option->word_value) return false;
    snprintf(text, CLI_DEFAULT_SIZE, "%s", option->word);
    return true;
}

static void integer(const cli_option *option, int64_t value, char *text)
{
    if (!is_word(option, (double)value, text)) snprintf(text, CLI_DEFAULT_SIZE, "%lld", (long long)value);
}

static void real(const cli_option *option, double value, bool single, char *text)
{
    if (!is_word(option, value, text)) shortest(value, single, text);
}

bool cli_train_binding_default(cli_option_id id, char *text)
{
    int k = 0;
    while (k < BINDINGS && bindings[k].id != id)
        k++;
    if (k == BINDINGS) return false;
    const cli_option *option = &cli_option_table[id];
    cairn_train_options train = cairn_train_defaults();
    place at = {.any = (char *)&train + bindings[k].offset};
    switch (bindings[k].type) {
    case FIELD_INT:
        integer(option, *at.i, text);
        break;
    case FIELD_INT64:
        integer(option, *at.i64, text);
        break;
    case FIELD_UINT64:
        integer(option, (int64_t)*at.u64, text);
        break;
    case FIELD_FLOAT:
        real(option, (double)*at.f, true, text);
        break;
    case FIELD_DOUBLE:
        real(option, *at.d, false, text);
        break;
    case FIELD_BOOL:
        snprintf(text, CLI_DEFAULT_SIZE, "%s", *at.b ? "yes" : "no");
        break;
    case FIELD_NOT:
        snprintf(text, CLI_DEFAULT_SIZE, "%s", *at.b ? "no" : "yes");
        break;
    case FIELD_TEXT:
        snprintf(text, CLI_DEFAULT_SIZE, "%s", *at.text ? *at.text : option->word ? option->word : "");
        break;
    case FIELD_AUGMENT:
        snprintf(text, CLI_DEFAULT_SIZE, "%s", cairn_augment_name(*at.augment));
        break;
    case FIELD_PRECISION:
        snprintf(text, CLI_DEFAULT_SIZE, "%s", cairn_precision_name(*at.precision));
        break;
    case FIELD_OPTIMIZER:
        snprintf(text, CLI_DEFAULT_SIZE, "%s", cairn_optimizer_name(*at.optimizer));
        break;
    case FIELD_SCHEDULE:
        snprintf(text, CLI_DEFAULT_SIZE, "%s", cairn_schedule_name(*at.schedule));
        break;
    }
    return true;
}
