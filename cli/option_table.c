#include "cli/option_table.h"

#define NETS      (TRAIN | MODEL | BENCH)
#define READERS   (TRAIN | EVAL | DATA_CHECK)
#define ON_DEVICE (TRAIN | EVAL | PREDICT | MODEL | BENCH)

static const char data[] = "Data", model[] = "Model", training[] = "Training", rate[] = "Learning rate", run[] = "Run",
                  measuring[] = "Measuring", device[] = "Device", output[] = "Output", general[] = "General";

/* clang-format off */
#define FLAG(takers, heading, key, text) \
    {.name = (key), .group = (heading), .help = (text), .commands = (takers), .kind = OPTION_KIND_FLAG}
#define NUMBER(type, takers, heading, key, value, least, most, text, ...) \
    {.name = (key), .group = (heading), .argument = (value), .help = (text), .commands = (takers), \
     .kind = OPTION_KIND_##type, .low = (least), .high = (most), __VA_ARGS__}
#define WORD(text, number) .word = (text), .word_value = (number)
#define TEXT(takers, heading, key, value, text, ...) \
    {.name = (key), .group = (heading), .argument = (value), .help = (text), .commands = (takers), \
     .kind = OPTION_KIND_TEXT, __VA_ARGS__}
#define CHOICE(takers, heading, key, value, words, text, ...) \
    {.name = (key), .group = (heading), .argument = (value), .help = (text), .commands = (takers), \
     .kind = OPTION_KIND_CHOICE, .choices = (words), __VA_ARGS__}

const cli_option cli_option_table[OPTION_COUNT] = {
    [OPTION_FOLDER] = TEXT(TRAIN, data, "folder", "FOLDER",
        "the pictures, one sub-folder a class; the same as the argument FOLDER", .initial = ""),
    [OPTION_VAL_SPLIT] = NUMBER(REAL, TRAIN, data, "val-split", "SHARE", 0, 0.95,
        "share of each class kept for validation where the folder has no val/"),
    [OPTION_AUGMENT] = CHOICE(TRAIN, data, "augment", "KIND", "crop|rrc|none",
        "how training pictures are varied: random crop and mirror, random resized crop and mirror, not at all"),
    [OPTION_FLIP] = FLAG(TRAIN, data, "flip", "training pictures are never mirrored: for digits, letters and signs"),
    [OPTION_IMAGE_SIZE] = NUMBER(INTEGER, TRAIN, data, "image-size", "PIXELS", 8, 4096,
        "side of the window that the net sees; auto is the model's own", WORD("auto", 0)),
    [OPTION_RESIZE] = NUMBER(INTEGER, TRAIN, data, "resize", "PIXELS", 8, 8192,
        "short side of a picture before the window is cut; auto is 256/224 of image-size", WORD("auto", 0)),
    [OPTION_MAX_BAD] = NUMBER(REAL, READERS, data, "max-bad", "SHARE", 0, 1,
        "share of unreadable pictures beyond which the command fails"),
    [OPTION_MAX_PIXELS] = NUMBER(INTEGER, READERS, data, "max-pixels", "N", 1, 1e12,
        "largest picture that is decoded; auto is 100 million", WORD("auto", 0)),
    [OPTION_LOADER_THREADS] = NUMBER(INTEGER, READERS, data, "loader-threads", "N", 1, 1024,
        "threads that read and decode pictures; auto is one a processor; results don't depend on it", WORD("auto", 0)),
    [OPTION_PART] = CHOICE(EVAL, data, "part", "PART", "validation|train|all",
        "which pictures: validation is val/ or, of the folder trained on, the validation part of the run's split; all where neither is there", .initial = "validation"),

    [OPTION_CHECKPOINT] = TEXT(PREDICT, model, "checkpoint", "PATH",
        "a checkpoint, or a run folder for its best one; then every argument is a picture", .initial = "", .unwritten = true),
    [OPTION_MODEL] = TEXT(NETS, model, "model", "NAME", "alexnet or lenet"),
    [OPTION_PRESET] = TEXT(NETS, model, "preset", "NAME",
        "form of alexnet: owt (torchvision's), paper (2012, with LRN and groups), caffenet, tfcnn (TensorFlow's benchmark); "
        "auto is the model's first", WORD("auto", 0), .initial = "auto"),
    [OPTION_CLASSES] = NUMBER(INTEGER, MODEL | BENCH, model, "classes", "N", 1, 1000000, "outputs of the net", .initial = "1000"),
    [OPTION_DROPOUT] = NUMBER(REAL, NETS, model, "dropout", "RATE", 0, 0.99,
        "share of the features dropped while training; auto is the preset's own", WORD("auto", -1)),
    [OPTION_PAPER_INIT] = FLAG(TRAIN, model, "paper-init", "start from N(0, 0.01) as Krizhevsky et al. 2012, not from He's rule"),
    [OPTION_WIDTH_DIVISOR] = NUMBER(INTEGER, NETS, model, "width-divisor", "N", 0, 64,
        "channels and features divided by this: a small net for trials", WORD("none", 0)),

    [OPTION_EPOCHS] = NUMBER(INTEGER, TRAIN, training, "epochs", "N", 1, 1000000,
        "times every training picture is seen; auto fits their number", WORD("auto", 0)),
    [OPTION_BATCH] = NUMBER(INTEGER, TRAIN | EVAL | MODEL | BENCH, training, "batch", "N", 1, 65536,
        "pictures of one update or pass"),
    [OPTION_MICRO_BATCH] = NUMBER(INTEGER, TRAIN, training, "micro-batch", "N", 1, 65536,
        "pictures of one pass, whose gradients add up to an update: less memory, same result; auto is batch", WORD("auto", 0)),
    [OPTION_OPTIMIZER] = CHOICE(TRAIN | BENCH, training, "optimizer", "NAME", "sgd|adam|adamw", "the rule of an update"),
    [OPTION_MOMENTUM] = NUMBER(REAL, TRAIN | BENCH, training, "momentum", "M", 0, 0.9999, "of sgd"),
    [OPTION_NESTEROV] = FLAG(TRAIN, training, "nesterov", "sgd looks ahead by its momentum"),
    [OPTION_BETA1] = NUMBER(REAL, TRAIN, training, "beta1", "B", 0, 0.99999, "of adam and adamw: decay of the mean gradient"),
    [OPTION_BETA2] = NUMBER(REAL, TRAIN, training, "beta2", "B", 0, 0.99999, "of adam and adamw: decay of the mean square"),
    [OPTION_EPS] = NUMBER(REAL, TRAIN, training, "eps", "E", 1e-20, 1, "of adam and adamw: added to the root"),
    [OPTION_WEIGHT_DECAY] = NUMBER(REAL, TRAIN | BENCH, training, "weight-decay", "D", 0, 10,
        "pull of the weights to 0; auto is the optimizer's usual one", WORD("auto", -1)),
    [OPTION_DECAY_BIASES] = FLAG(TRAIN, training, "decay-biases", "weight decay on biases and normalisation too"),
    [OPTION_LABEL_SMOOTHING] = NUMBER(REAL, TRAIN, training, "label-smoothing", "S", 0, 0.99, "share of the target spread over all classes"),
    [OPTION_CLASS_WEIGHTS] = FLAG(TRAIN, training, "class-weights", "weigh classes so that rare ones count as much as common ones"),
    [OPTION_SEED] = NUMBER(INTEGER, TRAIN | BENCH, training, "seed", "N", 0, 9007199254740991.0,
        "of start, split, order, augmentation and dropout: the same seed gives the same run"),

    [OPTION_LEARNING_RATE] = NUMBER(REAL, TRAIN, rate, "learning-rate", "RATE", 1e-12, 100,
        "after warm-up, before any decay; auto is the optimizer's usual one", WORD("auto", 0)),
    [OPTION_SCHEDULE] = CHOICE(TRAIN, rate, "schedule", "KIND", "constant|step|cosine|polynomial", "how the rate falls over the run"),
    [OPTION_WARMUP] = NUMBER(INTEGER, TRAIN, rate, "warmup", "UPDATES", 0, 1e9,
        "updates over which the rate rises to its full size; auto fits the length of the run", WORD("auto", -1)),
    [OPTION_FLOOR] = NUMBER(REAL, TRAIN, rate, "floor", "RATE", 0, 100, "the rate never falls below this"),
    [OPTION_STEP_SIZE] = NUMBER(INTEGER, TRAIN, rate, "step-size", "UPDATES", 0, 1e12, "of schedule step: updates between drops"),
    [OPTION_GAMMA] = NUMBER(REAL, TRAIN, rate, "gamma", "FACTOR", 0, 1, "of schedule step: factor of a drop"),
    [OPTION_POWER] = NUMBER(REAL, TRAIN, rate, "power", "P", 0, 100, "of schedule polynomial: its exponent"),

    [OPTION_RUN] = TEXT(TRAIN, run, "run", "FOLDER",
        "where config, log, metrics and checkpoints go; auto is runs/ and the name of the pictures' folder and the time", WORD("auto", 0), .initial = "auto", .unwritten = true),
    [OPTION_RESUME] = TEXT(TRAIN, run, "resume", "PATH",
        "go on with a run, from its folder or its last.safetensors, with the options in its config", .initial = "", .unwritten = true),
    [OPTION_CHECKPOINT_EVERY] = NUMBER(INTEGER, TRAIN, run, "checkpoint-every", "UPDATES", 1, 1e12,
        "also save within an epoch, this often; epoch saves at each epoch's end only", WORD("epoch", 0)),
    [OPTION_REPORT_EVERY] = NUMBER(INTEGER, TRAIN, run, "report-every", "UPDATES", 1, 1e9, "updates of one line in metrics.jsonl and in a plain log"),
    [OPTION_ALARM_WAIT] = NUMBER(REAL, TRAIN, run, "alarm-wait", "SHARE", 0, 1, "warn when more of the time than this goes into waiting for pictures"),

    [OPTION_STEPS] = NUMBER(INTEGER, BENCH, measuring, "steps", "N", 1, 100000, "steps measured; their median is told", .initial = "10"),
    [OPTION_UNTIMED] = NUMBER(INTEGER, BENCH, measuring, "untimed", "N", 1, 100000, "steps before them that aren't measured", .initial = "3"),
    [OPTION_DUMP] = TEXT(BENCH, measuring, "dump", "FOLDER",
        "write the first weights, the pictures and the labels to FOLDER/start.safetensors, so that another program can start from them",
        .initial = "", .unwritten = true),

    [OPTION_DEVICE] = TEXT(ON_DEVICE, device, "device", "NAME",
        "cuda, cuda:N or cuda:UUID (an NVIDIA GPU), cpu (oneDNN), ref (plain C, slow, the textbook) or auto: the GPU where there is one, else the CPU", .initial = "auto"),
    [OPTION_THREADS] = NUMBER(INTEGER, ON_DEVICE, device, "threads", "N", 1, 4096, "compute threads; auto is one a processor",
        WORD("auto", 0), .initial = "auto"),
    [OPTION_DETERMINISTIC] = FLAG(ON_DEVICE, device, "deterministic", "choose algorithms by shape, not by timing"),
    [OPTION_DIRECT] = FLAG(ON_DEVICE, device, "direct", "convolve by direct sums, never by Winograd: slower, and closer to exact sums"),
    [OPTION_PRECISION] = CHOICE(TRAIN | BENCH, device, "precision", "TYPE", "auto|fp32|tf32|bf16|fp16",
        "of the numbers in the net, beside weights that stay fp32; auto times fp32 (or tf32) and the type of half the size, where the device has one"),
    [OPTION_KERNELS] = CHOICE(ON_DEVICE, device, "kernels", "KIND", "auto|cudnn",
        "on a GPU: pooling, activation, LRN and softmax by our own kernels, or by cuDNN's", .initial = "auto"),
    [OPTION_MEMORY_LIMIT] = NUMBER(SIZE, ON_DEVICE, device, "memory-limit", "BYTES", 1e6, 1e15,
        "most that the device may hold, as 800M or 2G", WORD("none", 0), .initial = "none"),
    [OPTION_MEMORY_SNAPSHOT] = TEXT(TRAIN, device, "memory-snapshot", "FILE",
        "write who holds which block of the device's memory to FILE, as JSON: after the first update, or when memory runs out",
        .initial = "", .unwritten = true),
    [OPTION_PLAN_CACHE] = TEXT(ON_DEVICE, device, "plan-cache", "FOLDER",
        "where timed choices of algorithms are remembered; auto is cairn/ in the user's cache, none forgets them",
        WORD("auto", 0), .initial = "auto"),

    [OPTION_TOP] = NUMBER(INTEGER, PREDICT, output, "top", "N", 1, 1000, "classes told of each picture", .initial = "3"),
    [OPTION_JSON] = FLAG(EVAL | PREDICT | BENCH | DATA_CHECK, output, "json", "one JSON object on stdout in place of the table"),

    [OPTION_CONFIG] = TEXT(EVERY, general, "config", "FILE",
        "read options from a file of lines name = value; the command line wins over it", .initial = "", .unwritten = true),
    [OPTION_HELP] = {.name = "help", .group = general, .help = "this page", .commands = EVERY, .kind = OPTION_KIND_FLAG, .unwritten = true},
};
/* clang-format on */
