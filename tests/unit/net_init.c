/* The first values of a net: their mean and deviation, and that they depend on the seed alone. */
#include "backends/backends.h"
#include "layers/net.h"
#include "tests/support/small_net.h"
#include "tests/test.h"

static void first_values_are_the_same_on_every_device(void)
{
    small_net ref, cpu;
    REQUIRE_OK(small_net_open("ref", small_net_convolutional, &(cairn_net_options){.batch = 2}, &ref));
    REQUIRE_OK(small_net_open("cpu", small_net_convolutional, &(cairn_net_options){.batch = 5}, &cpu));
    cairn_slab slabs[] = {cairn_net_weights(ref.net), cairn_net_weights(cpu.net)};
    for (int i = 0; i < cairn_net_parameter_count(ref.net); i++) {
        cairn_tensor a = cairn_net_view(ref.net, &slabs[0], i), b = cairn_net_view(cpu.net, &slabs[1], i);
        int64_t count, same;
        float *x = small_net_read(&a, &count), *y = small_net_read(&b, &same);
        CHECK(count == same && memcmp(x, y, (size_t)count * sizeof *x) == 0);
        free(x);
        free(y);
    }
    small_net_close(&ref);
    small_net_close(&cpu);
}

static void check_init(cairn_init init, double mean, double deviation, double largest)
{
    cairn_device *device;
    REQUIRE_OK(cairn_device_open("ref", &(cairn_device_options){0}, &device));
    cairn_net *net;
    REQUIRE_OK(cairn_net_create("test", 32, 5, 5, &net));
    const cairn_conv2d_options conv = {.out_channels = 96, .kernel = 3, .weight_init = init};
    CHECK_OK(cairn_net_add(net, "conv", cairn_conv2d(&conv)));
    CHECK_OK(cairn_net_plan(net, device, &(cairn_net_options){.batch = 1}));
    CHECK_OK(cairn_net_init(net, 5));
    cairn_slab weights = cairn_net_weights(net);
    cairn_tensor tensor = cairn_net_view(net, &weights, 0), bias = cairn_net_view(net, &weights, 1);
    int64_t count, biases;
    float *w = small_net_read(&tensor, &count), *b = small_net_read(&bias, &biases);
    double sum = 0, squares = 0, most = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += (double)w[i];
        squares += (double)w[i] * (double)w[i];
        most = fmax(most, fabs((double)w[i]));
    }
    double n = (double)count;
    CHECK_NEAR(sum / n, mean, 5 * deviation / sqrt(n) + 1e-9);
    CHECK_NEAR(sqrt(squares / n - sum / n * sum / n), deviation, 0.02 * deviation + 1e-6);
    CHECK(most <= largest * (1 + 1e-6));
    CHECK_NEAR(b[0], 0, 0);
    CHECK_NEAR(b[biases - 1], 0, 0);
    free(w);
    free(b);
    cairn_net_destroy(net);
    cairn_device_close(device);
}

/* fan_in 32 * 9 = 288, fan_out 96 * 9 = 864; uniform numbers in +-b have the deviation b / sqrt(3). */
static void inits_have_their_mean_and_deviation(void)
{
    double he = sqrt(2.0 / 288), xavier = sqrt(6.0 / (288 + 864));
    check_init((cairn_init){CAIRN_INIT_DEFAULT, 0}, 0, he, he * sqrt(3.0));
    check_init((cairn_init){CAIRN_INIT_HE_UNIFORM, 0.5f}, 0, he / 2, he * sqrt(3.0) / 2);
    check_init((cairn_init){CAIRN_INIT_HE_NORMAL, 0}, 0, he, INFINITY);
    check_init((cairn_init){CAIRN_INIT_NORMAL, 0.01f}, 0, 0.01, INFINITY);
    check_init((cairn_init){CAIRN_INIT_UNIFORM, 0.3f}, 0, 0.3 / sqrt(3.0), 0.3);
    check_init((cairn_init){CAIRN_INIT_XAVIER_UNIFORM, 0}, 0, xavier / sqrt(3.0), xavier);
    check_init((cairn_init){CAIRN_INIT_CONSTANT, 0.25f}, 0.25, 0, 0.25);
}

/* A layer large enough for several threads to share its filling. */
static cairn_status one_large_layer(cairn_net *net)
{
    CAIRN_TRY(cairn_net_add(net, "flatten", cairn_flatten()));
    return cairn_net_add(net, "fc", cairn_linear(&(cairn_linear_options){.out_features = 2500}));
}

static float *large_layer_filled_by(int threads, int64_t *count)
{
    cairn_device *device;
    small_net s;
    CHECK_OK(cairn_device_open("cpu", &(cairn_device_options){.threads = threads}, &device));
    CHECK_OK(small_net_open_on(device, one_large_layer, &(cairn_net_options){.batch = 1}, &s));
    cairn_slab weights = cairn_net_weights(s.net);
    cairn_tensor tensor = cairn_net_view(s.net, &weights, 0);
    float *values = small_net_read(&tensor, count);
    small_net_close(&s);
    return values;
}

static void threads_change_nothing(void)
{
    int64_t count, same;
    float *one = large_layer_filled_by(1, &count), *many = large_layer_filled_by(4, &same);
    CHECK(count == 2500 * 507 && same == count);
    CHECK(memcmp(one, many, (size_t)count * sizeof *one) == 0);
    free(one);
    free(many);
}

static void another_seed_gives_other_values(void)
{
    small_net s;
    REQUIRE_OK(small_net_open("ref", one_large_layer, &(cairn_net_options){.batch = 1}, &s));
    cairn_slab weights = cairn_net_weights(s.net);
    cairn_tensor tensor = cairn_net_view(s.net, &weights, 0);
    int64_t count, equal = 0;
    float *one = small_net_read(&tensor, &count);
    CHECK_OK(cairn_net_init(s.net, 2));
    float *two = small_net_read(&tensor, &count);
    for (int64_t i = 0; i < count; i++)
        equal += one[i] == two[i];
    CHECK(equal < 10);
    free(one);
    free(two);
    small_net_close(&s);
}

int main(void)
{
    RUN(first_values_are_the_same_on_every_device);
    RUN(inits_have_their_mean_and_deviation);
    RUN(threads_change_nothing);
    RUN(another_seed_gives_other_values);
    return test_result();
}
