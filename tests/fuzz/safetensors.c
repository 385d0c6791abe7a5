/* A libFuzzer harness of the safetensors reader. Optional, and built by clang only:
 *
 *     CC=clang cmake -S . -B build-fuzz -G Ninja && ninja -C build-fuzz fuzz_safetensors
 *     build-fuzz/tests/bin/fuzz_safetensors -max_total_time=300 -dict=tests/fuzz/safetensors.dict build-fuzz/corpus
 *
 * Each input is read twice: as a whole file, and as the JSON of a header that gets its right length and some data, so that mutations
 * reach past the length.
 */
#include "core/safetensors.h"
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 8, DATA = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition) abort();
}

/* Reads a copy that ends where its memory ends; whatever is accepted must lie inside and be as large as it says. */
static void read_file(const uint8_t *bytes, size_t size)
{
    cairn_safetensors *file;
    if (cairn_safetensors_parse("fuzz", bytes, size, &file) != CAIRN_OK) {
        require(!file && cairn_error_last()->message[0]);
        return;
    }
    size_t sum = 0;
    for (int i = 0; i < cairn_safetensors_count(file); i++) {
        const cairn_safetensors_entry *entry = cairn_safetensors_at(file, i);
        const uint8_t *at = entry->data;
        require(at >= bytes + LENGTH && at <= bytes + size && entry->bytes <= (size_t)(bytes + size - at));
        require((uint64_t)cairn_shape_count(entry->shape) * cairn_dtype_size(entry->dtype) == entry->bytes);
        require((uintptr_t)at % cairn_dtype_size(entry->dtype) == 0);
        require(cairn_safetensors_find(file, entry->name) == entry);
        sum += entry->bytes;
    }
    require(sum <= size - LENGTH);
    cairn_safetensors_close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t header = (size + 7) / 8 * 8;
    uint8_t *whole = malloc(size ? size : 1), *framed = malloc(LENGTH + header + DATA);
    if (whole && framed) {
        if (size) memcpy(whole, data, size);
        read_file(whole, size);
        for (size_t i = 0; i < LENGTH; i++)
            framed[i] = (uint8_t)(header >> 8 * i);
        memset(framed + LENGTH, ' ', header);
        if (size) memcpy(framed + LENGTH, data, size);
        memset(framed + LENGTH + header, 1, DATA);
        read_file(framed, LENGTH + header + DATA);
    }
    free(whole);
    free(framed);
    return 0;
}
