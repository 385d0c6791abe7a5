/* device.h - one opened device: its backend, its memory, its choice by name.
 *
 *     cairn_device *device;
 *     CAIRN_TRY(cairn_device_open("auto", &(cairn_device_options){.threads = 0}, &device));     (declared in cairn.h)
 *     printf("%s\n", cairn_device_name(device));
 *     cairn_device_close(device);
 *
 * Nothing is global: two devices can live in one process. A device is used by one thread at a time.
 */
#ifndef CAIRN_CORE_DEVICE_H
#define CAIRN_CORE_DEVICE_H

#include "core/dtype.h"
#include "core/log.h"
#include "core/memory_stats.h"
#include "core/shape.h"
#include "core/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cairn_device cairn_device;
typedef struct cairn_backend cairn_backend;

/* How a tensor of one shape and dtype lies in a device's memory: interned and owned by the device, so equal layouts are
 * equal pointers, valid until it closes. NULL stands for plain row-major order on every device. */
typedef struct cairn_layout cairn_layout;

typedef struct cairn_device_options {
    const char *
        which; /* of several devices of a backend: what stood behind the colon of "cuda:1", "cuda:GPU-5c..."; NULL: the first */
    int threads;        /* compute threads of a CPU device; 0 takes every processor the process may use */
    bool deterministic; /* fix algorithms by shape instead of by timing */
    bool direct; /* convolve by direct sums only: slower than Winograd, and some ten times closer to exact sums */
    bool
        tf32; /* f32 matrix products may round their inputs to TF32's 10 bits; false in an opened device that has no such */
    bool emulate;         /* CPU: also in types that the processor has no instructions for, slowly: for tests */
    bool library_kernels; /* CUDA: pooling, activation, LRN and softmax by cuDNN instead of our own kernels */
    const char *cache;    /* folder where measured plans are remembered; NULL for none */
    size_t memory_limit;  /* bytes taken from the device at most; 0 for no limit */
    const char
        *memory_snapshot; /* file for a snapshot when memory first runs out; NULL: none; must outlive the device */
    const cairn_log *log; /* may be NULL; must outlive the device */
} cairn_device_options;

/* Opens the device that `request` names among `backends` (NULL-terminated, in order of preference):
 * "auto" takes the first that works, and fails with the cause where one is present but can't be used; a backend's name
 * ("cpu", "ref") takes that one, and behind a colon the one of its devices that is meant ("cuda:1"). An unknown name is CAIRN_USAGE and lists the known. */
cairn_status cairn_device_select(const cairn_backend *const *backends, const char *request,
                                 const cairn_device_options *options, cairn_device **out);

void cairn_device_close(cairn_device *device); /* NULL is allowed */

const char *cairn_device_name(const cairn_device *device); /* for people: "cpu (oneDNN 2.6.3, 2 threads, AMD EPYC)" */
const char *cairn_device_backend_name(const cairn_device *device); /* "cpu", "ref", "cuda" */
const char *cairn_device_library(const cairn_device *device);      /* "oneDNN 2.6.3"; "" for none */
int cairn_device_threads(const cairn_device *device);              /* compute threads; 1 where that means nothing */

/* Device memory from the device's growth allocator, 64-byte aligned, not zeroed. `holder` (static) names the use in statistics and errors.
 * CAIRN_MEMORY says what was asked, what is held by whom, the largest free block and the limit. Free takes the same byte count and holder;
 * NULL is allowed. */
cairn_status cairn_device_alloc(cairn_device *device, size_t bytes, const char *holder, void **out);
void cairn_device_free(cairn_device *device, void *memory, size_t bytes, const char *holder);
cairn_memory_stats cairn_device_memory(const cairn_device *device);

/* What a run takes up where it computes, now and at most: bytes taken from a device whose memory is its own (cuda), else resident bytes of
 * the process. */
void cairn_device_footprint(const cairn_device *device, int64_t *now, int64_t *peak);

/* The largest request of at most `bytes` that would succeed now, found to bytes / 64 by trying. For advice after a failure. */
size_t cairn_device_memory_available(cairn_device *device, size_t bytes);

/* Writes statistics, holders, and every chunk and block of the memory to a JSON file. */
cairn_status cairn_device_memory_snapshot(const cairn_device *device, const char *path);

/* Copies in order with the device's work. upload: the host memory may be reused when it returns; download: waits. */
cairn_status cairn_device_upload(cairn_device *device, void *to, const void *from, size_t bytes);
cairn_status cairn_device_download(cairn_device *device, void *to, const void *from, size_t bytes);
cairn_status cairn_device_zero(cairn_device *device, void *to, size_t bytes);

/* Waits until everything asked so far is done. */
cairn_status cairn_device_synchronize(cairn_device *device);

/* Can nets compute in this dtype here? CAIRN_OK, or CAIRN_DEVICE with the reason. */
cairn_status cairn_device_supports(cairn_device *device, cairn_dtype dtype);

/* Bytes of a tensor in a layout, and a word for it ("plain", "aBcd8b"). */
size_t cairn_layout_bytes(cairn_device *device, cairn_shape shape, cairn_dtype dtype, const cairn_layout *layout);
const char *cairn_layout_name(cairn_device *device, const cairn_layout *layout);

#endif
