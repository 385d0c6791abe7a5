#include "backends/cuda/engine.h"
#include "backends/cuda/descriptor.h"
#include <string.h>

enum { RECOMMENDED = 16 }; /* configurations taken of one heuristic */

/* What is looked for, and what has been found. */
typedef struct search {
    const cairn_graph *graph;
    cudnnBackendDescriptor_t target;
    const cairn_engine_rules *rules;
    cairn_engine *found;
    int limit, count;
} search;

cairn_engine_rules cairn_engine_wish(int wish, unsigned forbidden, int64_t workspace_limit)
{
    const unsigned tensor_core = CAIRN_NOTE(TENSOR_CORE);
    return (cairn_engine_rules){.required = wish == 0 && !(forbidden & tensor_core) ? tensor_core : 0,
                                .forbidden = forbidden,
                                .compiles = wish == CAIRN_ENGINE_WISHES - 1,
                                .workspace_limit = workspace_limit};
}

cairn_status cairn_engine_target(cudnnHandle_t handle, cudnnBackendDescriptor_t *out)
{
    CUDNN_TRY(cudnnBackendCreateDescriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, out));
    CAIRN_TRY(cairn_descriptor_set(*out, CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle));
    CUDNN_TRY(cudnnBackendFinalize(*out));
    return CAIRN_OK;
}

/* ---- one engine ---- */

static unsigned numerical_notes(cudnnBackendDescriptor_t engine)
{
    cudnnBackendNumericalNote_t note[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    int64_t count = 0;
    unsigned notes = 0;
    if (cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                 CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, note) != CUDNN_STATUS_SUCCESS)
        return ~0u; /* who doesn't say what it does breaks every rule */
    for (int64_t i = 0; i < count && i < CUDNN_NUMERICAL_NOTE_TYPE_COUNT; i++)
        notes |= 1u << note[i];
    return notes;
}

static bool is_compiled_when_planned(cudnnBackendDescriptor_t engine)
{
    cudnnBackendBehaviorNote_t note[CUDNN_BEHAVIOR_NOTE_TYPE_COUNT];
    int64_t count = 0;
    if (cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE,
                                 CUDNN_BEHAVIOR_NOTE_TYPE_COUNT, &count, note) != CUDNN_STATUS_SUCCESS)
        return true;
    for (int64_t i = 0; i < count && i < CUDNN_BEHAVIOR_NOTE_TYPE_COUNT; i++)
        if (note[i] == CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) return true;
    return false;
}

/* A refusal while an engine is planned is an answer, not a failure: the next one is tried. */
static cudnnStatus_t make_plan(const search *s, cudnnBackendDescriptor_t configuration, cairn_engine *out)
{
    int64_t count = 0;
    cudnnStatus_t status = cudnnBackendCreateDescriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &out->plan);
    if (status == CUDNN_STATUS_SUCCESS)
        status = cudnnBackendSetAttribute(out->plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                          CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &configuration);
    if (status == CUDNN_STATUS_SUCCESS)
        status = cudnnBackendSetAttribute(out->plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP,
                                          CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &s->target);
    if (status == CUDNN_STATUS_SUCCESS) status = cudnnBackendFinalize(out->plan);
    if (status == CUDNN_STATUS_SUCCESS)
        status = cudnnBackendGetAttribute(out->plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                                          &count, &out->workspace);
    return status;
}

/* Does the engine keep the rules, and can it be planned? */
static bool keeps_rules(const search *s, cudnnBackendDescriptor_t configuration, cairn_engine *candidate)
{
    int64_t count = 0;
    const cairn_engine_rules *rules = s->rules;
    candidate->notes = numerical_notes(candidate->engine);
    if ((candidate->notes & rules->required) != rules->required || (candidate->notes & rules->forbidden)) return false;
    if (!rules->compiles && is_compiled_when_planned(candidate->engine)) return false;
    return cudnnBackendGetAttribute(candidate->engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &count,
                                    &candidate->index) == CUDNN_STATUS_SUCCESS &&
           make_plan(s, configuration, candidate) == CUDNN_STATUS_SUCCESS &&
           candidate->workspace <= rules->workspace_limit;
}

/* Takes an engine and its configuration, both its own from here on, into what was found, or destroys them. */
static void consider(search *s, cudnnBackendDescriptor_t engine, cudnnBackendDescriptor_t configuration)
{
    cairn_engine candidate = {.engine = engine, .configuration = configuration};
    if (keeps_rules(s, configuration, &candidate))
        s->found[s->count++] = candidate;
    else
        cairn_engine_release(&candidate);
}

/* ---- where engines come from ---- */

static cudnnStatus_t make_heuristic(const search *s, cudnnBackendHeurMode_t mode, cudnnBackendDescriptor_t heuristic)
{
    cudnnStatus_t status = cudnnBackendSetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
                                                    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &s->graph->descriptor);
    if (status == CUDNN_STATUS_SUCCESS)
        status = cudnnBackendSetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    if (status == CUDNN_STATUS_SUCCESS)
        status = cudnnBackendSetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                          &s->target);
    return status == CUDNN_STATUS_SUCCESS ? cudnnBackendFinalize(heuristic) : status;
}

/* The configuration is given away. */
static void consider_recommended(search *s, cudnnBackendDescriptor_t configuration)
{
    cudnnBackendDescriptor_t engine = NULL;
    int64_t count = 0;
    if (cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine) == CUDNN_STATUS_SUCCESS &&
        cudnnBackendGetAttribute(configuration, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count,
                                 &engine) == CUDNN_STATUS_SUCCESS)
        consider(s, engine, configuration);
    else {
        cairn_descriptor_destroy(engine);
        cairn_descriptor_destroy(configuration);
    }
}

/* For some graphs a heuristic has nothing to say, or refuses: the next source is asked. */
static cairn_status ask_heuristic(search *s, cudnnBackendHeurMode_t mode)
{
    cudnnBackendDescriptor_t heuristic = NULL, configuration[RECOMMENDED] = {NULL};
    int64_t count = 0;
    cairn_status status = CAIRN_OK;
    cudnnStatus_t made = cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, &heuristic);
    for (int i = 0; i < RECOMMENDED && made == CUDNN_STATUS_SUCCESS; i++)
        made = cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &configuration[i]);
    if (made != CUDNN_STATUS_SUCCESS)
        status = cairn_cudnn_check(made, "cudnnBackendCreateDescriptor", __FILE__, __LINE__);
    else if (make_heuristic(s, mode, heuristic) == CUDNN_STATUS_SUCCESS &&
             cudnnBackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                      RECOMMENDED, &count, configuration) == CUDNN_STATUS_SUCCESS)
        for (int64_t i = 0; i < count && i < RECOMMENDED && s->count < s->limit; i++) {
            consider_recommended(s, configuration[i]);
            configuration[i] = NULL;
        }
    for (int i = 0; i < RECOMMENDED; i++)
        cairn_descriptor_destroy(configuration[i]);
    cairn_descriptor_destroy(heuristic);
    return status;
}

static bool is_found(const search *s, int64_t index)
{
    for (int i = 0; i < s->count; i++)
        if (s->found[i].index == index) return true;
    return false;
}

static cudnnStatus_t make_engine(const search *s, int64_t index, cudnnBackendDescriptor_t engine,
                                 cudnnBackendDescriptor_t configuration)
{
    cudnnStatus_t status = cudnnBackendSetAttribute(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
                                                    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &s->graph->descriptor);
    if (status == CUDNN_STATUS_SUCCESS)
        status = cudnnBackendSetAttribute(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &index);
    if (status == CUDNN_STATUS_SUCCESS)
        status = cudnnBackendSetAttribute(engine, CUDNN_ATTR_ENGINE_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                          &s->target);
    if (status == CUDNN_STATUS_SUCCESS) status = cudnnBackendFinalize(engine);
    if (status == CUDNN_STATUS_SUCCESS)
        status = cudnnBackendSetAttribute(configuration, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                          &engine);
    return status == CUDNN_STATUS_SUCCESS ? cudnnBackendFinalize(configuration) : status;
}

/* Every engine for this kind of graph, with its default settings. */
static cairn_status walk_all(search *s)
{
    int64_t engines = 0, count = 0;
    CUDNN_TRY(cudnnBackendGetAttribute(s->graph->descriptor, CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT,
                                       CUDNN_TYPE_INT64, 1, &count, &engines));
    for (int64_t index = 0; index < engines && s->count < s->limit; index++) {
        cudnnBackendDescriptor_t engine = NULL, configuration = NULL;
        if (is_found(s, index)) continue;
        if (cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine) == CUDNN_STATUS_SUCCESS &&
            cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &configuration) == CUDNN_STATUS_SUCCESS &&
            make_engine(s, index, engine, configuration) == CUDNN_STATUS_SUCCESS)
            consider(s, engine, configuration);
        else {
            cairn_descriptor_destroy(configuration);
            cairn_descriptor_destroy(engine);
        }
    }
    return CAIRN_OK;
}

cairn_status cairn_engine_list(const cairn_graph *graph, cudnnBackendDescriptor_t target,
                               const cairn_engine_rules *rules, cairn_engine *out, int limit, int *count)
{
    search s = {.graph = graph, .target = target, .rules = rules, .found = out, .limit = limit};
    cairn_status status = ask_heuristic(&s, CUDNN_HEUR_MODE_A);
    if (status == CAIRN_OK && s.count < limit) status = ask_heuristic(&s, CUDNN_HEUR_MODE_B);
    if (status == CAIRN_OK && s.count < limit) status = walk_all(&s);
    if (status == CAIRN_OK && s.count < limit) status = ask_heuristic(&s, CUDNN_HEUR_MODE_FALLBACK);
    *count = s.count;
    return status;
}

void cairn_engine_release(cairn_engine *engine)
{
    cairn_descriptor_destroy(engine->plan);
    cairn_descriptor_destroy(engine->configuration);
    cairn_descriptor_destroy(engine->engine);
    memset(engine, 0, sizeof *engine);
}
