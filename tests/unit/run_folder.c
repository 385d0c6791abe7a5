/* The run folder: its name, what it refuses, and what goes into which file. */
#include "train/run_folder.h"
#include "core/os.h"
#include "tests/support/scratch.h"
#include "tests/test.h"
#include "train/trainer.h"

static char root[SCRATCH_SIZE];

static void the_name_comes_from_the_pictures(void)
{
    static const struct {
        const char *folder, *start;
    } names[] = {{"photos", "runs/photos-2"},    {"/data/my photos/", "runs/my photos-2"},
                 {".", "runs/pictures-2"},       {"a/..", "runs/pictures-2"},
                 {"/", "runs/pictures-2"},       {"..hidden", "runs/..hidden-2"},
                 {"a/b/birds//", "runs/birds-2"}};
    char name[CAIRN_PATH_SIZE];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK_OK(cairn_run_folder_default(names[i].folder, name, sizeof name));
        if (strncmp(name, names[i].start, strlen(names[i].start)) != 0)
            TEST_FAIL("%s gives %.80s, want %s...", names[i].folder, name, names[i].start);
        CHECK(strchr(name, ':') == NULL);
    }
    CHECK_FAILS(cairn_run_folder_default("photos", name, 12), CAIRN_USAGE, "too long");
}

static void a_path_means_its_folder(void)
{
    char out[SCRATCH_SIZE], file[SCRATCH_SIZE], small[4];
    CHECK_OK(cairn_run_folder_of(root, out, sizeof out));
    CHECK(strcmp(out, root) == 0);
    CHECK_OK(cairn_run_folder_of(scratch_path(root, "last.safetensors", file), out, sizeof out));
    CHECK(strcmp(out, root) == 0);
    CHECK_OK(cairn_run_folder_of("last.safetensors", out, sizeof out));
    CHECK_TEXT(out, ".");
    CHECK_OK(cairn_run_folder_of("/last.safetensors", out, sizeof out));
    CHECK_TEXT(out, "/");
    CHECK_FAILS(cairn_run_folder_of(root, small, sizeof small), CAIRN_USAGE, "longer than 3 bytes");
}

static void keep_last(void *context, cairn_log_level level, const char *text)
{
    snprintf(context, 200, "%d %s", (int)level, text);
}

static char *read_file(const char *folder, const char *name)
{
    char path[SCRATCH_SIZE];
    void *data = NULL;
    size_t bytes;
    CHECK_OK(cairn_os_read_file(scratch_path(folder, name, path), 100000, &data, &bytes));
    return data;
}

static void files_get_what_is_theirs(void)
{
    char folder[SCRATCH_SIZE], slashed[SCRATCH_SIZE], said[200] = "";
    const cairn_log log = {.write = keep_last, .context = said, .level = CAIRN_LOG_WARNING};
    cairn_run_folder *run;
    scratch_path(root, "run", folder);
    REQUIRE_OK(cairn_run_folder_open(scratch_path(root, "run//", slashed), false, &log, &run));
    CHECK(strcmp(cairn_run_folder_path(run), folder) == 0);
    cairn_log_write(cairn_run_folder_log(run), CAIRN_LOG_INFO, "heard by the file");
    CHECK_TEXT(said, "");
    cairn_log_write(cairn_run_folder_log(run), CAIRN_LOG_WARNING, "heard by both");
    CHECK_TEXT(said, "2 heard by both");
    cairn_run_folder_note(run, CAIRN_LOG_ERROR, "noted");
    CHECK_TEXT(said, "2 heard by both");
    CHECK_OK(cairn_run_folder_put(run, "config", "a = 1\n"));
    CHECK_OK(cairn_run_folder_put(run, "config", "a = 2\n"));
    CHECK_OK(cairn_run_folder_metrics(run, "{\"update\":1}"));
    cairn_run_folder_close(run);

    /* Going on adds to what is there. */
    REQUIRE_OK(cairn_run_folder_open(folder, true, NULL, &run));
    CHECK_OK(cairn_run_folder_metrics(run, "{\"update\":2}"));
    cairn_log_write(cairn_run_folder_log(run), CAIRN_LOG_INFO, "later");
    cairn_run_folder_close(run);

    char *text = read_file(folder, "log.txt");
    CHECK(strstr(text, " info: heard by the file\n") && strstr(text, " warning: heard by both\n"));
    CHECK(strstr(text, " error: noted\n") && strstr(text, " info: later\n"));
    free(text);
    text = read_file(folder, "config");
    CHECK_TEXT(text, "a = 2\n");
    free(text);
    text = read_file(folder, "metrics.jsonl");
    CHECK_TEXT(text, "{\"update\":1}\n{\"update\":2}\n");
    free(text);
}

static void a_run_is_not_overwritten_but_an_empty_start_is(void)
{
    char folder[SCRATCH_SIZE];
    cairn_run_folder *run;
    scratch_path(root, "twice", folder);
    for (int i = 0; i < 2; i++) { /* the second finds a log.txt only: a run that failed before it saved anything */
        REQUIRE_OK(cairn_run_folder_open(folder, false, NULL, &run));
        cairn_run_folder_close(run);
    }
    REQUIRE_OK(cairn_run_folder_open(folder, false, NULL, &run));
    CHECK_OK(cairn_run_folder_put(run, "last.safetensors", "x"));
    cairn_run_folder_close(run);
    CHECK_FAILS(cairn_run_folder_open(folder, false, NULL, &run), CAIRN_FILE, "--resume");
    CHECK(run == NULL);
    REQUIRE_OK(cairn_run_folder_open(folder, true, NULL, &run));
    cairn_run_folder_close(run);
}

static void one_run_at_a_time_has_it(void)
{
    char folder[SCRATCH_SIZE], path[SCRATCH_SIZE];
    cairn_run_folder *first, *second;
    scratch_path(root, "shared", folder);
    REQUIRE_OK(cairn_run_folder_open(folder, false, NULL, &first));
    CHECK_FAILS(cairn_run_folder_open(folder, false, NULL, &second), CAIRN_FILE, "in use by process");
    CHECK_FAILS(cairn_run_folder_open(folder, true, NULL, &second), CAIRN_FILE, "--run");
    CHECK(cairn_os_stat(scratch_path(folder, "lock", path), NULL) == CAIRN_OS_FILE);
    cairn_run_folder_close(first);
    CHECK(cairn_os_stat(path, NULL) == CAIRN_OS_MISSING);

    /* What a killed process left is no obstacle. */
    FILE *left = fopen(path, "w");
    if (left) fclose(left);
    REQUIRE_OK(cairn_run_folder_open(folder, true, NULL, &first));
    cairn_run_folder_close(first);
}

static void of_several_one_makes_a_folder(void)
{
    char folder[SCRATCH_SIZE];
    bool made;
    scratch_path(root, "deep/down", folder);
    CHECK_OK(cairn_os_make_new_folder(folder, &made));
    CHECK(made);
    CHECK_OK(cairn_os_make_new_folder(folder, &made));
    CHECK(!made);
}

int main(void)
{
    scratch_make(CAIRN_TEST_BUILD, "run_folder", root);
    RUN(the_name_comes_from_the_pictures);
    RUN(a_path_means_its_folder);
    RUN(files_get_what_is_theirs);
    RUN(a_run_is_not_overwritten_but_an_empty_start_is);
    RUN(one_run_at_a_time_has_it);
    RUN(of_several_one_makes_a_folder);
    return test_result();
}
