/* engine.h - which of cuDNN's engines runs a graph.
 *
 * An engine is one of the library's ways to compute a graph. Its numerical notes say what it does to the numbers, and a finalized plan of it
 * says how much workspace it takes. Here the engines are gone through in the order the library recommends - heuristics A, then B, then the
 * list of all engines, then the fallback - and those that break a rule are passed over.
 *
 *     const cairn_engine_rules rules = {.forbidden = CAIRN_NOT_TRUE_F32, .workspace_limit = 64 << 20};
 *     cairn_engine engines[1];
 *     int count;
 *     CAIRN_TRY(cairn_engine_list(&graph, target, &rules, engines, 1, &count));       the first that fits, if any
 *
 * More than one are asked for by whoever wants to time them.
 */
#ifndef CAIRN_BACKENDS_CUDA_ENGINE_H
#define CAIRN_BACKENDS_CUDA_ENGINE_H

#include "backends/cuda/graph.h"
#include <stdbool.h>

#define CAIRN_NOTE(name) (1u << CUDNN_NUMERICAL_NOTE_##name)

/* Real f32: no tensor cores, which round f32 to TF32, no narrower inputs and no narrower sums. The graph API has no switch for that. */
#define CAIRN_NOT_TRUE_F32                                                                                             \
    (CAIRN_NOTE(TENSOR_CORE) | CAIRN_NOTE(DOWN_CONVERT_INPUTS) | CAIRN_NOTE(REDUCED_PRECISION_REDUCTION))

/* Sums in another order than the direct one, and with more rounding. */
#define CAIRN_NOT_DIRECT                                                                                               \
    (CAIRN_NOTE(FFT) | CAIRN_NOTE(WINOGRAD) | CAIRN_NOTE(WINOGRAD_TILE_4x4) | CAIRN_NOTE(WINOGRAD_TILE_6x6) |          \
     CAIRN_NOTE(WINOGRAD_TILE_13x13))

typedef struct cairn_engine_rules {
    unsigned required, forbidden; /* numerical notes */
    bool compiles;                /* also engines that are compiled when they are planned, which takes seconds */
    int64_t workspace_limit;      /* bytes */
} cairn_engine_rules;

/* What is asked for, wish by wish from the best to what must do: an engine on the tensor cores, any precompiled one, any at all. */
enum { CAIRN_ENGINE_WISHES = 3 };
cairn_engine_rules cairn_engine_wish(int wish, unsigned forbidden, int64_t workspace_limit);

typedef struct cairn_engine {
    cudnnBackendDescriptor_t plan;                  /* finalized, owned */
    cudnnBackendDescriptor_t engine, configuration; /* what it was made of, kept as long */
    int64_t index;     /* of the engine, for people: another version of the library counts otherwise */
    int64_t workspace; /* bytes */
    unsigned notes;
} cairn_engine;

/* What plans are made for: the device of a handle. To be destroyed by the caller. */
cairn_status cairn_engine_target(cudnnHandle_t handle, cudnnBackendDescriptor_t *out);

/* The first `limit` engines that keep the rules, in the library's order. None is no failure. Those counted are the caller's to release, also
 * after a failure. */
cairn_status cairn_engine_list(const cairn_graph *graph, cudnnBackendDescriptor_t target,
                               const cairn_engine_rules *rules, cairn_engine *out, int limit, int *count);
void cairn_engine_release(cairn_engine *engine);

#endif
