/* Training from pictures to predictions, on ref and on the CPU backend: nets learn, the run folder holds what it should, nothing is allocated once the
 * run is going, and a checkpoint scores and predicts as it did in training. */
#include "cairn.h"
#include "tests/support/pictures.h"
#include "tests/test.h"
#include <jansson.h>

enum { CLASSES = 3, PICTURES = 40 };

static char root[SCRATCH_SIZE], folder[SCRATCH_SIZE];

static cairn_device *open_device(const char *name)
{
    cairn_device *device = NULL;
    CHECK_OK(cairn_device_open(name, &(cairn_device_options){.threads = 1, .deterministic = true}, &device));
    return device;
}

static const char *path_of(const char *folder_name, const char *name)
{
    static char path[SCRATCH_SIZE];
    char run[SCRATCH_SIZE];
    return scratch_path(scratch_path(root, folder_name, run), name, path);
}

/* What the progress callback saw. */
typedef struct watcher {
    cairn_device *device;
    int64_t updates, checks, reports, after_second, last, last_seen;
    double loss;
} watcher;

static void watch(void *context, const cairn_progress *p)
{
    watcher *w = context;
    w->last = cairn_device_memory(w->device).allocations;
    if (p->evaluating) {
        w->checks++;
        return;
    }
    w->updates++;
    w->reports += p->report;
    w->last_seen = p->update;
    w->loss = p->loss;
    if (w->updates == 2) w->after_second = w->last;
    CHECK(p->images_per_second > 0 && p->waiting >= 0 && p->waiting <= 1.01 && p->memory > 0);
}

typedef struct subject {
    const char *backend, *model, *preset;
    int image_size, micro_batch;
    float rate;
} subject;

static void nets_learn(void)
{
    static const subject subjects[] = {
        {"ref", "lenet", "", 0, 0, 1e-3f},
        {"cpu", "lenet", "", 0, 4, 1e-3f},
        {"cpu", "alexnet", "owt", 67, 0, 1e-3f},
        {"cpu", "alexnet", "caffenet", 67, 0, 1e-3f},
    };
    size_t count = pictures_few() ? 2 : sizeof subjects / sizeof *subjects;
    for (size_t i = 0; i < count; i++) {
        const subject *s = &subjects[i];
        char name[64], run[SCRATCH_SIZE];
        cairn_device *device = open_device(s->backend);
        REQUIRE(device);
        watcher w = {.device = device};
        cairn_train_result result;
        snprintf(name, sizeof name, "run-%s-%s%s", s->backend, s->model, s->preset);
        REQUIRE_OK(cairn_os_join(run, sizeof run, root, name));
        cairn_train_options o = pictures_options(device, folder, run);
        o.model = s->model;
        o.preset = s->preset;
        o.image_size = s->image_size;
        o.micro_batch = s->micro_batch;
        o.width_divisor = strcmp(s->model, "alexnet") == 0 ? 8 : 2;
        o.schedule.base = s->rate;
        o.epochs = 6;
        o.report_every = 5;
        o.progress = watch;
        o.progress_context = &w;
        REQUIRE_OK(cairn_train(&o, &result));
        if (!(result.best_top1 > 0.9)) TEST_FAIL("%s: best top-1 is only %.3f", name, result.best_top1);
        CHECK(result.evaluated && result.top1 > 0.8 && result.train_loss < log(CLASSES));
        CHECK_INT(result.updates, 72); /* 96 pictures in twelves of 8, six times */
        CHECK_INT(w.updates, 72);
        CHECK_INT(w.last_seen, 72);
        CHECK_INT(w.reports, 14);
        CHECK(w.checks >= 6 * 3);
        CHECK_INT(w.last, w.after_second); /* not one allocation after the second update */
        CHECK(strcmp(result.run_folder, run) == 0);
        CHECK(strcmp(result.best_path, path_of(name, "best.safetensors")) == 0);
        cairn_device_close(device);
    }
}

static json_t *load_json(const char *path)
{
    json_error_t error;
    json_t *json = json_load_file(path, 0, &error);
    if (!json) TEST_FAIL("%s: %s", path, error.text);
    return json;
}

static void the_run_folder_tells_what_was_done(void)
{
    const char *run = "run-cpu-lenet";
    json_t *manifest = load_json(path_of(run, "manifest.json"));
    REQUIRE(manifest);
    json_t *result = json_object_get(manifest, "result"), *data = json_object_get(manifest, "data");
    CHECK_TEXT(json_string_value(json_object_get(result, "status")), "finished");
    CHECK_INT(json_integer_value(json_object_get(result, "updates")), 72);
    CHECK(json_number_value(json_object_get(json_object_get(result, "best"), "top1")) > 0.9);
    CHECK_INT(json_integer_value(json_object_get(data, "train")), 96);
    CHECK_INT(json_integer_value(json_object_get(data, "validation")), 24);
    CHECK_TEXT(json_string_value(json_object_get(json_object_get(manifest, "device"), "backend")), "cpu");
    CHECK(json_string_value(json_object_get(manifest, "end")) != NULL);
    json_decref(manifest);

    void *text;
    size_t bytes;
    REQUIRE_OK(cairn_os_read_file(path_of(run, "classes.txt"), 1000, &text, &bytes));
    CHECK_TEXT(text, "class0\nclass1\nclass2\n");
    free(text);
    REQUIRE_OK(cairn_os_read_file(path_of(run, "log.txt"), 1 << 20, &text, &bytes));
    CHECK(strstr(text, "training on cpu"));
    CHECK(strstr(text, "validation loss"));
    CHECK(strstr(text, "conv1"));
    CHECK(!strstr(text, "top-5"));
    free(text);
}

/* Each line is an object; the kinds and their numbers. */
static void metrics_are_json_lines(void)
{
    int trained = 0, evaluated = 0;
    char line[1000];
    FILE *file = fopen(path_of("run-cpu-lenet", "metrics.jsonl"), "r");
    REQUIRE(file);
    while (fgets(line, sizeof line, file)) {
        json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        REQUIRE(object);
        const char *kind = json_string_value(json_object_get(object, "kind"));
        bool is_training = kind && strcmp(kind, "train") == 0;
        trained += is_training;
        evaluated += !is_training;
        CHECK(json_is_number(json_object_get(object, "loss")) && json_is_number(json_object_get(object, "top1")));
        CHECK(json_is_integer(json_object_get(object, "update")));
        json_decref(object);
    }
    fclose(file);
    CHECK_INT(
        trained,
        14 +
            5); /* every fifth of 72 updates, and the rest of each epoch that has one: not the fifth, which ends at 60 */
    CHECK_INT(evaluated, 6);
}

/* The checkpoint scores on its own what the run said of it, on either device, with any batch. */
static void a_checkpoint_scores_what_the_run_said(void)
{
    static const struct {
        const char *backend;
        int batch;
    } how[] = {{"cpu", 8}, {"cpu", 7}, {"ref", 24}};
    json_t *manifest = load_json(path_of("run-cpu-lenet", "manifest.json"));
    REQUIRE(manifest);
    json_t *best = json_object_get(json_object_get(manifest, "result"), "best");
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        cairn_device *device = open_device(how[i].backend);
        REQUIRE(device);
        cairn_scorer *scorer;
        cairn_evaluation e;
        const cairn_evaluate_options options = {.loader_threads = 2, .max_bad = 0.01};
        REQUIRE_OK(cairn_scorer_create(path_of("run-cpu-lenet", "best.safetensors"), folder, CAIRN_PART_VALIDATION,
                                       how[i].batch, device, &options, &scorer));
        REQUIRE_OK(cairn_scorer_run(scorer, &e));
        CHECK_INT(e.samples, 24);
        CHECK_NEAR(e.top1, json_number_value(json_object_get(best, "top1")), 1e-9);
        CHECK_NEAR(e.loss, json_number_value(json_object_get(best, "loss")), 2e-5);
        int64_t samples = 0, correct = 0;
        for (int c = 0; c < e.classes; c++) {
            samples += e.per_class[c].samples;
            correct += e.per_class[c].correct;
            CHECK_INT(e.per_class[c].samples, 8);
        }
        CHECK_INT(samples, 24);
        CHECK_NEAR((double)correct / 24, e.top1, 1e-9);
        CHECK(strncmp(cairn_scorer_what(scorer), "24 validation pictures of", 25) == 0);
        CHECK_TEXT(cairn_scorer_class_name(scorer, 2), "class2");
        cairn_scorer_destroy(scorer);
        cairn_device_close(device);
    }
    json_decref(manifest);
}

static void parts_of_a_folder_are_scored(void)
{
    static const struct {
        cairn_evaluate_part part;
        int64_t samples;
    } parts[] = {{CAIRN_PART_TRAIN, 96}, {CAIRN_PART_ALL, 120}};
    cairn_device *device = open_device("cpu");
    REQUIRE(device);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        cairn_scorer *scorer;
        cairn_evaluation e;
        REQUIRE_OK(cairn_scorer_create(path_of("run-cpu-lenet", "best.safetensors"), folder, parts[i].part, 0, device,
                                       &(cairn_evaluate_options){.max_bad = 0.01}, &scorer));
        REQUIRE_OK(cairn_scorer_run(scorer, &e));
        CHECK_INT(e.samples, parts[i].samples);
        cairn_scorer_destroy(scorer);
    }
    cairn_device_close(device);
}

static void predictions_name_the_class(void)
{
    cairn_device *device = open_device("cpu");
    REQUIRE(device);
    cairn_predictor *predictor;
    REQUIRE_OK(cairn_predictor_create(path_of("run-cpu-lenet", "best.safetensors"), device, &predictor));
    CHECK_TEXT(cairn_predictor_information(predictor)->model, "lenet");
    int right = 0;
    for (int label = 0; label < CLASSES; label++)
        for (int i = 0; i < 10; i++) {
            char name[64], picture[SCRATCH_SIZE];
            cairn_guess guess[5];
            int count;
            snprintf(name, sizeof name, "class%d/%03d.ppm", label, i);
            REQUIRE_OK(cairn_os_join(picture, sizeof picture, folder, name));
            REQUIRE_OK(cairn_predictor_run(predictor, picture, guess, 5, &count));
            CHECK_INT(count, CLASSES);
            CHECK_NEAR(guess[0].probability + guess[1].probability + guess[2].probability, 1, 1e-9);
            CHECK(guess[0].probability >= guess[1].probability && guess[1].probability >= guess[2].probability);
            snprintf(name, sizeof name, "class%d", guess[0].label);
            CHECK_TEXT(guess[0].name, name);
            right += guess[0].label == label;
        }
    CHECK(right >= 27);
    cairn_guess guess;
    int count;
    CHECK_FAILS(cairn_predictor_run(predictor, "missing.jpg", &guess, 1, &count), CAIRN_DATA, "missing.jpg");
    cairn_predictor_destroy(predictor);
    cairn_device_close(device);
}

int main(void)
{
    scratch_make(CAIRN_TEST_BUILD, "integration-train", root);
    if (pictures_make(root, "shapes", CLASSES, PICTURES, folder) != CAIRN_OK) {
        printf("%s\n", cairn_error_last()->message);
        return 1;
    }
    RUN(nets_learn);
    RUN(the_run_folder_tells_what_was_done);
    RUN(metrics_are_json_lines);
    RUN(a_checkpoint_scores_what_the_run_said);
    RUN(parts_of_a_folder_are_scored);
    RUN(predictions_name_the_class);
    return test_result();
}
