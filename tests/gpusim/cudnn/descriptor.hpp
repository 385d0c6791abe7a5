/* descriptor.hpp - cuDNN's backend descriptors: what was set, held as it was given until the descriptor is finalised.
 *
 * A parent keeps its children, so a caller may destroy those first.
 */
#pragma once

#include <cstdint>
#include <cudnn_graph.h>
#include <map>
#include <memory>
#include <vector>

namespace gpusim
{

struct descriptor;
struct graph;
using shared = std::shared_ptr<const descriptor>;

struct attribute {
    std::int64_t count = 0;
    std::vector<char> bytes;      /* the elements, but for descriptors */
    std::vector<shared> children; /* descriptors */
};

struct descriptor {
    cudnnBackendDescriptorType_t type;
    bool finalized = false;
    std::map<cudnnBackendAttributeName_t, attribute> set;
    std::shared_ptr<const graph> operations; /* of a finalised graph */

    bool has(cudnnBackendAttributeName_t name) const
    {
        return set.count(name) != 0;
    }
    std::int64_t count(cudnnBackendAttributeName_t name) const
    {
        return has(name) ? set.at(name).count : 0;
    }

    /* Element i of an attribute that is set; T as its type says. */
    template <class T> T get(cudnnBackendAttributeName_t name, std::int64_t i = 0) const
    {
        T value;
        __builtin_memcpy(&value, set.at(name).bytes.data() + static_cast<std::size_t>(i) * sizeof value, sizeof value);
        return value;
    }
    const descriptor &child(cudnnBackendAttributeName_t name, std::size_t i = 0) const
    {
        return *set.at(name).children.at(i);
    }
};

/* Sets the thread's last error text, and gives the status back. */
cudnnStatus_t refuse(cudnnStatus_t status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Passes a refusal up. */
#define GPUSIM_TRY(call)                                                                                               \
    do {                                                                                                               \
        const cudnnStatus_t status_ = (call);                                                                          \
        if (status_ != CUDNN_STATUS_SUCCESS) return status_;                                                           \
    } while (0)

/* Looks whether everything is set and fits, before a descriptor is finalised. */
cudnnStatus_t check(descriptor &d);

/* Attributes that only reading works out: heuristics' results, notes, counts, workspaces. */
cudnnStatus_t work_out(const descriptor &d, cudnnBackendAttributeName_t name, std::int64_t room, std::int64_t *count,
                       void *to);

/* What a handle to a descriptor points at. */
struct handle {
    std::shared_ptr<descriptor> to;
};

inline descriptor &of(cudnnBackendDescriptor_t d)
{
    return *static_cast<handle *>(d)->to;
}

} // namespace gpusim
