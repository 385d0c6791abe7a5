/* description.hpp - what cuBLASLt's descriptors hold. Matrices are column-major, as cuBLASLt has them. */
#pragma once

#include "../arithmetic/element.hpp"
#include <cublasLt.h>

namespace gpusim
{

struct operation : cublasLtMatmulDescOpaque_t {
    cublasComputeType_t compute;
    cublasOperation_t transpose_a, transpose_b;
    cublasLtEpilogue_t epilogue;
    const void *bias;
    int bias_type; /* a cudaDataType; -1: D's */
};

struct layout : cublasLtMatrixLayoutOpaque_t {
    cudaDataType type;
    std::int64_t rows, columns, pitch;
};

struct preference : cublasLtMatmulPreferenceOpaque_t {
    std::uint64_t workspace;
    std::uint32_t alignment[4]; /* of A, B, C, D */
    std::uint32_t reductions;   /* taken note of: this double has one way to add up */
};

inline const operation &of(cublasLtMatmulDesc_t d)
{
    return *static_cast<const operation *>(d);
}

inline const layout &of(cublasLtMatrixLayout_t l)
{
    return *static_cast<const layout *>(l);
}

inline const preference &of(cublasLtMatmulPreference_t p)
{
    return *static_cast<const preference *>(p);
}

/* Ends the program for a type that this double doesn't know. */
arithmetic::element element_of(cudaDataType type);

/* Shapes fit, and the types are a row of the manual's table for CUBLAS_COMPUTE_32F and its TF32 variant. Else the status to give. */
cublasStatus_t check(const operation &o, const layout &a, const layout &b, const layout &c, const layout &d);

/* All that a choice of algorithm depends on, as one number. */
std::uint64_t fingerprint(const operation &o, const layout &a, const layout &b, const layout &c, const layout &d);

/* What an algorithm's opaque words hold here. */
struct choice {
    std::uint64_t magic, fingerprint, workspace, alignment[4], number;
};
static_assert(sizeof(choice) == sizeof(cublasLtMatmulAlgo_t), "an algorithm has 8 words");
constexpr std::uint64_t CHOICE = 0x6770757369634c74;

} // namespace gpusim
