#include "train/model_table.h"
#include "train/progress.h"
#include <inttypes.h>
#include <stdio.h>

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

static void table_row(const cairn_net *net, int index, void (*line)(void *, const char *), void *context)
{
    cairn_layer_info layer = cairn_net_layer(net, index);
    char shape[64], parameters[32], memory[32], text[256];
    cairn_shape_format(layer.shape, shape, sizeof shape);
    int used = snprintf(text, sizeof text, "%-10s %-18s %-14s %13s %11.1f %10s", layer.name, layer.kind, shape,
                        format_count(layer.parameters, parameters, sizeof parameters), 2e-6 * (double)layer.macs,
                        cairn_format_bytes((double)layer.activation_bytes, memory, sizeof memory));
    if (layer.algorithm && layer.algorithm[0] && used > 0 && (size_t)used < sizeof text)
        snprintf(text + used, sizeof text - (size_t)used, "  %s", layer.algorithm);
    line(context, text);
}

static void memory_row(const char *what, size_t bytes, void (*line)(void *, const char *), void *context)
{
    char memory[32], text[300];
    snprintf(text, sizeof text, "%-72s %8s", what, cairn_format_bytes((double)bytes, memory, sizeof memory));
    line(context, text);
}

cairn_status cairn_model_table(const cairn_net *net, void (*line)(void *context, const char *text), void *context)
{
    if (!line) return cairn_fail(CAIRN_USAGE, "model table: there is nowhere to write it to");
    char text[256], parameters[32];
    int64_t batch = cairn_net_batch(net);
    snprintf(text, sizeof text, "%-10s %-18s %-14s %13s %11s %10s", "layer", "kind", "output", "parameters", "MFLOP",
             "memory");
    line(context, text);
    for (int i = 0; i < cairn_net_layer_count(net); i++)
        table_row(net, i, line, context);
    snprintf(text, sizeof text, "%-44s %13s %11.1f", "in all, forward, for one picture",
             format_count(cairn_net_parameters_total(net), parameters, sizeof parameters),
             2e-6 * (double)cairn_net_macs(net));
    line(context, text);
    if (batch == 0) return CAIRN_OK;

    cairn_net_memory memory = cairn_net_memory_use(net);
    snprintf(text, sizeof text, "activations, their gradients and workspace, batch %" PRId64, batch);
    memory_row("weights", memory.weights, line, context);
    if (memory.gradients > 0) memory_row("gradients", memory.gradients, line, context);
    memory_row(text, memory.arena, line, context);
    return CAIRN_OK;
}
