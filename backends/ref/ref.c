/* ref.c - the table of the ref backend, its device and its memory. */
#include "backends/ref/ref.h"
#include "backends/backends.h"
#include "core/os.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cairn_status cairn_ref_check(const char *operation, cairn_dtype dtype, const cairn_layout *layout)
{
    if (dtype != CAIRN_F32 && dtype != CAIRN_F16 && dtype != CAIRN_BF16)
        return cairn_fail(CAIRN_DEVICE, "%s on ref: dtype %s is not supported; f32, f16 and bf16 are", operation,
                          cairn_dtype_name(dtype));
    if (layout)
        return cairn_fail(CAIRN_DEVICE, "%s on ref: only plain layouts are supported; reorder the source first",
                          operation);
    return CAIRN_OK;
}

cairn_status cairn_ref_plan_create(cairn_device *device, size_t size, const cairn_plan_ops *ops, cairn_plan **out)
{
    *out = calloc(1, size);
    if (!*out) return cairn_fail(CAIRN_MEMORY, "ref: no host memory for a plan of %zu bytes", size);
    (*out)->ops = ops;
    (*out)->device = device;
    snprintf((*out)->algorithm, sizeof(*out)->algorithm, "loops");
    return CAIRN_OK;
}

void cairn_ref_plan_destroy(cairn_plan *plan)
{
    free(plan);
}

void cairn_ref_widen(const void *data, cairn_dtype dtype, int64_t first, int64_t count, double *to)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = cairn_ref_get(data, dtype, first + i);
}

static cairn_status probe(bool *present)
{
    *present = false; /* taken by name only, never by "auto" */
    return CAIRN_OK;
}

static cairn_status device_open(const cairn_device_options *options, cairn_device **out)
{
    cairn_device *device = calloc(1, sizeof *device);
    *out = device;
    if (!device) return cairn_fail(CAIRN_MEMORY, "ref: no host memory for a device");
    device->backend = &cairn_backend_ref;
    device->options = *options;
    device->options.tf32 = false;
    device->options.cache = NULL; /* there is nothing to remember: no algorithm is chosen by timing */
    device->threads = 1;
    snprintf(device->name, sizeof device->name, "ref (plain C, double accumulation)");
    return CAIRN_OK;
}

static void device_close(cairn_device *device)
{
    free(device);
}

static void *raw_alloc(cairn_device *device, size_t bytes)
{
    (void)device;
    return cairn_os_aligned_alloc(bytes);
}

static void raw_free(cairn_device *device, void *memory, size_t bytes)
{
    (void)device, (void)bytes;
    cairn_os_aligned_free(memory);
}

static cairn_status copy(cairn_device *device, void *to, const void *from, size_t bytes)
{
    (void)device;
    if (bytes) memcpy(to, from, bytes);
    return CAIRN_OK;
}

static cairn_status zero(cairn_device *device, void *to, size_t bytes)
{
    (void)device;
    if (bytes) memset(to, 0, bytes);
    return CAIRN_OK;
}

static cairn_status synchronize(cairn_device *device)
{
    (void)device;
    return CAIRN_OK;
}

static cairn_status supports_dtype(cairn_device *device, cairn_dtype dtype)
{
    (void)device;
    return cairn_ref_check("nets", dtype, NULL);
}

/* ref makes no layouts, so nobody can hold one of its own to ask about. */
static size_t layout_bytes(cairn_device *device, const cairn_layout *layout, cairn_dtype dtype)
{
    (void)device, (void)layout, (void)dtype;
    return 0;
}

static const char *layout_name(cairn_device *device, const cairn_layout *layout)
{
    (void)device, (void)layout;
    return "plain";
}

static double peak_gflops(cairn_device *device, cairn_dtype dtype)
{
    (void)device, (void)dtype;
    return 0; /* a share of the processor's peak says nothing about code that isn't meant to be fast */
}

const cairn_backend cairn_backend_ref = {
    .abi = CAIRN_BACKEND_ABI,
    .name = "ref",
    .probe = probe,
    .open = device_open,
    .close = device_close,
    .raw_alloc = raw_alloc,
    .raw_free = raw_free,
    .upload = copy,
    .download = copy,
    .zero = zero,
    .synchronize = synchronize,
    .supports_dtype = supports_dtype,
    .layout_bytes = layout_bytes,
    .layout_name = layout_name,
    .plan_conv2d = cairn_ref_plan_conv2d,
    .plan_linear = cairn_ref_plan_linear,
    .plan_pool2d = cairn_ref_plan_pool2d,
    .plan_relu = cairn_ref_plan_relu,
    .plan_lrn = cairn_ref_plan_lrn,
    .plan_dropout = cairn_ref_plan_dropout,
    .plan_batchnorm = cairn_ref_plan_batchnorm,
    .plan_reorder = cairn_ref_plan_reorder,
    .softmax_loss = cairn_ref_softmax_loss,
    .augment = cairn_ref_augment,
    .update = cairn_ref_update,
    .peak_gflops = peak_gflops,
};
