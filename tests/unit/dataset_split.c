/* A split written down and read again. */
#include "core/atomic_file.h"
#include "core/os.h"
#include "data/dataset.h"
#include "tests/support/scratch.h"
#include "tests/test.h"

#define ROOT     CAIRN_TEST_BUILD "/tests/scratch/dataset_split"
#define SPLIT    ROOT "/split.txt"
#define ODD_NAME "a\ttab\\and\nline.jpg"

static void touch(const char *folder, const char *name)
{
    char path[600];
    CHECK_OK(cairn_os_make_folders(folder));
    REQUIRE_OK(cairn_os_join(path, sizeof path, folder, name));
    CHECK_OK(cairn_atomic_file_put(path, "x", 1));
}

static void make_photos(void)
{
    for (int i = 0; i < 12; i++) {
        char name[20];
        snprintf(name, sizeof name, "%02d.jpg", i);
        touch(i % 2 ? ROOT "/photos/cats" : ROOT "/photos/dogs/deep", name);
    }
    touch(ROOT "/photos/cats", ODD_NAME);
}

static void check_same_list(const cairn_sample_list *a, const cairn_sample_list *b)
{
    REQUIRE(a->count == b->count);
    for (int64_t i = 0; i < a->count; i++) {
        CHECK_TEXT(a->sample[i].path, b->sample[i].path);
        CHECK_INT(a->sample[i].label, b->sample[i].label);
    }
}

static void a_saved_split_wins_over_the_seed(void)
{
    make_photos();
    cairn_dataset *dataset, *again;
    REQUIRE_OK(cairn_dataset_open(ROOT "/photos", &(cairn_dataset_options){.val_split = 0.3, .seed = 1}, &dataset));
    REQUIRE_OK(cairn_dataset_save_split(dataset, SPLIT));
    touch(ROOT "/photos/cats", "new.jpg"); /* not in the split: stays out */
    REQUIRE_OK(cairn_dataset_open_split(ROOT "/photos/", SPLIT, &(cairn_dataset_options){.val_split = 0.9, .seed = 2},
                                        &again));
    CHECK_INT(again->classes, 2);
    CHECK_TEXT(again->class_name[0], "cats");
    check_same_list(&dataset->train, &again->train);
    check_same_list(&dataset->validation, &again->validation);
    CHECK_INT(again->validation_count[0], dataset->validation_count[0]);
    cairn_dataset_close(again);
    static const char *const model[] = {"dogs", "birds", "cats"};
    REQUIRE_OK(cairn_dataset_open_split(ROOT "/photos", SPLIT,
                                        &(cairn_dataset_options){.classes = model, .class_count = 3}, &again));
    CHECK_INT(again->train.sample[0].label, 2);
    cairn_dataset_close(again);
    CHECK_FAILS(cairn_dataset_open_split(ROOT "/photos", SPLIT,
                                         &(cairn_dataset_options){.classes = model, .class_count = 2}, &again),
                CAIRN_DATA, "class \"cats\" is not among the 2 classes of the model");
    cairn_dataset_close(dataset);
    CHECK_OK(cairn_os_remove(ROOT "/photos/cats/new.jpg"));
}

static void a_file_that_is_gone_is_named(void)
{
    cairn_dataset *dataset;
    CHECK_OK(cairn_os_remove(ROOT "/photos/cats/03.jpg"));
    CHECK_FAILS(cairn_dataset_open_split(ROOT "/photos", SPLIT, &(cairn_dataset_options){0}, &dataset), CAIRN_DATA,
                "photos/cats/03.jpg: gone");
    CHECK(dataset == NULL);
    CHECK_FAILS(cairn_dataset_open_split(ROOT "/photos", ROOT "/none.txt", &(cairn_dataset_options){0}, &dataset),
                CAIRN_FILE, "none.txt");
}

static void wrong_text_is_refused(void)
{
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"", "an empty split"},
        {"train\tcats", "line 1 is not"},
        {"train\tcats\t01.jpg", "line 1 is not"}, /* no line end: cut off */
        {"train\tcats\tcats/01.jpg\ntest\tcats\tcats/05.jpg\n", "line 2 is not"},
        {"train\tcats\tcats/01.jpg\tmore\n", "line 1 is not"},
        {"train\t\tcats/01.jpg\n", "line 1 is not"},
        {"train\tcats\t\n", "line 1 is not"},
        {"train\tcats\t/etc/passwd\n", "line 1 is not"},
        {"train\tcats\t../x\n", "line 1 is not"},
        {"train\tcats\tcats/../../x\n", "line 1 is not"},
        {"train\tcats\tcats\\x\n", "line 1 is not"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cairn_dataset *dataset;
        CHECK_OK(cairn_atomic_file_put(ROOT "/wrong.txt", wrong[i].text, strlen(wrong[i].text)));
        CHECK_FAILS(cairn_dataset_open_split(ROOT "/photos", ROOT "/wrong.txt", &(cairn_dataset_options){0}, &dataset),
                    CAIRN_DATA, wrong[i].message);
    }
}

int main(void)
{
    static char folder[SCRATCH_SIZE]; /* ROOT */
    scratch_make(CAIRN_TEST_BUILD, "dataset_split", folder);
    RUN(a_saved_split_wins_over_the_seed);
    RUN(a_file_that_is_gone_is_named);
    RUN(wrong_text_is_refused);
    return test_result();
}
