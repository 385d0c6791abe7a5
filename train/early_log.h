/* early_log.h - keeps what is said before there is a place to write it, and says it again there. Private to this room. */
#ifndef CAIRN_TRAIN_EARLY_LOG_H
#define CAIRN_TRAIN_EARLY_LOG_H

#include "core/log.h"
#include "core/status.h"

typedef struct cairn_early_log cairn_early_log;

cairn_status cairn_early_log_create(cairn_early_log **out);
void cairn_early_log_destroy(cairn_early_log *early); /* NULL is allowed */

/* Takes messages of one thread at a time; those it has no memory for are lost. */
const cairn_log *cairn_early_log_sink(const cairn_early_log *early);

/* Hands on what was kept, in order, and forgets it. */
void cairn_early_log_replay(cairn_early_log *early, const cairn_log *log);

#endif
