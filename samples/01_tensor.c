/* 01_tensor.c - the first sample: a device, memory on it, and a tensor that looks at that memory.
 *
 *     build/samples/01_tensor
 *
 * Cairn keeps three things apart. A device owns everything that computes. A slab owns one block of a device's memory. A tensor owns
 * nothing: it says how to read a part of some slab - which shape, which element type, in which order. So parameters, gradients and
 * optimizer state can each be one slab, and a layer's weights are a view into it.
 */
#include "cairn.h"

/* A shape lists the sizes of a tensor, outermost first. Pictures are (N, C, H, W): number, channels, height, width. */
static cairn_shape show_shapes(void)
{
    cairn_shape shape = cairn_shape_make(4, 2, 3, 2, 2);
    char text[64];
    printf("1. a shape: %s has %lld elements\n", cairn_shape_format(shape, text, sizeof text),
           (long long)cairn_shape_count(shape));
    return shape;
}

/* Element types. f16 and bf16 hold less than f32; converting rounds to the nearest, ties to even. */
static void show_types(void)
{
    float third = 1.0f / 3;
    printf("2. element types: 1/3 is %.9f as f32, %.9f as f16, %.9f as bf16\n", (double)third,
           (double)cairn_f16_to_f32(cairn_f32_to_f16(third)), (double)cairn_bf16_to_f32(cairn_f32_to_bf16(third)));
}

/* Every function that can fail returns a cairn_status, and CAIRN_TRY passes a failure up. CAIRN_TRY_DONE does the same where something
 * is to be released first, at the label `done`. */
static cairn_status show_tensor(cairn_device *device, cairn_shape shape)
{
    cairn_slab slab = {0};
    cairn_status status = CAIRN_OK;
    float value[24] = {0}, back[24] = {0};
    int64_t count = cairn_shape_count(shape);

    /* Numbers from a counter-based generator: number i depends on the seed and on i alone, never on what was drawn before. */
    cairn_rng rng = cairn_rng_make(42, CAIRN_RNG_SYNTHETIC, 0, 0);
    for (int64_t i = 0; i < count; i++)
        value[i] = cairn_rng_uniform(rng, (uint64_t)i);

    CAIRN_TRY_DONE(cairn_slab_create(device, (size_t)count * cairn_dtype_size(CAIRN_BF16), "sample", &slab));
    cairn_tensor tensor =
        cairn_tensor_view(device, slab.data, shape, CAIRN_BF16, NULL); /* NULL: plain row-major order */
    CAIRN_TRY_DONE(cairn_tensor_write(&tensor, value, count));         /* to the device, rounded to bf16 on the way */
    CAIRN_TRY_DONE(cairn_tensor_read(&tensor, back, count));
    printf("3. a tensor: %zu bytes on the device; %.6f went in and %.6f came out\n", cairn_tensor_bytes(&tensor),
           (double)value[0], (double)back[0]);

    /* The second picture alone: a view further into the same memory. Nothing is copied. */
    int64_t half = count / 2;
    cairn_tensor second = cairn_tensor_view(device, (char *)slab.data + (size_t)half * cairn_dtype_size(CAIRN_BF16),
                                            cairn_shape_make(4, 1, 3, 2, 2), CAIRN_BF16, NULL);
    CAIRN_TRY_DONE(cairn_tensor_read(&second, back, half));
    printf("4. a view: the second picture begins with %.6f, number %lld of the stream is %.6f\n", (double)back[0],
           (long long)half, (double)value[half]);

    cairn_memory_stats memory = cairn_device_memory(device);
    printf("5. memory: %zu bytes held, %zu at most\n", memory.held, memory.peak);

    /* What goes wrong says so, in words. */
    if (cairn_tensor_read(&tensor, back, count + 1) != CAIRN_OK)
        printf("6. a failure: %s: %s\n", cairn_status_name(cairn_error_last()->status), cairn_error_last()->message);
done:
    cairn_slab_destroy(&slab);
    return status;
}

int main(void)
{
    cairn_device *device = NULL;
    cairn_shape shape = show_shapes();
    show_types();
    cairn_status status = cairn_device_open("auto", &(cairn_device_options){0}, &device);
    if (status == CAIRN_OK) {
        printf("the device is %s\n", cairn_device_name(device));
        status = show_tensor(device, shape);
    }
    if (status != CAIRN_OK) fprintf(stderr, "01_tensor: %s\n", cairn_error_last()->message);
    cairn_device_close(device);
    return status == CAIRN_OK ? 0 : 1;
}
