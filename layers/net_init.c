#include "core/os.h"
#include "layers/init.h"
#include "layers/net_state.h"
#include <stdlib.h>

/* AlexNet has 61 million numbers to draw: a good part of the time to the first update. */
enum { MAX_THREADS = 64, ELEMENTS_A_THREAD = 1 << 18 };

typedef struct fill_task {
    const cairn_parameter *parameter;
    cairn_rng rng;
    float *values;
    int64_t begin, end;
} fill_task;

static void run_task(void *argument)
{
    const fill_task *task = argument;
    const cairn_parameter *p = task->parameter;
    cairn_init_fill(&p->init, p->fan_in, p->fan_out, task->rng, task->values, task->begin, task->end);
}

/* Threads that can't be had are no failure: their share is done here. */
static void fill(const fill_task *whole, int threads)
{
    fill_task tasks[MAX_THREADS];
    cairn_thread *started[MAX_THREADS] = {NULL};
    int64_t count = whole->end, useful = count / ELEMENTS_A_THREAD;
    int parts = useful < 1 ? 1 : useful < threads ? (int)useful : threads;
    if (parts > MAX_THREADS) parts = MAX_THREADS;
    for (int i = 0; i < parts; i++) {
        tasks[i] = *whole;
        tasks[i].begin = count * i / parts;
        tasks[i].end = count * (i + 1) / parts;
        if (i + 1 == parts || cairn_thread_start(&started[i], "cairn-init", run_task, &tasks[i]) != CAIRN_OK) {
            started[i] = NULL;
            run_task(&tasks[i]);
        }
    }
    for (int i = 0; i < parts; i++)
        cairn_thread_join(started[i]);
}

static cairn_status init_parameters(cairn_net *net, uint64_t seed, float *host)
{
    for (int i = 0; i < net->parameter_count; i++) {
        const cairn_parameter *parameter = &net->parameters[i];
        int64_t count = cairn_shape_count(parameter->shape);
        const fill_task whole = {
            .parameter = parameter,
            .rng = cairn_rng_make(seed, CAIRN_RNG_INIT, (uint32_t)i, 0),
            .values = host,
            .end = count,
        };
        fill(&whole, cairn_device_threads(net->device));
        cairn_tensor tensor = cairn_net_view(net, &net->weights, i);
        if (cairn_tensor_write(&tensor, host, count) != CAIRN_OK) return cairn_error_add_context("%s", parameter->name);
    }
    return CAIRN_OK;
}

/* Running means start at 0 and variances at 1: a layer's buffers come in this order. */
static cairn_status init_buffers(cairn_net *net, float *host)
{
    for (int l = 0; l < net->layer_count; l++) {
        const net_layer *layer = &net->layers[l];
        for (int i = 0; i < layer->buffer_count; i++) {
            cairn_tensor tensor = cairn_net_buffer(net, layer->first_buffer + i);
            int64_t count = cairn_shape_count(tensor.shape);
            for (int64_t k = 0; k < count; k++)
                host[k] = (float)i;
            CAIRN_TRY(cairn_tensor_write(&tensor, host, count));
        }
    }
    return CAIRN_OK;
}

cairn_status cairn_net_init(cairn_net *net, uint64_t seed)
{
    if (!net->planned) return cairn_fail(CAIRN_USAGE, "%s: is not planned; call cairn_net_plan first", net->name);
    int64_t largest = 1;
    for (int i = 0; i < net->parameter_count; i++) {
        int64_t count = cairn_shape_count(net->parameters[i].shape);
        if (count > largest) largest = count;
    }
    float *host = malloc((size_t)largest * sizeof *host);
    if (!host) return cairn_fail(CAIRN_MEMORY, "%s: no memory to fill %lld weights", net->name, (long long)largest);
    cairn_status status = init_parameters(net, seed, host);
    if (status == CAIRN_OK) status = init_buffers(net, host);
    free(host);
    return status == CAIRN_OK ? cairn_net_refresh(net, false) : status;
}
