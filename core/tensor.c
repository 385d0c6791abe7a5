#include "core/tensor.h"
#include "core/backend.h"
#include <stdlib.h>

cairn_status cairn_slab_create(cairn_device *device, size_t bytes, const char *holder, cairn_slab *out)
{
    *out = (cairn_slab){.device = device, .bytes = bytes, .holder = holder};
    CAIRN_TRY(cairn_device_alloc(device, bytes, holder, &out->data));
    cairn_status status = cairn_device_zero(device, out->data, bytes);
    if (status != CAIRN_OK) cairn_slab_destroy(out);
    return status;
}

void cairn_slab_destroy(cairn_slab *slab)
{
    if (slab->data) cairn_device_free(slab->device, slab->data, slab->bytes, slab->holder);
    slab->data = NULL;
    slab->bytes = 0;
}

cairn_tensor cairn_tensor_view(cairn_device *device, void *data, cairn_shape shape, cairn_dtype dtype,
                               const cairn_layout *layout)
{
    return (cairn_tensor){.device = device, .data = data, .shape = shape, .dtype = dtype, .layout = layout};
}

size_t cairn_tensor_bytes(const cairn_tensor *tensor)
{
    return cairn_layout_bytes(tensor->device, tensor->shape, tensor->dtype, tensor->layout);
}

static cairn_status check_count(const cairn_tensor *tensor, int64_t count)
{
    char shape[96];
    if (count >= 0 && count == cairn_shape_count(tensor->shape)) return CAIRN_OK;
    return cairn_fail(CAIRN_USAGE, "a tensor of shape %s is not %lld elements",
                      cairn_shape_format(tensor->shape, shape, sizeof shape), (long long)count);
}

cairn_status cairn_tensor_copy(const cairn_tensor *from, const cairn_tensor *to)
{
    CAIRN_TRY(check_count(to, cairn_shape_count(from->shape)));
    cairn_device *device = from->device;
    cairn_reorder_desc desc = {
        .shape = from->shape, .from = from->layout, .to = to->layout, .from_dtype = from->dtype, .to_dtype = to->dtype};
    cairn_plan *plan = NULL;
    cairn_slab workspace = {0};
    cairn_status status = device->backend->plan_reorder(device, &desc, &plan);
    if (status != CAIRN_OK) return status;
    CAIRN_TRY_DONE(cairn_slab_create(device, plan->workspace, "reorder workspace", &workspace));
    CAIRN_TRY_DONE(
        plan->ops->forward(plan, &(cairn_operands){.src = from->data, .dst = to->data, .workspace = workspace.data}));
    status = cairn_device_synchronize(device); /* before the workspace goes */
done:
    cairn_slab_destroy(&workspace);
    cairn_plan_destroy(plan);
    return status;
}

/* In both directions a tensor in a layout of the device's own passes through a plain f32 one on the device, and a plain tensor of
 * another dtype through host memory. */
cairn_status cairn_tensor_read(const cairn_tensor *tensor, float *host, int64_t count)
{
    CAIRN_TRY(check_count(tensor, count));
    cairn_device *device = tensor->device;
    size_t bytes = (size_t)count * sizeof *host;
    if (tensor->layout) {
        cairn_slab plain;
        CAIRN_TRY(cairn_slab_create(device, bytes, "tensor in plain order", &plain));
        cairn_tensor view = cairn_tensor_view(device, plain.data, tensor->shape, CAIRN_F32, NULL);
        cairn_status status = cairn_tensor_copy(tensor, &view);
        if (status == CAIRN_OK) status = cairn_device_download(device, host, plain.data, bytes);
        cairn_slab_destroy(&plain);
        return status;
    }
    if (tensor->dtype == CAIRN_F32) return cairn_device_download(device, host, tensor->data, bytes);
    void *raw = malloc(bytes + 1);
    if (!raw) return cairn_fail(CAIRN_MEMORY, "no memory to read a tensor of %lld elements", (long long)count);
    cairn_status status = cairn_device_download(device, raw, tensor->data, cairn_tensor_bytes(tensor));
    if (status == CAIRN_OK) cairn_dtype_convert(host, CAIRN_F32, raw, tensor->dtype, (size_t)count);
    free(raw);
    return status;
}

cairn_status cairn_tensor_write(const cairn_tensor *tensor, const float *host, int64_t count)
{
    CAIRN_TRY(check_count(tensor, count));
    cairn_device *device = tensor->device;
    size_t bytes = (size_t)count * sizeof *host;
    if (tensor->layout) {
        cairn_slab plain;
        CAIRN_TRY(cairn_slab_create(device, bytes, "tensor in plain order", &plain));
        cairn_tensor view = cairn_tensor_view(device, plain.data, tensor->shape, CAIRN_F32, NULL);
        cairn_status status = cairn_device_upload(device, plain.data, host, bytes);
        if (status == CAIRN_OK) status = cairn_tensor_copy(&view, tensor);
        cairn_slab_destroy(&plain);
        return status;
    }
    if (tensor->dtype == CAIRN_F32) return cairn_device_upload(device, tensor->data, host, bytes);
    void *raw = malloc(bytes + 1);
    if (!raw) return cairn_fail(CAIRN_MEMORY, "no memory to write a tensor of %lld elements", (long long)count);
    cairn_dtype_convert(raw, tensor->dtype, host, CAIRN_F32, (size_t)count);
    cairn_status status = cairn_device_upload(device, tensor->data, raw, cairn_tensor_bytes(tensor));
    free(raw);
    return status;
}
