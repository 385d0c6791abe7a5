#include "train/model_table.h"
#include "train/progress.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* 61,100,840: easier to compare with a paper than 61100840. */
static char *format_count(int64_t value, char *text, size_t size)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%" PRId64, value);
    size_t used = 0;
    for (int i = 0; i < length && used + 2 < size; i++) {
        if (i > 0 && (length - i) % 3 == 0) text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return text;
}

/* "64x55x55": the output for one picture, whose batch of 1 says nothing. */
static char *format_output(cairn_shape shape, char *text, size_t size)
{
    if (shape.rank < 2) return cairn_shape_format(shape, text, size);
    return cairn_shape_format(cairn_shape_of(shape.rank - 1, shape.dim + 1), text, size);
}

/* Characters before a row's algorithms, and for them: 80 in all. */
enum { BEFORE = 52, ALGORITHMS = 80 - BEFORE };

/* Bytes of the first names of "this, that, another" that have room in a row, comma included: as many as fit, but one at least. */
static size_t names_that_fit(const char *names)
{
    size_t fit = 0;
    for (size_t end = 0; names[end]; end += strspn(names + end, " ")) {
        const char *comma = strstr(names + end, ", ");
        end = comma ? (size_t)(comma - names) + 1 : strlen(names);
        if (fit > 0 && end > ALGORITHMS) break;
        fit = end;
    }
    return fit;
}

/* What a layer doesn't have is left blank. Algorithms without room beside the first go below it. */
static void row(const char *layer, const char *output, const char *parameters, const char *flops, const char *memory,
                const char *algorithms, void (*line)(void *, const char *), void *context)
{
    char before[256], text[512];
    snprintf(before, sizeof before, "%-8s %-11s %11s %8s %8s  ", layer, output, parameters, flops, memory);
    do {
        size_t fit = names_that_fit(algorithms);
        int used = snprintf(text, sizeof text, "%-*s%.*s", BEFORE, before, (int)fit, algorithms);
        while (used > 0 && text[used - 1] == ' ')
            text[--used] = '\0';
        line(context, text);
        before[0] = '\0';
        algorithms += fit + strspn(algorithms + fit, " ");
    } while (*algorithms);
}

static void layer_row(const cairn_net *net, int index, void (*line)(void *, const char *), void *context)
{
    cairn_layer_info layer = cairn_net_layer(net, index);
    char output[64], parameters[32] = "", flops[32] = "", memory[32] = "";
    if (layer.parameters) format_count(layer.parameters, parameters, sizeof parameters);
    if (layer.macs) snprintf(flops, sizeof flops, "%.1f", 2e-6 * (double)layer.macs);
    if (layer.activation_bytes) cairn_format_bytes((double)layer.activation_bytes, memory, sizeof memory);
    row(layer.name, format_output(layer.shape, output, sizeof output), parameters, flops, memory,
        layer.algorithm ? layer.algorithm : "", line, context);
}

static void memory_row(const char *what, size_t bytes, void (*line)(void *, const char *), void *context)
{
    char memory[32], text[256];
    snprintf(text, sizeof text, "%-41s %8s", what, cairn_format_bytes((double)bytes, memory, sizeof memory));
    line(context, text);
}

cairn_status cairn_model_table(const cairn_net *net, void (*line)(void *context, const char *text), void *context)
{
    if (!line) return cairn_fail(CAIRN_USAGE, "model table: there is nowhere to write it to");
    char text[160], parameters[32];
    int64_t batch = cairn_net_batch(net);
    row("layer", "output", "parameters", "MFLOP", "memory", batch ? "algorithm" : "", line, context);
    for (int i = 0; i < cairn_net_layer_count(net); i++)
        layer_row(net, i, line, context);
    snprintf(text, sizeof text, "%-20s %11s %8.1f", "forward, one picture",
             format_count(cairn_net_parameters_total(net), parameters, sizeof parameters),
             2e-6 * (double)cairn_net_macs(net));
    line(context, text);
    if (batch == 0) return CAIRN_OK;

    cairn_net_memory memory = cairn_net_memory_use(net);
    memory_row("weights", memory.weights, line, context);
    if (memory.gradients > 0) memory_row("gradients", memory.gradients, line, context);
    snprintf(text, sizeof text, "activations and workspace, batch %" PRId64, batch);
    memory_row(text, memory.arena, line, context);
    memory_row("in all, without the optimizer's state", memory.weights + memory.gradients + memory.arena, line,
               context);
    return CAIRN_OK;
}
