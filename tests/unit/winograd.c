/* Our Winograd convolution against loops in double precision: every pass, on images that fill their tiles and images that don't,
 * with the kernel of this processor and with the 16-lane code of AVX-512 compiled for any. */
#include "backends/cpu/conv2d_candidate.h"
#include "backends/cpu/winograd_kernel.h"
#include "core/os.h"
#include "tests/support/golden.h"
#include "tests/test.h"

#define WINOGRAD_LANES  16
#define WINOGRAD_ROWS   12
#define WINOGRAD_KERNEL wide_kernel
#define WINOGRAD_NAME   "any"
extern const cairn_winograd_kernel wide_kernel;
#include "backends/cpu/winograd_simd.h"

#define LIMIT 1e-5 /* relative L2; about three times the worst seen */

/* A layer's operands in plain order, what the loops make of them, and what the kernels do. */
typedef struct layer {
    cairn_conv2d_problem p;
    int64_t src_count, dst_count, weights_count;
    float *src, *weights, *bias, *diff_dst;           /* NCHW, OIHW, [O] */
    float *dst, *diff_src, *diff_weights, *diff_bias; /* wanted */
} layer;

static float *draw(int64_t count, uint32_t seed, double low, double high)
{
    float *value = golden_alloc(count, sizeof *value);
    golden_fill(seed, low, high, value, count);
    return value;
}

static layer layer_make(const cairn_conv2d_problem *problem)
{
    layer l = {.p = *problem};
    const cairn_conv2d_problem *p = problem;
    l.src_count = p->batch * p->channels * p->height * p->width;
    l.dst_count = p->batch * p->out_channels * p->out_height * p->out_width;
    l.weights_count = p->out_channels * p->channels / p->groups * p->kernel * p->kernel;
    l.src = draw(l.src_count, 1, 0, 1);
    l.weights = draw(l.weights_count, 2, -0.1, 0.1);
    l.bias = draw(p->out_channels, 3, -1, 1);
    l.diff_dst = draw(l.dst_count, 4, -1, 1);
    l.dst = golden_alloc(l.dst_count, sizeof(float));
    l.diff_src = golden_alloc(l.src_count, sizeof(float));
    l.diff_weights = golden_alloc(l.weights_count, sizeof(float));
    l.diff_bias = golden_alloc(p->out_channels, sizeof(float));
    return l;
}

static void layer_free(layer *l)
{
    float *all[] = {l->src, l->weights, l->bias, l->diff_dst, l->dst, l->diff_src, l->diff_weights, l->diff_bias};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* All three passes by their definition. */
static void layer_loops(layer *l)
{
    const cairn_conv2d_problem *p = &l->p;
    double *dx = golden_alloc(l->src_count, sizeof *dx), *dw = golden_alloc(l->weights_count, sizeof *dw);
    double *db = golden_alloc(p->out_channels, sizeof *db);
    memset(dx, 0, (size_t)l->src_count * sizeof *dx);
    memset(dw, 0, (size_t)l->weights_count * sizeof *dw);
    memset(db, 0, (size_t)p->out_channels * sizeof *db);
    for (int64_t i = 0; i < l->dst_count; i++) {
        int64_t x = i % p->out_width, y = i / p->out_width % p->out_height;
        int64_t o = i / (p->out_width * p->out_height) % p->out_channels;
        int64_t n = i / (p->out_width * p->out_height * p->out_channels);
        double sum = p->has_bias ? (double)l->bias[o] : 0, dy = (double)l->diff_dst[i];
        db[o] += dy;
        int64_t taps = p->channels / p->groups * p->kernel * p->kernel;
        int64_t first = o / (p->out_channels / p->groups) * (p->channels / p->groups); /* channel of o's group */
        for (int64_t tap = 0; tap < taps; tap++) {
            int64_t v = tap % p->kernel, u = tap / p->kernel % p->kernel, c = tap / (p->kernel * p->kernel);
            int64_t row = y + u - p->pad, column = x + v - p->pad;
            if (row < 0 || row >= p->height || column < 0 || column >= p->width) continue;
            int64_t at = ((n * p->channels + first + c) * p->height + row) * p->width + column;
            int64_t w = o * taps + tap;
            sum += (double)l->src[at] * (double)l->weights[w];
            dx[at] += dy * (double)l->weights[w];
            dw[w] += dy * (double)l->src[at];
        }
        l->dst[i] = (float)(p->relu && sum < 0 ? 0 : sum);
    }
    for (int64_t i = 0; i < l->src_count; i++)
        l->diff_src[i] = (float)dx[i];
    for (int64_t i = 0; i < l->weights_count; i++)
        l->diff_weights[i] = (float)dw[i];
    for (int64_t i = 0; i < p->out_channels; i++)
        l->diff_bias[i] = (float)db[i];
    free(dx);
    free(dw);
    free(db);
}

/* A buffer between guard zones, and its order: plain (a, b, pixels) is a vector-blocked (a, b / L, pixels, L), and filters
 * (o, i, taps) are (o / L, i / L, taps, L in, L out). */
enum { GUARD = 64 };
static const float poison = 1e30f;

static float *guarded(int64_t count)
{
    float *buffer = cairn_os_aligned_alloc((size_t)(count + 2 * GUARD) * sizeof *buffer);
    for (int64_t i = 0; i < count + 2 * GUARD; i++)
        buffer[i] = poison;
    return buffer + GUARD;
}

static void guarded_free(float *buffer, int64_t count, const char *what)
{
    for (int64_t i = 0; i < GUARD; i++)
        if (buffer[-1 - i] != poison || buffer[count + i] != poison) {
            TEST_FAIL("%s: written outside", what);
            break;
        }
    cairn_os_aligned_free(buffer - GUARD);
}

/* Copies between plain and blocked order; `filters` blocks both of the first two dimensions. */
static void reorder(float *plain, float *blocked, int64_t a, int64_t b, int64_t pixels, int lanes, bool filters,
                    bool to_plain)
{
    for (int64_t i = 0; i < a * b * pixels; i++) {
        int64_t pixel = i % pixels, column = i / pixels % b, row = i / pixels / b;
        int64_t at = ((row * (b / lanes) + column / lanes) * pixels + pixel) * lanes + column % lanes;
        if (filters)
            at = (((row / lanes * (b / lanes) + column / lanes) * pixels + pixel) * lanes + column % lanes) * lanes +
                 row % lanes;
        if (to_plain)
            plain[i] = blocked[at];
        else
            blocked[at] = plain[i];
    }
}

/* Runs one pass on poisoned outputs. Returns what it gave in plain order, the bias gradient (if any) behind the filters'; the caller
 * frees it. NULL after a failure. */
static float *run_pass(const cairn_winograd_kernel *kernel, const layer *l, cairn_conv2d_pass pass, int threads)
{
    cairn_conv2d_problem p = l->p;
    p.threads = threads;
    cairn_conv2d_candidate *candidate = NULL;
    if (cairn_winograd_create_with(kernel, &p, pass, &candidate) != CAIRN_OK || !candidate) {
        TEST_FAIL("no candidate for pass %d", (int)pass);
        return NULL;
    }
    int64_t dst_pixels = p.out_height * p.out_width, src_pixels = p.height * p.width, taps = p.kernel * p.kernel;
    int64_t workspace_count = (int64_t)(candidate->workspace / sizeof(float)), inputs = p.channels / p.groups;
    float *src = guarded(l->src_count), *dst = guarded(l->dst_count), *weights = guarded(l->weights_count);
    float *bias = guarded(p.out_channels), *workspace = guarded(workspace_count);
    if (pass != CAIRN_CONV2D_BACKWARD_DATA)
        reorder(l->src, src, p.batch, p.channels, src_pixels, p.block, false, false);
    if (pass != CAIRN_CONV2D_FORWARD)
        reorder(l->diff_dst, dst, p.batch, p.out_channels, dst_pixels, p.block, false, false);
    if (pass != CAIRN_CONV2D_BACKWARD_WEIGHTS) {
        reorder(l->weights, weights, p.out_channels, inputs, taps, p.block, true, false);
        memcpy(bias, l->bias, (size_t)p.out_channels * sizeof *bias);
    }
    cairn_operands operands = {.src = src,
                               .weights = weights,
                               .bias = bias,
                               .dst = dst,
                               .diff_dst = dst,
                               .diff_src = src,
                               .diff_weights = weights,
                               .diff_bias = bias,
                               .workspace = workspace};
    CHECK_OK(candidate->run(candidate, &operands));

    float *got = golden_alloc(l->src_count + l->dst_count + l->weights_count + p.out_channels, sizeof *got);
    if (pass == CAIRN_CONV2D_FORWARD)
        reorder(got, dst, p.batch, p.out_channels, dst_pixels, p.block, false, true);
    else if (pass == CAIRN_CONV2D_BACKWARD_DATA)
        reorder(got, src, p.batch, p.channels, src_pixels, p.block, false, true);
    else {
        reorder(got, weights, p.out_channels, inputs, taps, p.block, true, true);
        memcpy(got + l->weights_count, bias, (size_t)p.out_channels * sizeof *bias);
    }
    guarded_free(src, l->src_count, "src");
    guarded_free(dst, l->dst_count, "dst");
    guarded_free(weights, l->weights_count, "weights");
    guarded_free(bias, p.out_channels, "bias");
    guarded_free(workspace, workspace_count, "workspace");
    candidate->destroy(candidate);
    return got;
}

/* Every pass against the loops, and the same bytes from one thread and from three. */
static void compare(const cairn_winograd_kernel *kernel, cairn_conv2d_problem p)
{
    p.stride = 1;
    p.block = kernel->lanes;
    p.out_height = p.height + 2 * p.pad - p.kernel + 1;
    p.out_width = p.width + 2 * p.pad - p.kernel + 1;
    layer l = layer_make(&p);
    layer_loops(&l);
    const float *want[] = {l.dst, l.diff_src, l.diff_weights};
    const int64_t count[] = {l.dst_count, l.src_count, l.weights_count};
    printf("       %d lanes, %2d x %2d x %2d x %2d to %2d, %dx%d, pad %d, groups %d:", kernel->lanes, (int)p.batch,
           (int)p.channels, (int)p.height, (int)p.width, (int)p.out_channels, (int)p.kernel, (int)p.kernel, (int)p.pad,
           (int)p.groups);
    for (int pass = 0; pass < CAIRN_CONV2D_PASSES; pass++) {
        bool bias = pass == CAIRN_CONV2D_BACKWARD_WEIGHTS && p.has_bias;
        float *got = run_pass(kernel, &l, (cairn_conv2d_pass)pass, 1);
        float *again = run_pass(kernel, &l, (cairn_conv2d_pass)pass, 3);
        if (got && again) {
            double error = relative_l2(got, want[pass], count[pass]);
            printf(" %.1e", error);
            if (!(error < LIMIT)) TEST_FAIL("pass %d: relative error %.2g", pass, error);
            if (bias) CHECK(relative_l2(got + count[pass], l.diff_bias, p.out_channels) < 1e-6);
            int64_t all = count[pass] + (bias ? p.out_channels : 0);
            CHECK(memcmp(got, again, (size_t)all * sizeof *got) == 0);
        }
        free(got);
        free(again);
    }
    printf("\n");
    layer_free(&l);
}

/* batch, channels, height, width, out_channels, kernel, pad, groups, bias, relu */
static const struct {
    int batch, channels, height, width, out_channels, kernel, pad, groups;
    bool bias, relu;
} shapes[] = {
    {2, 32, 13, 13, 32, 3, 1, 1, true, true}, {1, 16, 1, 1, 16, 3, 1, 1, true, false},
    {3, 48, 7, 10, 16, 3, 0, 1, false, true}, {5, 16, 12, 9, 80, 3, 2, 1, true, false},
    {1, 16, 40, 23, 16, 3, 1, 1, true, true}, {9, 96, 13, 13, 64, 3, 1, 2, true, true},
    {2, 32, 27, 27, 48, 5, 2, 1, true, true}, {1, 16, 5, 6, 16, 5, 0, 1, false, false},
    {4, 16, 11, 16, 32, 5, 1, 1, true, true}, {1, 16, 3, 31, 16, 5, 4, 1, false, true},
    {3, 64, 9, 14, 96, 5, 2, 2, true, true},
};

static cairn_conv2d_problem problem_of(size_t i)
{
    return (cairn_conv2d_problem){.batch = shapes[i].batch,
                                  .channels = shapes[i].channels,
                                  .height = shapes[i].height,
                                  .width = shapes[i].width,
                                  .out_channels = shapes[i].out_channels,
                                  .kernel = shapes[i].kernel,
                                  .pad = shapes[i].pad,
                                  .groups = shapes[i].groups,
                                  .has_bias = shapes[i].bias,
                                  .relu = shapes[i].relu};
}

static void all_shapes(const cairn_winograd_kernel *kernel)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        compare(kernel, problem_of(i));
}

static void eight_lanes_agree(void)
{
    const cairn_winograd_kernel *kernel = cairn_winograd_kernel_for(8);
    if (!kernel) {
        printf("       this processor has no AVX2 with FMA: its kernel was not run\n");
        return;
    }
    all_shapes(kernel);
    cairn_conv2d_problem narrow = problem_of(3); /* channels that leave half a panel over */
    narrow.channels = 24;
    narrow.out_channels = 40;
    compare(kernel, narrow);
}

static void sixteen_lanes_agree(void)
{
    const cairn_winograd_kernel *kernel = cairn_winograd_kernel_for(16);
    if (!kernel) printf("       this processor has no AVX-512: its kernel's source runs as other instructions\n");
    all_shapes(kernel ? kernel : &wide_kernel);
}

/* Not clamped to 0: the loss must show it. */
static void relu_keeps_nan(void)
{
    cairn_conv2d_problem p = problem_of(0);
    p.stride = 1;
    p.block = 16;
    p.out_height = p.height;
    p.out_width = p.width;
    layer l = layer_make(&p);
    l.src[0] = NAN;
    float *got = run_pass(&wide_kernel, &l, CAIRN_CONV2D_FORWARD, 1);
    CHECK(got && isnan(got[0]));
    free(got);
    layer_free(&l);
}

static void other_problems_are_left_to_others(void)
{
    cairn_conv2d_problem p = problem_of(0);
    p.stride = 1;
    p.block = 16;
    p.out_height = p.height;
    p.out_width = p.width;
    cairn_conv2d_problem strided = p, narrow = p, large = p;
    strided.stride = 2;
    narrow.channels = 24;
    large.kernel = 7;
    const cairn_conv2d_problem *none[] = {&strided, &narrow, &large};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        cairn_conv2d_candidate *candidate = NULL;
        CHECK_OK(cairn_winograd_create_with(&wide_kernel, none[i], CAIRN_CONV2D_FORWARD, &candidate));
        CHECK(!candidate);
    }
}

int main(void)
{
    RUN(eight_lanes_agree);
    RUN(sixteen_lanes_agree);
    RUN(relu_keeps_nan);
    RUN(other_problems_are_left_to_others);
    return test_result();
}
