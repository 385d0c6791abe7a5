/* Runs an execution plan: every operation of its graph, on f32 copies of the tensors. */
#include "convolution.hpp"
#include "engine.hpp"
#include "gpusim.hpp"
#include "handle.hpp"
#include <cstring>
#include <map>

using gpusim::call;
using gpusim::kind;
using gpusim::of;
using gpusim::refuse;

namespace gpusim
{

namespace
{

/* One execution as it was asked for. */
struct execution {
    std::shared_ptr<const graph> operations;
    std::int64_t number;
    engine with;
    std::map<std::int64_t, void *> memory; /* of tensors by id */
    void *workspace;
};

/* Elements in the order [0][2][3][1], without gaps: activations NHWC, weights KRSC. */
template <class Visit> void for_each_element(const tensor &t, Visit visit)
{
    std::int64_t i = 0;
    for (std::int64_t a = 0; a < t.dim[0]; a++)
        for (std::int64_t c = 0; c < t.dim[2]; c++)
            for (std::int64_t d = 0; d < t.dim[3]; d++)
                for (std::int64_t b = 0; b < t.dim[1]; b++, i++)
                    visit(i, a * t.stride[0] + b * t.stride[1] + c * t.stride[2] + d * t.stride[3]);
}

std::size_t extent(const tensor &t)
{
    std::int64_t last = 0;
    for (int i = 0; i < 4; i++)
        last += (t.dim[i] - 1) * t.stride[i];
    return static_cast<std::size_t>((last + 1) * arithmetic::size_of(t.type));
}

class run
{
  public:
    explicit run(const execution &asked) : e(asked), tf32(uses_tf32(*asked.operations, asked.number)) {}
    void all()
    {
        if (e.with.workspace) {
            need_device(e.workspace, static_cast<std::size_t>(e.with.workspace), "cudnnBackendExecute: workspace");
            std::memset(e.workspace, 0xff, static_cast<std::size_t>(e.with.workspace));
        }
        for (const node &n : e.operations->nodes)
            one(n);
    }

  private:
    const execution &e;
    const bool tf32;
    std::map<std::int64_t, std::vector<float>> values; /* of virtual tensors */

    std::vector<float> load(const tensor &t, bool rounded)
    {
        if (t.is_virtual) return std::move(values.at(t.id));
        const void *from = e.memory.at(t.id);
        need_device(from, extent(t), "cudnnBackendExecute: an input");
        std::vector<float> to(static_cast<std::size_t>(t.count()));
        for_each_element(t, [&](std::int64_t i, std::int64_t at) {
            const float value = arithmetic::get(from, t.type, at);
            to[static_cast<std::size_t>(i)] = rounded ? arithmetic::rounded_to_tf32(value) : value;
        });
        return to;
    }

    /* GPUSIM_FAULT=forgotten_beta: what should be added to is overwritten. */
    void store(const tensor &t, std::vector<float> &&from, float alpha, float beta)
    {
        if (t.is_virtual) {
            values[t.id] = std::move(from);
            return;
        }
        void *to = e.memory.at(t.id);
        need_device(to, extent(t), "cudnnBackendExecute: a result");
        if (faulty("forgotten_beta")) beta = 0;
        for_each_element(t, [&](std::int64_t i, std::int64_t at) {
            float value = alpha * from[static_cast<std::size_t>(i)];
            if (beta != 0) value += beta * arithmetic::get(to, t.type, at);
            arithmetic::put(to, t.type, at, value);
        });
    }

    void one(const node &n)
    {
        if (n.kind == node_kind::relu) return relu(n);
        if (n.kind == node_kind::add) return add(n);
        const tensor &x = n.kind == node_kind::backward_data ? n.out : n.a,
                     &w = n.kind == node_kind::backward_filter ? n.out : n.b;
        const tensor &y = n.kind == node_kind::forward ? n.out : n.kind == node_kind::backward_data ? n.a : n.b;
        const convolution_shape s = {x.dim[0],         x.dim[1],        x.dim[2],      x.dim[3],
                                     w.dim[0],         w.dim[2],        w.dim[3],      x.dim[1] / w.dim[1],
                                     y.dim[2],         y.dim[3],        n.conv.pad[0], n.conv.pad[1],
                                     n.conv.stride[0], n.conv.stride[1]};
        const std::vector<float> a = load(n.a, tf32), b = load(n.b, tf32);
        std::vector<float> out(static_cast<std::size_t>(n.out.count()));
        if (n.kind == node_kind::forward) convolve(s, a.data(), b.data(), out.data());
        if (n.kind == node_kind::backward_data) convolve_backward_data(s, a.data(), b.data(), out.data());
        if (n.kind == node_kind::backward_filter)
            convolve_backward_filter(
                s, a.data(), b.data(), out.data(),
                e.with.drawn_order ? static_cast<std::int64_t>(draw(static_cast<std::uint64_t>(s.batch))) : 0,
                e.with.half_sums);
        store(n.out, std::move(out), n.alpha, n.beta);
    }

    /* b is one number a channel. */
    void add(const node &n)
    {
        std::vector<float> x = load(n.a, false);
        const std::vector<float> b = load(n.b, false);
        if (n.b.count() != n.out.dim[1]) misuse("cuDNN: the double adds one number a channel only");
        for (std::size_t i = 0; i < x.size(); i++)
            x[i] += b[i % b.size()];
        store(n.out, std::move(x), 1, 0);
    }

    void relu(const node &n)
    {
        std::vector<float> x = load(n.a, false);
        for (float &value : x)
            value = value < 0 ? 0 : value;
        store(n.out, std::move(x), 1, 0);
    }
};

/* Every tensor that isn't virtual has memory, aligned as it says. */
cudnnStatus_t find_memory(const descriptor &pack, execution *e)
{
    for (std::int64_t i = 0; i < pack.count(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS); i++)
        e->memory[pack.get<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, i)] =
            pack.get<void *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, i);
    for (const node &n : e->operations->nodes)
        for (const tensor *t : {&n.a, &n.b, &n.out}) {
            if (t->is_virtual || !t->count()) continue;
            if (!e->memory.count(t->id))
                return refuse(CUDNN_STATUS_BAD_PARAM, "the variant pack lacks tensor %lld",
                              static_cast<long long>(t->id));
            if (reinterpret_cast<std::uintptr_t>(e->memory.at(t->id)) % static_cast<std::uintptr_t>(t->alignment))
                return refuse(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER, "tensor %lld is not aligned to %lld bytes",
                              static_cast<long long>(t->id), static_cast<long long>(t->alignment));
        }
    return CUDNN_STATUS_SUCCESS;
}

} // namespace

} // namespace gpusim

extern "C" cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                             cudnnBackendDescriptor_t pack)
{
    call call(__func__, kind::library);
    if (call.fails()) return refuse(CUDNN_STATUS_EXECUTION_FAILED, "fails as GPUSIM_FAIL says");
    if (!of(plan).finalized || !of(pack).finalized)
        return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "plan or variant pack isn't finalised");
    const gpusim::descriptor &engine =
        of(plan).child(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG).child(CUDNN_ATTR_ENGINECFG_ENGINE);
    auto e = std::make_shared<gpusim::execution>();
    e->operations = engine.child(CUDNN_ATTR_ENGINE_OPERATION_GRAPH).operations;
    e->number = engine.get<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
    e->with = gpusim::engine_of(*e->operations, e->number);
    e->workspace = of(pack).has(CUDNN_ATTR_VARIANT_PACK_WORKSPACE)
                       ? of(pack).get<void *>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE)
                       : nullptr;
    GPUSIM_TRY(gpusim::find_memory(of(pack), e.get()));
    gpusim::enqueue(handle->stream, "cudnnBackendExecute", [e] { gpusim::run(*e).all(); });
    return CUDNN_STATUS_SUCCESS;
}
