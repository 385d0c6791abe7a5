/* Our Winograd convolution against oneDNN's direct one, pass by pass, on AlexNet's layers of stride 1, alternating.
 *
 *     bench_winograd [batch [threads [rounds]]]
 *
 * Prints the fastest run of each in milliseconds, their ratio, and the products of the direct sum a second as a share of the
 * processor's peak of multiply-adds, measured between the layers; Winograd's share may pass 100 %. */
#include "backends/backends.h"
#include "backends/cpu/conv2d_dnnl.h"
#include "backends/cpu/peak.h"
#include "core/os.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct bench_layer {
    const char *name;
    int64_t channels, out_channels, size, kernel, groups;
} bench_layer;

static const bench_layer layers[] = {
    {"owt conv2", 64, 192, 27, 5, 1},    {"owt conv3", 192, 384, 13, 3, 1},   {"owt conv4", 384, 256, 13, 3, 1},
    {"owt conv5", 256, 256, 13, 3, 1},   {"paper conv2", 96, 256, 27, 5, 2},  {"paper conv3", 256, 384, 13, 3, 1},
    {"paper conv4", 384, 384, 13, 3, 2}, {"paper conv5", 384, 256, 13, 3, 2},
};

typedef struct bench {
    cairn_device *device;
    cairn_conv2d_desc desc;
    cairn_conv2d_layouts homes;
    cairn_operands operands;
    size_t workspace;
} bench;

static float *buffer(size_t bytes)
{
    float *value = cairn_os_aligned_alloc(bytes);
    for (size_t i = 0; i < bytes / sizeof *value; i++)
        value[i] = (float)(i * 2654435761u % 1000) * 0.001f - 0.5f;
    return value;
}

static cairn_status prepare(bench *b)
{
    cairn_operands *o = &b->operands;
    size_t src = cairn_layout_size(b->homes.src), dst = cairn_layout_size(b->homes.dst);
    size_t weights = cairn_layout_size(b->homes.weights), bias = (size_t)b->desc.out_channels * sizeof(float);
    o->src = buffer(src);
    o->weights = buffer(weights);
    o->bias = buffer(bias);
    o->dst = buffer(dst);
    o->diff_dst = buffer(dst);
    o->diff_src = buffer(src);
    o->diff_weights = buffer(weights);
    o->diff_bias = buffer(bias);
    o->workspace = buffer(b->workspace);
    return CAIRN_OK;
}

static void release(bench *b)
{
    cairn_operands *o = &b->operands;
    void *all[] = {(void *)o->src, (void *)o->weights, (void *)o->bias, o->dst,      o->diff_dst,
                   o->diff_src,    o->diff_weights,    o->diff_bias,    o->workspace};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        cairn_os_aligned_free(all[i]);
}

static cairn_status time_once(bench *b, const cairn_conv2d_candidate *candidate, double *best)
{
    double start = cairn_os_seconds();
    CAIRN_TRY(candidate->run(candidate, &b->operands));
    double ms = 1e3 * (cairn_os_seconds() - start);
    if (*best == 0 || ms < *best) *best = ms;
    return CAIRN_OK;
}

static cairn_status run_layer(cairn_device *device, const bench_layer *layer, int64_t batch, int rounds)
{
    static const char *const pass_names[] = {"forward", "to data", "to filters"};
    bench b = {.device = device};
    int64_t pad = layer->kernel / 2, size = layer->size;
    b.desc = (cairn_conv2d_desc){.src = cairn_shape_make(4, batch, layer->channels, size, size),
                                 .out_channels = layer->out_channels,
                                 .kernel_h = layer->kernel,
                                 .kernel_w = layer->kernel,
                                 .stride_h = 1,
                                 .stride_w = 1,
                                 .pad_h = pad,
                                 .pad_w = pad,
                                 .groups = layer->groups,
                                 .has_bias = true,
                                 .relu = true,
                                 .train = true,
                                 .need_diff_src = true,
                                 .dtype = CAIRN_F32};
    cairn_cpu *cpu = cairn_cpu_of(device);
    CAIRN_TRY(cairn_conv2d_dnnl_layouts(cpu, &b.desc, &b.homes));
    cairn_conv2d_problem problem = {.batch = batch,
                                    .channels = layer->channels,
                                    .height = size,
                                    .width = size,
                                    .out_channels = layer->out_channels,
                                    .out_height = size,
                                    .out_width = size,
                                    .kernel = layer->kernel,
                                    .stride = 1,
                                    .pad = pad,
                                    .groups = layer->groups,
                                    .block = cpu->block,
                                    .threads = device->threads,
                                    .has_bias = true,
                                    .relu = true};
    cairn_conv2d_candidate *direct[3], *ours[3];
    double best[3][2] = {{0}}, total[2] = {0};
    for (int pass = 0; pass < CAIRN_CONV2D_PASSES; pass++) {
        CAIRN_TRY(cairn_conv2d_dnnl_create(cpu, &b.desc, &b.homes, dnnl_convolution_direct, (cairn_conv2d_pass)pass,
                                           &direct[pass]));
        CAIRN_TRY(cairn_winograd_create(&problem, (cairn_conv2d_pass)pass, &ours[pass]));
        if (!ours[pass]) return cairn_fail(CAIRN_DEVICE, "no Winograd kernel for this processor");
        if (direct[pass]->workspace > b.workspace) b.workspace = direct[pass]->workspace;
        if (ours[pass]->workspace > b.workspace) b.workspace = ours[pass]->workspace;
    }
    CAIRN_TRY(prepare(&b));
    double peak = cairn_cpu_peak_gflops(device, CAIRN_F32);
    for (int round = 0; round < rounds; round++)
        for (int pass = 0; pass < CAIRN_CONV2D_PASSES; pass++) {
            CAIRN_TRY(time_once(&b, direct[pass], &best[pass][0]));
            CAIRN_TRY(time_once(&b, ours[pass], &best[pass][1]));
        }
    double gflop = 2e-9 * (double)(batch * size * size * layer->kernel * layer->kernel * layer->channels) *
                   (double)(layer->out_channels / layer->groups);
    for (int pass = 0; pass < CAIRN_CONV2D_PASSES; pass++) {
        double share = 1e5 * gflop / peak;
        printf("%-18s %-10s %8.2f ms %3.0f %%   %8.2f ms %3.0f %%   %4.0f %%   %5.1f MB  %s\n", layer->name,
               pass_names[pass], best[pass][0], share / best[pass][0], best[pass][1], share / best[pass][1],
               100 * best[pass][1] / best[pass][0], (double)ours[pass]->workspace * 1e-6, direct[pass]->name);
        total[0] += best[pass][0];
        total[1] += best[pass][1];
        direct[pass]->destroy(direct[pass]);
        ours[pass]->destroy(ours[pass]);
    }
    printf("%-18s %-10s %8.2f ms         %8.2f ms         %4.0f %%   peak %.0f GFLOP/s\n", layer->name, "all", total[0],
           total[1], 100 * total[1] / total[0], peak);
    release(&b);
    return CAIRN_OK;
}

int main(int argc, char **argv)
{
    int64_t batch = argc > 1 ? atoi(argv[1]) : 32;
    int threads = argc > 2 ? atoi(argv[2]) : 0, rounds = argc > 3 ? atoi(argv[3]) : 5;
    cairn_device *device;
    cairn_status status = cairn_device_open("cpu", &(cairn_device_options){.threads = threads}, &device);
    if (status == CAIRN_OK) {
        printf("%s, batch %lld\n%-29s %-17s  %-17s %s\n", cairn_device_name(device), (long long)batch, "",
               "oneDNN direct", "ours", "ours / direct");
        for (size_t i = 0; i < sizeof layers / sizeof *layers && status == CAIRN_OK; i++)
            if (argc <= 4 || atoi(argv[4]) == (int)i) status = run_layer(device, &layers[i], batch, rounds);
        cairn_device_close(device);
    }
    if (status != CAIRN_OK) fprintf(stderr, "%s\n", cairn_error_last()->message);
    return status != CAIRN_OK;
}
