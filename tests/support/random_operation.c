#include "tests/support/random_operation.h"
#include "tests/support/golden.h"

int64_t chance_between(chance *c, int64_t lo, int64_t hi)
{
    uint32_t bits = golden_hash(golden_hash(c->seed) ^ ++c->drawn);
    return lo + (int64_t)(bits % (uint32_t)(hi - lo + 1));
}

bool chance_of(chance *c, int64_t one_in)
{
    return chance_between(c, 1, one_in) == 1;
}

/* Channel counts around the block sizes that vector units like, and far from them. */
static int64_t draw_channels(chance *c)
{
    static const int64_t counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 24, 32};
    return counts[chance_between(c, 0, (int64_t)(sizeof counts / sizeof *counts) - 1)];
}

static cairn_shape draw_images(chance *c)
{
    int64_t batch = chance_between(c, 1, 4), channels = draw_channels(c);
    return cairn_shape_make(4, batch, channels, chance_between(c, 1, 15), chance_between(c, 1, 15));
}

/* A kernel of at most `most` that fits in `size` padded by `pad`. */
static int64_t draw_kernel(chance *c, int64_t size, int64_t pad, int64_t most)
{
    int64_t room = size + 2 * pad;
    return chance_between(c, 1, room < most ? room : most);
}

static cairn_conv2d_desc draw_conv2d(chance *c)
{
    cairn_conv2d_desc d = {.src = draw_images(c), .groups = chance_of(c, 3) ? chance_between(c, 2, 4) : 1};
    bool square = chance_of(c, 2);
    d.src.dim[1] *= d.groups;
    d.out_channels = draw_channels(c) * d.groups;
    d.pad_h = chance_between(c, 0, 3);
    d.pad_w = square ? d.pad_h : chance_between(c, 0, 3);
    d.kernel_h = draw_kernel(c, d.src.dim[2], d.pad_h, chance_of(c, 6) ? 11 : 5);
    d.kernel_w =
        square && d.kernel_h <= d.src.dim[3] + 2 * d.pad_w ? d.kernel_h : draw_kernel(c, d.src.dim[3], d.pad_w, 5);
    d.stride_h = chance_of(c, 2) ? 1 : chance_between(c, 1, 4);
    d.stride_w = square ? d.stride_h : chance_between(c, 1, 4);
    d.has_bias = !chance_of(c, 4);
    d.relu = chance_of(c, 2);
    d.relu_backward = d.relu && chance_of(c, 2);
    d.train = !chance_of(c, 5);
    d.need_diff_src = !chance_of(c, 4);
    return d;
}

static cairn_linear_desc draw_linear(chance *c)
{
    cairn_linear_desc d = {.batch = chance_between(c, 1, 9),
                           .in_features = chance_between(c, 1, 150),
                           .out_features = chance_between(c, 1, 70)};
    d.has_bias = !chance_of(c, 4);
    d.relu = chance_of(c, 2);
    d.relu_backward = d.relu && chance_of(c, 2);
    d.train = !chance_of(c, 5);
    d.need_diff_src = !chance_of(c, 4);
    return d;
}

static cairn_pool2d_desc draw_pool2d(chance *c)
{
    cairn_pool2d_desc d = {.kind = (cairn_pool_kind)chance_between(c, 0, 2), .src = draw_images(c)};
    d.train = !chance_of(c, 5);
    if (d.kind == CAIRN_POOL_ADAPTIVE_AVERAGE) {
        d.out_h = chance_between(c, 1, 7);
        d.out_w = chance_between(c, 1, 7);
        return d;
    }
    bool ceil_mode = chance_of(c, 2);
    d.kernel_h = draw_kernel(c, d.src.dim[2], 0, 4);
    d.kernel_w = draw_kernel(c, d.src.dim[3], 0, 4);
    d.stride_h = chance_between(c, 1, 3);
    d.stride_w = chance_between(c, 1, 3);
    d.pad_h = chance_between(c, 0, d.kernel_h / 2); /* PyTorch allows no more */
    d.pad_w = chance_between(c, 0, d.kernel_w / 2);
    d.out_h = operation_pooled_size(d.src.dim[2], d.kernel_h, d.stride_h, d.pad_h, ceil_mode);
    d.out_w = operation_pooled_size(d.src.dim[3], d.kernel_w, d.stride_w, d.pad_w, ceil_mode);
    d.relu_backward = d.kind == CAIRN_POOL_MAX && chance_of(c, 2);
    return d;
}

static cairn_lrn_desc draw_lrn(chance *c)
{
    static const float alpha[] = {1e-4f, 0.5f, 1, 3}, beta[] = {0.75f, 0.5f, 1}, k[] = {1, 2, 0.5f};
    return (cairn_lrn_desc){.src = draw_images(c),
                            .size = 2 * chance_between(c, 0, 4) + 1, /* up to more than the channels there are */
                            .alpha = alpha[chance_between(c, 0, 3)],
                            .beta = beta[chance_between(c, 0, 2)],
                            .k = k[chance_between(c, 0, 2)],
                            .train = !chance_of(c, 5)};
}

/* LRN over the 5 channels of the networks, and a max-pool. */
static cairn_lrn_pool_desc draw_lrn_pool(chance *c)
{
    cairn_lrn_pool_desc d = {.lrn = draw_lrn(c), .relu = chance_of(c, 2)};
    d.lrn.size = 5;
    do
        d.pool = draw_pool2d(c);
    while (d.pool.kind != CAIRN_POOL_MAX);
    d.lrn.src = d.pool.src;
    d.pool.relu_backward = false;
    return d;
}

static cairn_shape draw_any_shape(chance *c)
{
    if (chance_of(c, 2)) return draw_images(c);
    return cairn_shape_make(2, chance_between(c, 1, 5), chance_between(c, 1, 300));
}

static cairn_dropout_desc draw_dropout(chance *c)
{
    static const float rate[] = {0, 0.1f, 0.5f, 0.9f};
    uint64_t seed = (uint64_t)chance_between(c, 0, 1 << 30) << 20;
    return (cairn_dropout_desc){.src = draw_any_shape(c),
                                .rate = rate[chance_between(c, 0, 3)],
                                .rng = cairn_rng_make(seed, CAIRN_RNG_DROPOUT, (uint32_t)chance_between(c, 0, 9), 0),
                                .train = !chance_of(c, 5)};
}

static cairn_batchnorm_desc draw_batchnorm(chance *c)
{
    cairn_batchnorm_desc d = {.src = draw_images(c), .eps = 1e-5f, .momentum = 0.1f, .train = !chance_of(c, 3)};
    if (d.src.dim[0] * d.src.dim[2] * d.src.dim[3] == 1) d.src.dim[0] = 2; /* one value has no variance */
    return d;
}

/* Coarse values make maxima tie, as the zeros after a ReLU do. */
static void make_ties(operation *op)
{
    for (int64_t i = 0; i < cairn_shape_count(op->shape[OPERAND_SRC]); i++)
        op->value[OPERAND_SRC][i] = (float)(int)(op->value[OPERAND_SRC][i] * 3);
}

void random_operation(operation_kind kind, uint32_t seed, operation *op)
{
    chance c = {.seed = seed};
    *op = (operation){.kind = kind};
    op->step = (uint32_t)chance_between(&c, 0, 1000);
    op->first_sample = chance_of(&c, 2) ? 0 : chance_between(&c, 1, 100);
    op->evaluate = chance_of(&c, 6);
    op->accumulate = chance_of(&c, 2);
    switch (kind) {
    case OPERATION_CONV2D:
        op->desc.conv2d = draw_conv2d(&c);
        op->given_dst = op->desc.conv2d.relu_backward;
        break;
    case OPERATION_LINEAR:
        op->desc.linear = draw_linear(&c);
        op->given_dst = op->desc.linear.relu_backward;
        break;
    case OPERATION_POOL2D:
        op->desc.pool2d = draw_pool2d(&c);
        break;
    case OPERATION_RELU:
        op->desc.relu = (cairn_relu_desc){.src = draw_any_shape(&c), .train = !chance_of(&c, 5)};
        break;
    case OPERATION_LRN:
        op->desc.lrn = draw_lrn(&c);
        break;
    case OPERATION_DROPOUT:
        op->desc.dropout = draw_dropout(&c);
        break;
    case OPERATION_BATCHNORM:
        op->desc.batchnorm = draw_batchnorm(&c);
        break;
    case OPERATION_LRN_POOL:
        op->desc.lrn_pool = draw_lrn_pool(&c);
        break;
    }
    op->in_place = (kind == OPERATION_RELU || kind == OPERATION_DROPOUT) && chance_of(&c, 3);
    op->blocked_source = operation_source(op).rank == 4 && chance_of(&c, 2);
    operation_prepare(op, seed);
    if (kind == OPERATION_POOL2D && chance_of(&c, 2)) make_ties(op);
}
