/* safetensors_format.h - what the reader and the writer of safetensors.h share; included by these two only. */
#ifndef CAIRN_CORE_SAFETENSORS_FORMAT_H
#define CAIRN_CORE_SAFETENSORS_FORMAT_H

#include "core/dtype.h"

/* The format's names of the dtypes, by cairn_dtype. */
static const char *const cairn_safetensors_dtypes[CAIRN_DTYPE_COUNT] = {
    [CAIRN_F32] = "F32", [CAIRN_F16] = "F16", [CAIRN_BF16] = "BF16", [CAIRN_U8] = "U8", [CAIRN_I32] = "I32"};

/* Every header of ours starts with these bytes, so the checksum's digits have a fixed place, right behind them. */
#define CAIRN_SAFETENSORS_START "{\"__metadata__\":{\"checksum\":\""

enum {
    CAIRN_SAFETENSORS_LENGTH_BYTES = 8, /* of the header's length, little endian */
    CAIRN_SAFETENSORS_DIGITS = 16,      /* of the checksum */
    CAIRN_SAFETENSORS_DIGITS_AT =
        CAIRN_SAFETENSORS_LENGTH_BYTES + sizeof CAIRN_SAFETENSORS_START - 1, /* from the file's start */
    CAIRN_SAFETENSORS_HEADER_MOST = 100000000,                               /* the format's own limit */
};

#endif
