#include "train/predict.h"
#include "core/queue.h"
#include "data/picture.h"
#include "train/feed.h"
#include <math.h>
#include <stdlib.h>

struct cairn_predictor {
    cairn_checkpoint *checkpoint;
    cairn_net *net;
    cairn_feed *feed;
    cairn_picture_reader *reader;
    uint8_t *window; /* [size][size][3] */
    float *logits;   /* [classes] */
    bool *taken;     /* [classes] */
};

cairn_status cairn_predictor_create(const char *checkpoint, cairn_device *device, cairn_predictor **out)
{
    cairn_status status = CAIRN_OK;
    cairn_predictor *p = calloc(1, sizeof *p);
    *out = NULL;
    if (!p) return cairn_fail(CAIRN_MEMORY, "no memory for the record of a predictor");
    CAIRN_TRY_DONE(cairn_checkpoint_open(checkpoint, &p->checkpoint));
    const cairn_checkpoint_info *info = cairn_checkpoint_information(p->checkpoint);
    CAIRN_TRY_DONE(cairn_checkpoint_build(p->checkpoint, &p->net));
    CAIRN_TRY_DONE(cairn_net_plan(p->net, device, &(cairn_net_options){.batch = 1}));
    CAIRN_TRY_DONE(cairn_checkpoint_load(p->checkpoint, p->net, NULL));
    cairn_checkpoint_drop_tensors(p->checkpoint);
    CAIRN_TRY_DONE(cairn_feed_create(p->net, &info->preprocess, NULL, &p->feed));
    CAIRN_TRY_DONE(cairn_picture_reader_create(&info->preprocess, 0, &p->reader));

    size_t size = (size_t)info->preprocess.size, classes = (size_t)info->classes;
    void *window;
    CAIRN_TRY_DONE(cairn_host_alloc(device, size * size * 3, "picture", &window));
    p->window = window;
    p->logits = malloc(classes * sizeof *p->logits);
    p->taken = malloc(classes * sizeof *p->taken);
    if (!p->logits || !p->taken) CAIRN_TRY_DONE(cairn_fail(CAIRN_MEMORY, "no memory for %zu classes", classes));
    *out = p;
done:
    if (status != CAIRN_OK) cairn_predictor_destroy(p);
    return status;
}

/* There is a window only where a net was planned on a device. */
static void free_window(cairn_predictor *p)
{
    if (!p->window) return;
    size_t size = (size_t)cairn_checkpoint_information(p->checkpoint)->preprocess.size;
    cairn_host_free(cairn_net_device(p->net), p->window, size * size * 3);
}

void cairn_predictor_destroy(cairn_predictor *predictor)
{
    if (!predictor) return;
    cairn_feed_destroy(predictor->feed);
    free_window(predictor);
    cairn_net_destroy(predictor->net);
    cairn_checkpoint_close(predictor->checkpoint);
    cairn_picture_reader_destroy(predictor->reader);
    free(predictor->logits);
    free(predictor->taken);
    free(predictor);
}

const cairn_checkpoint_info *cairn_predictor_information(const cairn_predictor *predictor)
{
    return cairn_checkpoint_information(predictor->checkpoint);
}

static cairn_status run_net(cairn_predictor *p, const char *path)
{
    const cairn_checkpoint_info *info = cairn_checkpoint_information(p->checkpoint);
    CAIRN_TRY(cairn_picture_read(p->reader, path, NULL, p->window));
    CAIRN_TRY(cairn_feed_images(p->feed, p->window, NULL, NULL));
    CAIRN_TRY(cairn_net_forward(p->net, &(cairn_forward){.train = false}));
    cairn_tensor output = cairn_net_output(p->net);
    return cairn_device_download(output.device, p->logits, output.data, (size_t)info->classes * sizeof *p->logits);
}

cairn_status cairn_predictor_run(cairn_predictor *predictor, const char *path, cairn_guess *guess, int most, int *count)
{
    cairn_predictor *p = predictor;
    const cairn_checkpoint_info *info = cairn_checkpoint_information(p->checkpoint);
    *count = 0;
    CAIRN_TRY(run_net(p, path));

    double highest = -INFINITY, sum = 0;
    for (int c = 0; c < info->classes; c++) {
        highest = fmax(highest, (double)p->logits[c]);
        p->taken[c] = false;
    }
    for (int c = 0; c < info->classes; c++)
        sum += exp((double)p->logits[c] - highest);
    if (!isfinite(sum))
        return cairn_fail(CAIRN_NONFINITE, "%s: the net's answer is not finite: its checkpoint is of a run that failed",
                          path);
    while (*count < most && *count < info->classes) {
        int best = -1;
        for (int c = 0; c < info->classes; c++)
            if (!p->taken[c] && (best < 0 || p->logits[c] > p->logits[best])) best = c;
        p->taken[best] = true;
        guess[(*count)++] = (cairn_guess){
            .label = best,
            .name = info->class_name[best],
            .probability = exp((double)p->logits[best] - highest) / sum,
        };
    }
    return CAIRN_OK;
}
