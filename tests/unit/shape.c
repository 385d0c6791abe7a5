/* Shapes: counts that notice overflow, equality, text. */
#include "core/shape.h"
#include "tests/test.h"

static void counts(void)
{
    CHECK_INT(cairn_shape_count(cairn_shape_make(4, 2, 3, 4, 5)), 120);
    CHECK_INT(cairn_shape_count(cairn_shape_of(0, NULL)), 1);
    CHECK_INT(cairn_shape_count(cairn_shape_make(2, 5, 0)), 0);
    CHECK_INT(cairn_shape_count(cairn_shape_make(2, 5, -1)), -1);
    CHECK_INT(cairn_shape_count(cairn_shape_make(2, 1LL << 32, 1LL << 31)), -1);
    CHECK_INT(cairn_shape_count(cairn_shape_make(2, 1LL << 32, 1LL << 30)), 1LL << 62);
}

static void rank_is_clamped_and_the_rest_is_one(void)
{
    const int64_t dims[5] = {2, 3, 4, 5, 6};
    CHECK_INT(cairn_shape_of(5, dims).rank, CAIRN_MAX_RANK);
    CHECK_INT(cairn_shape_of(-1, dims).rank, 0);
    cairn_shape pair = cairn_shape_of(2, dims);
    CHECK_INT(pair.dim[2], 1);
    CHECK_INT(pair.dim[3], 1);
}

static void equality(void)
{
    cairn_shape a = cairn_shape_make(2, 3, 4);
    CHECK(cairn_shape_equal(a, cairn_shape_make(2, 3, 4)));
    CHECK(!cairn_shape_equal(a, cairn_shape_make(2, 4, 3)));
    CHECK(!cairn_shape_equal(a, cairn_shape_make(3, 3, 4, 1)));
}

static void text(void)
{
    char out[96], small[6];
    CHECK_TEXT(cairn_shape_format(cairn_shape_make(4, 64, 3, 11, 11), out, sizeof out), "64x3x11x11");
    CHECK_TEXT(cairn_shape_format(cairn_shape_of(0, NULL), out, sizeof out), "scalar");
    CHECK_TEXT(cairn_shape_format(cairn_shape_make(3, 1000, 2000, 3000), small, sizeof small), "1000x");
}

int main(void)
{
    RUN(counts);
    RUN(rank_is_clamped_and_the_rest_is_one);
    RUN(equality);
    RUN(text);
    return test_result();
}
