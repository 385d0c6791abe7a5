#include "data/dataset_build.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Paths come by the million and go all at once, so they are packed into chunks. */
enum { CHUNK_BYTES = 1 << 16 };

typedef struct chunk {
    struct chunk *next;
    size_t used, size;
    char text[];
} chunk;

typedef struct dataset_storage {
    chunk *chunks;
    int64_t train_capacity, validation_capacity;
} dataset_storage;

cairn_status cairn_dataset_no_memory(const cairn_dataset *dataset)
{
    return cairn_fail(CAIRN_MEMORY, "%s: no memory for the list of its files (%lld so far)", dataset->folder,
                      (long long)(dataset->train.count + dataset->validation.count));
}

static char *take(dataset_storage *storage, size_t bytes)
{
    chunk *c = storage->chunks;
    if (!c || c->size - c->used < bytes) {
        size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        c = malloc(sizeof *c + size);
        if (!c) return NULL;
        *c = (chunk){.next = storage->chunks, .size = size};
        storage->chunks = c;
    }
    char *text = c->text + c->used;
    c->used += bytes;
    return text;
}

char *cairn_dataset_text(cairn_dataset *dataset, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = take(dataset->storage, bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

char *cairn_dataset_join(cairn_dataset *dataset, const char *folder, const char *name)
{
    size_t bytes = strlen(folder) + 1 + strlen(name) + 1;
    char *path = take(dataset->storage, bytes);
    if (path) snprintf(path, bytes, "%s/%s", folder, name);
    return path;
}

cairn_status cairn_dataset_begin(const char *folder, cairn_dataset **out)
{
    *out = NULL;
    cairn_dataset *dataset = calloc(1, sizeof *dataset);
    dataset_storage *storage = calloc(1, sizeof *storage);
    if (!dataset || !storage) {
        free(dataset);
        free(storage);
        return cairn_fail(CAIRN_MEMORY, "%s: no memory for the list of its files", folder);
    }
    dataset->storage = storage;
    dataset->folder = cairn_dataset_text(dataset, folder);
    if (!dataset->folder) {
        cairn_dataset_close(dataset);
        return cairn_fail(CAIRN_MEMORY, "%s: no memory for the list of its files", folder);
    }
    for (size_t n = strlen(dataset->folder); n > 1 && dataset->folder[n - 1] == '/'; n--)
        dataset->folder[n - 1] = '\0';
    *out = dataset;
    return CAIRN_OK;
}

cairn_status cairn_dataset_set_classes(cairn_dataset *dataset, const char *const *name, int count)
{
    dataset->class_name = calloc((size_t)count + 1, sizeof *dataset->class_name);
    dataset->train_count = calloc((size_t)count + 1, sizeof *dataset->train_count);
    dataset->validation_count = calloc((size_t)count + 1, sizeof *dataset->validation_count);
    if (!dataset->class_name || !dataset->train_count || !dataset->validation_count)
        return cairn_dataset_no_memory(dataset);
    for (int i = 0; i < count; i++) {
        dataset->class_name[i] = cairn_dataset_text(dataset, name[i]);
        if (!dataset->class_name[i]) return cairn_dataset_no_memory(dataset);
    }
    dataset->classes = count;
    return CAIRN_OK;
}

cairn_status cairn_dataset_add(cairn_dataset *dataset, bool validation, const char *path, int label)
{
    dataset_storage *storage = dataset->storage;
    cairn_sample_list *list = validation ? &dataset->validation : &dataset->train;
    int64_t *capacity = validation ? &storage->validation_capacity : &storage->train_capacity;
    if (list->count == *capacity) {
        int64_t larger = *capacity ? 2 * *capacity : 256;
        cairn_sample *grown = realloc(list->sample, (size_t)larger * sizeof *grown);
        if (!grown) return cairn_dataset_no_memory(dataset);
        list->sample = grown;
        *capacity = larger;
    }
    list->sample[list->count++] = (cairn_sample){.path = path, .label = label};
    (validation ? dataset->validation_count : dataset->train_count)[label]++;
    return CAIRN_OK;
}

void cairn_dataset_close(cairn_dataset *dataset)
{
    if (!dataset) return;
    dataset_storage *storage = dataset->storage;
    for (chunk *c = storage->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(storage);
    free(dataset->class_name);
    free(dataset->train_count);
    free(dataset->validation_count);
    free(dataset->train.sample);
    free(dataset->validation.sample);
    free(dataset);
}
