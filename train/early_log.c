#include "train/early_log.h"
#include <stdlib.h>
#include <string.h>

typedef struct early_message {
    struct early_message *next;
    cairn_log_level level;
    char text[];
} early_message;

struct cairn_early_log {
    cairn_log log;
    early_message *first, **end;
};

static void keep(void *context, cairn_log_level level, const char *text)
{
    cairn_early_log *early = context;
    size_t size = strlen(text) + 1;
    early_message *message = malloc(sizeof *message + size);
    if (!message) return;
    message->next = NULL;
    message->level = level;
    memcpy(message->text, text, size);
    *early->end = message;
    early->end = &message->next;
}

cairn_status cairn_early_log_create(cairn_early_log **out)
{
    cairn_early_log *early = calloc(1, sizeof *early);
    *out = early;
    if (!early) return cairn_fail(CAIRN_MEMORY, "no memory for the first messages");
    early->log = (cairn_log){.write = keep, .context = early, .level = CAIRN_LOG_DEBUG};
    early->end = &early->first;
    return CAIRN_OK;
}

void cairn_early_log_destroy(cairn_early_log *early)
{
    if (!early) return;
    cairn_early_log_replay(early, NULL);
    free(early);
}

const cairn_log *cairn_early_log_sink(const cairn_early_log *early)
{
    return &early->log;
}

void cairn_early_log_replay(cairn_early_log *early, const cairn_log *log)
{
    while (early->first) {
        early_message *message = early->first;
        early->first = message->next;
        cairn_log_write(log, message->level, "%s", message->text);
        free(message);
    }
    early->end = &early->first;
}
