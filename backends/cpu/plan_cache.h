/* plan_cache.h - choices that were found by measuring, remembered between runs in the file "plans" of a folder.
 *
 *     cairn_plan_cache *cache;
 *     CAIRN_TRY(cairn_plan_cache_open(folder, "cpu (oneDNN 2.6.3, 2 threads, AMD EPYC)", &cache));
 *     char choice[64];
 *     if (!cairn_plan_cache_get(cache, "conv2d 32x192x13x13 ...", choice, sizeof choice)) {
 *         ... measure ...
 *         cairn_plan_cache_put(cache, "conv2d 32x192x13x13 ...", choice);
 *     }
 *     cairn_plan_cache_close(cache);
 *
 * The file is text, one choice a line: checksum, machine, operation, choice, parted by tabs. A line whose checksum doesn't hold - torn, edited,
 * of another program - is passed over. The file is a help, not a need: when it can't be read or written, plans are measured again.
 */
#ifndef CAIRN_BACKENDS_CPU_PLAN_CACHE_H
#define CAIRN_BACKENDS_CPU_PLAN_CACHE_H

#include "core/status.h"
#include <stdbool.h>
#include <stddef.h>

#define CAIRN_PLAN_CACHE_MACHINE 160 /* bytes of a machine's name at most, its end included */
#define CAIRN_PLAN_CACHE_KEY     192
#define CAIRN_PLAN_CACHE_CHOICE  224

typedef struct cairn_plan_cache cairn_plan_cache;

/* `machine` names all that changes how long things take: library and version, threads, processor. Copies both texts. */
cairn_status cairn_plan_cache_open(const char *folder, const char *machine, cairn_plan_cache **out);
void cairn_plan_cache_close(cairn_plan_cache *cache); /* NULL is allowed */

/* The choice for an operation on this machine; false when none is known. `cache` may be NULL: nothing is known. */
bool cairn_plan_cache_get(const cairn_plan_cache *cache, const char *key, char *choice, size_t size);

/* Remembers it, in memory and in the file, which is read again first so that choices of other processes stay. `cache` may be NULL. */
void cairn_plan_cache_put(cairn_plan_cache *cache, const char *key, const char *choice);

#endif
