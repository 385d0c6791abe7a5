/* option_table.h - every option of the program, as data.
 *
 *     const cli_option *option = &cli_option_table[OPTION_BATCH];
 *     printf("--%s %s  %s\n", option->name, option->argument, option->help);
 */
#ifndef CAIRN_CLI_OPTION_TABLE_H
#define CAIRN_CLI_OPTION_TABLE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum cli_option_id {
    /* Data */
    OPTION_FOLDER,
    OPTION_VAL_SPLIT,
    OPTION_AUGMENT,
    OPTION_FLIP,
    OPTION_IMAGE_SIZE,
    OPTION_RESIZE,
    OPTION_MAX_BAD,
    OPTION_MAX_PIXELS,
    OPTION_LOADER_THREADS,
    OPTION_PART,
    /* Model */
    OPTION_CHECKPOINT,
    OPTION_MODEL,
    OPTION_PRESET,
    OPTION_CLASSES,
    OPTION_DROPOUT,
    OPTION_PAPER_INIT,
    OPTION_WIDTH_DIVISOR,
    /* Training */
    OPTION_EPOCHS,
    OPTION_BATCH,
    OPTION_MICRO_BATCH,
    OPTION_OPTIMIZER,
    OPTION_MOMENTUM,
    OPTION_NESTEROV,
    OPTION_BETA1,
    OPTION_BETA2,
    OPTION_EPS,
    OPTION_WEIGHT_DECAY,
    OPTION_DECAY_BIASES,
    OPTION_LABEL_SMOOTHING,
    OPTION_CLASS_WEIGHTS,
    OPTION_SEED,
    /* Learning rate */
    OPTION_LEARNING_RATE,
    OPTION_SCHEDULE,
    OPTION_WARMUP,
    OPTION_FLOOR,
    OPTION_STEP_SIZE,
    OPTION_GAMMA,
    OPTION_POWER,
    /* Run */
    OPTION_RUN,
    OPTION_RESUME,
    OPTION_CHECKPOINT_EVERY,
    OPTION_REPORT_EVERY,
    OPTION_ALARM_WAIT,
    /* Measuring */
    OPTION_STEPS,
    OPTION_UNTIMED,
    OPTION_DUMP,
    /* Device */
    OPTION_DEVICE,
    OPTION_THREADS,
    OPTION_DETERMINISTIC,
    OPTION_DIRECT,
    OPTION_PRECISION,
    OPTION_KERNELS,
    OPTION_MEMORY_LIMIT,
    OPTION_MEMORY_SNAPSHOT,
    OPTION_PLAN_CACHE,
    /* Output */
    OPTION_TOP,
    OPTION_JSON,
    /* General */
    OPTION_CONFIG,
    OPTION_HELP,
    OPTION_COUNT
} cli_option_id;

typedef enum cli_option_kind {
    OPTION_KIND_FLAG,    /* --name, --no-name; in a file yes or no */
    OPTION_KIND_INTEGER, /* a whole number in low..high */
    OPTION_KIND_REAL,    /* a number in low..high */
    OPTION_KIND_SIZE,    /* bytes: a number with K, M or G (powers of 1000) or none behind it */
    OPTION_KIND_CHOICE,  /* one of the words in `choices` */
    OPTION_KIND_TEXT,    /* anything but nothing */
} cli_option_kind;

/* Bits of the commands that take an option. */
enum { TRAIN = 1, EVAL = 2, PREDICT = 4, MODEL = 8, BENCH = 16, DATA_CHECK = 32, EVERY = 63 };

typedef struct cli_option {
    const char *name;     /* as in --name and in "name = value" */
    const char *group;    /* heading in the help */
    const char *argument; /* what the help calls its value; NULL for a flag */
    const char *help;
    const char *initial; /* default as text; NULL: what cairn_train_defaults() says, or none */
    const char *choices; /* "a|b|c" */
    const char *word;    /* "auto" or the like: stands for the number below, or for NULL where a text is wanted */
    double word_value;
    double low, high;
    unsigned commands;
    cli_option_kind kind;
    bool unwritten; /* belongs to one call of the program, not to a run: left out of the `config` that a run writes */
} cli_option;

extern const cli_option cli_option_table[OPTION_COUNT];

#endif
