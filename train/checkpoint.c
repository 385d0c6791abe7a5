#include "train/checkpoint.h"
#include "core/os.h"
#include "core/version.h"
#include "train/checkpoint_info.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 18, NAME_SIZE = 128 }; /* elements copied to the host at a time */

struct cairn_checkpoint {
    char *path;
    cairn_safetensors *file; /* NULL once the tensors are dropped */
    cairn_checkpoint_info info;
};

/* ---- every tensor of a net and its optimizer, in the order of the file ---- */

typedef cairn_status (*visit_tensor)(void *context, const char *name, const cairn_tensor *tensor);

static void state_tensor_name(const cairn_net *net, const cairn_optimizer *optimizer, int state, int parameter,
                              char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "optimizer.%s.%s", cairn_optimizer_state_name(optimizer, state),
             cairn_net_parameter(net, parameter)->name);
}

static cairn_status for_each_tensor(const cairn_net *net, const cairn_optimizer *optimizer, visit_tensor visit,
                                    void *context)
{
    int parameters = cairn_net_parameter_count(net);
    cairn_slab weights = cairn_net_weights(net);
    for (int p = 0; p < parameters; p++) {
        cairn_tensor view = cairn_net_view(net, &weights, p);
        CAIRN_TRY(visit(context, cairn_net_parameter(net, p)->name, &view));
    }
    for (int b = 0; b < cairn_net_buffer_count(net); b++) {
        cairn_tensor buffer = cairn_net_buffer(net, b);
        CAIRN_TRY(visit(context, cairn_net_buffer_name(net, b), &buffer));
    }
    for (int s = 0; optimizer && s < cairn_optimizer_state_count(optimizer); s++) {
        cairn_slab state = cairn_optimizer_state(optimizer, s);
        for (int p = 0; p < parameters; p++) {
            char name[NAME_SIZE];
            state_tensor_name(net, optimizer, s, p, name);
            cairn_tensor view = cairn_net_view(net, &state, p);
            CAIRN_TRY(visit(context, name, &view));
        }
    }
    return CAIRN_OK;
}

/* ---- saving ---- */

typedef struct save_state {
    cairn_safetensors_writer *writer;
    cairn_slab scratch; /* device memory that holds the largest tensor; the net's gradients where it has them */
    float *chunk;       /* host, CHUNK elements */
} save_state;

static cairn_status declare_tensor(void *context, const char *name, const cairn_tensor *tensor)
{
    save_state *s = context;
    return cairn_safetensors_writer_declare(s->writer, name, CAIRN_F32, tensor->shape);
}

static cairn_status write_tensor(void *context, const char *name, const cairn_tensor *tensor)
{
    save_state *s = context;
    cairn_tensor plain = *tensor;
    if (tensor->layout) {
        plain = cairn_tensor_view(tensor->device, s->scratch.data, tensor->shape, CAIRN_F32, NULL);
        CAIRN_TRY(cairn_tensor_copy(tensor, &plain));
    }
    int64_t count = cairn_shape_count(tensor->shape);
    for (int64_t done = 0; done < count; done += CHUNK) {
        size_t part = (size_t)(count - done < CHUNK ? count - done : CHUNK);
        const float *from = (const float *)plain.data + done;
        CAIRN_TRY(cairn_device_download(tensor->device, s->chunk, from, part * sizeof *from));
        for (size_t i = 0; i < part; i++)
            if (!isfinite(s->chunk[i]))
                return cairn_fail(
                    CAIRN_NONFINITE,
                    "%s is not finite, so it isn't saved: try a lower --learning-rate, or a longer --warmup", name);
        CAIRN_TRY(cairn_safetensors_writer_data(s->writer, s->chunk, part * sizeof *s->chunk));
    }
    return CAIRN_OK;
}

/* Room in plain order for the largest parameter that lies in a layout of the device's own. */
static size_t scratch_bytes(const cairn_net *net)
{
    size_t most = 0;
    for (int p = 0; p < cairn_net_parameter_count(net); p++) {
        const cairn_parameter *parameter = cairn_net_parameter(net, p);
        size_t bytes = (size_t)cairn_shape_count(parameter->shape) * sizeof(float);
        if (parameter->layout && bytes > most) most = bytes;
    }
    return most;
}

cairn_status cairn_checkpoint_save(const char *path, const cairn_net *net, const cairn_optimizer *optimizer,
                                   const cairn_checkpoint_info *info)
{
    cairn_status status = CAIRN_OK;
    cairn_device *device = cairn_net_device(net);
    cairn_checkpoint_info written = *info;
    save_state s = {.scratch = cairn_net_gradients(net)};
    cairn_slab own = {0};
    if (!optimizer) written.optimizer[0] = '\0';
    snprintf(written.cairn_version, sizeof written.cairn_version, "%s", cairn_version());
    snprintf(written.library, sizeof written.library, "%s", cairn_device_library(device));

    s.chunk = malloc(CHUNK * sizeof *s.chunk);
    if (!s.chunk) CAIRN_TRY_DONE(cairn_fail(CAIRN_MEMORY, "%s: no memory to save the checkpoint", path));
    if (!s.scratch.data && scratch_bytes(net) > 0) {
        CAIRN_TRY_DONE(cairn_slab_create(device, scratch_bytes(net), "a checkpoint being saved", &own));
        s.scratch = own;
    }
    CAIRN_TRY_DONE(cairn_safetensors_writer_create(&s.writer));
    CAIRN_TRY_DONE(cairn_checkpoint_info_write(&written, s.writer));
    CAIRN_TRY_DONE(for_each_tensor(net, optimizer, declare_tensor, &s));
    CAIRN_TRY_DONE(cairn_safetensors_writer_begin(s.writer, path));
    CAIRN_TRY_DONE(for_each_tensor(net, optimizer, write_tensor, &s));
    CAIRN_TRY_DONE(cairn_safetensors_writer_finish(s.writer));
done:
    cairn_safetensors_writer_destroy(s.writer);
    cairn_slab_destroy(&own);
    free(s.chunk);
    return status;
}

/* ---- opening ---- */

cairn_status cairn_checkpoint_open(const char *path, cairn_checkpoint **out)
{
    cairn_status status = CAIRN_OK;
    cairn_checkpoint *c = calloc(1, sizeof *c);
    *out = NULL;
    if (!c) return cairn_fail(CAIRN_MEMORY, "%s: no memory for the checkpoint's record", path);
    size_t length = strlen(path) + 1;
    c->path = malloc(length);
    if (!c->path) CAIRN_TRY_DONE(cairn_fail(CAIRN_MEMORY, "%s: no memory for the checkpoint's record", path));
    memcpy(c->path, path, length);
    CAIRN_TRY_DONE(cairn_safetensors_open(path, &c->file));
    CAIRN_TRY_DONE(cairn_checkpoint_info_read(c->file, path, &c->info));
    *out = c;
done:
    if (status != CAIRN_OK) cairn_checkpoint_close(c);
    return status;
}

cairn_status cairn_checkpoint_open_last(const char *path, cairn_checkpoint **out)
{
    char file[4096];
    *out = NULL;
    if (cairn_os_stat(path, NULL) != CAIRN_OS_FOLDER) return cairn_checkpoint_open(path, out);
    CAIRN_TRY(cairn_os_join(file, sizeof file, path, "last.safetensors"));
    if (cairn_os_stat(file, NULL) == CAIRN_OS_MISSING)
        return cairn_fail(CAIRN_FILE,
                          "%s: there is no last.safetensors in it, and so nothing to go on from: name the folder of a "
                          "run that saved one, or leave --resume out and start anew with another --run folder",
                          path);
    return cairn_checkpoint_open(file, out);
}

void cairn_checkpoint_close(cairn_checkpoint *checkpoint)
{
    if (!checkpoint) return;
    cairn_checkpoint_drop_tensors(checkpoint);
    cairn_checkpoint_info_release(&checkpoint->info);
    free(checkpoint->path);
    free(checkpoint);
}

void cairn_checkpoint_drop_tensors(cairn_checkpoint *checkpoint)
{
    cairn_safetensors_close(checkpoint->file);
    checkpoint->file = NULL;
}

const cairn_checkpoint_info *cairn_checkpoint_information(const cairn_checkpoint *checkpoint)
{
    return &checkpoint->info;
}

/* Do its pictures, as they are prepared, fit its net? */
static cairn_status check_pictures(const cairn_checkpoint *checkpoint, const cairn_model_info *model)
{
    const cairn_checkpoint_info *info = &checkpoint->info;
    int64_t size = info->model_options.image_size > 0 ? info->model_options.image_size : model->height;
    if (size == info->preprocess.size) return CAIRN_OK;
    return cairn_fail(CAIRN_FILE,
                      "%s: its pictures are prepared to %d pixels and its net takes %lld: it wasn't written by Cairn, "
                      "or was changed since: take another",
                      checkpoint->path, info->preprocess.size, (long long)size);
}

cairn_status cairn_checkpoint_build(const cairn_checkpoint *checkpoint, cairn_net **out)
{
    const cairn_checkpoint_info *info = &checkpoint->info;
    const cairn_model_info *model;
    *out = NULL;
    cairn_status status = cairn_model_find(info->model, info->preset, &model);
    if (status == CAIRN_OK) CAIRN_TRY(check_pictures(checkpoint, model));
    if (status == CAIRN_OK)
        status = cairn_model_create(info->model, info->preset, info->classes, &info->model_options, out);
    if (status == CAIRN_USAGE)
        return cairn_fail(CAIRN_FILE, "%s: of a model that this Cairn doesn't have: %s", checkpoint->path,
                          cairn_error_last()->message);
    return status;
}

/* ---- loading ---- */

static cairn_status load_tensor(void *context, const char *name, const cairn_tensor *tensor)
{
    const cairn_checkpoint *c = context;
    char here[96], there[96];
    const cairn_safetensors_entry *entry = cairn_safetensors_find(c->file, name);
    if (!entry && strncmp(name, "optimizer.", 10) == 0)
        return cairn_fail(CAIRN_FILE,
                          "%s: there is no \"%s\" in it: it was trained by %s with other options: go on with those",
                          c->path, name, c->info.optimizer);
    if (!entry)
        return cairn_fail(
            CAIRN_FILE,
            "%s: there is no tensor \"%s\" in it: it is of another model (%s %s, %d classes): name that one", c->path,
            name, c->info.model, c->info.preset, c->info.classes);
    if (!cairn_shape_equal(entry->shape, tensor->shape))
        return cairn_fail(
            CAIRN_FILE,
            "%s: \"%s\" is %s in it and %s in this net: it is of another model or class count (%s %s, %d classes)",
            c->path, name, cairn_shape_format(entry->shape, there, sizeof there),
            cairn_shape_format(tensor->shape, here, sizeof here), c->info.model, c->info.preset, c->info.classes);
    if (entry->dtype != CAIRN_F32)
        return cairn_fail(CAIRN_FILE,
                          "%s: \"%s\" is stored as %s, and checkpoints hold f32: it wasn't written by Cairn", c->path,
                          name, cairn_dtype_name(entry->dtype));
    return cairn_tensor_write(tensor, entry->data, cairn_shape_count(tensor->shape));
}

cairn_status cairn_checkpoint_load(const cairn_checkpoint *checkpoint, cairn_net *net, cairn_optimizer *optimizer)
{
    const cairn_checkpoint_info *info = &checkpoint->info;
    if (!checkpoint->file)
        return cairn_fail(CAIRN_USAGE, "%s: its tensors were dropped, open it again", checkpoint->path);
    if (optimizer && !info->optimizer[0])
        return cairn_fail(CAIRN_FILE,
                          "%s: it holds weights only, no optimizer state: resume from the last.safetensors beside it",
                          checkpoint->path);
    CAIRN_TRY(for_each_tensor(net, optimizer, load_tensor, (void *)(uintptr_t)checkpoint));
    CAIRN_TRY(cairn_net_refresh(net, false));
    if (!optimizer) return CAIRN_OK;
    const cairn_update_state state = {
        .updates = info->update,
        .loss_scale = info->loss_scale,
        .good = info->good,
        .skipped = info->skipped,
        .skipped_in_a_row = info->skipped_in_a_row,
    };
    return cairn_optimizer_restore(optimizer, &state);
}
