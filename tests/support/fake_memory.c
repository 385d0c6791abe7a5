#include "tests/support/fake_memory.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* A mark in a stream: reached when `number` pieces of its work are done. */
typedef struct fake_fence {
    int stream;
    int64_t number;
} fake_fence;

void fake_memory_fault(fake_memory *m, const char *format, ...)
{
    if (m->fault[0]) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(m->fault, sizeof m->fault, format, arguments);
    va_end(arguments);
}

static void *raw_alloc(void *context, size_t bytes)
{
    fake_memory *m = context;
    int64_t number = ++m->raw_allocs;
    bool told = m->refuse_from && number >= m->refuse_from && number - m->refuse_from < m->refuse_count;
    if (told || bytes > m->capacity - m->taken || m->chunk_count == FAKE_CHUNKS) {
        m->refusals++;
        return NULL;
    }
    uintptr_t address = m->used / FAKE_ALIGNMENT * FAKE_ALIGNMENT + 2 * (uintptr_t)FAKE_ALIGNMENT;
    m->used = address + bytes;
    m->taken += bytes;
    m->chunk[m->chunk_count++] = (fake_chunk){.address = address, .bytes = bytes};
    return (void *)address;
}

static void raw_free(void *context, void *memory, size_t bytes)
{
    fake_memory *m = context;
    size_t i = 0;
    while (i < m->chunk_count && m->chunk[i].address != (uintptr_t)memory)
        i++;
    if (i == m->chunk_count || m->chunk[i].bytes != bytes) {
        fake_memory_fault(m, "raw_free of %zu bytes at %p, which are no chunk", bytes, memory);
        return;
    }
    if (m->before_free) m->before_free(m->context, (uintptr_t)memory, bytes);
    m->taken -= bytes;
    m->raw_frees++;
    m->chunk[i] = m->chunk[--m->chunk_count];
}

static void *fence_record(void *context, void *stream)
{
    fake_memory *m = context;
    int64_t s = (int64_t *)stream - m->queued;
    if (m->done[s] == m->queued[s]) return NULL;
    fake_fence *fence = malloc(sizeof *fence);
    if (!fence) abort();
    *fence = (fake_fence){.stream = (int)s, .number = m->queued[s]};
    m->fences++;
    return fence;
}

static bool fence_done(void *context, void *fence)
{
    const fake_memory *m = context;
    const fake_fence *f = fence;
    return m->done[f->stream] >= f->number;
}

static void fence_wait(void *context, void *fence)
{
    fake_memory *m = context;
    const fake_fence *f = fence;
    m->waits++;
    if (m->done[f->stream] < f->number) m->done[f->stream] = f->number;
}

static void fence_release(void *context, void *fence)
{
    fake_memory *m = context;
    if (!fence_done(context, fence)) fake_memory_fault(m, "a fence is released before it is done");
    m->fences--;
    free(fence);
}

cairn_allocator_calls fake_memory_calls_without_streams(fake_memory *m)
{
    return (cairn_allocator_calls){.context = m, .raw_alloc = raw_alloc, .raw_free = raw_free};
}

cairn_allocator_calls fake_memory_calls(fake_memory *m)
{
    cairn_allocator_calls calls = fake_memory_calls_without_streams(m);
    calls.fence_record = fence_record;
    calls.fence_done = fence_done;
    calls.fence_wait = fence_wait;
    calls.fence_release = fence_release;
    return calls;
}

void *fake_memory_stream(fake_memory *m, int stream)
{
    return &m->queued[stream];
}

void fake_memory_work(fake_memory *m, int stream)
{
    m->queued[stream]++;
}

void fake_memory_finish(fake_memory *m, int stream, int64_t count)
{
    int64_t left = m->queued[stream] - m->done[stream];
    m->done[stream] += count < left ? count : left;
}

bool fake_memory_holds(const fake_memory *m, uintptr_t address, size_t bytes)
{
    for (size_t i = 0; i < m->chunk_count; i++)
        if (address >= m->chunk[i].address && address - m->chunk[i].address + bytes <= m->chunk[i].bytes) return true;
    return false;
}

static void must(cairn_status status)
{
    if (status == CAIRN_OK) return;
    printf("FAILED: %s\n", cairn_error_last()->message);
    exit(1);
}

cairn_allocator *fake_memory_open(fake_memory *m, const cairn_allocator_options *options)
{
    const cairn_allocator_calls calls = fake_memory_calls(m);
    cairn_allocator *allocator;
    must(cairn_allocator_create(options, &calls, &allocator));
    return allocator;
}

const char *fake_memory_close(fake_memory *m, cairn_allocator *allocator)
{
    cairn_allocator_destroy(allocator);
    if (m->taken) fake_memory_fault(m, "%zu bytes are not given back", m->taken);
    if (m->fences) fake_memory_fault(m, "%lld fences are not released", (long long)m->fences);
    return m->fault;
}

char *must_take(cairn_allocator *allocator, size_t bytes, const char *holder)
{
    void *memory;
    must(cairn_allocator_alloc(allocator, bytes, holder, &memory));
    return memory;
}

void must_give(cairn_allocator *allocator, void *memory)
{
    must(cairn_allocator_free(allocator, memory));
}
