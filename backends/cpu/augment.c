/* augment.c - crop, flip and normalise byte images into plain planes of f32 or bf16. */
#include "backends/cpu/cpu.h"
#include "backends/cpu/operations.h"

/* The normalised value of every byte in every channel: a table saves a division an element, and rounds just as the formula does. */
typedef struct value_table {
    float of[3][256];
    uint16_t low[3][256]; /* in bf16 */
} value_table;

static void fill_table(const cairn_augment *args, value_table *table)
{
    for (int c = 0; c < 3; c++)
        for (int byte = 0; byte < 256; byte++) {
            float value = (float)(((double)byte / 255 - (double)args->mean[c]) / (double)args->std[c]);
            table->of[c][byte] = value;
            table->low[c][byte] = cairn_f32_to_bf16(value);
        }
}

/* One row of one sample into its three planes. */
static void augment_row(const cairn_augment *args, const value_table *table, int64_t n, int64_t row)
{
    const int32_t *crop = args->crop + 3 * n;
    int64_t plane = args->height * args->width, step = crop[2] ? -3 : 3;
    const uint8_t *pixel =
        args->src + ((n * args->src_h + crop[0] + row) * args->src_w + crop[1] + (crop[2] ? args->width - 1 : 0)) * 3;
    int64_t first = n * 3 * plane + row * args->width;
    if (args->dtype == CAIRN_BF16) {
        uint16_t *low = (uint16_t *)args->dst + first;
        for (int64_t j = 0; j < args->width; j++, pixel += step) {
            low[j] = table->low[0][pixel[0]];
            low[plane + j] = table->low[1][pixel[1]];
            low[2 * plane + j] = table->low[2][pixel[2]];
        }
        return;
    }
    float *dst = (float *)args->dst + first;
    for (int64_t j = 0; j < args->width; j++, pixel += step) {
        dst[j] = table->of[0][pixel[0]];
        dst[plane + j] = table->of[1][pixel[1]];
        dst[2 * plane + j] = table->of[2][pixel[2]];
    }
}

cairn_status cairn_cpu_augment(cairn_device *device, const cairn_augment *args)
{
    if ((args->dtype != CAIRN_F32 && args->dtype != CAIRN_BF16) || args->dst_layout)
        return cairn_fail(CAIRN_DEVICE, "cpu: augment writes plain f32 or bf16 only, not %s",
                          cairn_dtype_name(args->dtype));
    for (int64_t n = 0; n < args->batch; n++) {
        const int32_t *crop = args->crop + 3 * n;
        if (crop[0] < 0 || crop[0] + args->height > args->src_h || crop[1] < 0 || crop[1] + args->width > args->src_w)
            return cairn_fail(CAIRN_USAGE,
                              "augment: sample %lld: a %lldx%lld crop at row %d, column %d leaves the "
                              "%lldx%lld image",
                              (long long)n, (long long)args->height, (long long)args->width, (int)crop[0], (int)crop[1],
                              (long long)args->src_h, (long long)args->src_w);
    }
    value_table table;
    fill_table(args, &table);
    cairn_cpu_enter(cairn_cpu_of(device));
#pragma omp parallel for collapse(2) schedule(static)
    for (int64_t n = 0; n < args->batch; n++)
        for (int64_t row = 0; row < args->height; row++)
            augment_row(args, &table, n, row);
    return CAIRN_OK;
}
