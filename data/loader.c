#include "data/loader.h"
#include "core/os.h"
#include "core/queue.h"
#include "core/rng.h"
#include "data/picture.h"
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_DEPTH = 3 };

/* What is known of a sample. A bad one counts against max_bad when the batch that holds it is handed out. */
enum { GOOD, KNOWN, COUNTED };

/* A place of the ring goes round free -> filling -> (every slot done) ready -> held by the caller -> free. */
typedef enum place_state { PLACE_FREE, PLACE_FILLING, PLACE_HELD } place_state;

typedef struct ring_place {
    cairn_batch batch; /* first: what next hands out is a pointer to it */
    place_state state;
    int undone;          /* slots still to be filled */
    cairn_error failure; /* not a bad file: no memory */
} ring_place;

struct cairn_loader {
    cairn_loader_options options;
    int64_t samples;
    cairn_thread **thread; /* [threads] */
    struct worker *worker; /* [threads] */
    ring_place *ring;      /* [options.depth] */

    cairn_mutex *mutex;   /* guards everything below */
    cairn_cond *work;     /* a slot may be claimed, or stop */
    cairn_cond *progress; /* a batch became ready, or the last busy thread finished */
    bool stop;
    uint32_t epoch;
    int64_t *order;      /* [samples]: sample at each position of the epoch */
    uint8_t *known_bad;  /* [samples]: GOOD, KNOWN or COUNTED */
    int64_t first;       /* position the epoch was started at */
    int64_t claimed;     /* position of the next slot to be filled */
    int64_t delivered;   /* batches handed out since start */
    int busy;            /* slots claimed and not yet done */
    int64_t counted_bad; /* in batches handed out, which max_bad judges: the same with any number of threads */
    char last_reason[CAIRN_ERROR_MESSAGE_SIZE]; /* of the bad file found last */
    cairn_loader_stats stats;
};

typedef struct worker {
    cairn_loader *loader;
    cairn_picture_reader *reader;
} worker;

static ring_place *place_of(const cairn_loader *loader, int64_t batch)
{
    return &loader->ring[batch % loader->options.depth];
}

static int64_t batch_at(const cairn_loader *loader, int64_t position)
{
    return (position - loader->first) / loader->options.batch;
}

static size_t slot_bytes(const cairn_loader *loader)
{
    size_t size = (size_t)loader->options.preprocess.size;
    return size * size * 3;
}

/* ---- what the threads do ---- */

/* One slot to fill: everything a thread needs outside the mutex. */
typedef struct claim {
    ring_place *place;
    int slot;
    int64_t sample;
    uint32_t epoch;
    bool known_bad;
} claim;

/* Makes the place ready to be filled with the samples from `position` on. Slots past the end of the epoch are done at once. */
static void open_place(cairn_loader *loader, ring_place *place, int64_t position)
{
    cairn_batch *b = &place->batch;
    int slots = loader->options.batch;
    int64_t left = loader->samples - position;
    place->state = PLACE_FILLING;
    place->failure.status = CAIRN_OK;
    b->count = left < slots ? (int)left : slots;
    b->first = position;
    place->undone = b->count;
    for (int i = 0; i < slots; i++) {
        b->sample[i] = i < b->count ? loader->order[position + i] : -1;
        b->label[i] = i < b->count ? loader->options.samples->sample[b->sample[i]].label : 0;
        b->valid[i] = 0;
    }
    size_t used = slot_bytes(loader) * (size_t)b->count, all = slot_bytes(loader) * (size_t)slots;
    memset(b->rgb + used, 0, all - used);
}

/* Takes the next slot of the epoch in order, if there is one and its batch has a place. Mutex held. */
static bool try_claim(cairn_loader *loader, claim *out)
{
    if (loader->claimed >= loader->samples) return false;
    ring_place *place = place_of(loader, batch_at(loader, loader->claimed));
    int slot = (int)((loader->claimed - loader->first) % loader->options.batch);
    if (slot == 0) {
        if (place->state != PLACE_FREE) return false;
        open_place(loader, place, loader->claimed);
    }
    int64_t sample = loader->order[loader->claimed++];
    *out = (claim){place, slot, sample, loader->epoch, loader->known_bad[sample] != GOOD};
    loader->busy++;
    return true;
}

/* Decodes into the slot. No mutex: nobody else touches it. */
static cairn_status fill_slot(const worker *w, const claim *c)
{
    const cairn_loader_options *options = &w->loader->options;
    size_t bytes = slot_bytes(w->loader);
    uint8_t *rgb = c->place->batch.rgb + bytes * (size_t)c->slot;
    cairn_status status = CAIRN_DATA;
    if (!c->known_bad) {
        cairn_picture_draw draw = {.augment = options->augment,
                                   .no_flip = options->no_flip,
                                   .seed = options->seed,
                                   .epoch = c->epoch,
                                   .sample = (uint64_t)c->sample};
        status = cairn_picture_read(w->reader, options->samples->sample[c->sample].path, &draw, rgb);
    }
    if (status != CAIRN_OK) memset(rgb, 0, bytes);
    return status;
}

/* Books the outcome. Mutex held. */
static void finish_claim(cairn_loader *loader, const claim *c, cairn_status status)
{
    ring_place *place = c->place;
    if (status == CAIRN_OK) {
        place->batch.valid[c->slot] = 1;
        loader->stats.decoded++;
    } else if (status != CAIRN_DATA) {
        place->failure = *cairn_error_last();
    } else if (!loader->known_bad[c->sample]) {
        loader->known_bad[c->sample] = KNOWN;
        loader->stats.bad++;
        memcpy(loader->last_reason, cairn_error_last()->message, sizeof loader->last_reason);
    }
    loader->busy--;
    if (--place->undone == 0 || loader->busy == 0) cairn_cond_broadcast(loader->progress);
}

static void work(void *argument)
{
    const worker *w = argument;
    cairn_loader *loader = w->loader;
    cairn_mutex_lock(loader->mutex);
    while (!loader->stop) {
        claim c;
        if (!try_claim(loader, &c)) {
            cairn_cond_wait(loader->work, loader->mutex);
            continue;
        }
        cairn_mutex_unlock(loader->mutex);
        cairn_status status = fill_slot(w, &c);
        if (status == CAIRN_DATA && !c.known_bad)
            cairn_log_write(loader->options.log, CAIRN_LOG_WARNING, "skipped: %s", cairn_error_last()->message);
        cairn_mutex_lock(loader->mutex);
        finish_claim(loader, &c, status);
    }
    cairn_mutex_unlock(loader->mutex);
}

/* ---- creation ---- */

static cairn_status check_options(const cairn_loader_options *o)
{
    if (o->batch < 1) return cairn_fail(CAIRN_USAGE, "batch is %d: at least 1 is needed", o->batch);
    if (o->threads < 0)
        return cairn_fail(CAIRN_USAGE, "loader threads are %d: 0 means one for each processor", o->threads);
    if (o->depth < 0) return cairn_fail(CAIRN_USAGE, "loader depth is %d: at least 1 is needed", o->depth);
    if (!(o->max_bad >= 0 && o->max_bad <= 1))
        return cairn_fail(CAIRN_USAGE, "max_bad is %g: give a share from 0 to 1", o->max_bad);
    if (o->samples->count < 1) return cairn_fail(CAIRN_DATA, "no samples to load");
    return CAIRN_OK;
}

static cairn_status no_memory(const cairn_loader *loader)
{
    return cairn_fail(CAIRN_MEMORY, "no memory for %d batches of %d pictures (%zu bytes): make the batch smaller",
                      loader->options.depth, loader->options.batch,
                      slot_bytes(loader) * (size_t)loader->options.batch * (size_t)loader->options.depth);
}

static cairn_status create_ring(cairn_loader *loader)
{
    size_t slots = (size_t)loader->options.batch;
    loader->ring = calloc((size_t)loader->options.depth, sizeof *loader->ring);
    loader->order = calloc((size_t)loader->samples, sizeof *loader->order);
    loader->known_bad = calloc((size_t)loader->samples, 1);
    if (!loader->ring || !loader->order || !loader->known_bad) return no_memory(loader);
    for (int i = 0; i < loader->options.depth; i++) {
        cairn_batch *b = &loader->ring[i].batch;
        void *rgb;
        CAIRN_TRY(cairn_host_alloc(loader->options.device, slot_bytes(loader) * slots, "ring of pictures", &rgb));
        b->rgb = rgb;
        b->label = calloc(slots, sizeof *b->label);
        b->valid = calloc(slots, 1);
        b->sample = calloc(slots, sizeof *b->sample);
        if (!b->label || !b->valid || !b->sample) return no_memory(loader);
    }
    return CAIRN_OK;
}

static cairn_status start_threads(cairn_loader *loader)
{
    int wanted = loader->options.threads;
    loader->thread = calloc((size_t)wanted, sizeof(cairn_thread *));
    loader->worker = calloc((size_t)wanted, sizeof *loader->worker);
    if (!loader->thread || !loader->worker) return no_memory(loader);
    for (int i = 0; i < wanted; i++) {
        worker *w = &loader->worker[i];
        w->loader = loader;
        CAIRN_TRY(cairn_picture_reader_create(&loader->options.preprocess, loader->options.max_pixels, &w->reader));
        CAIRN_TRY(cairn_thread_start(&loader->thread[i], "cairn-loader", work, w));
    }
    return CAIRN_OK;
}

cairn_status cairn_loader_create(const cairn_loader_options *options, cairn_loader **out)
{
    *out = NULL;
    CAIRN_TRY(check_options(options));
    cairn_loader *loader = calloc(1, sizeof *loader);
    if (!loader) return cairn_fail(CAIRN_MEMORY, "no memory for a loader");
    loader->options = *options;
    loader->samples = options->samples->count;
    loader->claimed = loader->samples; /* nothing to do before start */
    if (options->threads == 0) loader->options.threads = cairn_os_processor_count();
    if (options->depth == 0) loader->options.depth = DEFAULT_DEPTH;
    cairn_status status;
    CAIRN_TRY_DONE(cairn_mutex_create(&loader->mutex));
    CAIRN_TRY_DONE(cairn_cond_create(&loader->work));
    CAIRN_TRY_DONE(cairn_cond_create(&loader->progress));
    CAIRN_TRY_DONE(create_ring(loader));
    CAIRN_TRY_DONE(start_threads(loader));
done:
    if (status != CAIRN_OK) {
        cairn_loader_destroy(loader);
        return status;
    }
    *out = loader;
    return CAIRN_OK;
}

static void stop_threads(cairn_loader *loader)
{
    if (!loader->thread || !loader->worker) return;
    cairn_mutex_lock(loader->mutex);
    loader->stop = true;
    cairn_cond_broadcast(loader->work);
    cairn_mutex_unlock(loader->mutex);
    for (int i = 0; i < loader->options.threads; i++) {
        cairn_thread_join(loader->thread[i]);
        cairn_picture_reader_destroy(loader->worker[i].reader);
    }
}

void cairn_loader_destroy(cairn_loader *loader)
{
    if (!loader) return;
    stop_threads(loader);
    for (int i = 0; loader->ring && i < loader->options.depth; i++) {
        cairn_batch *b = &loader->ring[i].batch;
        cairn_host_free(loader->options.device, b->rgb, slot_bytes(loader) * (size_t)loader->options.batch);
        free(b->label);
        free(b->valid);
        free(b->sample);
    }
    free(loader->thread);
    free(loader->worker);
    free(loader->ring);
    free(loader->order);
    free(loader->known_bad);
    cairn_cond_destroy(loader->work);
    cairn_cond_destroy(loader->progress);
    cairn_mutex_destroy(loader->mutex);
    free(loader);
}

/* ---- what the caller does ---- */

cairn_status cairn_loader_start(cairn_loader *loader, uint32_t epoch, int64_t first)
{
    if (first < 0 || first > loader->samples)
        return cairn_fail(CAIRN_USAGE, "an epoch of %lld samples can't start at %lld", (long long)loader->samples,
                          (long long)first);
    cairn_mutex_lock(loader->mutex);
    loader->claimed = loader->samples; /* the threads finish what they have and take no more */
    while (loader->busy > 0)
        cairn_cond_wait(loader->progress, loader->mutex);
    for (int i = 0; i < loader->options.depth; i++)
        loader->ring[i].state = PLACE_FREE;
    if (loader->options.shuffle) {
        cairn_rng rng = cairn_rng_make(loader->options.seed, CAIRN_RNG_SHUFFLE, 0, epoch);
        cairn_rng_permutation(rng, loader->order, loader->samples);
    } else {
        for (int64_t i = 0; i < loader->samples; i++)
            loader->order[i] = i;
    }
    loader->epoch = epoch;
    loader->first = loader->claimed = first;
    loader->delivered = 0;
    cairn_cond_broadcast(loader->work);
    cairn_mutex_unlock(loader->mutex);
    return CAIRN_OK;
}

static cairn_status too_many_bad(const cairn_loader *loader)
{
    double share = (double)loader->counted_bad / (double)loader->samples;
    return cairn_fail(
        CAIRN_DATA,
        "%lld of %lld pictures can't be read (%.3g %%), more than the %.3g %% allowed: remove them, or allow more with "
        "--max-bad; the last: %s",
        (long long)loader->counted_bad, (long long)loader->samples, 100 * share, 100 * loader->options.max_bad,
        loader->last_reason);
}

/* What a batch that is ready brings: itself, or a failure. Mutex held. */
static cairn_status deliver(cairn_loader *loader, ring_place *place, const cairn_batch **out)
{
    if (place->failure.status != CAIRN_OK) return cairn_error_raise(&place->failure);
    for (int i = 0; i < place->batch.count; i++) {
        uint8_t *known = &loader->known_bad[place->batch.sample[i]];
        if (*known != KNOWN) continue;
        *known = COUNTED;
        loader->counted_bad++;
    }
    if ((double)loader->counted_bad > loader->options.max_bad * (double)loader->samples) return too_many_bad(loader);
    place->state = PLACE_HELD;
    loader->delivered++;
    *out = &place->batch;
    return CAIRN_OK;
}

cairn_status cairn_loader_next(cairn_loader *loader, const cairn_batch **out)
{
    *out = NULL;
    cairn_mutex_lock(loader->mutex);
    cairn_status status = CAIRN_OK;
    int64_t position = loader->first + loader->delivered * loader->options.batch;
    ring_place *place = place_of(loader, loader->delivered);
    if (position >= loader->samples) goto done;
    if (place->state == PLACE_HELD) {
        status =
            cairn_fail(CAIRN_USAGE, "all %d batches of the loader are held: release one first", loader->options.depth);
        goto done;
    }
    double begin = cairn_os_seconds();
    while (place->state == PLACE_FREE || place->undone > 0)
        cairn_cond_wait(loader->progress, loader->mutex);
    loader->stats.waited += cairn_os_seconds() - begin;
    status = deliver(loader, place, out);
done:
    cairn_mutex_unlock(loader->mutex);
    return status;
}

void cairn_loader_release(cairn_loader *loader, const cairn_batch *batch)
{
    cairn_mutex_lock(loader->mutex);
    for (int i = 0; i < loader->options.depth; i++)
        if (&loader->ring[i].batch == batch && loader->ring[i].state == PLACE_HELD) loader->ring[i].state = PLACE_FREE;
    cairn_cond_broadcast(loader->work);
    cairn_mutex_unlock(loader->mutex);
}

cairn_loader_stats cairn_loader_statistics(const cairn_loader *loader)
{
    cairn_mutex_lock(loader->mutex);
    cairn_loader_stats stats = loader->stats;
    cairn_mutex_unlock(loader->mutex);
    return stats;
}
