#include "backends/cpu/conv2d_choose.h"
#include "backends/cpu/conv2d_fold.h"
#include "backends/cpu/conv2d_time.h"
#include "backends/cpu/plan_cache.h"
#include <stdio.h>
#include <string.h>

/* Candidates are timed on this many samples at most: enough to fill the threads, and a plan is made in a fraction of a second. */
#define TIMED_BATCH 16

/* Fewer channels than this in a group on either side, and Winograd's transforms cost more than it saves. */
#define WINOGRAD_CHANNELS 32

/* ---- the ways there are ---- */

static cairn_status create_direct(cairn_cpu *cpu, const cairn_conv2d_desc *desc, const cairn_conv2d_layouts *homes,
                                  cairn_conv2d_pass pass, cairn_conv2d_candidate **out)
{
    CAIRN_TRY(cairn_conv2d_dnnl_create(cpu, desc, homes, dnnl_convolution_direct, pass, out));
    return *out ? CAIRN_OK : cairn_fail(CAIRN_DEVICE, "oneDNN has no convolution for this shape");
}

/* oneDNN's own, which 3.x has no more, and 2.x only for 3x3 on AVX-512. */
static cairn_status create_library_winograd(cairn_cpu *cpu, const cairn_conv2d_desc *desc,
                                            const cairn_conv2d_layouts *homes, cairn_conv2d_pass pass,
                                            cairn_conv2d_candidate **out)
{
    *out = NULL;
    if (desc->groups > 1 || desc->kernel_h != 3 || desc->kernel_w != 3) return CAIRN_OK;
    return cairn_conv2d_dnnl_create(cpu, desc, homes, dnnl_convolution_winograd, pass, out);
}

/* Every operand in blocks of channels, as our own kernels want them. */
static cairn_status blocked_layouts(cairn_cpu *cpu, const cairn_conv2d_desc *desc, cairn_conv2d_layouts *out)
{
    int64_t dims[5];
    int rank = cairn_conv2d_weight_dims(desc, dims);
    bool wide = cpu->block == 16;
    dnnl_format_tag_t pixels = cairn_layout_blocked(cpu);
    CAIRN_TRY(cairn_layout_tag(cpu, desc->src, pixels, &out->src));
    CAIRN_TRY(cairn_layout_tag(cpu, cairn_conv2d_dst(desc), pixels, &out->dst));
    dnnl_format_tag_t filters =
        rank == 5 ? (wide ? dnnl_gOIhw16i16o : dnnl_gOIhw8i8o) : (wide ? dnnl_OIhw16i16o : dnnl_OIhw8i8o);
    return cairn_layout_tag_dims(cpu, rank, dims, filters, &out->weights);
}

static cairn_status create_own_winograd(cairn_cpu *cpu, const cairn_conv2d_desc *desc,
                                        const cairn_conv2d_layouts *homes, cairn_conv2d_pass pass,
                                        cairn_conv2d_candidate **out)
{
    cairn_conv2d_layouts blocked;
    *out = NULL;
    if (desc->kernel_h != desc->kernel_w || desc->stride_h != desc->stride_w || desc->pad_h != desc->pad_w ||
        desc->src.dim[1] / desc->groups % cpu->block || desc->out_channels / desc->groups % cpu->block)
        return CAIRN_OK;
    CAIRN_TRY(blocked_layouts(cpu, desc, &blocked));
    if (homes->src != blocked.src || homes->dst != blocked.dst || homes->weights != blocked.weights) return CAIRN_OK;
    cairn_shape dst = cairn_conv2d_dst(desc);
    const cairn_conv2d_problem problem = {.batch = desc->src.dim[0],
                                          .channels = desc->src.dim[1],
                                          .height = desc->src.dim[2],
                                          .width = desc->src.dim[3],
                                          .out_channels = desc->out_channels,
                                          .out_height = dst.dim[2],
                                          .out_width = dst.dim[3],
                                          .kernel = desc->kernel_h,
                                          .stride = desc->stride_h,
                                          .pad = desc->pad_h,
                                          .groups = desc->groups,
                                          .block = cpu->block,
                                          .threads = cpu->base.threads,
                                          .has_bias = desc->has_bias,
                                          .relu = desc->relu};
    return cairn_winograd_create(&problem, pass, out);
}

typedef cairn_status creator(cairn_cpu *cpu, const cairn_conv2d_desc *desc, const cairn_conv2d_layouts *homes,
                             cairn_conv2d_pass pass, cairn_conv2d_candidate **out);

/* The folded convolution by another way. */
static cairn_status create_folded(cairn_cpu *cpu, const cairn_conv2d_desc *desc, const cairn_conv2d_layouts *homes,
                                  cairn_conv2d_pass pass, creator *inner_way, cairn_conv2d_candidate **out)
{
    cairn_conv2d_layouts blocked;
    cairn_conv2d_candidate *inner;
    *out = NULL;
    if (!cairn_conv2d_can_fold(cpu, desc) || pass == CAIRN_CONV2D_BACKWARD_DATA) return CAIRN_OK;
    cairn_conv2d_desc folded = cairn_conv2d_folded(desc);
    CAIRN_TRY(blocked_layouts(cpu, &folded, &blocked));
    if (cairn_layout_public(homes->src) || homes->dst != blocked.dst) return CAIRN_OK;
    CAIRN_TRY(inner_way(cpu, &folded, &blocked, pass, &inner));
    return cairn_conv2d_fold_create(cpu, desc, homes->weights, pass, inner, out);
}

static cairn_status create_folded_direct(cairn_cpu *cpu, const cairn_conv2d_desc *desc,
                                         const cairn_conv2d_layouts *homes, cairn_conv2d_pass pass,
                                         cairn_conv2d_candidate **out)
{
    return create_folded(cpu, desc, homes, pass, create_direct, out);
}

static cairn_status create_folded_winograd(cairn_cpu *cpu, const cairn_conv2d_desc *desc,
                                           const cairn_conv2d_layouts *homes, cairn_conv2d_pass pass,
                                           cairn_conv2d_candidate **out)
{
    return create_folded(cpu, desc, homes, pass, create_own_winograd, out);
}

typedef struct way {
    const char *name; /* in the plan cache */
    creator *create;
    bool direct; /* sums products as they stand, as options.direct wants */
} way;

/* Later ones are better where they fit and the convolution is wide. */
static const way ways[] = {
    {"direct", create_direct, true},
    {"library-winograd", create_library_winograd, false},
    {"winograd", create_own_winograd, false},
    {"folded-direct", create_folded_direct, true},
    {"folded-winograd", create_folded_winograd, false},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* ---- choosing ---- */

static bool needed(const cairn_conv2d_desc *desc, cairn_conv2d_pass pass)
{
    if (pass == CAIRN_CONV2D_FORWARD) return true;
    return desc->train && (pass == CAIRN_CONV2D_BACKWARD_WEIGHTS || desc->need_diff_src);
}

static void key_of(const cairn_cpu *cpu, const cairn_conv2d_desc *d, cairn_conv2d_pass pass, char *key, size_t size)
{
    static const char *const names[CAIRN_CONV2D_PASSES] = {"forward", "backward-data", "backward-weights"};
    char src[64];
    snprintf(
        key, size,
        "conv2d %s src %s out %lld kernel %lldx%lld stride %lldx%lld pad %lldx%lld groups %lld bias %d relu %d f32%s",
        names[pass], cairn_shape_format(d->src, src, sizeof src), (long long)d->out_channels, (long long)d->kernel_h,
        (long long)d->kernel_w, (long long)d->stride_h, (long long)d->stride_w, (long long)d->pad_h,
        (long long)d->pad_w, (long long)d->groups, d->has_bias, d->relu, cpu->base.options.direct ? " direct" : "");
}

static void destroy_all(cairn_conv2d_candidate *candidates[WAYS])
{
    for (int i = 0; i < WAYS; i++)
        if (candidates[i]) candidates[i]->destroy(candidates[i]);
}

/* Every way that fits; NULL where one doesn't. */
static cairn_status create_all(cairn_cpu *cpu, const cairn_conv2d_desc *desc, const cairn_conv2d_layouts *homes,
                               cairn_conv2d_pass pass, cairn_conv2d_candidate *out[WAYS])
{
    for (int i = 0; i < WAYS; i++)
        out[i] = NULL;
    for (int i = 0; i < WAYS; i++)
        if (ways[i].direct || !cpu->base.options.direct) CAIRN_TRY(ways[i].create(cpu, desc, homes, pass, &out[i]));
    return CAIRN_OK;
}

/* Enough channels for Winograd's transforms to be small beside its products. */
static bool is_wide(const cairn_cpu *cpu, const cairn_conv2d_desc *desc)
{
    int64_t channels = cairn_conv2d_can_fold(cpu, desc) ? cairn_conv2d_folded(desc).src.dim[1] : desc->src.dim[1];
    return channels / desc->groups >= WINOGRAD_CHANNELS && desc->out_channels / desc->groups >= WINOGRAD_CHANNELS;
}

static int fixed_choice(const cairn_cpu *cpu, const cairn_conv2d_desc *desc,
                        cairn_conv2d_candidate *const candidates[WAYS])
{
    for (int i = WAYS - 1; is_wide(cpu, desc) && i > 0; i--)
        if (candidates[i]) return i;
    return 0;
}

/* What oneDNN likes; but blocks where it would rather have channels last and our Winograd, twice as fast, could run. */
static cairn_status choose_layouts(cairn_cpu *cpu, const cairn_conv2d_desc *desc, cairn_conv2d_layouts *out)
{
    cairn_conv2d_layouts blocked;
    cairn_conv2d_candidate *winograd;
    CAIRN_TRY(cairn_conv2d_dnnl_layouts(cpu, desc, out));
    if (cpu->base.options.direct || cairn_conv2d_can_fold(cpu, desc) || !is_wide(cpu, desc)) return CAIRN_OK;
    CAIRN_TRY(blocked_layouts(cpu, desc, &blocked));
    CAIRN_TRY(create_own_winograd(cpu, desc, &blocked, CAIRN_CONV2D_FORWARD, &winograd));
    if (!winograd) return CAIRN_OK;
    winograd->destroy(winograd);
    *out = blocked;
    return CAIRN_OK;
}

/* Times the ways on a part of the batch. */
static cairn_status time_ways(cairn_cpu *cpu, const cairn_conv2d_desc *desc, cairn_conv2d_pass pass, int *out)
{
    cairn_conv2d_desc part = *desc;
    cairn_conv2d_layouts homes;
    cairn_conv2d_candidate *candidates[WAYS];
    if (part.src.dim[0] > TIMED_BATCH) part.src.dim[0] = TIMED_BATCH;
    part.src_layout = NULL;
    CAIRN_TRY(choose_layouts(cpu, &part, &homes));
    cairn_status status = create_all(cpu, &part, &homes, pass, candidates);
    if (status == CAIRN_OK) status = cairn_conv2d_time(&part, &homes, candidates, WAYS, out);
    destroy_all(candidates);
    return status;
}

static int named_choice(const char *name, cairn_conv2d_candidate *const candidates[WAYS])
{
    for (int i = 0; i < WAYS; i++)
        if (candidates[i] && strcmp(ways[i].name, name) == 0) return i;
    return -1;
}

static cairn_status choose(cairn_cpu *cpu, const cairn_conv2d_desc *desc, cairn_conv2d_pass pass,
                           cairn_conv2d_candidate *const candidates[WAYS], int *out)
{
    char key[CAIRN_PLAN_CACHE_KEY], choice[CAIRN_PLAN_CACHE_CHOICE];
    int count = 0;
    for (int i = 0; i < WAYS; i++)
        count += candidates[i] != NULL;
    *out = 0;
    if (count == 1) return CAIRN_OK;
    *out = fixed_choice(cpu, desc, candidates);
    if (cpu->base.options.deterministic) return CAIRN_OK;
    key_of(cpu, desc, pass, key, sizeof key);
    if (cairn_plan_cache_get(cpu->cache, key, choice, sizeof choice)) {
        *out = named_choice(choice, candidates);
        if (*out >= 0) return CAIRN_OK;
    }
    CAIRN_TRY(time_ways(cpu, desc, pass, out));
    if (!candidates[*out]) *out = 0;
    cairn_plan_cache_put(cpu->cache, key, ways[*out].name);
    return CAIRN_OK;
}

cairn_status cairn_conv2d_choose(cairn_cpu *cpu, const cairn_conv2d_desc *desc, cairn_conv2d_layouts *homes,
                                 cairn_conv2d_candidate *out[CAIRN_CONV2D_PASSES])
{
    CAIRN_TRY(choose_layouts(cpu, desc, homes));
    for (int p = 0; p < CAIRN_CONV2D_PASSES; p++) {
        cairn_conv2d_pass pass = (cairn_conv2d_pass)p;
        cairn_conv2d_candidate *candidates[WAYS];
        int chosen = 0;
        if (!needed(desc, pass)) continue;
        cairn_status status = create_all(cpu, desc, homes, pass, candidates);
        if (status == CAIRN_OK) status = choose(cpu, desc, pass, candidates, &chosen);
        if (status == CAIRN_OK) {
            out[p] = candidates[chosen];
            candidates[chosen] = NULL;
        }
        destroy_all(candidates);
        CAIRN_TRY(status);
    }
    return CAIRN_OK;
}
