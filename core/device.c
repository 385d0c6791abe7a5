#include "core/backend.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOLDERS = 32 };

/* Who holds how much. A device has few uses of memory; those past the table are one, "others". */
struct cairn_memory_ledger {
    cairn_memory_stats stats;
    int count;
    struct {
        const char *name; /* static, as cairn_device_alloc asks */
        size_t held;
    } holder[HOLDERS];
};

static size_t *held_by(struct cairn_memory_ledger *ledger, const char *holder)
{
    int i = 0;
    while (i < ledger->count && strcmp(ledger->holder[i].name, holder) != 0)
        i++;
    if (i == HOLDERS) return &ledger->holder[HOLDERS - 1].held;
    if (i == ledger->count) {
        ledger->count++;
        ledger->holder[i].name = i == HOLDERS - 1 ? "others" : holder;
        ledger->holder[i].held = 0;
    }
    return &ledger->holder[i].held;
}

/* "1.50 GiB", "512 B". */
static const char *format_bytes(size_t bytes, char text[32])
{
    static const char *const unit[] = {"KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes / 1024;
    int u = 0;
    while (value >= 1024 && u < 3) {
        value /= 1024;
        u++;
    }
    if (bytes < 1024)
        snprintf(text, 32, "%zu B", bytes);
    else
        snprintf(text, 32, "%.2f %s", value, unit[u]);
    return text;
}

static cairn_status out_of_memory(const cairn_device *device, size_t bytes, const char *holder, const char *why)
{
    const struct cairn_memory_ledger *ledger = device->ledger;
    char text[640], asked[32], held[32], limit[48] = "none", size[32];
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < ledger->count && used < sizeof text; i++) {
        if (!ledger->holder[i].held) continue;
        int n = snprintf(text + used, sizeof text - used, "%s%s %s", used ? ", " : ": ", ledger->holder[i].name,
                         format_bytes(ledger->holder[i].held, size));
        used += n > 0 ? (size_t)n : 0;
    }
    if (device->options.memory_limit) format_bytes(device->options.memory_limit, limit);
    return cairn_fail(CAIRN_MEMORY, "%s: out of memory: %s for %s %s; held %s%s; limit %s; a smaller batch needs less",
                      device->backend->name, format_bytes(bytes, asked), holder, why,
                      format_bytes(ledger->stats.held, held), text, limit);
}

cairn_status cairn_device_alloc(cairn_device *device, size_t bytes, const char *holder, void **out)
{
    struct cairn_memory_ledger *ledger = device->ledger;
    size_t limit = device->options.memory_limit;
    *out = NULL;
    if (bytes == 0) return CAIRN_OK;
    if (limit && (ledger->stats.held > limit || bytes > limit - ledger->stats.held))
        return out_of_memory(device, bytes, holder, "would pass the limit");
    *out = device->backend->raw_alloc(device, bytes);
    if (!*out) return out_of_memory(device, bytes, holder, "is more than the device has free");
    *held_by(ledger, holder) += bytes;
    ledger->stats.held += bytes;
    ledger->stats.allocations++;
    if (ledger->stats.held > ledger->stats.peak) ledger->stats.peak = ledger->stats.held;
    return CAIRN_OK;
}

void cairn_device_free(cairn_device *device, void *memory, size_t bytes, const char *holder)
{
    if (!memory) return;
    device->backend->raw_free(device, memory, bytes);
    *held_by(device->ledger, holder) -= bytes;
    device->ledger->stats.held -= bytes;
}

cairn_memory_stats cairn_device_memory(const cairn_device *device)
{
    return device->ledger->stats;
}

static cairn_status check_abi(const cairn_backend *backend)
{
    if (backend->abi == CAIRN_BACKEND_ABI) return CAIRN_OK;
    return cairn_fail(CAIRN_DEVICE, "backend %s has ABI %d and this library %d: build both from one source",
                      backend->name, backend->abi, CAIRN_BACKEND_ABI);
}

static cairn_status open_device(const cairn_backend *backend, const cairn_device_options *options, cairn_device **out)
{
    struct cairn_memory_ledger *ledger = calloc(1, sizeof *ledger);
    if (!ledger) return cairn_fail(CAIRN_MEMORY, "%s: no memory to open the device", backend->name);
    cairn_status status = backend->open(options, out);
    if (status != CAIRN_OK) {
        free(ledger);
        *out = NULL;
        return status;
    }
    (*out)->ledger = ledger;
    return CAIRN_OK;
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
    device->backend->close(device);
    free(ledger);
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
    if (layout) return device->backend->layout_bytes(device, layout);
    int64_t count = cairn_shape_count(shape);
    return count > 0 ? (size_t)count * cairn_dtype_size(dtype) : 0;
}

const char *cairn_layout_name(cairn_device *device, const cairn_layout *layout)
{
    return layout ? device->backend->layout_name(device, layout) : "plain";
}
