/* Parameter counts and multiply-adds of every model, names of parameters, defaults and failures. */
#include "models/models.h"
#include "tests/test.h"

static void check_counts(const char *preset, int64_t classes, int64_t parameters, double mega_macs)
{
    cairn_net *net;
    REQUIRE_OK(cairn_model_create("alexnet", preset, classes, NULL, &net));
    CHECK_INT(cairn_net_parameters_total(net), parameters);
    CHECK_NEAR((double)cairn_net_macs(net) / 1e6, mega_macs, 0.05);
    CHECK_INT(cairn_net_classes(net), classes);
    CHECK_INT(cairn_net_parameter_count(net), 16);
    cairn_net_destroy(net);
}

/* torchvision.models.alexnet; Caffe's bvlc_alexnet and bvlc_reference_caffenet; tf_cnn_benchmarks with its background class. */
static void alexnet_has_the_known_counts(void)
{
    check_counts("owt", 1000, 61100840, 714.2);
    check_counts("paper", 1000, 60965224, 724.4);
    check_counts("caffenet", 1000, 60965224, 724.4);
    check_counts("tfcnn", 1001, 61842345, 838.8);
}

/* conv1 3 * 25 * 20 + 20, conv2 20 * 25 * 50 + 50, fc3 1250 * 500 + 500, fc4 500 * 10 + 10. */
static void lenet_has_its_counts(void)
{
    cairn_net *net;
    REQUIRE_OK(cairn_model_create("lenet", NULL, 10, NULL, &net));
    CHECK_INT(cairn_net_parameters_total(net), 1520 + 25050 + 625500 + 5010);
    CHECK_INT(cairn_net_macs(net), 28 * 28 * 20 * 75 + 10 * 10 * 50 * 500 + 1250 * 500 + 500 * 10);
    cairn_net_destroy(net);
}

/* Layer by layer, for one sample: the sizes of the 2012 paper's figure 2 (with 227 in place of its 224). */
static void paper_has_the_shapes_of_the_figure(void)
{
    static const struct {
        const char *layer, *shape;
    } want[] = {{"conv1", "1x96x55x55"},  {"pool1", "1x96x27x27"},  {"conv2", "1x256x27x27"},
                {"pool2", "1x256x13x13"}, {"conv5", "1x256x13x13"}, {"pool5", "1x256x6x6"},
                {"flatten", "1x9216"},    {"fc7", "1x4096"},        {"fc8", "1x1000"}};
    cairn_net *net;
    REQUIRE_OK(cairn_model_create("alexnet", "paper", 1000, NULL, &net));
    size_t found = 0;
    for (int i = 0; i < cairn_net_layer_count(net); i++) {
        cairn_layer_info info = cairn_net_layer(net, i);
        if (found >= sizeof want / sizeof *want || strcmp(info.name, want[found].layer) != 0) continue;
        char text[64];
        CHECK_TEXT(cairn_shape_format(info.shape, text, sizeof text), want[found].shape);
        found++;
    }
    CHECK_INT(found, sizeof want / sizeof *want);
    cairn_net_destroy(net);
}

static void parameters_are_named_as_torchvision_names_them(void)
{
    static const char *const owt[] = {"features.0",  "features.3",   "features.6",   "features.8",
                                      "features.10", "classifier.1", "classifier.4", "classifier.6"};
    cairn_net *net;
    REQUIRE_OK(cairn_model_create("alexnet", "owt", 10, NULL, &net));
    for (int i = 0; i < 16; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s.%s", owt[i / 2], i % 2 ? "bias" : "weight");
        CHECK_TEXT(cairn_net_parameter(net, i)->name, name);
        CHECK_INT(cairn_net_find_parameter(net, name), i);
        CHECK_INT(cairn_net_parameter(net, i)->decay, i % 2 == 0);
    }
    CHECK_INT(cairn_net_find_parameter(net, "conv1.weight"), -1);
    CHECK_TEXT(cairn_net_layer(net, 0).name, "conv1");
    cairn_net_destroy(net);
    REQUIRE_OK(cairn_model_create("alexnet", "tfcnn", 10, NULL, &net));
    CHECK_INT(cairn_net_find_parameter(net, "fc8.bias"), 15);
    cairn_net_destroy(net);
}

static void the_last_layer_starts_small(void)
{
    cairn_net *net;
    REQUIRE_OK(cairn_model_create("alexnet", "owt", 10, NULL, &net));
    CHECK_INT(cairn_net_parameter(net, 0)->init.kind, CAIRN_INIT_HE_UNIFORM);
    CHECK_INT(cairn_net_parameter(net, 0)->fan_in, 363);
    CHECK_INT(cairn_net_parameter(net, 14)->init.kind, CAIRN_INIT_NORMAL);
    CHECK_NEAR(cairn_net_parameter(net, 14)->init.value, 0.01, 1e-9);
    cairn_net_destroy(net);
}

static void the_papers_start_is_there(void)
{
    static const float bias[] = {0, 0.1f, 0, 0.1f, 0.1f, 0.1f, 0.1f, 0};
    cairn_net *net;
    REQUIRE_OK(cairn_model_create("alexnet", "paper", 10, &(cairn_model_options){.paper_init = true}, &net));
    for (int i = 0; i < 8; i++) {
        CHECK_INT(cairn_net_parameter(net, 2 * i)->init.kind, CAIRN_INIT_NORMAL);
        CHECK_NEAR(cairn_net_parameter(net, 2 * i)->init.value, 0.01, 1e-9);
        CHECK_NEAR(cairn_net_parameter(net, 2 * i + 1)->init.value, bias[i], 0);
    }
    cairn_net_destroy(net);
}

static void narrow_nets_keep_their_form(void)
{
    for (const cairn_model_info *m = cairn_models(); m->name; m++) {
        cairn_net *net;
        REQUIRE_OK(cairn_model_create(m->name, m->preset, 3, &(cairn_model_options){.width_divisor = 7}, &net));
        CHECK(cairn_net_parameter(net, 0)->shape.dim[0] >= 8);
        CHECK(cairn_net_parameters_total(net) < 3000000);
        cairn_net_destroy(net);
    }
}

static void what_is_not_there_is_said_with_what_is(void)
{
    cairn_net *net;
    const char *all = "there are: alexnet (owt, paper, caffenet, tfcnn), lenet";
    CHECK_FAILS(cairn_model_create("vgg", NULL, 10, NULL, &net), CAIRN_USAGE, all);
    CHECK(net == NULL);
    CHECK_FAILS(cairn_model_create("alexnet", "owl", 10, NULL, &net), CAIRN_USAGE, "preset \"owl\"");
    CHECK_FAILS(cairn_model_create("alexnet", "owt", 0, NULL, &net), CAIRN_USAGE, "0 classes");
    CHECK_FAILS(cairn_model_create("alexnet", "owt", 2, &(cairn_model_options){.dropout = 1.0f}, &net), CAIRN_USAGE,
                "drop6 (dropout)");
    CHECK_FAILS(cairn_model_create("lenet", "", 2, &(cairn_model_options){.width_divisor = -1}, &net), CAIRN_USAGE,
                "width_divisor");
}

int main(void)
{
    RUN(alexnet_has_the_known_counts);
    RUN(lenet_has_its_counts);
    RUN(paper_has_the_shapes_of_the_figure);
    RUN(parameters_are_named_as_torchvision_names_them);
    RUN(the_last_layer_starts_small);
    RUN(the_papers_start_is_there);
    RUN(narrow_nets_keep_their_form);
    RUN(what_is_not_there_is_said_with_what_is);
    return test_result();
}
