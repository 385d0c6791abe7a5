#include "backends/cpu/cpu.h"
#include "backends/backends.h"
#include "backends/cpu/layout.h"
#include "backends/cpu/low_precision.h"
#include "backends/cpu/operations.h"
#include "backends/cpu/peak.h"
#include "backends/cpu/plan_cache.h"
#include "core/os.h"
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cairn_status cairn_cpu_check_dtype(cairn_dtype dtype)
{
    if (dtype == CAIRN_F32) return CAIRN_OK;
    return cairn_fail(CAIRN_DEVICE, "the cpu backend computes in f32, not in %s", cairn_dtype_name(dtype));
}

static cairn_status probe(bool *present)
{
    *present = true; /* every machine has a processor */
    return CAIRN_OK;
}

void cairn_cpu_enter(cairn_cpu *cpu)
{
    omp_set_num_threads(cpu->base.threads);
}

/* One thread to a processor where the team takes all of them: left to the scheduler, two threads were seen to share a processor
 * for whole runs, at half the speed. With fewer threads than processors, who else runs is unknown, and the scheduler decides. */
static void pin_team(cairn_cpu *cpu)
{
    if (cpu->base.threads < 2 || cpu->base.threads != cairn_os_processor_count()) return;
#pragma omp parallel
    cairn_os_pin_thread(omp_get_thread_num());
}

static bool has_avx512(void)
{
    return (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core;
}

static cairn_status create_attributes(cairn_cpu *cpu)
{
    CAIRN_DNNL(dnnl_primitive_attr_create(&cpu->attributes), "create attributes");
    CAIRN_DNNL(dnnl_primitive_attr_set_scratchpad_mode(cpu->attributes, dnnl_scratchpad_mode_user), "set attributes");
    CAIRN_DNNL(dnnl_primitive_attr_create(&cpu->relu_attributes), "create attributes");
    CAIRN_DNNL(dnnl_primitive_attr_set_scratchpad_mode(cpu->relu_attributes, dnnl_scratchpad_mode_user),
               "set attributes");
    dnnl_post_ops_t relu;
    CAIRN_DNNL(dnnl_post_ops_create(&relu), "create post-operations");
    dnnl_status_t status = cairn_dnnl_append_relu(relu);
    if (status == dnnl_success) status = dnnl_primitive_attr_set_post_ops(cpu->relu_attributes, relu);
    dnnl_post_ops_destroy(relu);
    CAIRN_DNNL(status, "append a ReLU");
    return CAIRN_OK;
}

static void name_device(cairn_cpu *cpu)
{
    cairn_device *base = &cpu->base;
    char processor[64];
    const dnnl_version_t *version = dnnl_version();
    cairn_os_processor_name(processor, sizeof processor);
    snprintf(base->library, sizeof base->library, "oneDNN %d.%d.%d", version->major, version->minor, version->patch);
    snprintf(base->name, sizeof base->name, "cpu (%.40s, %d thread%s, %s)", base->library, base->threads,
             base->threads == 1 ? "" : "s", processor);
}

static cairn_status start(cairn_cpu *cpu)
{
    CAIRN_DNNL(dnnl_engine_create(&cpu->engine, dnnl_cpu, 0), "create a CPU engine");
    CAIRN_DNNL(dnnl_stream_create(&cpu->stream, cpu->engine, dnnl_stream_default_flags), "create a stream");
    CAIRN_TRY(create_attributes(cpu));
    CAIRN_TRY(cairn_layout_table_create(&cpu->layouts));
    cpu->partial = cairn_os_aligned_alloc((size_t)cpu->base.threads * CAIRN_CPU_PARTIALS * sizeof *cpu->partial);
    if (!cpu->partial) return cairn_fail(CAIRN_MEMORY, "no memory for the CPU device");
    if (cpu->base.options.cache) {
        char machine[CAIRN_PLAN_CACHE_MACHINE];
        snprintf(machine, sizeof machine, "%s", cpu->base.name);
        CAIRN_TRY(cairn_plan_cache_open(cpu->base.options.cache, machine, &cpu->cache));
    }
    return CAIRN_OK;
}

static void close_device(cairn_device *device)
{
    cairn_cpu *cpu = cairn_cpu_of(device);
    cairn_plan_cache_close(cpu->cache);
    cairn_os_aligned_free(cpu->partial);
    cairn_layout_table_destroy(cpu->layouts);
    if (cpu->relu_attributes) dnnl_primitive_attr_destroy(cpu->relu_attributes);
    if (cpu->attributes) dnnl_primitive_attr_destroy(cpu->attributes);
    if (cpu->stream) dnnl_stream_destroy(cpu->stream);
    if (cpu->engine) dnnl_engine_destroy(cpu->engine);
    free(cpu);
}

/* Never more than OMP_THREAD_LIMIT allows: OpenMP would form a smaller team than work was split for, and oneDNN's barriers wait for
 * the whole team. */
static int team_size(int asked)
{
    int threads = asked ? asked : cairn_os_processor_count(), limit = omp_get_thread_limit();
    return threads < limit ? threads : limit;
}

static cairn_status open_device(const cairn_device_options *options, cairn_device **out)
{
    if (options->threads < 0)
        return cairn_fail(CAIRN_USAGE, "%d threads asked for; 0 takes every processor", options->threads);
    cairn_cpu *cpu = calloc(1, sizeof *cpu);
    if (!cpu) return cairn_fail(CAIRN_MEMORY, "no memory for the CPU device");
    cpu->base.backend = &cairn_backend_cpu;
    cpu->base.options = *options;
    cpu->base.options.tf32 = false;
    cpu->base.threads = team_size(options->threads);
    cpu->block = has_avx512() ? 16 : 8;
    name_device(cpu);
    cairn_cpu_enter(cpu);
    pin_team(cpu);
    cairn_status status = start(cpu);
    if (status != CAIRN_OK) {
        close_device(&cpu->base);
        return status;
    }
    *out = &cpu->base;
    return CAIRN_OK;
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

/* Everything runs in the calling thread and its team, and is done when it returns: a copy is a copy, and there is nothing to wait for. */
static cairn_status copy(cairn_device *device, void *to, const void *from, size_t bytes)
{
    (void)device;
    memcpy(to, from, bytes);
    return CAIRN_OK;
}

static cairn_status zero(cairn_device *device, void *to, size_t bytes)
{
    (void)device;
    memset(to, 0, bytes);
    return CAIRN_OK;
}

static cairn_status synchronize(cairn_device *device)
{
    CAIRN_DNNL(dnnl_stream_wait(cairn_cpu_of(device)->stream), "finish its work");
    return CAIRN_OK;
}

static size_t layout_bytes(cairn_device *device, const cairn_layout *layout, cairn_dtype dtype)
{
    (void)device, (void)dtype; /* oneDNN's descriptors hold it */
    return cairn_layout_size(layout);
}

static const char *layout_name(cairn_device *device, const cairn_layout *layout)
{
    (void)device;
    return cairn_layout_word(layout);
}

const cairn_backend cairn_backend_cpu = {
    .abi = CAIRN_BACKEND_ABI,
    .name = "cpu",
    .probe = probe,
    .open = open_device,
    .close = close_device,
    .raw_alloc = raw_alloc,
    .raw_free = raw_free,
    .upload = copy,
    .download = copy,
    .zero = zero,
    .synchronize = synchronize,
    .supports_dtype = cairn_cpu_supports_dtype,
    .layout_bytes = layout_bytes,
    .layout_name = layout_name,
    .plan_conv2d = cairn_cpu_any_conv2d,
    .plan_linear = cairn_cpu_any_linear,
    .plan_pool2d = cairn_cpu_any_pool2d,
    .plan_relu = cairn_cpu_any_relu,
    .plan_lrn = cairn_cpu_any_lrn,
    .plan_dropout = cairn_cpu_any_dropout,
    .plan_batchnorm = cairn_cpu_any_batchnorm,
    .plan_reorder = cairn_cpu_plan_reorder,
    .softmax_loss = cairn_cpu_softmax_loss,
    .augment = cairn_cpu_augment,
    .update = cairn_cpu_update,
    .peak_gflops = cairn_cpu_peak_gflops,
};
