#include "backends/cpu/conv2d_time.h"
#include "core/os.h"

/* A lead that needs no second look; other programs' work shakes a timing by less than this as a rule. */
#define CLEAR_LEAD 1.15
#define MORE_RUNS  3

/* One block of memory holds every operand. */
typedef struct buffers {
    void *memory;
    cairn_operands operands;
} buffers;

static size_t place(size_t *end, size_t bytes)
{
    size_t at = *end;
    *end += cairn_cpu_align(bytes);
    return at;
}

/* src and dst stand for their gradients too: what is computed doesn't matter, only how long it takes. */
static cairn_status make_buffers(const cairn_conv2d_desc *desc, const cairn_conv2d_layouts *homes, size_t workspace,
                                 buffers *out)
{
    size_t end = 0, src = place(&end, cairn_layout_size(homes->src)), dst = place(&end, cairn_layout_size(homes->dst));
    size_t weights = place(&end, cairn_layout_size(homes->weights));
    size_t bias = place(&end, (size_t)desc->out_channels * sizeof(float)), scratch = place(&end, workspace);
    char *memory = cairn_os_aligned_alloc(end);
    if (!memory) return cairn_fail(CAIRN_MEMORY, "no memory (%zu MB) to time a convolution", end >> 20);
    float *values = (float *)(void *)memory;
    for (size_t i = 0; i < end / sizeof *values; i++)
        values[i] = (float)(i % 7) * 0.01f;
    *out = (buffers){.memory = memory,
                     .operands = {.src = memory + src,
                                  .weights = memory + weights,
                                  .bias = memory + bias,
                                  .dst = memory + dst,
                                  .diff_dst = memory + dst,
                                  .diff_src = memory + src,
                                  .diff_weights = memory + weights,
                                  .diff_bias = memory + bias,
                                  .workspace = memory + scratch,
                                  .train = true}};
    return CAIRN_OK;
}

static void time_once(const cairn_conv2d_candidate *candidate, const cairn_operands *operands, double *best)
{
    double start = cairn_os_seconds();
    if (candidate->run(candidate, operands) != CAIRN_OK) return;
    double seconds = cairn_os_seconds() - start;
    if (*best < 0 || seconds < *best) *best = seconds;
}

/* Index of the lowest time (negative: none), and whether another one is near it. */
static int lowest(const double *best, int count, bool *close)
{
    int first = 0;
    for (int i = 1; i < count; i++)
        if (best[i] >= 0 && (best[first] < 0 || best[i] < best[first])) first = i;
    *close = false;
    for (int i = 0; i < count; i++)
        if (i != first && best[i] >= 0 && best[i] < best[first] * CLEAR_LEAD) *close = true;
    return first;
}

cairn_status cairn_conv2d_time(const cairn_conv2d_desc *desc, const cairn_conv2d_layouts *homes,
                               cairn_conv2d_candidate *const *candidates, int count, int *fastest)
{
    enum { MOST = 8 };
    double best[MOST];
    size_t workspace = 0;
    buffers b;
    bool close = true;
    if (count > MOST) return cairn_fail(CAIRN_USAGE, "%d candidates; %d can be timed", count, MOST);
    for (int i = 0; i < count; i++)
        if (candidates[i] && candidates[i]->workspace > workspace) workspace = candidates[i]->workspace;
    CAIRN_TRY(make_buffers(desc, homes, workspace, &b));
    /* The first run of each takes page faults and the making of code; it isn't counted. */
    for (int i = 0; i < count; i++) {
        best[i] = -1;
        if (candidates[i]) candidates[i]->run(candidates[i], &b.operands);
    }
    for (int run = 0; run < 1 + MORE_RUNS && close; run++) {
        for (int i = 0; i < count; i++)
            if (candidates[i]) time_once(candidates[i], &b.operands, &best[i]);
        *fastest = lowest(best, count, &close);
    }
    cairn_os_aligned_free(b.memory);
    return CAIRN_OK;
}
