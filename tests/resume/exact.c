/* N updates equal k, resume, N - k, byte for byte in last.safetensors and best.safetensors, wherever the cut falls: after any update, at the end of an
 * epoch, or between the batches of an evaluation. And two runs of one seed write the same bytes, with one loader thread or four. */
#include "cairn.h"
#include "tests/support/pictures.h"
#include "tests/test.h"

enum {
    CLASSES = 3,
    PICTURES = 12,
    EPOCHS = 2
}; /* a class; 2 of them are validation: 30 to train on, 4 updates an epoch of 8 */

static char root[SCRATCH_SIZE], folder[SCRATCH_SIZE];

/* Says stop at the n-th time it is asked; 0 never. */
typedef struct stopper {
    int at, asked;
} stopper;

static bool stop(void *context)
{
    stopper *s = context;
    return ++s->asked == s->at;
}

typedef struct recipe {
    const char *name, *backend, *model, *preset;
    cairn_update_kind kind;
    float dropout;
    int micro_batch;
    cairn_augment_kind augment;
    bool class_weights;
    int threads;
    int step; /* cuts tried: every step-th */
    cairn_precision precision;
} recipe;

static const recipe recipes[] = {
    {"cpu-adamw-dropout", "cpu", "lenet", "", CAIRN_UPDATE_ADAMW, 0.3f, 0, CAIRN_AUGMENT_CROP, false, 1, 1,
     CAIRN_PRECISION_AUTO},
    {"cpu-sgd-slices", "cpu", "lenet", "", CAIRN_UPDATE_SGD, 0.3f, 2, CAIRN_AUGMENT_RRC, true, 1, 1,
     CAIRN_PRECISION_AUTO},
    {"ref-adam-slices", "ref", "lenet", "", CAIRN_UPDATE_ADAM, 0.3f, 4, CAIRN_AUGMENT_CROP, false, 1, 3,
     CAIRN_PRECISION_AUTO},
    {"cpu-alexnet", "cpu", "alexnet", "owt", CAIRN_UPDATE_SGD, -1, 4, CAIRN_AUGMENT_CROP, false, 1, 3,
     CAIRN_PRECISION_AUTO},
    {"cpu-alexnet-paper", "cpu", "alexnet", "paper", CAIRN_UPDATE_ADAMW, -1, 0, CAIRN_AUGMENT_NONE, false, 1, 5,
     CAIRN_PRECISION_AUTO},
    {"ref-fp16", "ref", "lenet", "", CAIRN_UPDATE_SGD, 0.3f, 4, CAIRN_AUGMENT_CROP, false, 1, 3, CAIRN_PRECISION_FP16},
};

static cairn_status path_of(const char *run, const char *file, char path[SCRATCH_SIZE])
{
    char run_folder[SCRATCH_SIZE];
    CAIRN_TRY(cairn_os_join(run_folder, sizeof run_folder, root, run));
    return cairn_os_join(path, SCRATCH_SIZE, run_folder, file);
}

/* Trains into root/run, or goes on from `resume` (a run folder's name below root, into that one when `run` is NULL). */
static cairn_status train(const recipe *r, const char *run, const char *resume, int stop_at, int threads, int *asked)
{
    char run_folder[SCRATCH_SIZE], resumed[SCRATCH_SIZE];
    cairn_device *device;
    stopper s = {.at = stop_at};
    CAIRN_TRY(
        cairn_device_open(r->backend, &(cairn_device_options){.threads = r->threads, .deterministic = true}, &device));
    if (run) CAIRN_TRY(cairn_os_join(run_folder, sizeof run_folder, root, run));
    if (resume) CAIRN_TRY(cairn_os_join(resumed, sizeof resumed, root, resume));
    cairn_train_options o = pictures_options(device, folder, run ? run_folder : NULL);
    o.resume = resume ? resumed : NULL;
    o.model = r->model;
    o.preset = r->preset;
    o.optimizer = cairn_optimizer_defaults(r->kind);
    o.optimizer.weight_decay = 0.01f;
    o.dropout = r->dropout;
    o.width_divisor = 8;
    if (strcmp(r->model, "alexnet") == 0) o.image_size = 67;
    o.epochs = EPOCHS;
    o.micro_batch = r->micro_batch;
    o.augment = r->augment;
    o.class_weights = r->class_weights;
    o.loader_threads = threads;
    o.precision = r->precision;
    o.stop_requested = stop;
    o.stop_context = &s;
    cairn_status status = cairn_train(&o, NULL);
    if (asked) *asked = s.asked;
    cairn_device_close(device);
    return status;
}

static void check_same(const char *run_a, const char *run_b, const char *what)
{
    static const char *const file[] = {"last.safetensors", "best.safetensors"};
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        char a[SCRATCH_SIZE], b[SCRATCH_SIZE];
        CHECK_OK(path_of(run_a, file[i], a));
        CHECK_OK(path_of(run_b, file[i], b));
        if (!pictures_same_bytes(a, b)) TEST_FAIL("%s: %s differs", what, file[i]);
    }
}

static void any_cut_gives_the_same_bytes(void)
{
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        const recipe *r = &recipes[i];
        char whole[80], cut[80], what[160];
        int asked;
        snprintf(whole, sizeof whole, "%s-whole", r->name);
        REQUIRE_OK(train(r, whole, NULL, 0, 1, &asked));
        CHECK(asked > 2 * EPOCHS);
        int step = pictures_few() ? 4 : r->step;
        for (int at = 1; at <= asked; at += step) {
            snprintf(cut, sizeof cut, "%s-cut%d", r->name, at);
            snprintf(what, sizeof what, "%s cut at %d of %d", r->name, at, asked);
            CHECK_FAILS(train(r, cut, NULL, at, 1, NULL), CAIRN_INTERRUPTED, "--resume");
            REQUIRE_OK(train(r, NULL, cut, 0, 1, NULL));
            check_same(whole, cut, what);
        }
    }
}

static void a_run_cut_twice_goes_on_elsewhere(void)
{
    const recipe *r = &recipes[0];
    CHECK_FAILS(train(r, "first", NULL, 6, 1, NULL), CAIRN_INTERRUPTED, "stopped as asked");
    CHECK_FAILS(train(r, "second", "first", 2, 1, NULL), CAIRN_INTERRUPTED, "stopped as asked");
    REQUIRE_OK(train(r, "third", "second", 0, 1, NULL));
    check_same("cpu-adamw-dropout-whole", "third", "two cuts, three folders");
}

static void the_same_seed_writes_the_same_bytes(void)
{
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        char whole[80], again[80];
        snprintf(whole, sizeof whole, "%s-whole", recipes[i].name);
        snprintf(again, sizeof again, "%s-again", recipes[i].name);
        REQUIRE_OK(train(&recipes[i], again, NULL, 0, 4, NULL));
        check_same(whole, again, "four loader threads");
    }
}

/* Compute threads share out the work in a fixed way: as many give the same. (More than one is slow where processors are busy: once is enough.) */
static void two_compute_threads_repeat_themselves(void)
{
    recipe two = recipes[3];
    two.threads = 2;
    REQUIRE_OK(train(&two, "two-threads", NULL, 0, 1, NULL));
    REQUIRE_OK(train(&two, "two-threads-again", NULL, 0, 1, NULL));
    check_same("two-threads", "two-threads-again", "two compute threads");
}

/* Neither in its own folder nor in another is anything written: the record of the run stays what it was. */
static void a_finished_run_has_nothing_left_to_do(void)
{
    char elsewhere[SCRATCH_SIZE];
    CHECK_FAILS(train(&recipes[0], NULL, "third", 0, 1, NULL), CAIRN_USAGE, "that run is finished, 2 of 2 epochs");
    CHECK_FAILS(train(&recipes[0], "finished", "third", 0, 1, NULL), CAIRN_USAGE, "--epochs");
    REQUIRE_OK(path_of("finished", "config", elsewhere));
    *strrchr(elsewhere, '/') = '\0';
    CHECK_INT(cairn_os_stat(elsewhere, NULL), CAIRN_OS_MISSING);
}

int main(void)
{
    scratch_make(CAIRN_TEST_BUILD, "resume-exact", root);
    if (pictures_make(root, "shapes", CLASSES, PICTURES, folder) != CAIRN_OK) {
        printf("%s\n", cairn_error_last()->message);
        return 1;
    }
    RUN(any_cut_gives_the_same_bytes);
    RUN(a_run_cut_twice_goes_on_elsewhere);
    RUN(the_same_seed_writes_the_same_bytes);
    RUN(two_compute_threads_repeat_themselves);
    RUN(a_finished_run_has_nothing_left_to_do);
    return test_result();
}
