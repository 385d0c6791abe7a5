/* model.c - `cairn model`: the table of a net. */
#include "cairn.h"
#include "cli/command.h"
#include "cli/device.h"
#include "train/model_table.h"

static void print_line(void *context, const char *text)
{
    (void)context;
    printf("%s\n", text);
}

static cairn_status run(const cli_options *options, cli_terminal *terminal)
{
    cairn_net *net = NULL;
    cairn_device *device = NULL;
    cairn_status status = CAIRN_OK;
    const cairn_model_options model = {.dropout = (float)cli_real(options, OPTION_DROPOUT),
                                       .width_divisor = cli_int(options, OPTION_WIDTH_DIVISOR)};
    CAIRN_TRY_DONE(cairn_model_create(cli_text(options, OPTION_MODEL), cli_text(options, OPTION_PRESET),
                                      cli_int(options, OPTION_CLASSES), &model, &net));
    CAIRN_TRY_DONE(cli_device_open(options, terminal, &device));
    CAIRN_TRY_DONE(
        cairn_net_plan(net, device, &(cairn_net_options){.batch = cli_int(options, OPTION_BATCH), .train = true}));
    CAIRN_TRY_DONE(cairn_model_table(net, print_line, NULL));
done:
    cairn_net_destroy(net);
    cairn_device_close(device);
    return status;
}

const cli_command cli_command_model = {
    .name = "model",
    .mask = MODEL,
    .arguments = "",
    .about = "Prints a net as it would be trained: layers, shapes, parameters, FLOPs, memory, algorithms.",
    .example = "cairn model --preset paper --classes 10 --batch 64",
    .run = run,
};
