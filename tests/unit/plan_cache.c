/* What the CPU backend remembers between runs, and what it makes of a file that is torn, edited or another program's. */
#include "backends/cpu/plan_cache.h"
#include "core/atomic_file.h"
#include "core/os.h"
#include "tests/test.h"

#define MACHINE "cpu (oneDNN 2.6.3, 2 threads, Test)"
#define KEY     "conv2d forward src 2x8x5x5 out 8"

static char folder[512], path[600];

static void start_empty(const char *name)
{
    snprintf(folder, sizeof folder, "%s/tests/tmp/plan-cache-%s", CAIRN_TEST_BUILD, name);
    snprintf(path, sizeof path, "%s/plans", folder);
    cairn_os_remove(path);
}

/* The choice a newly opened cache gives, or "" for none. */
static const char *recalled(const char *machine, const char *key)
{
    static char choice[CAIRN_PLAN_CACHE_CHOICE];
    cairn_plan_cache *cache = NULL;
    choice[0] = '\0';
    CHECK_OK(cairn_plan_cache_open(folder, machine, &cache));
    if (cache) cairn_plan_cache_get(cache, key, choice, sizeof choice);
    cairn_plan_cache_close(cache);
    return choice;
}

static void remember(const char *machine, const char *key, const char *choice)
{
    cairn_plan_cache *cache = NULL;
    REQUIRE_OK(cairn_plan_cache_open(folder, machine, &cache));
    cairn_plan_cache_put(cache, key, choice);
    cairn_plan_cache_close(cache);
}

static void remembers_across_runs(void)
{
    start_empty("across");
    CHECK_TEXT(recalled(MACHINE, KEY), "");
    remember(MACHINE, KEY, "direct");
    CHECK_TEXT(recalled(MACHINE, KEY), "direct");
    remember(MACHINE, KEY, "winograd");
    CHECK_TEXT(recalled(MACHINE, KEY), "winograd");
    CHECK_TEXT(recalled(MACHINE, KEY " more"), "");
}

static void other_machines_choose_for_themselves(void)
{
    start_empty("machines");
    remember(MACHINE, KEY, "direct");
    CHECK_TEXT(recalled("cpu (oneDNN 3.7.2, 2 threads, Test)", KEY), "");
    remember("cpu (oneDNN 3.7.2, 2 threads, Test)", KEY, "winograd");
    CHECK_TEXT(recalled(MACHINE, KEY), "direct");
}

/* Two processes that opened the file when it was empty: both choices are kept. */
static void keeps_what_others_wrote_meanwhile(void)
{
    cairn_plan_cache *first = NULL, *second = NULL;
    start_empty("others");
    REQUIRE_OK(cairn_plan_cache_open(folder, MACHINE, &first));
    REQUIRE_OK(cairn_plan_cache_open(folder, MACHINE, &second));
    cairn_plan_cache_put(first, "first", "direct");
    cairn_plan_cache_put(second, "second", "winograd");
    cairn_plan_cache_close(first);
    cairn_plan_cache_close(second);
    CHECK_TEXT(recalled(MACHINE, "first"), "direct");
    CHECK_TEXT(recalled(MACHINE, "second"), "winograd");
}

/* Cut anywhere, the file gives either the choice or nothing, and the lines before the cut still hold. */
static void passes_over_a_torn_file(void)
{
    void *data = NULL;
    size_t bytes = 0;
    start_empty("torn");
    remember(MACHINE, "first", "direct");
    remember(MACHINE, "second", "winograd");
    REQUIRE_OK(cairn_os_read_file(path, 1 << 20, &data, &bytes));
    for (size_t cut = 0; cut < bytes; cut += 7) {
        CHECK_OK(cairn_atomic_file_put(path, data, cut));
        const char *choice = recalled(MACHINE, "second");
        CHECK(choice[0] == '\0' || (cut + 1 == bytes && strcmp(choice, "winograd") == 0));
    }
    CHECK_OK(cairn_atomic_file_put(path, data, bytes - 5));
    CHECK_TEXT(recalled(MACHINE, "first"), "direct");
    free(data);
}

static void passes_over_an_edited_line(void)
{
    char *data = NULL;
    size_t bytes = 0;
    start_empty("edited");
    remember(MACHINE, KEY, "direct");
    REQUIRE_OK(cairn_os_read_file(path, 1 << 20, (void **)&data, &bytes));
    char *choice = strstr(data, "direct");
    REQUIRE(choice != NULL);
    memcpy(choice, "DIRECT", 6);
    CHECK_OK(cairn_atomic_file_put(path, data, bytes));
    CHECK_TEXT(recalled(MACHINE, KEY), "");
    free(data);
}

static void passes_over_a_foreign_file(void)
{
    static const char foreign[] = "\x7f"
                                  "ELF\0\0\n\n\t\t\t\nnot ours\n0000000000000000\tmachine\tkey\tchoice\n";
    start_empty("foreign");
    REQUIRE_OK(cairn_os_make_folders(folder));
    REQUIRE_OK(cairn_atomic_file_put(path, foreign, sizeof foreign));
    CHECK_TEXT(recalled("machine", "key"), "");
    remember(MACHINE, KEY, "direct");
    CHECK_TEXT(recalled(MACHINE, KEY), "direct");
}

/* A folder that can't be made costs a measurement in every run, and nothing else. */
static void does_without_a_folder(void)
{
    start_empty("folder");
    REQUIRE_OK(cairn_os_make_folders(folder));
    REQUIRE_OK(cairn_atomic_file_put(path, "", 0));
    memcpy(folder, path, sizeof folder); /* a file stands where the folder should be */
    cairn_plan_cache *cache = NULL;
    char choice[CAIRN_PLAN_CACHE_CHOICE];
    REQUIRE_OK(cairn_plan_cache_open(folder, MACHINE, &cache));
    cairn_plan_cache_put(cache, KEY, "direct");
    CHECK(cairn_plan_cache_get(cache, KEY, choice, sizeof choice));
    CHECK_TEXT(choice, "direct");
    cairn_plan_cache_close(cache);
    CHECK(!cairn_plan_cache_get(NULL, KEY, choice, sizeof choice));
    cairn_plan_cache_put(NULL, KEY, "direct");
}

int main(void)
{
    RUN(remembers_across_runs);
    RUN(other_machines_choose_for_themselves);
    RUN(keeps_what_others_wrote_meanwhile);
    RUN(passes_over_a_torn_file);
    RUN(passes_over_an_edited_line);
    RUN(passes_over_a_foreign_file);
    RUN(does_without_a_folder);
    return test_result();
}
