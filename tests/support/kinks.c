#include "tests/support/kinks.h"
#include "tests/support/golden.h"
#include "tests/test.h"

static float *read_activation(const cairn_net *net, int layer, int64_t *count)
{
    cairn_tensor tensor = cairn_net_activation(net, layer);
    *count = cairn_shape_count(tensor.shape);
    float *host = golden_alloc(*count, sizeof *host);
    CHECK_OK(cairn_tensor_read(&tensor, host, *count));
    return host;
}

static double root_mean_square(const float *value, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += (double)value[i] * (double)value[i];
    return sqrt(sum / (double)count);
}

static int64_t turned_signs(const char *name, const float *a, const float *b, int64_t count)
{
    double most = 1e-5 * root_mean_square(b, count);
    int64_t turned = 0;
    for (int64_t i = 0; i < count; i++) {
        if ((a[i] > 0) == (b[i] > 0)) continue;
        turned++;
        printf("  unit %lld of %s: %.3g, reference %.3g\n", (long long)i, name, (double)a[i], (double)b[i]);
        if (!(fabs((double)a[i] - (double)b[i]) <= most))
            test_fail_(__FILE__, __LINE__, "a unit's sign differs by more than rounding");
    }
    return turned;
}

/* Position of the first maximum of a 3x3 window. */
static int winner(const float *corner, int64_t width)
{
    int best = 0;
    for (int k = 1; k < 9; k++)
        if (corner[k / 3 * width + k % 3] > corner[best / 3 * width + best % 3]) best = k;
    return best;
}

static int64_t turned_winners(const char *name, const float *a, const float *b, cairn_shape shape)
{
    int64_t height = shape.dim[2], width = shape.dim[3], turned = 0;
    for (int64_t plane = 0; plane < shape.dim[0] * shape.dim[1]; plane++)
        for (int64_t y = 0; y + 3 <= height; y += 2)
            for (int64_t x = 0; x + 3 <= width; x += 2) {
                int64_t at = (plane * height + y) * width + x;
                turned += winner(a + at, width) != winner(b + at, width);
            }
    if (turned) printf("  %lld windows of %s have another winner\n", (long long)turned, name);
    return turned;
}

int64_t kinks_between(const cairn_net *net, const cairn_net *reference)
{
    int64_t turned = 0, count;
    for (int i = 1; i < cairn_net_layer_count(net); i++) {
        cairn_layer_info info = cairn_net_layer(net, i);
        bool relu = strcmp(info.kind, "relu") == 0, pool = strcmp(info.kind, "maxpool2d") == 0;
        if (!relu && !pool) continue;
        float *a = read_activation(net, i - 1, &count), *b = read_activation(reference, i - 1, &count);
        turned += relu ? turned_signs(info.name, a, b, count)
                       : turned_winners(info.name, a, b, cairn_net_activation(net, i - 1).shape);
        free(a);
        free(b);
    }
    return turned;
}
