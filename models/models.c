#include "models/builders.h"
#include <stdio.h>
#include <string.h>

static const cairn_model_info models[] = {
    {"alexnet", "owt", "as torchvision has it (\"one weird trick\", 2014): no LRN, no groups", 3, 224, 224,
     cairn_alexnet_build},
    {"alexnet", "paper", "as printed in 2012 and in Caffe's bvlc_alexnet: LRN before pool, two groups", 3, 227, 227,
     cairn_alexnet_build},
    {"alexnet", "caffenet", "Caffe's bvlc_reference_caffenet: pool before LRN, two groups", 3, 227, 227,
     cairn_alexnet_build},
    {"alexnet", "tfcnn", "as tf_cnn_benchmarks has it: no LRN, wider conv4", 3, 227, 227, cairn_alexnet_build},
    {"lenet", "", "Caffe's LeNet on 32x32 colour images: small and fast", 3, 32, 32, cairn_lenet_build},
    {NULL, NULL, NULL, 0, 0, 0, NULL},
};

const cairn_model_info *cairn_models(void)
{
    return models;
}

/* "alexnet (owt, paper, ...), lenet" */
static void list(char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (const cairn_model_info *m = models; m->name && used < size; m++) {
        bool same = m > models && strcmp(m[-1].name, m->name) == 0;
        bool more = m[1].name && strcmp(m[1].name, m->name) == 0;
        int n = 0;
        if (!*m->preset)
            n = snprintf(text + used, size - used, "%s%s", m > models ? ", " : "", m->name);
        else if (same)
            n = snprintf(text + used, size - used, ", %s%s", m->preset, more ? "" : ")");
        else
            n = snprintf(text + used, size - used, "%s%s (%s%s", m > models ? ", " : "", m->name, m->preset,
                         more ? "" : ")");
        used += (size_t)n;
    }
}

cairn_status cairn_model_find(const char *name, const char *preset, const cairn_model_info **out)
{
    for (const cairn_model_info *m = models; m->name; m++) {
        if (strcmp(m->name, name) != 0) continue;
        if (preset && *preset && strcmp(m->preset, preset) != 0) continue;
        *out = m;
        return CAIRN_OK;
    }
    char known[256];
    list(known, sizeof known);
    *out = NULL;
    if (preset && *preset)
        return cairn_fail(CAIRN_USAGE, "no model \"%s\" with preset \"%s\"; there are: %s", name, preset, known);
    return cairn_fail(CAIRN_USAGE, "no model \"%s\"; there are: %s", name, known);
}

cairn_status cairn_model_create(const char *name, const char *preset, int64_t classes,
                                const cairn_model_options *options, cairn_net **out)
{
    static const cairn_model_options defaults = {.dropout = -1.0f};
    const cairn_model_info *info;
    *out = NULL;
    CAIRN_TRY(cairn_model_find(name, preset, &info));
    if (classes < 1)
        return cairn_fail(CAIRN_USAGE, "%s for %lld classes: there must be at least 1", name, (long long)classes);
    if (options && options->width_divisor < 0)
        return cairn_fail(CAIRN_USAGE, "width_divisor is %lld; it must not be negative",
                          (long long)options->width_divisor);
    if (!options) options = &defaults;
    if (options->image_size < 0)
        return cairn_fail(CAIRN_USAGE, "image_size is %lld; it must not be negative", (long long)options->image_size);
    cairn_model_info sized = *info;
    if (options->image_size > 0) sized.height = sized.width = options->image_size;
    return info->build(&sized, classes, options, out);
}

int64_t cairn_model_width(int64_t value, const cairn_model_options *options)
{
    if (options->width_divisor <= 1) return value;
    int64_t divided = value / options->width_divisor / 2 * 2;
    return divided < 8 ? 8 : divided;
}
