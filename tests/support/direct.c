#include "tests/support/direct.h"
#include "tests/support/guarded.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };

typedef enum access { READ, WRITE, UPDATE } access;

/* The arrays of one call, on the host and on the device. */
typedef struct arrays {
    cairn_device *device;
    int count;
    struct {
        const char *name;
        const void *host;
        access use;
        guarded memory;
    } array[MOST];
    cairn_status status; /* of the first that failed */
} arrays;

/* Moves an array to the device; gives its address there, NULL for a NULL or after a failure. */
static void *on_device(arrays *a, const char *name, const void *host, size_t bytes, access use)
{
    if (!host || a->status != CAIRN_OK) return NULL;
    guarded *memory = &a->array[a->count].memory;
    a->status = guarded_create(a->device, bytes, memory);
    if (a->status != CAIRN_OK) return NULL;
    a->array[a->count].name = name;
    a->array[a->count].host = host;
    a->array[a->count].use = use;
    a->count++;
    if (use != WRITE) a->status = cairn_device_upload(a->device, memory->data, host, bytes);
    return memory->data;
}

static cairn_status bring_back(arrays *a, int i)
{
    const guarded *memory = &a->array[i].memory;
    CAIRN_TRY(guarded_check(memory, a->array[i].name));
    /* The caller handed results in as pointers to non-const; they only passed through a const here. */
    if (a->array[i].use != READ)
        return cairn_device_download(a->device, (void *)(uintptr_t)a->array[i].host, memory->data, memory->bytes);
    void *now = malloc(memory->bytes);
    if (!now) return cairn_fail(CAIRN_MEMORY, "no memory to check %s", a->array[i].name);
    cairn_status status = cairn_device_download(a->device, now, memory->data, memory->bytes);
    if (status == CAIRN_OK && memcmp(now, a->array[i].host, memory->bytes) != 0)
        status = cairn_fail(CAIRN_DATA, "%s was changed, though it is only to be read", a->array[i].name);
    free(now);
    return status;
}

/* Ends a call: results go home if it went well, device memory goes in any case. */
static cairn_status finish(arrays *a, cairn_status status)
{
    if (status == CAIRN_OK) status = cairn_device_synchronize(a->device);
    for (int i = 0; i < a->count; i++) {
        if (status == CAIRN_OK) status = bring_back(a, i);
        guarded_destroy(&a->array[i].memory);
    }
    return status;
}

static size_t bytes_of(int64_t count, size_t size)
{
    return (size_t)count * size;
}

cairn_status direct_softmax_loss(cairn_device *device, const cairn_softmax_loss *args)
{
    arrays a = {.device = device};
    cairn_softmax_loss there = *args;
    size_t logits = bytes_of(args->batch * args->classes, sizeof(float));
    there.logits = on_device(&a, "logits", args->logits, logits, READ);
    there.labels = on_device(&a, "labels", args->labels, bytes_of(args->batch, sizeof(int32_t)), READ);
    there.scale = on_device(&a, "scale", args->scale, bytes_of(args->batch, sizeof(float)), READ);
    there.class_weights =
        on_device(&a, "class_weights", args->class_weights, bytes_of(args->classes, sizeof(float)), READ);
    there.loss_scale = on_device(&a, "loss_scale", args->loss_scale, sizeof(float), READ);
    there.dlogits = on_device(&a, "dlogits", args->dlogits, logits, WRITE);
    there.totals = on_device(&a, "totals", args->totals, 4 * sizeof(float), UPDATE);
    return finish(&a, a.status != CAIRN_OK ? a.status : device->backend->softmax_loss(device, &there));
}

cairn_status direct_augment(cairn_device *device, const cairn_augment *args)
{
    arrays a = {.device = device};
    cairn_augment there = *args;
    there.src = on_device(&a, "src", args->src, bytes_of(args->batch * args->src_h * args->src_w, 3), READ);
    there.crop = on_device(&a, "crop", args->crop, bytes_of(args->batch * 3, sizeof(int32_t)), READ);
    there.dst = on_device(&a, "dst", args->dst,
                          bytes_of(args->batch * 3 * args->height * args->width, cairn_dtype_size(args->dtype)), WRITE);
    return finish(&a, a.status != CAIRN_OK ? a.status : device->backend->augment(device, &there));
}

cairn_status direct_update(cairn_device *device, const cairn_update *args, int64_t count)
{
    arrays a = {.device = device};
    cairn_update there = *args;
    size_t bytes = bytes_of(count, sizeof(float));
    there.weights = on_device(&a, "weights", args->weights, bytes, UPDATE);
    there.gradients = on_device(&a, "gradients", args->gradients, bytes, READ);
    there.state0 = on_device(&a, "state0", args->state0, bytes, UPDATE);
    there.state1 = on_device(&a, "state1", args->state1, bytes, UPDATE);
    there.state = on_device(&a, "state", args->state, sizeof *args->state, UPDATE);
    there.rates = on_device(&a, "rates", args->rates, bytes_of(args->rate_count, sizeof(float)), READ);
    there.weights_low = on_device(&a, "weights_low", args->weights_low, bytes_of(count, sizeof(uint16_t)), UPDATE);
    return finish(&a, a.status != CAIRN_OK ? a.status : device->backend->update(device, &there));
}
