/* What a run refuses, and how it ends when something fails under way: each time one line that names the thing and a way out, the right status, and
 * nothing lost. */
#include "cairn.h"
#include "tests/support/pictures.h"
#include "tests/test.h"

static char root[SCRATCH_SIZE], folder[SCRATCH_SIZE], run[SCRATCH_SIZE];
static cairn_device *device;

static const char *path_of(const char *name)
{
    static char path[SCRATCH_SIZE];
    return scratch_path(root, name, path);
}

static void check_one_line(void)
{
    CHECK(strchr(cairn_error_last()->message, '\n') == NULL);
}

/* Trains with one thing changed by the caller. */
static cairn_status train(const cairn_train_options *options)
{
    cairn_train_result result;
    cairn_status status = cairn_train(options, &result);
    check_one_line();
    return status;
}

static void values_out_of_range_are_named(void)
{
    cairn_train_options o = pictures_options(device, folder, path_of("unused"));
    struct {
        const char *part;
        cairn_train_options options;
    } odd[] = {{"--batch is 0", o},
               {"--micro-batch 3 doesn't divide --batch 8", o},
               {"no model \"lenat\"", o},
               {"--resize 20", o},
               {"--val-split is 1", o},
               {"--label-smoothing", o},
               {"--epochs", o},
               {"momentum", o},
               {"no folder of pictures", o},
               {"no device", o},
               {"--learning-rate", o}};
    odd[0].options.batch = 0;
    odd[1].options.micro_batch = 3;
    odd[2].options.model = "lenat";
    odd[3].options.resize = 20;
    odd[4].options.val_split = 1;
    odd[5].options.label_smoothing = -0.1f;
    odd[6].options.epochs = -1;
    odd[7].options.optimizer = (cairn_optimizer_options){.kind = CAIRN_UPDATE_SGD, .momentum = 1.5f};
    odd[8].options.folder = NULL;
    odd[9].options.device = NULL;
    odd[10].options.schedule.base = NAN;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        CHECK_FAILS(train(&odd[i].options), CAIRN_USAGE, odd[i].part);
}

static void folders_without_pictures_are_named(void)
{
    REQUIRE_OK(cairn_os_make_folders(path_of("empty")));
    REQUIRE_OK(cairn_os_make_folders(path_of("single/only")));
    REQUIRE_OK(pictures_write(root, "single/only/a.ppm", "P6 1 1 255\nabc"));
    REQUIRE_OK(cairn_os_make_folders(path_of("words/a")));
    REQUIRE_OK(cairn_os_make_folders(path_of("words/b")));
    REQUIRE_OK(pictures_write(root, "words/a/1.jpg", "no picture"));
    REQUIRE_OK(pictures_write(root, "words/a/2.jpg", "no picture"));
    REQUIRE_OK(pictures_write(root, "words/b/1.jpg", "no picture"));
    REQUIRE_OK(pictures_write(root, "words/b/2.jpg", "no picture"));
    static const char *const bad[] = {"missing", "empty", "single", "words"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char pictures[SCRATCH_SIZE];
        snprintf(pictures, sizeof pictures, "%s", path_of(bad[i]));
        char name[32];
        snprintf(name, sizeof name, "run-%s", bad[i]);
        snprintf(run, sizeof run, "%s", path_of(name));
        cairn_train_options o = pictures_options(device, pictures, run);
        CHECK_FAILS(train(&o), CAIRN_DATA, bad[i]);
        /* What can be told at once leaves no run folder behind. */
        if (i < 3) CHECK_INT(cairn_os_stat(run, NULL), CAIRN_OS_MISSING);
    }
}

static void a_few_bad_files_are_passed_over_and_many_stop_the_run(void)
{
    char mixed[SCRATCH_SIZE];
    static pictures_log log;
    pictures_log_start(&log);
    REQUIRE_OK(pictures_make(root, "mixed", 2, 10, mixed));
    REQUIRE_OK(pictures_write(mixed, "class1/003.ppm", "P6 nothing"));
    REQUIRE_OK(pictures_write(mixed, "class0/007.ppm", ""));
    cairn_train_options o = pictures_options(device, mixed, path_of("run-mixed"));
    o.max_bad = 0.3;
    o.log = &log.log;
    CHECK_OK(train(&o));
    CHECK(strstr(log.text, "class1/003.ppm"));
    CHECK(strstr(log.text, "class0/007.ppm"));
    o.run_folder = path_of("run-mixed-strict");
    o.max_bad = 0.01;
    CHECK_FAILS(train(&o), CAIRN_DATA, "--max-bad");
}

static void a_run_folder_that_cannot_be_used_is_named(void)
{
    REQUIRE_OK(pictures_write(root, "file", "not a folder"));
    snprintf(run, sizeof run, "%s", path_of("file"));
    cairn_train_options o = pictures_options(device, folder, run);
    CHECK_FAILS(train(&o), CAIRN_FILE, "choose another with --run");
    snprintf(run, sizeof run, "%s", path_of("file/below"));
    CHECK_FAILS(train(&o), CAIRN_FILE, "integration-refusals/file");
}

static void an_old_run_is_not_overwritten(void)
{
    snprintf(run, sizeof run, "%s", path_of("run-first"));
    cairn_train_options o = pictures_options(device, folder, run);
    CHECK_OK(train(&o));
    CHECK_FAILS(train(&o), CAIRN_FILE, "holds a run already");
    CHECK(strstr(cairn_error_last()->message, "--resume"));
}

/* Needs run-first. */
static void a_checkpoint_that_does_not_belong_is_named(void)
{
    char three[SCRATCH_SIZE], weights[SCRATCH_SIZE];
    snprintf(run, sizeof run, "%s", path_of("run-first"));
    snprintf(weights, sizeof weights, "%s", path_of("run-first/best.safetensors"));
    REQUIRE_OK(pictures_make(root, "three", 3, 6, three));
    const cairn_train_options o = pictures_options(device, folder, path_of("run-other"));
    struct {
        const char *part;
        cairn_status status;
        cairn_train_options options;
    } odd[] = {{"trained with --model lenet", CAIRN_FILE, o},
               {"--seed 1", CAIRN_FILE, o},
               {"--optimizer adamw", CAIRN_FILE, o},
               {"--image-size 32", CAIRN_FILE, o},
               {"--width-divisor 0", CAIRN_FILE, o},
               {"weights only", CAIRN_FILE, o},
               {"nowhere", CAIRN_FILE, o},
               {"three", CAIRN_DATA, o}};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        odd[i].options.resume = run;
    odd[0].options.model = "alexnet";
    odd[1].options.seed = 2;
    odd[2].options.optimizer = cairn_optimizer_defaults(CAIRN_UPDATE_SGD);
    odd[3].options.image_size = 40;
    odd[4].options.width_divisor = 2;
    odd[5].options.resume = weights;
    odd[6].options.resume = "nowhere";
    odd[7].options.folder = three;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        CHECK_FAILS(train(&odd[i].options), odd[i].status, odd[i].part);
}

/* Needs run-first. Other options than before are the user's right, and are said. */
static void changed_options_are_said_at_resume(void)
{
    static pictures_log log;
    pictures_log_start(&log);
    cairn_train_options o = pictures_options(device, folder, NULL);
    snprintf(run, sizeof run, "%s", path_of("run-first"));
    o.resume = run;
    o.epochs = 3;
    o.schedule.base = 2e-3f;
    o.log = &log.log;
    CHECK_OK(train(&o));
    CHECK(strstr(log.text, "the options differ from those before: epochs 3, was 2; learning-rate 0.002, was 0.001\n"));
    CHECK(strstr(log.text, "going on with"));
}

/* A folder where a checkpoint should go: the system refuses the rename, as it would refuse a write on a full disk. */
static void block_checkpoint(void *context, const cairn_progress *progress)
{
    if (progress->update == 1) CHECK_OK(cairn_os_make_folders(context));
}

static void a_checkpoint_that_cannot_be_saved_stops_the_run(void)
{
    char blocked[SCRATCH_SIZE];
    snprintf(run, sizeof run, "%s", path_of("run-blocked"));
    snprintf(blocked, sizeof blocked, "%s", path_of("run-blocked/last.safetensors/in"));
    cairn_train_options o = pictures_options(device, folder, run);
    o.progress = block_checkpoint;
    o.progress_context = blocked;
    CHECK_FAILS(train(&o), CAIRN_FILE, "the checkpoint can't be saved");
    CHECK(strstr(cairn_error_last()->message, "last.safetensors"));
    CHECK_INT(cairn_os_stat(path_of("run-blocked/best.safetensors"), NULL), CAIRN_OS_FILE);
}

static void a_rate_that_is_far_too_high_ends_with_the_layer(void)
{
    snprintf(run, sizeof run, "%s", path_of("run-explodes"));
    cairn_train_options o = pictures_options(device, folder, run);
    o.optimizer = cairn_optimizer_defaults(CAIRN_UPDATE_SGD);
    o.schedule.base = 900;
    o.schedule.warmup = 0;
    o.epochs = 40;
    CHECK_FAILS(train(&o), CAIRN_NONFINITE, "the loss is not finite");
    CHECK(strstr(cairn_error_last()->message, "--learning-rate"));
}

static void without_validation_only_the_last_is_kept(void)
{
    static pictures_log log;
    cairn_train_result result;
    pictures_log_start(&log);
    snprintf(run, sizeof run, "%s", path_of("run-unchecked"));
    cairn_train_options o = pictures_options(device, folder, run);
    o.val_split = 0;
    o.log = &log.log;
    CHECK_OK(cairn_train(&o, &result));
    CHECK(strstr(log.text, "no validation pictures"));
    CHECK(!result.evaluated);
    CHECK(strcmp(result.best_path, result.last_path) == 0);
    CHECK_INT(cairn_os_stat(path_of("run-unchecked/last.safetensors"), NULL), CAIRN_OS_FILE);
    CHECK_INT(cairn_os_stat(path_of("run-unchecked/best.safetensors"), NULL), CAIRN_OS_MISSING);
}

int main(void)
{
    scratch_make(CAIRN_TEST_BUILD, "integration-refusals", root);
    if (pictures_make(root, "shapes", 2, 10, folder) != CAIRN_OK ||
        cairn_device_open("cpu", &(cairn_device_options){.threads = 1, .deterministic = true}, &device) != CAIRN_OK) {
        printf("%s\n", cairn_error_last()->message);
        return 1;
    }
    RUN(values_out_of_range_are_named);
    RUN(folders_without_pictures_are_named);
    RUN(a_few_bad_files_are_passed_over_and_many_stop_the_run);
    RUN(a_run_folder_that_cannot_be_used_is_named);
    RUN(an_old_run_is_not_overwritten);
    RUN(a_checkpoint_that_does_not_belong_is_named);
    RUN(changed_options_are_said_at_resume);
    RUN(a_checkpoint_that_cannot_be_saved_stops_the_run);
    RUN(a_rate_that_is_far_too_high_ends_with_the_layer);
    RUN(without_validation_only_the_last_is_kept);
    cairn_device_close(device);
    return test_result();
}
