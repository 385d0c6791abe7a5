/* The progress line and the small formats it is made of. */
#include "train/progress.h"
#include "tests/test.h"

static void a_line_has_it_all(void)
{
    char line[CAIRN_PROGRESS_SIZE];
    cairn_progress p = {.epoch = 2,
                        .epochs = 10,
                        .update = 41,
                        .updates = 450,
                        .loss = 0.51234,
                        .top1 = 0.8421,
                        .learning_rate = 2e-4,
                        .images_per_second = 61.34,
                        .waiting = 0.021,
                        .eta = 125,
                        .memory = 812000000,
                        .memory_peak = 1234000000,
                        .device = "cpu",
                        .precision = "bf16"};
    CHECK_TEXT(cairn_progress_format(&p, line, sizeof line),
               "cpu bf16 | epoch 2/10 | update 41/450 | loss 0.5123 | top-1 84.2 % | lr 0.0002 | 61.3 images/s | "
               "waiting 2 % | memory 812 MB, peak 1.2 GB | left 2:05");
    p.eta = -1;
    p.evaluating = true;
    p.update = 64;
    p.updates = 800;
    CHECK_TEXT(cairn_progress_format(&p, line, sizeof line),
               "cpu bf16 | epoch 2/10 | checking 64/800 pictures | memory 812 MB, peak 1.2 GB");
}

static void a_short_buffer_cuts(void)
{
    char guarded[24];
    memset(guarded, '#', sizeof guarded);
    cairn_progress p = {.device = "cpu", .epoch = 1, .epochs = 1};
    CHECK_TEXT(cairn_progress_format(&p, guarded, 8), "cpu | e");
    CHECK_INT(guarded[8], '#');
    cairn_progress_format(&p, guarded, 0);
}

static void bytes_have_decimal_units(void)
{
    char text[32];
    CHECK_TEXT(cairn_format_bytes(0, text, sizeof text), "0 B");
    CHECK_TEXT(cairn_format_bytes(999, text, sizeof text), "999 B");
    CHECK_TEXT(cairn_format_bytes(1000, text, sizeof text), "1.0 kB");
    CHECK_TEXT(cairn_format_bytes(999600, text, sizeof text), "1.0 MB");
    CHECK_TEXT(cairn_format_bytes(48.6e6, text, sizeof text), "49 MB");
    CHECK_TEXT(cairn_format_bytes(1.41e9, text, sizeof text), "1.4 GB");
}

static void seconds_are_read_like_a_clock(void)
{
    char text[32];
    CHECK_TEXT(cairn_format_seconds(0, text, sizeof text), "0:00");
    CHECK_TEXT(cairn_format_seconds(59.6, text, sizeof text), "1:00");
    CHECK_TEXT(cairn_format_seconds(125, text, sizeof text), "2:05");
    CHECK_TEXT(cairn_format_seconds(3 * 3600 + 7 * 60, text, sizeof text), "3:07:00");
    CHECK_TEXT(cairn_format_seconds(-4, text, sizeof text), "0:00");
}

int main(void)
{
    RUN(a_line_has_it_all);
    RUN(a_short_buffer_cuts);
    RUN(bytes_have_decimal_units);
    RUN(seconds_are_read_like_a_clock);
    return test_result();
}
