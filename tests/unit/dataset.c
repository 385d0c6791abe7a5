/* Folders of all sorts, made here, and what the dataset makes of them. */
#include "data/dataset.h"
#include "core/os.h"
#include "tests/support/scratch.h"
#include "tests/test.h"

#define ROOT CAIRN_TEST_BUILD "/tests/scratch/dataset"

/* Makes a file with one byte, and the folders above it. */
static void touch(const char *path)
{
    char full[600], folder[600];
    snprintf(full, sizeof full, "%s/%s", ROOT, path);
    snprintf(folder, sizeof folder, "%s", full);
    *strrchr(folder, '/') = '\0';
    CHECK_OK(cairn_os_make_folders(folder));
    FILE *file = fopen(full, "wb");
    REQUIRE(file);
    fputc('x', file);
    fclose(file);
}

static void touch_many(const char *folder, int count)
{
    for (int i = 0; i < count; i++) {
        char path[200];
        snprintf(path, sizeof path, "%s/%03d.jpg", folder, i);
        touch(path);
    }
}

/* Keeps what the dataset says. */
static void keep(void *context, cairn_log_level level, const char *text)
{
    (void)level;
    char *all = context;
    size_t used = strlen(all);
    snprintf(all + used, 4000 - used, "%s\n", text);
}

static cairn_status open_with(const char *folder, double val_split, char *said, cairn_dataset **out)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", ROOT, folder);
    cairn_log log = {.write = keep, .context = said};
    return cairn_dataset_open(
        path, &(cairn_dataset_options){.val_split = val_split, .seed = 1, .log = said ? &log : NULL}, out);
}

/* The path below ROOT. */
static const char *below(const cairn_sample_list *list, int64_t i)
{
    return list->sample[i].path + strlen(ROOT) + 1;
}

static void finds_nested_files_in_byte_order(void)
{
    touch("nested/b/2.jpg");
    touch("nested/b/10.jpg");
    touch("nested/b/deep/er/1.png");
    touch("nested/B/x.jpg");
    touch("nested/a b/y.jpg");
    cairn_dataset *dataset;
    REQUIRE_OK(open_with("nested", 0, NULL, &dataset));
    CHECK_INT(dataset->classes, 3);
    CHECK_TEXT(dataset->class_name[0], "B");
    CHECK_TEXT(dataset->class_name[1], "a b");
    CHECK_TEXT(dataset->class_name[2], "b");
    CHECK_INT(dataset->train.count, 5);
    CHECK_INT(dataset->validation.count, 0);
    CHECK_TEXT(below(&dataset->train, 0), "nested/B/x.jpg");
    CHECK_TEXT(below(&dataset->train, 2), "nested/b/10.jpg");
    CHECK_TEXT(below(&dataset->train, 3), "nested/b/2.jpg");
    CHECK_TEXT(below(&dataset->train, 4), "nested/b/deep/er/1.png");
    CHECK_INT(dataset->train.sample[4].label, 2);
    CHECK_INT(dataset->train_count[2], 3);
    CHECK(!dataset->own_split);
    cairn_dataset_close(dataset);
}

static void passes_over_system_files(void)
{
    touch("system/a/1.jpg");
    touch("system/a/.hidden.jpg");
    touch("system/a/Thumbs.db");
    touch("system/a/desktop.ini");
    touch("system/b/1.jpg");
    touch("system/b/__MACOSX/1.jpg");
    touch("system/.git/1.jpg");
    touch("system/__MACOSX/1.jpg");
    touch("system/.DS_Store");
    touch("system/readme.txt");
    touch("system/empty/.keep");
    char said[4000] = "";
    cairn_dataset *dataset;
    REQUIRE_OK(open_with("system/", 0, said, &dataset));
    CHECK_INT(dataset->classes, 2);
    CHECK_INT(dataset->train.count, 2);
    CHECK_INT(dataset->ignored, 8);
    CHECK_TEXT(below(&dataset->train, 0), "system/a/1.jpg");
    CHECK(strstr(said, "8 hidden and system files are ignored"));
    CHECK(strstr(said, "class \"empty\" has no files and stays out"));
    CHECK(strstr(said, "1 loose file beside the class folders stays out"));
    cairn_dataset_close(dataset);
}

static void splits_each_class_by_its_share(void)
{
    touch_many("split/ten", 10);
    touch_many("split/three", 3);
    touch_many("split/one", 1);
    cairn_dataset *dataset, *again, *other;
    REQUIRE_OK(open_with("split", 0.2, NULL, &dataset));
    CHECK_INT(dataset->train_count[0], 1); /* one: kept for training */
    CHECK_INT(dataset->validation_count[0], 0);
    CHECK_INT(dataset->train_count[1], 8);
    CHECK_INT(dataset->validation_count[1], 2);
    CHECK_INT(dataset->train_count[2], 2);
    CHECK_INT(dataset->validation_count[2], 1);
    CHECK_INT(dataset->train.count + dataset->validation.count, 14);
    for (int64_t i = 0; i < dataset->train.count; i++)
        for (int64_t k = 0; k < dataset->validation.count; k++)
            CHECK(strcmp(dataset->train.sample[i].path, dataset->validation.sample[k].path) != 0);
    REQUIRE_OK(open_with("split", 0.2, NULL, &again));
    for (int64_t k = 0; k < dataset->validation.count; k++)
        CHECK_TEXT(again->validation.sample[k].path, dataset->validation.sample[k].path);
    REQUIRE_OK(open_with("split", 0.999, NULL, &other)); /* never all of a class */
    CHECK_INT(other->train_count[1], 1);
    CHECK_INT(other->train_count[2], 1);
    cairn_dataset_close(dataset);
    cairn_dataset_close(again);
    cairn_dataset_close(other);
}

static void takes_the_split_a_folder_has(void)
{
    touch_many("own/train/a", 3);
    touch_many("own/train/b", 2);
    touch_many("own/valid/b", 4);
    char said[4000] = "";
    cairn_dataset *dataset;
    REQUIRE_OK(open_with("own", 0.5, said, &dataset));
    CHECK(dataset->own_split);
    CHECK(strstr(said, "is split by its own folders: train and valid"));
    CHECK_INT(dataset->train.count, 5);
    CHECK_INT(dataset->validation.count, 4);
    CHECK_INT(dataset->validation.sample[0].label, 1); /* matched by name, not by place */
    CHECK_INT(dataset->validation_count[0], 0);
    cairn_dataset_close(dataset);
    touch("own_wrong/train/a/1.jpg");
    touch("own_wrong/train/b/1.jpg");
    touch("own_wrong/val/c/1.jpg");
    CHECK_FAILS(open_with("own_wrong", 0.5, NULL, &dataset), CAIRN_DATA,
                "class \"c\" is not among the 2 classes of train/");
}

static void follows_the_classes_of_a_checkpoint(void)
{
    touch("given/b/1.jpg");
    touch("given/c/1.jpg");
    static const char *const classes[] = {"c", "a", "b"}, *const fewer[] = {"c", "a"};
    cairn_dataset *dataset;
    REQUIRE_OK(
        cairn_dataset_open(ROOT "/given", &(cairn_dataset_options){.classes = classes, .class_count = 3}, &dataset));
    CHECK_INT(dataset->classes, 3);
    CHECK_INT(dataset->train.sample[0].label, 2);
    CHECK_INT(dataset->train.sample[1].label, 0);
    cairn_dataset_close(dataset);
    CHECK_FAILS(
        cairn_dataset_open(ROOT "/given", &(cairn_dataset_options){.classes = fewer, .class_count = 2}, &dataset),
        CAIRN_DATA, "class \"b\" is not among the 2 classes of the model");
    touch("given_one/a/1.jpg"); /* enough to evaluate */
    REQUIRE_OK(cairn_dataset_open(ROOT "/given_one", &(cairn_dataset_options){.classes = classes, .class_count = 3},
                                  &dataset));
    CHECK_INT(dataset->train.sample[0].label, 1);
    cairn_dataset_close(dataset);
}

static void says_what_is_wrong_with_a_folder(void)
{
    cairn_dataset *dataset;
    CHECK_FAILS(open_with("missing", 0.2, NULL, &dataset), CAIRN_DATA, "missing: no such folder");
    CHECK(dataset == NULL);
    touch("file");
    CHECK_FAILS(open_with("file", 0.2, NULL, &dataset), CAIRN_DATA, "file: not a folder");
    CHECK_OK(cairn_os_make_folders(ROOT "/empty"));
    CHECK_FAILS(open_with("empty", 0.2, NULL, &dataset), CAIRN_DATA,
                "empty: put the pictures of each class in a sub-folder");
    touch_many("loose", 2);
    CHECK_FAILS(open_with("loose", 0.2, NULL, &dataset), CAIRN_DATA, "2 loose files and no sub-folders");
    touch("only/cats/1.jpg");
    CHECK_FAILS(open_with("only", 0.2, NULL, &dataset), CAIRN_DATA, "only one class, \"cats\"");
    CHECK_OK(cairn_os_make_folders(ROOT "/nothing/a"));
    CHECK_OK(cairn_os_make_folders(ROOT "/nothing/b"));
    CHECK_FAILS(open_with("nothing", 0.2, NULL, &dataset), CAIRN_DATA, "no file in any of its 2 sub-folders");
    char deep[400] = "deep/a";
    for (int i = 0; i < 33; i++)
        strcat(deep, "/d");
    touch("deep/b/1.jpg");
    strcat(deep, "/1.jpg");
    touch(deep);
    CHECK_FAILS(open_with("deep", 0.2, NULL, &dataset), CAIRN_DATA, "more than 32 folders deep");
    CHECK_FAILS(open_with("nested", 1, NULL, &dataset), CAIRN_USAGE, "val_split is 1");
    CHECK_FAILS(open_with("nested", -0.1, NULL, &dataset), CAIRN_USAGE, "val_split is -0.1");
    CHECK_FAILS(open_with("nested", (double)NAN, NULL, &dataset), CAIRN_USAGE, "val_split is");
    cairn_dataset_close(NULL);
}

int main(void)
{
    static char folder[SCRATCH_SIZE]; /* ROOT */
    scratch_make(CAIRN_TEST_BUILD, "dataset", folder);
    RUN(finds_nested_files_in_byte_order);
    RUN(passes_over_system_files);
    RUN(splits_each_class_by_its_share);
    RUN(takes_the_split_a_folder_has);
    RUN(follows_the_classes_of_a_checkpoint);
    RUN(says_what_is_wrong_with_a_folder);
    return test_result();
}
