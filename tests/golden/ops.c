/* Every case of ops.json - what PyTorch computes in float64 for single operations - on every backend. */
#include "backends/backends.h"
#include "tests/support/direct.h"
#include "tests/support/golden.h"
#include "tests/support/operation.h"
#include "tests/support/tested.h"
#include "tests/test.h"

/* Relative L2. PyTorch's own float32 stays within 1.2e-6; Winograd's transforms lose about a digit more. */
static double tolerance_of(const cairn_device *device, const char *algorithm)
{
    if (strcmp(cairn_device_backend_name(device), "ref") == 0) return 5e-6;
    return strstr(algorithm, "winograd") || strstr(algorithm, "wino") ? 1e-4 : 2e-5;
}

static void read_conv2d(const json_t *attrs, const json_t *inputs, operation *op)
{
    cairn_shape w = golden_shape(golden_get(inputs, "w"));
    int64_t stride = golden_integer(attrs, "stride"), pad = golden_integer(attrs, "pad");
    op->kind = OPERATION_CONV2D;
    op->desc.conv2d = (cairn_conv2d_desc){.src = golden_shape(golden_get(inputs, "x")),
                                          .out_channels = w.dim[0],
                                          .kernel_h = w.dim[2],
                                          .kernel_w = w.dim[3],
                                          .stride_h = stride,
                                          .stride_w = stride,
                                          .pad_h = pad,
                                          .pad_w = pad,
                                          .groups = golden_integer(attrs, "groups"),
                                          .has_bias = true,
                                          .train = true,
                                          .need_diff_src = true};
}

static void read_pool2d(const json_t *attrs, const json_t *inputs, cairn_pool_kind kind, operation *op)
{
    cairn_shape src = golden_shape(golden_get(inputs, "x")), dst = golden_shape(golden_get(inputs, "dy"));
    cairn_pool2d_desc d = {.kind = kind, .src = src, .out_h = dst.dim[2], .out_w = dst.dim[3], .train = true};
    if (kind != CAIRN_POOL_ADAPTIVE_AVERAGE) {
        d.kernel_h = d.kernel_w = golden_integer(attrs, "kernel");
        d.stride_h = d.stride_w = golden_integer(attrs, "stride");
        d.pad_h = d.pad_w = golden_integer(attrs, "pad");
        bool ceil_mode = json_is_true(json_object_get(attrs, "ceil_mode"));
        CHECK_INT(operation_pooled_size(src.dim[2], d.kernel_h, d.stride_h, d.pad_h, ceil_mode), d.out_h);
        CHECK_INT(operation_pooled_size(src.dim[3], d.kernel_w, d.stride_w, d.pad_w, ceil_mode), d.out_w);
    }
    op->kind = OPERATION_POOL2D;
    op->desc.pool2d = d;
}

static void read_linear(const json_t *inputs, operation *op)
{
    cairn_shape w = golden_shape(golden_get(inputs, "w"));
    op->kind = OPERATION_LINEAR;
    op->desc.linear = (cairn_linear_desc){.batch = golden_shape(golden_get(inputs, "x")).dim[0],
                                          .in_features = w.dim[1],
                                          .out_features = w.dim[0],
                                          .has_bias = true,
                                          .train = true,
                                          .need_diff_src = true};
}

static void read_lrn(const json_t *attrs, const json_t *inputs, operation *op)
{
    op->kind = OPERATION_LRN;
    op->desc.lrn = (cairn_lrn_desc){.src = golden_shape(golden_get(inputs, "x")),
                                    .size = golden_integer(attrs, "size"),
                                    .alpha = (float)golden_number(attrs, "alpha"),
                                    .beta = (float)golden_number(attrs, "beta"),
                                    .k = (float)golden_number(attrs, "k"),
                                    .train = true};
}

/* The planned operation a case asks for. False: not one of these. */
static bool read_operation(const json_t *item, operation *op)
{
    const char *name = json_string_value(golden_get(item, "op"));
    const json_t *attrs = golden_get(item, "attrs"), *inputs = golden_get(item, "inputs");
    cairn_shape src = golden_shape(golden_get(inputs, "x"));
    if (strcmp(name, "conv2d") == 0)
        read_conv2d(attrs, inputs, op);
    else if (strcmp(name, "lrn") == 0)
        read_lrn(attrs, inputs, op);
    else if (strcmp(name, "maxpool2d") == 0)
        read_pool2d(attrs, inputs, CAIRN_POOL_MAX, op);
    else if (strcmp(name, "avgpool2d") == 0)
        read_pool2d(attrs, inputs, CAIRN_POOL_AVERAGE, op);
    else if (strcmp(name, "adaptive_avgpool2d") == 0)
        read_pool2d(attrs, inputs, CAIRN_POOL_ADAPTIVE_AVERAGE, op);
    else if (strcmp(name, "linear") == 0)
        read_linear(inputs, op);
    else if (strcmp(name, "relu") == 0)
        *op = (operation){.kind = OPERATION_RELU, .desc.relu = {.src = src, .train = true}};
    else if (strcmp(name, "batchnorm2d_train") == 0)
        *op = (operation){
            .kind = OPERATION_BATCHNORM,
            .desc.batchnorm = {.src = src, .eps = (float)golden_number(attrs, "eps"), .momentum = 0.1f, .train = true}};
    else
        return false;
    return true;
}

/* Puts the tensor that `object` has under `key`, if any, in an operand's place. */
static void replace(float **value, const json_t *object, const char *key, float *(*read)(const json_t *, int64_t *))
{
    const json_t *member = json_object_get(object, key);
    if (!member) return;
    free(*value);
    *value = read(member, NULL);
}

static float *read_tensor(const json_t *object, int64_t *count)
{
    return golden_numbers(golden_get(object, "value"), count);
}

/* What PyTorch gives. Operands it doesn't tell about stay NULL. */
static void read_result(const json_t *item, operation_result *want)
{
    const json_t *grad = golden_get(item, "grad");
    replace(&want->value[OPERAND_DST], item, "y", read_tensor);
    replace(&want->value[OPERAND_DIFF_SRC], grad, "x", read_tensor);
    replace(&want->value[OPERAND_DIFF_WEIGHTS], grad, "w", read_tensor);
    replace(&want->value[OPERAND_DIFF_WEIGHTS], grad, "gamma", read_tensor);
    replace(&want->value[OPERAND_DIFF_BIAS], grad, "b", read_tensor);
    replace(&want->value[OPERAND_DIFF_BIAS], grad, "beta", read_tensor);
}

static void check_operation(cairn_device *device, const json_t *item, operation *op)
{
    const json_t *inputs = golden_get(item, "inputs");
    operation_result want = {0}, got = {0};
    char text[1024];
    operation_prepare(op, 1);
    replace(&op->value[OPERAND_SRC], inputs, "x", golden_input);
    replace(&op->value[OPERAND_WEIGHTS], inputs, "w", golden_input);
    replace(&op->value[OPERAND_WEIGHTS], inputs, "gamma", golden_input);
    replace(&op->value[OPERAND_BIAS], inputs, "b", golden_input);
    replace(&op->value[OPERAND_BIAS], inputs, "beta", golden_input);
    replace(&op->value[OPERAND_DIFF_DST], inputs, "dy", golden_input);
    read_result(item, &want);
    CHECK_OK(operation_run(device, op, &got));
    if (got.value[OPERAND_DST] &&
        !operation_agrees(op, &want, &got, tolerance_of(device, got.algorithm), text, sizeof text))
        TEST_FAIL("%s: %s", cairn_device_backend_name(device), text);
    operation_result_free(&want);
    operation_result_free(&got);
    operation_free(op);
}

/* PyTorch's mean loss is ours with every sample's scale 1 / batch. */
static void check_loss(cairn_device *device, const json_t *item)
{
    const json_t *inputs = golden_get(item, "inputs"), *labels = golden_get(inputs, "labels");
    const json_t *x = golden_get(inputs, "x");
    cairn_shape shape = golden_shape(x);
    int64_t batch = shape.dim[0], count;
    float *logits = golden_input(x, &count), *want = read_tensor(golden_get(golden_get(item, "grad"), "x"), NULL);
    float *dlogits = golden_alloc(count, sizeof *dlogits), *scale = golden_alloc(batch, sizeof *scale);
    int32_t *label = golden_alloc(batch, sizeof *label);
    float totals[4] = {0};
    for (int64_t n = 0; n < batch; n++) {
        scale[n] = 1 / (float)batch;
        label[n] = (int32_t)json_integer_value(json_array_get(labels, (size_t)n));
    }
    cairn_softmax_loss args = {.batch = batch,
                               .classes = shape.dim[1],
                               .logits = logits,
                               .labels = label,
                               .scale = scale,
                               .smoothing = (float)golden_number(golden_get(item, "attrs"), "label_smoothing"),
                               .dlogits = dlogits,
                               .totals = totals};
    double tolerance = tolerance_of(device, ""), loss = golden_number(item, "loss");
    CHECK_OK(direct_softmax_loss(device, &args));
    CHECK_NEAR(totals[0], loss, tolerance * loss);
    CHECK_NEAR(relative_l2(dlogits, want, count), 0, tolerance);
    CHECK_INT(totals[3], batch);
    free(logits);
    free(want);
    free(dlogits);
    free(scale);
    free(label);
}

static const char *device_name; /* of the device under test */

static void every_operation(void)
{
    cairn_device *device;
    json_t *cases = golden_load(GOLDEN_DATA("ops.json"));
    size_t i, planned = 0, losses = 0;
    const json_t *item;
    REQUIRE_OK(cairn_device_open(device_name, &(cairn_device_options){0}, &device));
    json_array_foreach(cases, i, item)
    {
        operation op = {0};
        if (strcmp(json_string_value(golden_get(item, "op")), "softmax_cross_entropy") == 0) {
            check_loss(device, item);
            losses++;
        } else {
            CHECK(read_operation(item, &op));
            check_operation(device, item, &op);
            planned++;
        }
    }
    CHECK_INT(planned, 24);
    CHECK_INT(losses, 6);
    cairn_device_close(device);
    json_decref(cases);
}

int main(int argc, char **argv)
{
    const tested backends = tested_backends(argc, argv);
    for (int i = 0; i < backends.count; i++) {
        device_name = backends.name[i];
        printf("%s:\n", device_name);
        RUN(every_operation);
    }
    return test_result();
}
