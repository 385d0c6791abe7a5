/* update_state.h - what decides about updates: how many were made, and the dynamic loss scale of f16.
 *
 * It lives on the device and is changed there by the update itself, so that the host need not wait for it; the host reads it by download
 * when it wants to know. The functions below are that change, for backends that run on the host; a kernel says the same.
 *
 * The scale (Micikevicius et al. 2018, "Mixed precision training", 3.2): small gradients vanish in f16, so the loss is multiplied with a
 * number that is raised as long as no gradient overflows.
 */
#ifndef CAIRN_CORE_UPDATE_STATE_H
#define CAIRN_CORE_UPDATE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#define CAIRN_LOSS_SCALE_START    65536.0f
#define CAIRN_LOSS_SCALE_MOST     16777216.0f
#define CAIRN_LOSS_SCALE_INTERVAL 2000 /* updates made in a row before it is doubled */

/* 32 bytes, the same on host and device. Starts as {.loss_scale = 1}, or CAIRN_LOSS_SCALE_START where the scale is dynamic. */
typedef struct cairn_update_state {
    int64_t updates;          /* made so far: the number of the next one */
    float loss_scale;         /* what the gradients are multiplied with; the update divides by it */
    int32_t nonfinite;        /* 1: the last update met a gradient that is not finite */
    int32_t good;             /* updates made since the scale last changed */
    int32_t skipped;          /* updates not made, in all */
    int32_t skipped_in_a_row; /* ending with the last */
    int32_t reserved;
} cairn_update_state;

/* After an update was made. */
static inline void cairn_update_state_made(cairn_update_state *state, bool dynamic_scale)
{
    state->updates++;
    state->good++;
    state->skipped_in_a_row = 0;
    if (!dynamic_scale || state->good < CAIRN_LOSS_SCALE_INTERVAL) return;
    state->good = 0;
    if (state->loss_scale < CAIRN_LOSS_SCALE_MOST) state->loss_scale *= 2;
}

/* In place of an update whose gradients overflowed. */
static inline void cairn_update_state_skip(cairn_update_state *state)
{
    state->good = 0;
    state->skipped++;
    state->skipped_in_a_row++;
    if (state->loss_scale > 1) state->loss_scale /= 2;
}

#endif
