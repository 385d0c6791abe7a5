#include "cli/synthetic_dump.h"
#include "cairn.h"
#include <stdlib.h>

/* Reads a tensor of f32 into plain host memory and appends it to the file. */
static cairn_status write_tensor(cairn_safetensors_writer *writer, const cairn_tensor *tensor)
{
    int64_t count = cairn_shape_count(tensor->shape);
    float *value = malloc((size_t)count * sizeof *value);
    if (!value) return cairn_fail(CAIRN_MEMORY, "no memory to dump %lld numbers", (long long)count);
    cairn_status status = cairn_tensor_read(tensor, value, count);
    if (status == CAIRN_OK) status = cairn_safetensors_writer_data(writer, value, (size_t)count * sizeof *value);
    free(value);
    return status;
}

static cairn_status declare(cairn_safetensors_writer *writer, const cairn_net *net, int64_t batch)
{
    for (int i = 0; i < cairn_net_parameter_count(net); i++) {
        const cairn_parameter *p = cairn_net_parameter(net, i);
        CAIRN_TRY(cairn_safetensors_writer_declare(writer, p->name, CAIRN_F32, p->shape));
    }
    CAIRN_TRY(cairn_safetensors_writer_declare(writer, "images", CAIRN_F32, cairn_net_input(net).shape));
    return cairn_safetensors_writer_declare(writer, "labels", CAIRN_I32, cairn_shape_make(1, batch));
}

cairn_status cli_synthetic_dump(const cairn_net *net, const int32_t *labels, int64_t batch, const char *folder)
{
    char path[4096];
    cairn_safetensors_writer *writer = NULL;
    cairn_slab weights = cairn_net_weights(net);
    cairn_tensor images = cairn_net_input(net);
    cairn_status status = CAIRN_OK;
    CAIRN_TRY_DONE(cairn_os_make_folders(folder));
    CAIRN_TRY_DONE(cairn_os_join(path, sizeof path, folder, "start.safetensors"));
    CAIRN_TRY_DONE(cairn_safetensors_writer_create(&writer));
    CAIRN_TRY_DONE(declare(writer, net, batch));
    CAIRN_TRY_DONE(cairn_safetensors_writer_begin(writer, path));
    for (int i = 0; i < cairn_net_parameter_count(net); i++) {
        cairn_tensor view = cairn_net_view(net, &weights, i);
        CAIRN_TRY_DONE(write_tensor(writer, &view));
    }
    CAIRN_TRY_DONE(write_tensor(writer, &images));
    CAIRN_TRY_DONE(cairn_safetensors_writer_data(writer, labels, (size_t)batch * sizeof *labels));
    CAIRN_TRY_DONE(cairn_safetensors_writer_finish(writer));
done:
    cairn_safetensors_writer_destroy(writer);
    return status;
}
