/* What is looked at when a descriptor is finalised, and what reading one works out. */
#include "engine.hpp"
#include "gpusim.hpp"

namespace gpusim
{

namespace
{

const descriptor &graph_under(const descriptor &engine)
{
    return engine.child(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
}

std::int64_t number_of(const descriptor &engine)
{
    return engine.get<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
}

const descriptor &engine_under(const descriptor &plan)
{
    return plan.child(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG).child(CUDNN_ATTR_ENGINECFG_ENGINE);
}

cudnnStatus_t need_one(const descriptor &d, cudnnBackendAttributeName_t name)
{
    return d.has(name) ? CUDNN_STATUS_SUCCESS
                       : refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor of type %d lacks attribute %d",
                                static_cast<int>(d.type), static_cast<int>(name));
}

cudnnStatus_t check_engine_descriptor(const descriptor &d)
{
    GPUSIM_TRY(need_one(d, CUDNN_ATTR_ENGINE_OPERATION_GRAPH));
    GPUSIM_TRY(need_one(d, CUDNN_ATTR_ENGINE_GLOBAL_INDEX));
    if (number_of(d) < 0 || number_of(d) >= ENGINES)
        return refuse(CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND, "there is no engine %lld",
                      static_cast<long long>(number_of(d)));
    return check_engine(*graph_under(d).operations, number_of(d));
}

/* The one that would be compiled at run time wants what no machine without a GPU has. */
cudnnStatus_t check_plan(const descriptor &d)
{
    GPUSIM_TRY(need_one(d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG));
    if (!d.has(CUDNN_ATTR_EXECUTION_PLAN_HANDLE)) GPUSIM_TRY(need_one(d, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP));
    const descriptor &engine = engine_under(d);
    if (!engine_of(*graph_under(engine).operations, number_of(engine)).behaviour.empty())
        return refuse(CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING, "no compiler at run time");
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t check_pack(const descriptor &d)
{
    GPUSIM_TRY(need_one(d, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS));
    GPUSIM_TRY(need_one(d, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS));
    if (d.count(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS) != d.count(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS))
        return refuse(CUDNN_STATUS_BAD_PARAM, "a variant pack has as many names as pointers");
    return CUDNN_STATUS_SUCCESS;
}

/* `room` descriptors were made by the caller; as many of them as there are results become those. */
cudnnStatus_t give_results(const descriptor &d, std::int64_t room, std::int64_t *count, void *to)
{
    const shared graph = d.set.at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH).children[0];
    const auto numbers = heuristics(*graph->operations, d.get<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE));
    *count = static_cast<std::int64_t>(numbers.size());
    if (!to || !room) return CUDNN_STATUS_SUCCESS;
    if (*count > room) *count = room;
    for (std::int64_t i = 0; i < *count; i++) {
        const auto *bytes = reinterpret_cast<const char *>(&numbers[static_cast<std::size_t>(i)]);
        auto engine = std::make_shared<descriptor>();
        engine->type = CUDNN_BACKEND_ENGINE_DESCRIPTOR;
        engine->set[CUDNN_ATTR_ENGINE_OPERATION_GRAPH] = {1, {}, {graph}};
        engine->set[CUDNN_ATTR_ENGINE_GLOBAL_INDEX] = {1, {bytes, bytes + sizeof numbers[0]}, {}};
        engine->finalized = true;
        descriptor &configuration = of(static_cast<cudnnBackendDescriptor_t *>(to)[i]);
        if (configuration.type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
            return refuse(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "results are engine configurations");
        configuration.set[CUDNN_ATTR_ENGINECFG_ENGINE] = {1, {}, {engine}};
        configuration.finalized = true;
    }
    return CUDNN_STATUS_SUCCESS;
}

template <class T> cudnnStatus_t give(const std::vector<T> &values, std::int64_t room, std::int64_t *count, void *to)
{
    *count = static_cast<std::int64_t>(values.size());
    for (std::int64_t i = 0; to && i < *count && i < room; i++)
        static_cast<T *>(to)[i] = values[static_cast<std::size_t>(i)];
    return CUDNN_STATUS_SUCCESS;
}

} // namespace

cudnnStatus_t check(descriptor &d)
{
    switch (d.type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
        return check_tensor(d);
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
        return check_convolution(d);
    case CUDNN_BACKEND_POINTWISE_DESCRIPTOR:
        return need_one(d, CUDNN_ATTR_POINTWISE_MODE);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
        return check_operation(d);
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR: {
        auto read = std::make_shared<graph>();
        GPUSIM_TRY(read_graph(d, read.get()));
        d.operations = read;
        return CUDNN_STATUS_SUCCESS;
    }
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
        GPUSIM_TRY(need_one(d, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH));
        return need_one(d, CUDNN_ATTR_ENGINEHEUR_MODE);
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
        return check_engine_descriptor(d);
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
        return need_one(d, CUDNN_ATTR_ENGINECFG_ENGINE);
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
        return check_plan(d);
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
        return check_pack(d);
    case CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR:
        return need_one(d, CUDNN_ATTR_DEVICEPROP_HANDLE);
    default:
        misuse("cudnnBackendFinalize: the double knows no descriptor of type %d", static_cast<int>(d.type));
    }
}

cudnnStatus_t work_out(const descriptor &d, cudnnBackendAttributeName_t name, std::int64_t room, std::int64_t *count,
                       void *to)
{
    switch (name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
        return give_results(d, room, count, to);
    case CUDNN_ATTR_ENGINECFG_ENGINE: {
        descriptor &engine = of(*static_cast<cudnnBackendDescriptor_t *>(to));
        engine = d.child(CUDNN_ATTR_ENGINECFG_ENGINE);
        *count = 1;
        return CUDNN_STATUS_SUCCESS;
    }
    case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
        return give(std::vector<std::int64_t>{number_of(d)}, room, count, to);
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
        return give(engine_of(*graph_under(d).operations, number_of(d)).notes, room, count, to);
    case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
        return give(engine_of(*graph_under(d).operations, number_of(d)).behaviour, room, count, to);
    case CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT:
        return give(std::vector<std::int64_t>{ENGINES}, room, count, to);
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE: {
        const descriptor &engine = engine_under(d);
        return give(std::vector<std::int64_t>{engine_of(*graph_under(engine).operations, number_of(engine)).workspace},
                    room, count, to);
    }
    default:
        misuse("cudnnBackendGetAttribute: the double works out no attribute %d", static_cast<int>(name));
    }
}

} // namespace gpusim
