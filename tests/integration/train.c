/* Training from pictures to predictions, on ref and on the CPU backend: it learns, keeps its promises about files, and evaluates and predicts
 * what it has learned. */
#include "cairn.h"
#include "tests/support/pictures.h"
#include "tests/test.h"

static char root[PICTURES_PATH], folder[PICTURES_PATH], run_folder[PICTURES_PATH];

static cairn_device *open_device(const char *name)
{
    cairn_device *device = NULL;
    CHECK_OK(cairn_device_open(name, &(cairn_device_options){.threads = 1}, &device));
    return device;
}

static void learns(const char *backend, const char *model, const char *preset, int64_t divisor, int image_size)
{
    cairn_device *device = open_device(backend);
    REQUIRE(device);
    char name[64];
    pictures_log *log = malloc(sizeof *log);
    REQUIRE(log);
    pictures_log_start(log);
    snprintf(name, sizeof name, "run-%s-%s", backend, model);
    REQUIRE_OK(cairn_os_join(run_folder, sizeof run_folder, root, name));
    cairn_train_options o = pictures_options(device, folder, run_folder);
    cairn_train_result result;
    o.model = model;
    o.preset = preset;
    o.width_divisor = divisor;
    o.image_size = image_size;
    o.epochs = 8;
    o.log = &log->log;
    REQUIRE_OK(cairn_train(&o, &result));
    printf("%s\n", log->text);
    CHECK_INT(result.epochs, 8);
    CHECK(result.evaluated);
    CHECK(result.best_top1 > 0.9);
    CHECK(strcmp(result.run_folder, run_folder) == 0);
    free(log);
    cairn_device_close(device);
}

static void lenet_learns_on_ref(void)
{
    learns("ref", "lenet", "", 2, 0);
}

static void lenet_learns_on_cpu(void)
{
    learns("cpu", "lenet", "", 2, 0);
}

int main(void)
{
    if (pictures_root("integration-train", root) != CAIRN_OK ||
        pictures_make(root, "shapes", 3, 40, folder) != CAIRN_OK) {
        printf("%s\n", cairn_error_last()->message);
        return 1;
    }
    RUN(lenet_learns_on_ref);
    RUN(lenet_learns_on_cpu);
    return test_result();
}
