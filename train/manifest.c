#include "core/backend.h"
#include "core/os.h"
#include "core/version.h"
#include "train/trainer_state.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* A JSON string of any bytes: what is not UTF-8 (a command line may hold it) becomes '?'. */
static json_t *text_json(const char *text)
{
    json_t *value = json_string(text);
    if (value) return value;
    size_t length = strlen(text);
    char *ascii = malloc(length + 1);
    if (!ascii) return NULL;
    for (size_t i = 0; i <= length; i++)
        ascii[i] = (unsigned char)text[i] < 128 ? text[i] : '?';
    value = json_string(ascii);
    free(ascii);
    return value;
}

static json_t *device_json(const trainer *t)
{
    const cairn_device *device = t->options.device;
    char processor[128];
    cairn_os_processor_name(processor, sizeof processor);
    return json_pack("{s:s, s:o, s:s, s:i, s:b, s:o}", "backend", cairn_device_backend_name(device), "name",
                     text_json(cairn_device_name(device)), "library", cairn_device_library(device), "threads",
                     cairn_device_threads(device), "deterministic", (int)device->options.deterministic, "processor",
                     text_json(processor));
}

static json_t *data_json(const trainer *t)
{
    const cairn_dataset *d = t->dataset;
    char folder[CAIRN_PATH_SIZE];
    bool found = cairn_os_real_path(folder, sizeof folder, d->folder) == CAIRN_OK;
    return json_pack("{s:o, s:i, s:I, s:I, s:I, s:b, s:s}", "folder", text_json(found ? folder : d->folder), "classes",
                     d->classes, "train", (json_int_t)d->train.count, "validation", (json_int_t)d->validation.count,
                     "ignored", (json_int_t)d->ignored, "own_split", (int)d->own_split, "split", t->state.split);
}

static json_t *model_json(const trainer *t)
{
    const cairn_net_memory memory = cairn_net_memory_use(t->net);
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I}", "name", t->state.model, "preset", t->state.preset,
                     "precision", t->state.precision, "parameters", (json_int_t)cairn_net_parameters_total(t->net),
                     "forward_macs", (json_int_t)cairn_net_macs(t->net), "weight_bytes", (json_int_t)memory.weights,
                     "gradient_bytes", (json_int_t)memory.gradients, "arena_bytes", (json_int_t)memory.arena);
}

static json_t *result_json(const trainer *t, bool finished, cairn_status status, const char *message)
{
    const cairn_train_result *r = t->result;
    int64_t memory, peak;
    cairn_device_footprint(t->options.device, &memory, &peak);
    json_t *result = json_pack("{s:s, s:o, s:I, s:I, s:f, s:f, s:f, s:I}", "status",
                               !finished            ? "running"
                               : status == CAIRN_OK ? "finished"
                                                    : cairn_status_name(status),
                               "message", text_json(message), "epochs", (json_int_t)t->state.epoch, "updates",
                               (json_int_t)t->state.update, "train_loss", r->train_loss, "images_per_second",
                               r->images_per_second, "seconds", r->seconds, "peak_memory", (json_int_t)peak);
    if (result && t->state.best_epoch > 0)
        json_object_set_new(result, "best",
                            json_pack("{s:I, s:f, s:f}", "epoch", (json_int_t)t->state.best_epoch, "top1",
                                      t->state.best_top1, "loss", t->state.best_loss));
    return result;
}

cairn_status trainer_write_manifest(const trainer *t, bool finished, cairn_status status, const char *message)
{
    char now[64];
    cairn_os_timestamp(now, sizeof now);
    if (!t->net) return CAIRN_OK; /* the run failed before there was anything to tell */
    json_t *manifest = json_pack("{s:s, s:o, s:o*, s:s, s:I, s:o, s:o, s:o, s:s, s:s*, s:o}", "cairn", cairn_version(),
                                 "command", text_json(t->options.command_line ? t->options.command_line : ""),
                                 "resumed", t->options.resume ? text_json(t->options.resume) : NULL, "recipe",
                                 t->state.recipe, "seed", (json_int_t)t->options.seed, "device", device_json(t), "data",
                                 data_json(t), "model", model_json(t), "start", t->start_time, "end",
                                 finished ? now : NULL, "result", result_json(t, finished, status, message));
    char *text = manifest ? json_dumps(manifest, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(manifest);
    if (!text) return cairn_fail(CAIRN_MEMORY, "no memory for manifest.json");
    cairn_status written = cairn_run_folder_put(t->run, "manifest.json", text);
    free(text);
    return written;
}
