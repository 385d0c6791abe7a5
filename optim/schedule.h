/* schedule.h - the learning rate as a pure function of the update number.
 *
 * Nothing here keeps state, so a resumed run needs only the number it stopped at.
 *
 *     cairn_schedule s = {.kind = CAIRN_SCHEDULE_COSINE, .base = 0.01f, .updates = 9000, .warmup = 500};
 *     CAIRN_TRY(cairn_schedule_check(&s));
 *     float lr = cairn_schedule_at(&s, update);
 */
#ifndef CAIRN_OPTIM_SCHEDULE_H
#define CAIRN_OPTIM_SCHEDULE_H

#include "core/status.h"
#include <stdint.h>

typedef enum cairn_schedule_kind {
    CAIRN_SCHEDULE_CONSTANT,
    CAIRN_SCHEDULE_STEP, /* base * gamma^(floor(update / step_size)) */
    CAIRN_SCHEDULE_COSINE, /* from base to floor over the updates after warm-up (Loshchilov & Hutter 2017, without restarts) */
    CAIRN_SCHEDULE_POLYNOMIAL, /* (base - floor) * (1 - progress)^power + floor (Caffe's "poly") */
} cairn_schedule_kind;

typedef struct cairn_schedule {
    cairn_schedule_kind kind;
    float base;        /* rate after warm-up, before any decay */
    float floor;       /* never below this */
    int64_t updates;   /* length of the run, in optimizer updates (not micro-batches) */
    int64_t warmup;    /* linear from base / warmup, 0 for none (Goyal et al. 2017, 2.2) */
    int64_t step_size; /* STEP: updates between drops */
    float gamma;       /* STEP: factor of a drop */
    float power;       /* POLYNOMIAL */
} cairn_schedule;

/* CAIRN_USAGE naming the field if any value is out of range. */
cairn_status cairn_schedule_check(const cairn_schedule *s);

/* Rate for the given update, counted from 0. Defined for every update >= 0; past the end it stays at its last value. */
float cairn_schedule_at(const cairn_schedule *s, int64_t update);

/* "constant", "step", "cosine", "polynomial"; parse gives CAIRN_USAGE listing them. */
const char *cairn_schedule_name(cairn_schedule_kind kind);
cairn_status cairn_schedule_parse(const char *text, cairn_schedule_kind *out);

#endif
