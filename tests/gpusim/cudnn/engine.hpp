/* engine.hpp - the engines that this cuDNN has: what each can do, what it notes of itself, and in which order heuristics name them.
 *
 * They are made so that a caller who doesn't look is found out, as with the real ones: the first that heuristics name for f32 computes in
 * TF32, the first for a filter gradient in f16 adds up in f16, one is not deterministic, one wants a gigabyte, and one can't be had.
 */
#pragma once

#include "graph.hpp"

namespace gpusim
{

struct engine {
    std::int64_t workspace;
    std::vector<cudnnBackendNumericalNote_t> notes;
    std::vector<cudnnBackendBehaviorNote_t> behaviour;
    bool half_sums, drawn_order; /* what its notes mean, for plan.cpp */
};

constexpr std::int64_t ENGINES = 7;

/* Engine `number` for a graph; its notes depend on the graph's types. */
engine engine_of(const graph &g, std::int64_t number);

/* CUDNN_STATUS_SUCCESS, or why this engine can't run the graph on the current device. */
cudnnStatus_t check_engine(const graph &g, std::int64_t number);

/* Numbers of the engines that can run it, best first. */
std::vector<std::int64_t> heuristics(const graph &g, cudnnBackendHeurMode_t mode);

/* f32 inputs are rounded to TF32. */
bool uses_tf32(const graph &g, std::int64_t number);

} // namespace gpusim
