/* safetensors files: what is written comes back, each way of being hostile or damaged is refused with its reason, and no mutation of a
 * good file makes the reader touch memory it should not (run under ASan). */
#include "core/safetensors.h"
#include "core/os.h"
#include "core/rng.h"
#include "tests/support/scratch.h"
#include "tests/test.h"

static char folder[SCRATCH_SIZE], sample[SCRATCH_SIZE];

/* A file in memory: the header's length, `json` padded with spaces to a multiple of eight, and `data` bytes counting up. Aligned to 16
 * bytes; freed by the caller. */
static uint8_t *make_file(const char *json, size_t data, size_t *bytes)
{
    size_t text = strlen(json), length = (text + 7) / 8 * 8;
    *bytes = 8 + length + data;
    uint8_t *file = malloc(*bytes);
    if (!file) exit(1);
    for (size_t i = 0; i < 8; i++)
        file[i] = (uint8_t)(length >> 8 * i);
    memset(file + 8, ' ', length);
    memcpy(file + 8, json, text);
    for (size_t i = 0; i < data; i++)
        file[8 + length + i] = (uint8_t)i;
    return file;
}

static cairn_status parse(const char *json, size_t data)
{
    size_t bytes;
    cairn_safetensors *parsed = NULL;
    uint8_t *file = make_file(json, data, &bytes);
    cairn_status status = cairn_safetensors_parse("x", file, bytes, &parsed);
    CHECK((status == CAIRN_OK) == (parsed != NULL));
    cairn_safetensors_close(parsed);
    free(file);
    return status;
}

static void good_files_are_read(void)
{
    CHECK_OK(parse("{}", 0));
    CHECK_OK(parse("{\"__metadata__\":{}}", 0));
    CHECK_OK(parse("{\"s\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4));
    CHECK_OK(parse("{\"e\":{\"dtype\":\"F32\",\"shape\":[0,3],\"data_offsets\":[0,0]}}", 0));
    CHECK_OK(parse("{\"b\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[4,8]},"
                   "\"a\":{\"data_offsets\":[0,4],\"shape\":[1,1],\"dtype\":\"I32\"},"
                   "\"e\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[4,4]}}",
                   8));
}

static void hostile_files_are_refused(void)
{
    static const struct {
        const char *json;
        size_t data;
        const char *reason;
    } cases[] = {
        {"", 0, "no valid JSON"},
        {"[]", 0, "no JSON object"},
        {"{\"a\":", 0, "no valid JSON"},
        {"{} {}", 0, "no valid JSON"},
        {"{\"a\":1,\"a\":2}", 0, "duplicate"},
        {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}", 1, "duplicate"},
        {"{\"a\":7}", 0, "other keys"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"code\":\"x\"}}", 1, "other keys"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"offsets\":[0,1]}}", 1, "no pair of data_offsets"},
        {"{\"a\":{\"dtype\":5,\"shape\":[1],\"data_offsets\":[0,1]}}", 1, "no dtype"},
        {"{\"a\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]}}", 8, "('F64'; F32"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":1,\"data_offsets\":[0,1]}}", 1, "no shape"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1],\"data_offsets\":[0,1]}}", 1, "more than 4 dimensions"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]}}", 1, "no whole number"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1.0],\"data_offsets\":[0,1]}}", 1, "no whole number"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0, "too many elements"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}", 0, "size"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[99999999999999999999],\"data_offsets\":[0,1]}}", 1, "no valid JSON"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0]}}", 1, "no pair"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1,2]}}", 1, "no pair"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[\"0\",1]}}", 1, "no pair"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,0]}}", 1, "reversed"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[-1,0]}}", 1, "negative"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 1, "past the end"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[9223372036854775806,9223372036854775807]}}", 1,
         "past the end"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4, "size"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
         "\"b\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[1,3]}}",
         3, "not aligned"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
         "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}",
         3, "overlaps"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
         "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}",
         2, "overlaps"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}", 2, "hole"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 4, "3 bytes after the last tensor"},
        {"{\"__metadata__\":[]}", 0, "no object"},
        {"{\"__metadata__\":{\"a\":1}}", 0, "no string"},
        {"{\"\\u001b[2J\\n\":3}", 0, "tensor '?[2J?'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_FAILS(parse(cases[i].json, cases[i].data), CAIRN_FILE, cases[i].reason);
}

static void deep_json_is_refused(void)
{
    enum { depth = 100000 };
    char *json = malloc(2 * depth + 16);
    size_t bytes;
    cairn_safetensors *file;
    REQUIRE(json);
    snprintf(json, 8, "{\"a\":");
    memset(json + 5, '[', depth);
    memset(json + 5 + depth, ']', depth);
    snprintf(json + 5 + 2 * depth, 2, "}");
    uint8_t *data = make_file(json, 0, &bytes);
    CHECK_FAILS(cairn_safetensors_parse("deep", data, bytes, &file), CAIRN_FILE, "deep: the header is no valid JSON");
    free(data);
    free(json);
}

static void wrong_lengths_are_refused(void)
{
    cairn_safetensors *file;
    static const uint8_t longer[16] = {9, 0, 0, 0, 0, 0, 0, 0, '{', '}'}, giant[16] = {0, 0, 0, 0, 0, 0, 0, 0x80};
    CHECK_FAILS(cairn_safetensors_parse("x", longer, 16, &file), CAIRN_FILE, "truncated");
    CHECK_FAILS(cairn_safetensors_parse("x", giant, 16, &file), CAIRN_FILE, "not a safetensors file");
    CHECK_FAILS(cairn_safetensors_parse("x", giant, 7, &file), CAIRN_FILE, "7 bytes are too few");
    CHECK_FAILS(cairn_safetensors_parse("x", giant, 0, &file), CAIRN_FILE, "0 bytes are too few");
    char missing[SCRATCH_SIZE];
    CHECK_FAILS(cairn_safetensors_open(scratch_path(folder, "missing", missing), &file), CAIRN_FILE,
                "/missing: can't be opened");
    CHECK_FAILS(cairn_safetensors_open(folder, &file), CAIRN_FILE, "can't be read");
}

static const float weights[6] = {1, -2, 3.5f, 0, 1e-30f, 6};
static const uint8_t labels[3] = {7, 8, 9};

static cairn_status write_sample(const char *path)
{
    cairn_safetensors_writer *w;
    CAIRN_TRY(cairn_safetensors_writer_create(&w));
    cairn_status status = CAIRN_OK;
    CAIRN_TRY_DONE(cairn_safetensors_writer_metadata(w, "epoch", "3"));
    CAIRN_TRY_DONE(cairn_safetensors_writer_metadata(w, "classes", "[\"K\xc3\xa4tzchen\",\"\\\"\"]"));
    CAIRN_TRY_DONE(cairn_safetensors_writer_declare(w, "conv1.weight", CAIRN_F32, cairn_shape_make(2, 2, 3)));
    CAIRN_TRY_DONE(cairn_safetensors_writer_declare(w, "step", CAIRN_F32, cairn_shape_make(0, 0)));
    CAIRN_TRY_DONE(cairn_safetensors_writer_declare(w, "labels", CAIRN_U8, cairn_shape_make(1, 3)));
    CAIRN_TRY_DONE(cairn_safetensors_writer_begin(w, path));
    CAIRN_TRY_DONE(cairn_safetensors_writer_data(w, weights, 10)); /* in pieces of any size */
    CAIRN_TRY_DONE(cairn_safetensors_writer_data(w, (const uint8_t *)weights + 10, sizeof weights - 10));
    CAIRN_TRY_DONE(cairn_safetensors_writer_data(w, weights, 4));
    CAIRN_TRY_DONE(cairn_safetensors_writer_data(w, labels, 3));
    CAIRN_TRY_DONE(cairn_safetensors_writer_finish(w));
done:
    cairn_safetensors_writer_destroy(w);
    return status;
}

static void a_round_trip_keeps_everything(void)
{
    cairn_safetensors *file;
    REQUIRE_OK(write_sample(sample));
    REQUIRE_OK(cairn_safetensors_open(sample, &file));
    CHECK_INT(cairn_safetensors_count(file), 3);
    CHECK_TEXT(cairn_safetensors_at(file, 0)->name, "conv1.weight");
    CHECK_TEXT(cairn_safetensors_at(file, 2)->name, "labels");
    const cairn_safetensors_entry *w = cairn_safetensors_find(file, "conv1.weight");
    const cairn_safetensors_entry *step = cairn_safetensors_find(file, "step");
    REQUIRE(w && step);
    CHECK(cairn_shape_equal(w->shape, cairn_shape_make(2, 2, 3)));
    CHECK_INT(w->dtype, CAIRN_F32);
    CHECK_INT(w->bytes, sizeof weights);
    CHECK(memcmp(w->data, weights, sizeof weights) == 0);
    CHECK_INT(step->shape.rank, 0);
    CHECK(memcmp(cairn_safetensors_at(file, 2)->data, labels, 3) == 0);
    CHECK_TEXT(cairn_safetensors_metadata(file, "epoch"), "3");
    CHECK_TEXT(cairn_safetensors_metadata(file, "classes"), "[\"K\xc3\xa4tzchen\",\"\\\"\"]");
    CHECK_INT(strlen(cairn_safetensors_metadata(file, "checksum")), 16);
    CHECK(!cairn_safetensors_metadata(file, "no such key"));
    CHECK(!cairn_safetensors_find(file, "no such tensor"));
    cairn_safetensors_close(file);
    cairn_safetensors_close(NULL);
    CHECK_INT(scratch_count(folder), 1); /* no temporary file */
}

/* Every single flipped bit and every truncation of a file of ours is noticed. */
static void damage_is_noticed(void)
{
    void *data;
    size_t bytes;
    cairn_safetensors *file;
    REQUIRE_OK(write_sample(sample));
    REQUIRE_OK(cairn_os_read_file(sample, 1 << 20, &data, &bytes));
    uint8_t *byte = data;
    size_t named = 8 + strlen("{\"__metadata__\":{\"checksum\":\"");
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        byte[bit / 8] ^= (uint8_t)(1 << bit % 8);
        cairn_status status = cairn_safetensors_parse("x", data, bytes, &file);
        /* A flip that hides the name of the checksum leaves a plain safetensors file that may still be sound. */
        if (status == CAIRN_OK && bit / 8 >= named) TEST_FAIL("flipped bit %zu was not noticed", bit);
        if (status == CAIRN_OK) cairn_safetensors_close(file);
        byte[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t cut = 0; cut < bytes; cut++)
        CHECK_INT(cairn_safetensors_parse("x", data, cut, &file), CAIRN_FILE);
    byte[bytes - 1] ^= 1;
    CHECK_FAILS(cairn_safetensors_parse("x", data, bytes, &file), CAIRN_FILE, "damaged: its checksum is");
    CHECK_FAILS(cairn_safetensors_parse("x", data, bytes - 1, &file), CAIRN_FILE, "truncated: it has");
    free(data);
}

/* Thousands of headers made from a good one by cutting, copying and overwriting: refused or read, never a crash, and what is read lies
 * inside the file. */
static void mutated_headers_do_no_harm(void)
{
    static const char *const pieces[] = {"{",
                                         "}",
                                         "[",
                                         "]",
                                         "\"",
                                         ",",
                                         ":",
                                         "-1",
                                         "0",
                                         "1e9",
                                         "9223372036854775807",
                                         "null",
                                         "\"shape\"",
                                         "\"F16\"",
                                         "\"__metadata__\"",
                                         "\\u0000",
                                         "\xff"};
    const char *json =
        "{\"__metadata__\":{\"a\":\"b\"},\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
        "\"l\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[24,27]}}";
    int read = 0;
    for (uint32_t round = 0; round < 20000; round++) {
        cairn_rng rng = cairn_rng_make(5, CAIRN_RNG_SYNTHETIC, 0, round);
        uint64_t draw = 0;
        char text[1024], changed[1024];
        snprintf(text, sizeof text, "%s", json);
        for (uint32_t edits = 1 + cairn_rng_below(rng, draw++, 4); edits; edits--) {
            uint32_t length = (uint32_t)strlen(text), at = cairn_rng_below(rng, draw++, length + 1);
            uint32_t cut = cairn_rng_below(rng, draw++, length - at + 1) % 8;
            const char *piece = pieces[cairn_rng_below(rng, draw++, sizeof pieces / sizeof *pieces)];
            snprintf(changed, sizeof changed, "%.*s%s%s", (int)at, text, piece, text + at + cut);
            memcpy(text, changed, sizeof text);
        }
        size_t bytes;
        uint8_t *data = make_file(text, 27, &bytes);
        cairn_safetensors *file;
        if (cairn_safetensors_parse("x", data, bytes, &file) == CAIRN_OK) {
            read++;
            for (int i = 0; i < cairn_safetensors_count(file); i++) {
                const cairn_safetensors_entry *entry = cairn_safetensors_at(file, i);
                const uint8_t *start = entry->data;
                CHECK(start >= data + 8 && start + entry->bytes <= data + bytes);
            }
            cairn_safetensors_close(file);
        }
        free(data);
    }
    printf("%d of 20000 mutated headers were still sound\n", read);
}

static void the_writer_refuses_misuse(void)
{
    cairn_safetensors_writer *w;
    char path[SCRATCH_SIZE], nowhere[SCRATCH_SIZE];
    scratch_path(folder, "misuse.safetensors", path);
    scratch_path(folder, "none/a", nowhere);
    REQUIRE_OK(cairn_safetensors_writer_create(&w));
    CHECK_FAILS(cairn_safetensors_writer_finish(w), CAIRN_USAGE, "0 bytes");
    CHECK_FAILS(cairn_safetensors_writer_data(w, "x", 1), CAIRN_USAGE, "before the header");
    CHECK_FAILS(cairn_safetensors_writer_metadata(w, "checksum", "1"), CAIRN_USAGE, "by Cairn itself");
    CHECK_FAILS(cairn_safetensors_writer_metadata(w, "k", "\xff"), CAIRN_USAGE, "UTF-8");
    CHECK_FAILS(cairn_safetensors_writer_declare(w, "\xff", CAIRN_U8, cairn_shape_make(0, 0)), CAIRN_USAGE, "UTF-8");
    CHECK_FAILS(cairn_safetensors_writer_declare(w, "n", CAIRN_U8, cairn_shape_make(1, -1)), CAIRN_USAGE, "shape");
    CHECK_FAILS(cairn_safetensors_writer_declare(w, "n", CAIRN_F32, cairn_shape_make(1, INT64_MAX / 2)), CAIRN_USAGE,
                "shape");
    CHECK_OK(cairn_safetensors_writer_declare(w, "a", CAIRN_U8, cairn_shape_make(1, 3)));
    CHECK_FAILS(cairn_safetensors_writer_declare(w, "a", CAIRN_U8, cairn_shape_make(1, 3)), CAIRN_USAGE, "twice");
    CHECK_FAILS(cairn_safetensors_writer_declare(w, "f", CAIRN_F32, cairn_shape_make(1, 1)), CAIRN_USAGE, "aligned");
    CHECK_FAILS(cairn_safetensors_writer_begin(w, nowhere), CAIRN_FILE, "/none/a: can't be opened");
    CHECK_OK(cairn_safetensors_writer_begin(w, path));
    CHECK_FAILS(cairn_safetensors_writer_begin(w, path), CAIRN_USAGE, "already");
    CHECK_FAILS(cairn_safetensors_writer_metadata(w, "k", "v"), CAIRN_USAGE, "after the header");
    CHECK_FAILS(cairn_safetensors_writer_data(w, "xxxx", 4), CAIRN_USAGE, "4 bytes");
    CHECK_OK(cairn_safetensors_writer_data(w, "xx", 2));
    CHECK_FAILS(cairn_safetensors_writer_finish(w), CAIRN_USAGE, "3 bytes of tensor data were declared and 2 written");
    cairn_safetensors_writer_destroy(w);
    cairn_safetensors_writer_destroy(NULL);
    CHECK_INT(cairn_os_stat(path, NULL), CAIRN_OS_MISSING);
}

int main(void)
{
    scratch_make(CAIRN_TEST_BUILD, "safetensors", folder);
    scratch_path(folder, "a.safetensors", sample);
    RUN(good_files_are_read);
    RUN(hostile_files_are_refused);
    RUN(deep_json_is_refused);
    RUN(wrong_lengths_are_refused);
    RUN(a_round_trip_keeps_everything);
    RUN(damage_is_noticed);
    RUN(mutated_headers_do_no_harm);
    RUN(the_writer_refuses_misuse);
    return test_result();
}
