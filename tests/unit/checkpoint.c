/* Checkpoints: everything comes back, on another device too; what doesn't belong, is damaged or not finite is refused with a way out. */
#include "train/checkpoint.h"
#include "backends/backends.h"
#include "core/os.h"
#include "core/safetensors.h"
#include "tests/support/pictures.h"
#include "tests/test.h"

enum { CLASSES = 3 };

static char root[SCRATCH_SIZE];
static const char *const names[CLASSES] = {"cat", "d\xc3\xb6g", "o\"w\\l"};

typedef struct rig {
    cairn_device *device;
    cairn_net *net;
    cairn_optimizer *optimizer;
} rig;

static cairn_status rig_open(rig *r, const char *backend, const char *model, int classes, cairn_update_kind kind)
{
    const cairn_model_options small = {.dropout = 0.5f, .image_size = 67, .width_divisor = 16};
    *r = (rig){0};
    CAIRN_TRY(cairn_device_open(backend, &(cairn_device_options){.threads = 1, .deterministic = true}, &r->device));
    CAIRN_TRY(cairn_model_create(model, "", classes, &small, &r->net));
    CAIRN_TRY(cairn_net_plan(r->net, r->device, &(cairn_net_options){.batch = 2, .train = true}));
    CAIRN_TRY(cairn_net_init(r->net, 11));
    cairn_optimizer_options options = cairn_optimizer_defaults(kind);
    return cairn_optimizer_create(r->device, &options, cairn_net_slab_count(r->net), &r->optimizer);
}

static void rig_close(rig *r)
{
    cairn_optimizer_destroy(r->optimizer);
    cairn_net_destroy(r->net);
    cairn_device_close(r->device);
}

/* Gives every element of every state its own value. */
static void fill_states(rig *r)
{
    for (int s = 0; s < cairn_optimizer_state_count(r->optimizer); s++) {
        cairn_slab state = cairn_optimizer_state(r->optimizer, s);
        for (int p = 0; p < cairn_net_parameter_count(r->net); p++) {
            cairn_tensor view = cairn_net_view(r->net, &state, p);
            int64_t count = cairn_shape_count(view.shape);
            float *value = malloc((size_t)count * sizeof *value);
            REQUIRE(value);
            for (int64_t i = 0; i < count; i++)
                value[i] = (float)(s + 1) + (float)p * 0.01f + (float)i * 1e-6f;
            CHECK_OK(cairn_tensor_write(&view, value, count));
            free(value);
        }
    }
}

static cairn_checkpoint_info sample_info(void)
{
    return (cairn_checkpoint_info){
        .model = "alexnet",
        .preset = "owt",
        .model_options = {.dropout = 0.5f, .paper_init = true, .image_size = 67, .width_divisor = 16},
        .classes = CLASSES,
        .class_name = names,
        .preprocess = {.size = 67, .resize = 77, .mean = {0.1f, 0.2f, 0.3f}, .std = {0.4f, 0.5f, 0.6f}},
        .seed = 18446744073709551615u,
        .batch = 32,
        .update = 41,
        .epoch = 3,
        .position = 64,
        .best_top1 = 0.1 + 0.2,
        .best_loss = 1.0 / 3,
        .best_epoch = 2,
        .split = "00ff",
        .recipe = "lr=0.1",
        .optimizer = "adamw",
    };
}

static const char *path_of(const char *name)
{
    static char path[SCRATCH_SIZE];
    return scratch_path(root, name, path);
}

static void check_info(const cairn_checkpoint_info *got)
{
    const cairn_checkpoint_info want = sample_info();
    CHECK_TEXT(got->model, want.model);
    CHECK_TEXT(got->preset, want.preset);
    CHECK(got->model_options.dropout == want.model_options.dropout && got->model_options.paper_init);
    CHECK_INT(got->model_options.image_size, 67);
    CHECK_INT(got->model_options.width_divisor, 16);
    CHECK_INT(got->classes, CLASSES);
    for (int c = 0; c < CLASSES; c++)
        CHECK_TEXT(got->class_name[c], names[c]);
    CHECK_INT(got->preprocess.size, 67);
    CHECK_INT(got->preprocess.resize, 77);
    for (int i = 0; i < 3; i++)
        CHECK(got->preprocess.mean[i] == want.preprocess.mean[i] && got->preprocess.std[i] == want.preprocess.std[i]);
    CHECK(got->seed == want.seed);
    CHECK_INT(got->batch, 32);
    CHECK_INT(got->update, 41);
    CHECK_INT(got->epoch, 3);
    CHECK_INT(got->position, 64);
    CHECK(got->best_top1 == want.best_top1 && got->best_loss == want.best_loss);
    CHECK_INT(got->best_epoch, 2);
    CHECK_TEXT(got->split, "00ff");
    CHECK_TEXT(got->recipe, "lr=0.1");
}

/* Saves on one device, loads on another, saves there: the same bytes but for the name of the library. */
static void everything_comes_back_on_any_device(void)
{
    static const char *const pair[][2] = {{"cpu", "cpu"}, {"cpu", "ref"}, {"ref", "cpu"}};
    const cairn_checkpoint_info info = sample_info();
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
        rig from, to;
        cairn_checkpoint *a, *b;
        REQUIRE_OK(rig_open(&from, pair[i][0], "alexnet", CLASSES, CAIRN_UPDATE_ADAMW));
        REQUIRE_OK(rig_open(&to, pair[i][1], "alexnet", CLASSES, CAIRN_UPDATE_ADAMW));
        fill_states(&from);
        REQUIRE_OK(cairn_checkpoint_save(path_of("a"), from.net, from.optimizer, &info));
        REQUIRE_OK(cairn_checkpoint_open(path_of("a"), &a));
        check_info(cairn_checkpoint_information(a));
        CHECK_TEXT(cairn_checkpoint_information(a)->optimizer, "adamw");
        REQUIRE_OK(cairn_checkpoint_load(a, to.net, to.optimizer));
        CHECK_INT(cairn_optimizer_updates(to.optimizer), 41);
        REQUIRE_OK(cairn_checkpoint_save(path_of("b"), to.net, to.optimizer, &info));
        cairn_checkpoint_close(a);

        cairn_safetensors *x, *y;
        REQUIRE_OK(cairn_safetensors_open(path_of("a"), &x));
        REQUIRE_OK(cairn_safetensors_open(path_of("b"), &y));
        CHECK_INT(cairn_safetensors_count(x), 3 * cairn_net_parameter_count(from.net));
        for (int t = 0; t < cairn_safetensors_count(x); t++) {
            const cairn_safetensors_entry *p = cairn_safetensors_at(x, t), *q = cairn_safetensors_at(y, t);
            CHECK_TEXT(p->name, q->name);
            CHECK(p->bytes == q->bytes && memcmp(p->data, q->data, p->bytes) == 0);
        }
        CHECK(cairn_safetensors_find(x, "optimizer.exp_avg_sq.classifier.1.weight") != NULL);
        cairn_safetensors_close(x);
        cairn_safetensors_close(y);

        cairn_net *built;
        REQUIRE_OK(cairn_checkpoint_open(path_of("b"), &b));
        REQUIRE_OK(cairn_checkpoint_build(b, &built));
        CHECK_INT(cairn_net_parameters_total(built), cairn_net_parameters_total(to.net));
        cairn_net_destroy(built);
        cairn_checkpoint_close(b);
        rig_close(&from);
        rig_close(&to);
    }
}

static void weights_alone_can_be_used_but_not_resumed(void)
{
    rig r;
    cairn_checkpoint *c;
    const cairn_checkpoint_info info = sample_info();
    REQUIRE_OK(rig_open(&r, "ref", "alexnet", CLASSES, CAIRN_UPDATE_SGD));
    REQUIRE_OK(cairn_checkpoint_save(path_of("weights"), r.net, NULL, &info));
    REQUIRE_OK(cairn_checkpoint_open(path_of("weights"), &c));
    CHECK_TEXT(cairn_checkpoint_information(c)->optimizer, "");
    CHECK_OK(cairn_checkpoint_load(c, r.net, NULL));
    CHECK_FAILS(cairn_checkpoint_load(c, r.net, r.optimizer), CAIRN_FILE, "last.safetensors");
    cairn_checkpoint_drop_tensors(c);
    check_info(cairn_checkpoint_information(c));
    CHECK_FAILS(cairn_checkpoint_load(c, r.net, NULL), CAIRN_USAGE, "open it again");
    cairn_checkpoint_close(c);
    rig_close(&r);
}

static void other_models_classes_and_optimizers_are_refused(void)
{
    rig saved, lenet, five, sgd;
    cairn_checkpoint *c;
    const cairn_checkpoint_info info = sample_info();
    REQUIRE_OK(rig_open(&saved, "ref", "alexnet", CLASSES, CAIRN_UPDATE_ADAMW));
    REQUIRE_OK(cairn_checkpoint_save(path_of("owt"), saved.net, saved.optimizer, &info));
    REQUIRE_OK(cairn_checkpoint_open(path_of("owt"), &c));
    REQUIRE_OK(rig_open(&lenet, "ref", "lenet", CLASSES, CAIRN_UPDATE_ADAMW));
    CHECK_FAILS(cairn_checkpoint_load(c, lenet.net, NULL), CAIRN_FILE, "no tensor \"conv1.weight\"");
    CHECK(strstr(cairn_error_last()->message, "alexnet owt, 3 classes"));
    REQUIRE_OK(rig_open(&five, "ref", "alexnet", 5, CAIRN_UPDATE_ADAMW));
    CHECK_FAILS(cairn_checkpoint_load(c, five.net, NULL), CAIRN_FILE, "\"classifier.6.weight\" is 3x256");
    CHECK(strstr(cairn_error_last()->message, "5x256 in this net"));
    REQUIRE_OK(rig_open(&sgd, "ref", "alexnet", CLASSES, CAIRN_UPDATE_SGD));
    CHECK_FAILS(cairn_checkpoint_load(c, sgd.net, sgd.optimizer), CAIRN_FILE, "trained by adamw");
    cairn_checkpoint_close(c);
    rig_close(&saved);
    rig_close(&lenet);
    rig_close(&five);
    rig_close(&sgd);
}

/* Writes a file that is a checkpoint but for one value of its metadata; NULL leaves that out. */
static cairn_status write_with(const char *key, const char *value)
{
    static const char *const good[][2] = {
        {"cairn_format", "1"},
        {"model", "lenet"},
        {"preset", ""},
        {"dropout", "-1"},
        {"paper_init", "false"},
        {"image_size", "0"},
        {"width_divisor", "0"},
        {"seed", "1"},
        {"batch", "32"},
        {"update", "0"},
        {"epoch", "0"},
        {"position", "0"},
        {"best_top1", "0"},
        {"best_loss", "0"},
        {"best_epoch", "0"},
        {"split", ""},
        {"recipe", ""},
        {"optimizer", ""},
        {"cairn_version", ""},
        {"library", ""},
        {"class_names", "[\"a\",\"b\"]"},
        {"preprocess", "{\"size\":32,\"resize\":37,\"mean\":[0.5,0.5,0.5],\"std\":[0.2,0.2,0.2]}"},
    };
    cairn_status status = CAIRN_OK;
    cairn_safetensors_writer *w;
    CAIRN_TRY(cairn_safetensors_writer_create(&w));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const char *text = key && strcmp(good[i][0], key) == 0 ? value : good[i][1];
        if (text) CAIRN_TRY_DONE(cairn_safetensors_writer_metadata(w, good[i][0], text));
    }
    CAIRN_TRY_DONE(cairn_safetensors_writer_begin(w, path_of("odd")));
    CAIRN_TRY_DONE(cairn_safetensors_writer_finish(w));
done:
    cairn_safetensors_writer_destroy(w);
    return status;
}

static void damaged_information_is_refused(void)
{
    static const struct {
        const char *key, *value, *part;
    } odd[] = {
        {"cairn_format", NULL, "no checkpoint of Cairn"},
        {"cairn_format", "2", "use a later Cairn"},
        {"cairn_format", "x", "its cairn_format is \"x\""},
        {"update", NULL, "it lacks its update"},
        {"update", "-1", "its update is \"-1\""},
        {"update", "12x", "its update is \"12x\""},
        {"update", "99999999999999999999", "its update is"},
        {"batch", "0", "its batch is \"0\""},
        {"batch", "3000000000", "its batch is"},
        {"seed", "-3", "its seed is \"-3\""},
        {"dropout", "nan", "its dropout is \"nan\""},
        {"paper_init", "maybe", "its paper_init is \"maybe\""},
        {"model", "a-name-that-is-longer-than-any-model-has", "its model is"},
        {"class_names", "[]", "its class_names"},
        {"class_names", "[1,2]", "its class_names"},
        {"class_names", "{", "its class_names"},
        {"preprocess", "{\"size\":32}", "its preprocess"},
        {"preprocess", "{\"size\":32,\"resize\":16,\"mean\":[0,0,0],\"std\":[1,1,1]}", "its preprocess"},
        {"preprocess", "{\"size\":32,\"resize\":37,\"mean\":[0,0,0],\"std\":[1,0,1]}", "its preprocess"},
        {"preprocess", "{\"size\":99999,\"resize\":99999,\"mean\":[0,0,0],\"std\":[1,1,1]}", "its preprocess"},
    };
    cairn_checkpoint *c;
    REQUIRE_OK(write_with(NULL, NULL));
    REQUIRE_OK(cairn_checkpoint_open(path_of("odd"), &c));
    cairn_checkpoint_close(c);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        REQUIRE_OK(write_with(odd[i].key, odd[i].value));
        CHECK_FAILS(cairn_checkpoint_open(path_of("odd"), &c), CAIRN_FILE, odd[i].part);
        CHECK(strncmp(cairn_error_last()->message, root, strlen(root)) == 0);
    }
    REQUIRE_OK(write_with("model", "resnet"));
    REQUIRE_OK(cairn_checkpoint_open(path_of("odd"), &c));
    cairn_net *net = NULL;
    CHECK_FAILS(cairn_checkpoint_build(c, &net), CAIRN_FILE, "a model that this Cairn doesn't have");
    cairn_checkpoint_close(c);
    REQUIRE_OK(write_with("image_size", "40"));
    REQUIRE_OK(cairn_checkpoint_open(path_of("odd"), &c));
    CHECK_FAILS(cairn_checkpoint_build(c, &net), CAIRN_FILE,
                "odd: its pictures are prepared to 32 pixels and its net takes 40");
    cairn_checkpoint_close(c);
}

static void missing_and_truncated_files_are_refused(void)
{
    rig r;
    cairn_checkpoint *c;
    void *data;
    size_t bytes;
    const cairn_checkpoint_info info = sample_info();
    CHECK_FAILS(cairn_checkpoint_open(path_of("nothing"), &c), CAIRN_FILE, "nothing");
    REQUIRE_OK(rig_open(&r, "ref", "alexnet", CLASSES, CAIRN_UPDATE_SGD));
    REQUIRE_OK(cairn_checkpoint_save(path_of("whole"), r.net, NULL, &info));
    REQUIRE_OK(cairn_os_read_file(path_of("whole"), (size_t)1 << 30, &data, &bytes));
    const size_t kept[] = {0, 7, 100, bytes / 2, bytes - 1};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        FILE *file = fopen(path_of("cut"), "wb");
        REQUIRE(file);
        fwrite(data, 1, kept[i], file);
        fclose(file);
        CHECK_FAILS(cairn_checkpoint_open(path_of("cut"), &c), CAIRN_FILE, "cut");
    }
    free(data);
    rig_close(&r);
}

static void what_is_not_finite_is_not_saved_and_the_old_file_stands(void)
{
    rig r;
    const cairn_checkpoint_info info = sample_info();
    REQUIRE_OK(rig_open(&r, "ref", "alexnet", CLASSES, CAIRN_UPDATE_SGD));
    REQUIRE_OK(cairn_checkpoint_save(path_of("finite"), r.net, r.optimizer, &info));
    REQUIRE_OK(cairn_checkpoint_save(path_of("kept"), r.net, r.optimizer, &info));
    cairn_slab weights = cairn_net_weights(r.net);
    ((float *)weights.data)[cairn_net_parameter(r.net, 4)->offset + 3] = NAN;
    CHECK_FAILS(cairn_checkpoint_save(path_of("kept"), r.net, r.optimizer, &info), CAIRN_NONFINITE,
                cairn_net_parameter(r.net, 4)->name);
    char finite[SCRATCH_SIZE];
    snprintf(finite, sizeof finite, "%s", path_of("finite"));
    CHECK(pictures_same_bytes(finite, path_of("kept")));
    rig_close(&r);
}

static void a_class_name_that_is_not_utf8_is_told_early(void)
{
    static const char *const odd[] = {"a", "b\xff"};
    cairn_checkpoint_info info = sample_info();
    CHECK_OK(cairn_checkpoint_check(&info));
    info.class_name = odd;
    info.classes = 2;
    CHECK_FAILS(cairn_checkpoint_check(&info), CAIRN_DATA, "class folder 2");
}

int main(void)
{
    scratch_make(CAIRN_TEST_BUILD, "unit-checkpoint", root);
    RUN(everything_comes_back_on_any_device);
    RUN(weights_alone_can_be_used_but_not_resumed);
    RUN(other_models_classes_and_optimizers_are_refused);
    RUN(damaged_information_is_refused);
    RUN(missing_and_truncated_files_are_refused);
    RUN(what_is_not_finite_is_not_saved_and_the_old_file_stands);
    RUN(a_class_name_that_is_not_utf8_is_told_early);
    return test_result();
}
