/* primitive.h - one oneDNN primitive with its memory objects, run on raw addresses. Nothing is allocated while it runs.
 *
 *     cairn_primitive p = {0};
 *     CAIRN_TRY(cairn_primitive_create(cpu, pd, (int[]){DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, 0}, &p));
 *     CAIRN_TRY(cairn_primitive_run(cpu, &p, (void *[]){src, weights, dst}, scratchpad));        p.scratchpad bytes
 *     cairn_primitive_release(&p);
 */
#ifndef CAIRN_BACKENDS_CPU_PRIMITIVE_H
#define CAIRN_BACKENDS_CPU_PRIMITIVE_H

#include "backends/cpu/layout.h"

#define CAIRN_PRIMITIVE_ARGUMENTS 6

typedef struct cairn_primitive {
    dnnl_primitive_t handle; /* NULL: not made */
    int count;
    dnnl_exec_arg_t argument[CAIRN_PRIMITIVE_ARGUMENTS + 1]; /* the scratchpad stands last */
    size_t scratchpad;
    char implementation[48]; /* oneDNN's name for it: "jit:avx512_core" */
} cairn_primitive;

/* `arguments` ends with 0; those the primitive doesn't take (a bias it was made without) may be named and are passed NULL.
 * The descriptor stays the caller's. On failure *out can be released all the same. */
cairn_status cairn_primitive_create(cairn_cpu *cpu, const_dnnl_primitive_desc_t pd, const int *arguments,
                                    cairn_primitive *out);
void cairn_primitive_release(cairn_primitive *primitive); /* idempotent on a zeroed struct */

/* Addresses in the order of the arguments at creation. */
cairn_status cairn_primitive_run(cairn_cpu *cpu, const cairn_primitive *primitive, void *const *addresses,
                                 void *scratchpad);

/* The layout a primitive descriptor wants for an argument. */
cairn_status cairn_primitive_layout(cairn_cpu *cpu, const_dnnl_primitive_desc_t pd, int argument,
                                    const cairn_layout **out);

/* Bytes of an argument, 0 for one it doesn't take. */
size_t cairn_primitive_bytes(const_dnnl_primitive_desc_t pd, int argument);

/* oneDNN's name of the implementation, and whether it is one of its slow, general ones ("ref:any", "simple_nchw:any"). */
const char *cairn_primitive_implementation(const_dnnl_primitive_desc_t pd);
bool cairn_primitive_is_slow(const_dnnl_primitive_desc_t pd);

#endif
