/* Atomic files: whole or not there, the old one standing until the new one is complete. With an argument, writes that file larger than
 * the limit the shell has set (tests/unit/full_disk.sh). */
#include "core/atomic_file.h"
#include "core/os.h"
#include "tests/support/scratch.h"
#include "tests/test.h"

static char folder[SCRATCH_SIZE], path[SCRATCH_SIZE];

static void check_content(const char *want)
{
    void *data;
    size_t bytes;
    REQUIRE_OK(cairn_os_read_file(path, 1000, &data, &bytes));
    CHECK_TEXT((const char *)data, want);
    free(data);
}

static void put_makes_and_replaces(void)
{
    CHECK_OK(cairn_atomic_file_put(path, "first", 5));
    check_content("first");
    CHECK_OK(cairn_atomic_file_put(path, "second", 6));
    check_content("second");
    CHECK_OK(cairn_atomic_file_put(path, NULL, 0));
    check_content("");
    CHECK_INT(scratch_count(folder), 1);
}

static void without_a_commit_the_old_file_stands(void)
{
    cairn_atomic_file *f;
    CHECK_OK(cairn_atomic_file_put(path, "old", 3));
    REQUIRE_OK(cairn_atomic_file_create(path, &f));
    CHECK_OK(cairn_atomic_file_write(f, "new", 3));
    check_content("old");
    CHECK_INT(scratch_count(folder), 2);
    cairn_atomic_file_destroy(f);
    check_content("old");
    CHECK_INT(scratch_count(folder), 1);
    cairn_atomic_file_destroy(NULL);
}

static void bytes_can_be_written_over(void)
{
    cairn_atomic_file *f;
    REQUIRE_OK(cairn_atomic_file_create(path, &f));
    CHECK_OK(cairn_atomic_file_write(f, "0123456789", 10));
    CHECK_OK(cairn_atomic_file_write_at(f, 2, "ab", 2));
    CHECK_OK(cairn_atomic_file_write(f, "end", 3));
    CHECK_FAILS(cairn_atomic_file_write_at(f, -1, "x", 1), CAIRN_USAGE, "no such offset");
    CHECK_OK(cairn_atomic_file_commit(f));
    cairn_atomic_file_destroy(f);
    check_content("01ab456789end");
}

/* Two at once don't mix: each has a temporary file of its own, and the last to commit wins. */
static void two_writers_do_not_mix(void)
{
    cairn_atomic_file *a, *b, *c;
    REQUIRE_OK(cairn_atomic_file_create(path, &a));
    REQUIRE_OK(cairn_atomic_file_create(path, &b));
    REQUIRE_OK(cairn_atomic_file_create(path, &c));
    CHECK_OK(cairn_atomic_file_write(a, "aaaa", 4));
    CHECK_OK(cairn_atomic_file_write(b, "bb", 2));
    CHECK_OK(cairn_atomic_file_commit(a));
    check_content("aaaa");
    CHECK_OK(cairn_atomic_file_commit(b));
    check_content("bb");
    cairn_atomic_file_destroy(a);
    cairn_atomic_file_destroy(b);
    cairn_atomic_file_destroy(c);
    CHECK_INT(scratch_count(folder), 1);
}

static void what_a_killed_writer_left_is_written_over(void)
{
    char partial[SCRATCH_SIZE];
    FILE *left = fopen(scratch_path(folder, "file.partial", partial), "wb");
    REQUIRE(left);
    fputs("half of something much longer", left);
    fclose(left);
    CHECK_OK(cairn_atomic_file_put(path, "whole", 5));
    check_content("whole");
    CHECK_INT(scratch_count(folder), 1);
}

static void places_that_can_not_be_written_are_named(void)
{
    cairn_atomic_file *f;
    char nowhere[SCRATCH_SIZE], longer[6000];
    CHECK_FAILS(cairn_atomic_file_put(scratch_path(folder, "none/file", nowhere), "x", 1), CAIRN_FILE,
                "/none/file: can't be opened for writing: No such file");
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    CHECK_FAILS(cairn_atomic_file_create(longer, &f), CAIRN_FILE, "path is too long");
    CHECK_FAILS(cairn_atomic_file_put(folder, "x", 1), CAIRN_FILE, "can't be renamed");
}

/* For full_disk.sh: 0 when the write failed as it should and `target` holds what it held. */
static int write_too_much(const char *target)
{
    static const char block[65536];
    cairn_atomic_file *f;
    if (cairn_atomic_file_create(target, &f) != CAIRN_OK) return 2;
    cairn_status status = CAIRN_OK;
    for (int i = 0; i < 64 && status == CAIRN_OK; i++)
        status = cairn_atomic_file_write(f, block, sizeof block);
    printf("%s: %s\n", cairn_status_name(status), cairn_error_last()->message);
    if (status == CAIRN_OK || cairn_atomic_file_commit(f) == CAIRN_OK) return 3;
    printf("%s\n", cairn_error_last()->message);
    cairn_atomic_file_destroy(f);
    return 0;
}

int main(int count, char **arguments)
{
    if (count > 1) return write_too_much(arguments[1]);
    scratch_make(CAIRN_TEST_BUILD, "atomic_file", folder);
    scratch_path(folder, "file", path);
    RUN(put_makes_and_replaces);
    RUN(without_a_commit_the_old_file_stands);
    RUN(bytes_can_be_written_over);
    RUN(two_writers_do_not_mix);
    RUN(what_a_killed_writer_left_is_written_over);
    RUN(places_that_can_not_be_written_are_named);
    return test_result();
}
