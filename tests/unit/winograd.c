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
    l.weights_count = p->out_channels * p->channels * p->kernel * p->kernel;
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
        for (int64_t tap = 0; tap < p->channels * p->kernel * p->kernel; tap++) {
            int64_t v = tap % p->kernel, u = tap / p->kernel % p->kernel, c = tap / (p->kernel * p->kernel);
            int64_t row = y + u - p->pad, column = x + v - p->pad;
            if (row < 0 || row >= p->height || column < 0 || column >= p->width) continue;
            int64_t at = ((n * p->channels + c) * p->height + row) * p->width + column;
            int64_t w = o * p->channels * p->kernel * p->kernel + tap;
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

/* Runs one pass on poisoned outputs and compares. Returns the relative error. */
static double run_pass(const cairn_winograd_kernel *kernel, const layer *l, cairn_conv2d_pass pass, const char *label)
{
    const cairn_conv2d_problem *p = &l->p;
    cairn_conv2d_candidate *candidate = NULL;
    if (cairn_winograd_create_with(kernel, p, pass, &candidate) != CAIRN_OK || !candidate) {
        TEST_FAIL("%s: no candidate", label);
        return 0;
    }
    int64_t dst_pixels = p->out_height * p->out_width, src_pixels = p->height * p->width, taps = p->kernel * p->kernel;
    int64_t workspace_count = (int64_t)(candidate->workspace / sizeof(float));
    float *src = guarded(l->src_count), *dst = guarded(l->dst_count), *weights = guarded(l->weights_count);
    float *bias = guarded(p->out_channels), *workspace = guarded(workspace_count);
    cairn_operands operands = {.src = src, .weights = weights, .bias = bias, .workspace = workspace};
    if (pass != CAIRN_CONV2D_BACKWARD_DATA)
        reorder(l->src, src, p->batch, p->channels, src_pixels, p->block, false, false);
    if (pass != CAIRN_CONV2D_FORWARD)
        reorder(l->diff_dst, dst, p->batch, p->out_channels, dst_pixels, p->block, false, false);
    if (pass != CAIRN_CONV2D_BACKWARD_WEIGHTS) {
        reorder(l->weights, weights, p->out_channels, p->channels, taps, p->block, true, false);
        memcpy(bias, l->bias, (size_t)p->out_channels * sizeof *bias);
    }
    operands.dst = operands.diff_dst = dst;
    operands.diff_src = src;
    operands.diff_weights = weights;
    operands.diff_bias = bias;
    CHECK_OK(candidate->run(candidate, &operands));

    int64_t most = l->src_count > l->dst_count ? l->src_count : l->dst_count;
    float *got = golden_alloc(most > l->weights_count ? most : l->weights_count, sizeof *got);
    double error = 0;
    if (pass == CAIRN_CONV2D_FORWARD) {
        reorder(got, dst, p->batch, p->out_channels, dst_pixels, p->block, false, true);
        error = relative_l2(got, l->dst, l->dst_count);
    } else if (pass == CAIRN_CONV2D_BACKWARD_DATA) {
        reorder(got, src, p->batch, p->channels, src_pixels, p->block, false, true);
        error = relative_l2(got, l->diff_src, l->src_count);
    } else {
        reorder(got, weights, p->out_channels, p->channels, taps, p->block, true, true);
        error = relative_l2(got, l->diff_weights, l->weights_count);
        if (p->has_bias) CHECK(relative_l2(bias, l->diff_bias, p->out_channels) < 1e-6);
    }
    free(got);
    guarded_free(src, l->src_count, "src");
    guarded_free(dst, l->dst_count, "dst");
    guarded_free(weights, l->weights_count, "weights");
    guarded_free(bias, p->out_channels, "bias");
    guarded_free(workspace, workspace_count, "workspace");
    candidate->destroy(candidate);
    return error;
}

static void compare(const cairn_winograd_kernel *kernel, cairn_conv2d_problem p)
{
    p.stride = 1;
    p.block = kernel->lanes;
    p.threads = 2;
    p.out_height = p.height + 2 * p.pad - p.kernel + 1;
    p.out_width = p.width + 2 * p.pad - p.kernel + 1;
    layer l = layer_make(&p);
    layer_loops(&l);
    char label[160];
    snprintf(label, sizeof label, "%lld x %lld x %lld x %lld -> %lld, %lldx%lld, pad %lld, %d lanes",
             (long long)p.batch, (long long)p.channels, (long long)p.height, (long long)p.width,
             (long long)p.out_channels, (long long)p.kernel, (long long)p.kernel, (long long)p.pad, kernel->lanes);
    double error[CAIRN_CONV2D_PASSES];
    for (int pass = 0; pass < CAIRN_CONV2D_PASSES; pass++) {
        error[pass] = run_pass(kernel, &l, (cairn_conv2d_pass)pass, label);
        if (!(error[pass] < LIMIT)) TEST_FAIL("%s, pass %d: relative error %.2g", label, pass, error[pass]);
    }
    printf("       %s: %.1e %.1e %.1e\n", label, error[0], error[1], error[2]);
    layer_free(&l);
}

static const cairn_conv2d_problem problems[] = {
    {.batch = 2,
     .channels = 32,
     .height = 13,
     .width = 13,
     .out_channels = 32,
     .kernel = 3,
     .pad = 1,
     .has_bias = true,
     .relu = true},
    {.batch = 1, .channels = 16, .height = 1, .width = 1, .out_channels = 16, .kernel = 3, .pad = 1, .has_bias = true},
    {.batch = 3, .channels = 48, .height = 7, .width = 10, .out_channels = 16, .kernel = 3, .pad = 0, .relu = true},
    {.batch = 5, .channels = 16, .height = 12, .width = 9, .out_channels = 80, .kernel = 3, .pad = 2, .has_bias = true},
    {.batch = 1,
     .channels = 16,
     .height = 40,
     .width = 23,
     .out_channels = 16,
     .kernel = 3,
     .pad = 1,
     .has_bias = true},
    {.batch = 2,
     .channels = 32,
     .height = 27,
     .width = 27,
     .out_channels = 48,
     .kernel = 5,
     .pad = 2,
     .has_bias = true,
     .relu = true},
    {.batch = 1, .channels = 16, .height = 5, .width = 6, .out_channels = 16, .kernel = 5, .pad = 0},
    {.batch = 4,
     .channels = 16,
     .height = 11,
     .width = 16,
     .out_channels = 32,
     .kernel = 5,
     .pad = 1,
     .has_bias = true},
    {.batch = 1, .channels = 16, .height = 3, .width = 31, .out_channels = 16, .kernel = 5, .pad = 4, .relu = true},
};

static void all_problems(const cairn_winograd_kernel *kernel)
{
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        compare(kernel, problems[i]);
}

static void eight_lanes_agree(void)
{
    const cairn_winograd_kernel *kernel = cairn_winograd_kernel_for(8);
    if (kernel) {
        cairn_conv2d_problem narrow = problems[3]; /* channels that leave half a panel over */
        narrow.channels = 24;
        narrow.out_channels = 40;
        all_problems(kernel);
        compare(kernel, narrow);
    } else {
        printf("       this processor has no AVX2 with FMA: its kernel was not run\n");
    }
}

static void sixteen_lanes_agree(void)
{
    const cairn_winograd_kernel *kernel = cairn_winograd_kernel_for(16);
    if (!kernel) printf("       this processor has no AVX-512: its kernel's source runs as other instructions\n");
    all_problems(kernel ? kernel : &wide_kernel);
}

int main(void)
{
    RUN(eight_lanes_agree);
    RUN(sixteen_lanes_agree);
    return test_result();
}
