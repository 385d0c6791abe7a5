/* tensor.h - a typed view of a buffer that someone else owns, and the slab, which owns one.
 *
 *     cairn_slab slab;
 *     CAIRN_TRY(cairn_slab_create(device, bytes, "gradients", &slab));
 *     cairn_tensor dw = cairn_tensor_view(device, slab.data, shape, CAIRN_F32, layout);
 *     CAIRN_TRY(cairn_tensor_read(&dw, host, shape_count));       plain order, whatever the layout
 *     cairn_slab_destroy(&slab);
 */
#ifndef CAIRN_CORE_TENSOR_H
#define CAIRN_CORE_TENSOR_H

#include "core/device.h"
#include "core/dtype.h"
#include "core/shape.h"
#include "core/status.h"

/* Copied freely; destroying one means nothing. `data` is a device address. */
typedef struct cairn_tensor {
    cairn_device *device;
    void *data;
    cairn_shape shape;
    cairn_dtype dtype;
    const cairn_layout *layout; /* NULL: plain (row-major NCHW, OIHW, [out][in]); else interned by the device */
} cairn_tensor;

/* One contiguous block of device memory. The owner of the struct destroys it. */
typedef struct cairn_slab {
    cairn_device *device;
    void *data;
    size_t bytes;
    const char *holder; /* what the memory is for, as given */
} cairn_slab;

/* Allocates `bytes` (0 gives data NULL) and fills them with zeros. `holder` says in out-of-memory errors and statistics what
 * the memory is for; a static string. */
cairn_status cairn_slab_create(cairn_device *device, size_t bytes, const char *holder, cairn_slab *out);
void cairn_slab_destroy(cairn_slab *slab); /* idempotent */

/* Tensors in an f32 slab begin at multiples of so many elements: 64 bytes, a cache line and a vector register. */
#define CAIRN_SLAB_ALIGNMENT 16

/* `elements` up to the next multiple of it. */
static inline int64_t cairn_slab_align(int64_t elements)
{
    return (elements + CAIRN_SLAB_ALIGNMENT - 1) / CAIRN_SLAB_ALIGNMENT * CAIRN_SLAB_ALIGNMENT;
}

cairn_tensor cairn_tensor_view(cairn_device *device, void *data, cairn_shape shape, cairn_dtype dtype,
                               const cairn_layout *layout);

/* Bytes the tensor takes in its layout (a blocked layout may pad). */
size_t cairn_tensor_bytes(const cairn_tensor *tensor);

/* Copies to and from host memory in plain order as f32 (converted where the tensor is f16 or bf16; u8 and i32 tensors as
 * numbers). `count` must be the tensor's element count: CAIRN_USAGE otherwise. Waits for the device. Slow: for init,
 * checkpoints and tests. */
cairn_status cairn_tensor_read(const cairn_tensor *tensor, float *host, int64_t count);
cairn_status cairn_tensor_write(const cairn_tensor *tensor, const float *host, int64_t count);

/* Copies `from` into `to` on their device, from one layout and dtype to another; they don't overlap. Waits for the device. */
cairn_status cairn_tensor_copy(const cairn_tensor *from, const cairn_tensor *to);

#endif
