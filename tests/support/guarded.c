#include "tests/support/guarded.h"
#include <stdlib.h>
#include <string.h>

enum { ZONE = 256, PATTERN = 0xa5, POISON = 0xff };

static const char holder[] = "guarded test buffer";

static cairn_status set_bytes(const guarded *g, void *at, int value, size_t bytes)
{
    void *host = malloc(bytes + 1);
    if (!host) return cairn_fail(CAIRN_MEMORY, "no memory for a test buffer");
    memset(host, value, bytes);
    cairn_status status = cairn_device_upload(g->device, at, host, bytes);
    free(host);
    return status;
}

cairn_status guarded_create(cairn_device *device, size_t bytes, guarded *out)
{
    *out = (guarded){.device = device, .bytes = bytes};
    if (bytes == 0) return CAIRN_OK;
    void *block;
    CAIRN_TRY(cairn_device_alloc(device, bytes + 2 * ZONE, holder, &block));
    out->block = block;
    out->data = out->block + ZONE;
    CAIRN_TRY(set_bytes(out, out->block, PATTERN, bytes + 2 * ZONE));
    return guarded_poison(out);
}

void guarded_destroy(guarded *g)
{
    if (g->block) cairn_device_free(g->device, g->block, g->bytes + 2 * ZONE, holder);
    *g = (guarded){0};
}

cairn_status guarded_poison(const guarded *g)
{
    return g->block ? set_bytes(g, g->data, POISON, g->bytes) : CAIRN_OK;
}

static cairn_status check_zone(const guarded *g, size_t at, const char *what, const char *side)
{
    unsigned char zone[ZONE];
    CAIRN_TRY(cairn_device_download(g->device, zone, g->block + at, ZONE));
    for (int i = 0; i < ZONE; i++)
        if (zone[i] != PATTERN) return cairn_fail(CAIRN_DATA, "%s: written %s its %zu bytes", what, side, g->bytes);
    return CAIRN_OK;
}

cairn_status guarded_check(const guarded *g, const char *what)
{
    if (!g->block) return CAIRN_OK;
    CAIRN_TRY(check_zone(g, 0, what, "before"));
    return check_zone(g, ZONE + g->bytes, what, "past");
}
