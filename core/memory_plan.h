/* memory_plan.h - places buffers with known lifetimes into one arena so that those alive at the same time don't overlap.
 *
 *     cairn_memory_plan *plan;
 *     CAIRN_TRY(cairn_memory_plan_create(&plan));
 *     int a = cairn_memory_plan_add(plan, bytes, first_step, last_step);     -1: no memory, told by ..._solve
 *     CAIRN_TRY(cairn_memory_plan_solve(plan));
 *     size_t at = cairn_memory_plan_offset(plan, a), arena = cairn_memory_plan_bytes(plan);
 *     cairn_memory_plan_destroy(plan);
 *
 * Greedy by size: the largest buffers first, each at the lowest gap that is free for its whole life (Pisarchyk & Lee 2020, "Efficient
 * memory management for deep neural net inference").
 */
#ifndef CAIRN_CORE_MEMORY_PLAN_H
#define CAIRN_CORE_MEMORY_PLAN_H

#include "core/status.h"
#include <stddef.h>

typedef struct cairn_memory_plan cairn_memory_plan;

#define CAIRN_MEMORY_PLAN_ALIGNMENT 4096 /* a page: neighbours share no cache line and huge pages can help */

cairn_status cairn_memory_plan_create(cairn_memory_plan **out);
void cairn_memory_plan_destroy(cairn_memory_plan *plan); /* NULL is allowed */

/* A buffer alive in steps first..last, both included. Returns its number, counted from 0. bytes 0 is allowed. */
int cairn_memory_plan_add(cairn_memory_plan *plan, size_t bytes, int first, int last);

cairn_status cairn_memory_plan_solve(cairn_memory_plan *plan);

/* After solving: where a buffer starts, and the size of the arena. */
size_t cairn_memory_plan_offset(const cairn_memory_plan *plan, int number);
size_t cairn_memory_plan_bytes(const cairn_memory_plan *plan);

#endif
