#include "core/device_memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cairn_status check_abi(const cairn_backend *backend)
{
    if (backend->abi == CAIRN_BACKEND_ABI) return CAIRN_OK;
    return cairn_fail(CAIRN_DEVICE, "backend %s has ABI %d and this library %d: build both from one source",
                      backend->name, backend->abi, CAIRN_BACKEND_ABI);
}

static cairn_status open_device(const cairn_backend *backend, const cairn_device_options *options, cairn_device **out)
{
    cairn_status status = backend->open(options, out);
    if (status == CAIRN_OK) {
        status = cairn_device_memory_open(*out);
        if (status != CAIRN_OK) backend->close(*out);
    }
    if (status != CAIRN_OK) *out = NULL;
    return status;
}

static cairn_status unknown_name(const cairn_backend *const *backends, const char *request)
{
    char known[256] = "auto";
    for (; *backends; backends++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, ", %s", (*backends)->name);
    }
    return cairn_fail(CAIRN_USAGE, "no device is called '%s'; there are: %s", request, known);
}

static cairn_status select_by_name(const cairn_backend *const *backends, const char *request, const char *which,
                                   const cairn_backend **chosen)
{
    size_t length = which ? (size_t)(which - request) - 1 : strlen(request);
    for (const cairn_backend *const *backend = backends; *backend; backend++) {
        if (strlen((*backend)->name) != length || strncmp((*backend)->name, request, length) != 0) continue;
        if (which && !(*backend)->numbered)
            return cairn_fail(CAIRN_USAGE, "there is one device called '%s' and no '%s'", (*backend)->name, request);
        CAIRN_TRY(check_abi(*backend));
        bool present = false;
        *chosen = *backend;
        return (*backend)->probe(&present);
    }
    return unknown_name(backends, request);
}

static cairn_status select_auto(const cairn_backend *const *backends, const cairn_backend **chosen)
{
    char reasons[CAIRN_ERROR_MESSAGE_SIZE / 2] = "";
    for (const cairn_backend *const *backend = backends; *backend; backend++) {
        CAIRN_TRY(check_abi(*backend));
        bool present = false;
        cairn_status status = (*backend)->probe(&present);
        if (present) {
            *chosen = *backend;
            return status;
        }
        size_t used = strlen(reasons);
        if (status != CAIRN_OK)
            snprintf(reasons + used, sizeof reasons - used, " %s: %.160s;", (*backend)->name,
                     cairn_error_last()->message);
    }
    return cairn_fail(CAIRN_DEVICE, "no device can be used:%s name one", reasons);
}

cairn_status cairn_device_select(const cairn_backend *const *backends, const char *request,
                                 const cairn_device_options *options, cairn_device **out)
{
    const cairn_backend *chosen = NULL;
    const char *colon = strchr(request, ':');
    cairn_device_options opened = options ? *options : (cairn_device_options){0};
    *out = NULL;
    if (colon) opened.which = colon + 1;
    CAIRN_TRY(strcmp(request, "auto") == 0 ? select_auto(backends, &chosen)
                                           : select_by_name(backends, request, colon ? colon + 1 : NULL, &chosen));
    return open_device(chosen, &opened, out);
}

void cairn_device_close(cairn_device *device)
{
    if (!device) return;
    struct cairn_memory_ledger *ledger = device->ledger; /* a backend may still free memory while it closes */
    cairn_device_memory_settle(device);
    device->backend->close(device);
    cairn_device_memory_close(ledger);
}

const char *cairn_device_name(const cairn_device *device)
{
    return device->name;
}

const char *cairn_device_backend_name(const cairn_device *device)
{
    return device->backend->name;
}

const char *cairn_device_library(const cairn_device *device)
{
    return device->library;
}

int cairn_device_threads(const cairn_device *device)
{
    return device->threads > 0 ? device->threads : 1;
}

cairn_status cairn_device_upload(cairn_device *device, void *to, const void *from, size_t bytes)
{
    return bytes ? device->backend->upload(device, to, from, bytes) : CAIRN_OK;
}

cairn_status cairn_device_download(cairn_device *device, void *to, const void *from, size_t bytes)
{
    return bytes ? device->backend->download(device, to, from, bytes) : CAIRN_OK;
}

cairn_status cairn_device_zero(cairn_device *device, void *to, size_t bytes)
{
    return bytes ? device->backend->zero(device, to, bytes) : CAIRN_OK;
}

cairn_status cairn_device_synchronize(cairn_device *device)
{
    return device->backend->synchronize(device);
}

cairn_status cairn_device_supports(cairn_device *device, cairn_dtype dtype)
{
    return device->backend->supports_dtype(device, dtype);
}

size_t cairn_layout_bytes(cairn_device *device, cairn_shape shape, cairn_dtype dtype, const cairn_layout *layout)
{
    if (layout) return device->backend->layout_bytes(device, layout, dtype);
    int64_t count = cairn_shape_count(shape);
    return count > 0 ? (size_t)count * cairn_dtype_size(dtype) : 0;
}

const char *cairn_layout_name(cairn_device *device, const cairn_layout *layout)
{
    return layout ? device->backend->layout_name(device, layout) : "plain";
}
