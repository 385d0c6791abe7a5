#include "backends/cpu/primitive.h"
#include <stdio.h>
#include <string.h>

const char *cairn_primitive_implementation(const_dnnl_primitive_desc_t pd)
{
    const char *text = "";
    dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &text);
    return text;
}

bool cairn_primitive_is_slow(const_dnnl_primitive_desc_t pd)
{
    const char *name = cairn_primitive_implementation(pd);
    return strstr(name, "ref") != NULL || strncmp(name, "simple", 6) == 0;
}

size_t cairn_primitive_bytes(const_dnnl_primitive_desc_t pd, int argument)
{
    cairn_md md = dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, argument);
    return md ? dnnl_memory_desc_get_size(md) : 0;
}

cairn_status cairn_primitive_layout(cairn_cpu *cpu, const_dnnl_primitive_desc_t pd, int argument,
                                    const cairn_layout **out)
{
    cairn_md md = dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, argument);
    if (!md) return cairn_fail(CAIRN_LIBRARY, "oneDNN names no layout for argument %d", argument);
    return cairn_layout_intern(cpu, md, out);
}

static cairn_status add_argument(cairn_cpu *cpu, const_dnnl_primitive_desc_t pd, int argument, dnnl_exec_arg_t *out)
{
    out->arg = argument;
    out->memory = NULL;
    cairn_md md = dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, argument);
    if (!md || dnnl_memory_desc_get_size(md) == 0) return CAIRN_OK;
    CAIRN_DNNL(dnnl_memory_create(&out->memory, md, cpu->engine, DNNL_MEMORY_NONE), "create a memory object");
    return CAIRN_OK;
}

cairn_status cairn_primitive_create(cairn_cpu *cpu, const_dnnl_primitive_desc_t pd, const int *arguments,
                                    cairn_primitive *out)
{
    *out = (cairn_primitive){0};
    snprintf(out->implementation, sizeof out->implementation, "%s", cairn_primitive_implementation(pd));
    CAIRN_DNNL(dnnl_primitive_create(&out->handle, pd), "create a primitive");
    for (; arguments[out->count]; out->count++)
        CAIRN_TRY(add_argument(cpu, pd, arguments[out->count], &out->argument[out->count]));
    CAIRN_TRY(add_argument(cpu, pd, DNNL_ARG_SCRATCHPAD, &out->argument[out->count]));
    if (out->argument[out->count].memory) out->scratchpad = cairn_primitive_bytes(pd, DNNL_ARG_SCRATCHPAD);
    return CAIRN_OK;
}

void cairn_primitive_release(cairn_primitive *primitive)
{
    for (int i = 0; i <= CAIRN_PRIMITIVE_ARGUMENTS; i++)
        if (primitive->argument[i].memory) dnnl_memory_destroy(primitive->argument[i].memory);
    if (primitive->handle) dnnl_primitive_destroy(primitive->handle);
    *primitive = (cairn_primitive){0};
}

cairn_status cairn_primitive_run(cairn_cpu *cpu, const cairn_primitive *primitive, void *const *addresses,
                                 void *scratchpad)
{
    dnnl_exec_arg_t given[CAIRN_PRIMITIVE_ARGUMENTS + 1];
    int count = 0;
    for (int i = 0; i <= primitive->count; i++) {
        if (!primitive->argument[i].memory) continue;
        void *address = i < primitive->count ? addresses[i] : scratchpad;
        CAIRN_DNNL(dnnl_memory_set_data_handle(primitive->argument[i].memory, address), "take an address");
        given[count++] = primitive->argument[i];
    }
    CAIRN_DNNL(dnnl_primitive_execute(primitive->handle, cpu->stream, count, given), primitive->implementation);
    return CAIRN_OK;
}
