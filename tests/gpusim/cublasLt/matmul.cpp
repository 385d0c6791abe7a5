/* Choosing an algorithm, and running the product: D = f(alpha op(A) op(B) + beta C + bias). */
#include "../arithmetic/matmul.hpp"
#include "description.hpp"
#include "gpusim.hpp"
#include <cstring>
#include <vector>

using gpusim::call;
using gpusim::choice;
using gpusim::kind;
using gpusim::layout;
using gpusim::operation;
using gpusim::preference;

namespace
{

constexpr std::uint64_t WORKSPACES[] = {std::uint64_t{4} << 20, 0,
                                        std::uint64_t{1} << 30}; /* of the algorithms offered, best first */

/* One product as it was asked for; descriptors may be destroyed once the call has returned. */
struct product {
    operation o;
    layout a, b, c, d;
    const void *A, *B, *C;
    void *D, *workspace;
    std::uint64_t workspace_bytes;
    float alpha, beta;
};

std::size_t bytes_of(const layout &l)
{
    return static_cast<std::size_t>((l.pitch * (l.columns - 1) + l.rows) *
                                    arithmetic::size_of(gpusim::element_of(l.type)));
}

/* A matrix in f32: as it lies where it is so already, else a copy, rounded to TF32 where the compute type says so. */
struct widened {
    std::vector<float> copy;
    const float *data;
    std::int64_t pitch;

    widened(const layout &l, const void *from, bool tf32) : data(static_cast<const float *>(from)), pitch(l.pitch)
    {
        const arithmetic::element type = gpusim::element_of(l.type);
        if (type == arithmetic::element::f32 && !tf32) return;
        copy.resize(static_cast<std::size_t>(l.rows * l.columns));
        data = copy.data();
        pitch = l.rows;
        for (std::int64_t j = 0; j < l.columns; j++)
            for (std::int64_t i = 0; i < l.rows; i++) {
                const float value = arithmetic::get(from, type, j * l.pitch + i);
                copy[static_cast<std::size_t>(j * l.rows + i)] = tf32 ? arithmetic::rounded_to_tf32(value) : value;
            }
    }
    /* Its transpose as rows, or itself. */
    arithmetic::matrix rows(bool transposed) const
    {
        return transposed ? arithmetic::matrix{data, 1, pitch} : arithmetic::matrix{data, pitch, 1};
    }
};

void finish(const product &p, const std::vector<float> &sum)
{
    const bool has_bias = p.o.epilogue == CUBLASLT_EPILOGUE_BIAS || p.o.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
    const bool relu = p.o.epilogue == CUBLASLT_EPILOGUE_RELU || p.o.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
    const arithmetic::element type = gpusim::element_of(p.d.type);
    if (has_bias)
        gpusim::need_device(p.o.bias, static_cast<std::size_t>(p.d.rows * arithmetic::size_of(type)),
                            "cublasLtMatmul: bias");
    for (std::int64_t j = 0; j < p.d.columns; j++)
        for (std::int64_t i = 0; i < p.d.rows; i++) {
            float value = p.alpha * sum[static_cast<std::size_t>(j * p.d.rows + i)];
            if (p.beta != 0) value += p.beta * arithmetic::get(p.C, type, j * p.c.pitch + i);
            if (has_bias) value += arithmetic::get(p.o.bias, type, i);
            if (relu && value < 0) value = 0;
            arithmetic::put(p.D, type, j * p.d.pitch + i, value);
        }
}

/* In rows, as multiply has them, the transposed matrices are multiplied: D^T = op(B)^T op(A)^T. */
void run(const product &p)
{
    const bool tf32 = p.o.compute == CUBLAS_COMPUTE_32F_FAST_TF32, ta = p.o.transpose_a != CUBLAS_OP_N,
               tb = p.o.transpose_b != CUBLAS_OP_N;
    gpusim::need_device(p.A, bytes_of(p.a), "cublasLtMatmul: A");
    gpusim::need_device(p.B, bytes_of(p.b), "cublasLtMatmul: B");
    gpusim::need_device(p.D, bytes_of(p.d), "cublasLtMatmul: D");
    if (p.beta != 0) gpusim::need_device(p.C, bytes_of(p.c), "cublasLtMatmul: C");
    if (p.workspace_bytes) {
        gpusim::need_device(p.workspace, p.workspace_bytes, "cublasLtMatmul: workspace");
        std::memset(p.workspace, 0xff, p.workspace_bytes);
    }
    const widened a(p.a, p.A, tf32), b(p.b, p.B, tf32);
    std::vector<float> sum(static_cast<std::size_t>(p.d.rows * p.d.columns));
    const std::int64_t k = ta ? p.a.rows : p.a.columns;
    arithmetic::multiply(p.d.columns, p.d.rows, k, b.rows(tb), a.rows(ta), sum.data(), p.d.rows, false);
    finish(p, sum);
    gpusim::spend(2e-12 * static_cast<double>(p.d.rows * p.d.columns * k));
}

void need_aligned(const void *address, std::uint64_t alignment, const char *what)
{
    if (reinterpret_cast<std::uintptr_t>(address) % alignment)
        gpusim::misuse("cublasLtMatmul: %s is not aligned to the %llu bytes that its preference or the manual says",
                       what, static_cast<unsigned long long>(alignment));
}

/* The algorithm fits the product; from here on the workspace is what it needs. */
void check_choice(const choice &chosen, product &p)
{
    if (chosen.magic != gpusim::CHOICE || chosen.fingerprint != gpusim::fingerprint(p.o, p.a, p.b, p.c, p.d))
        gpusim::misuse("cublasLtMatmul: the algorithm was chosen for another product");
    if (p.workspace_bytes < chosen.workspace)
        gpusim::misuse("cublasLtMatmul: a workspace of %llu bytes where the algorithm needs %llu",
                       static_cast<unsigned long long>(p.workspace_bytes),
                       static_cast<unsigned long long>(chosen.workspace));
    need_aligned(p.A, chosen.alignment[0], "A");
    need_aligned(p.B, chosen.alignment[1], "B");
    if (p.beta != 0) need_aligned(p.C, chosen.alignment[2], "C");
    need_aligned(p.D, chosen.alignment[3], "D");
    need_aligned(p.workspace, 256, "the workspace");
    p.workspace_bytes = chosen.workspace;
}

} // namespace

/* GPUSIM_FAULT=no_epilogue: a library that fuses nothing behind a product. */
extern "C" cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t o,
                                                         cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                                         cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                                         cublasLtMatmulPreference_t wanted, int most,
                                                         cublasLtMatmulHeuristicResult_t *results, int *count)
{
    call call(__func__, kind::query);
    *count = 0;
    if (call.fails()) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (most < 1 || !results) return CUBLAS_STATUS_INVALID_VALUE;
    if (gpusim::faulty("no_epilogue") && gpusim::of(o).epilogue != CUBLASLT_EPILOGUE_DEFAULT)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const cublasStatus_t status =
        gpusim::check(gpusim::of(o), gpusim::of(a), gpusim::of(b), gpusim::of(c), gpusim::of(d));
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    const preference &p = gpusim::of(wanted);
    std::uint64_t number = 0;
    for (std::uint64_t workspace : WORKSPACES) {
        number++;
        if (workspace > p.workspace || *count == most) continue;
        const choice chosen = {
            gpusim::CHOICE,
            gpusim::fingerprint(gpusim::of(o), gpusim::of(a), gpusim::of(b), gpusim::of(c), gpusim::of(d)),
            workspace,
            {p.alignment[0], p.alignment[1], p.alignment[2], p.alignment[3]},
            number};
        cublasLtMatmulHeuristicResult_t &result = results[(*count)++];
        result = {};
        std::memcpy(&result.algo, &chosen, sizeof chosen);
        result.workspaceSize = workspace;
        result.state = CUBLAS_STATUS_SUCCESS;
        result.wavesCount = 1;
    }
    return *count ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

/* GPUSIM_FAULT=forgotten_beta: what should be added to is overwritten. */
extern "C" cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t o, const void *alpha, const void *A,
                                         cublasLtMatrixLayout_t a, const void *B, cublasLtMatrixLayout_t b,
                                         const void *beta, const void *C, cublasLtMatrixLayout_t c, void *D,
                                         cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t *algorithm,
                                         void *workspace, std::size_t workspace_bytes, cudaStream_t stream)
{
    call call(__func__, kind::library);
    if (call.fails()) return CUBLAS_STATUS_EXECUTION_FAILED;
    product p = {gpusim::of(o),
                 gpusim::of(a),
                 gpusim::of(b),
                 gpusim::of(c),
                 gpusim::of(d),
                 A,
                 B,
                 C,
                 D,
                 workspace,
                 workspace_bytes,
                 *static_cast<const float *>(alpha),
                 *static_cast<const float *>(beta)};
    const cublasStatus_t status = gpusim::check(p.o, p.a, p.b, p.c, p.d);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    if (!algorithm) gpusim::misuse("cublasLtMatmul: no algorithm is given, so it would be looked for at every call");
    choice chosen;
    std::memcpy(&chosen, algorithm, sizeof chosen);
    check_choice(chosen, p);
    if (gpusim::faulty("forgotten_beta")) p.beta = 0;
    gpusim::enqueue(stream, "cublasLtMatmul", [=] { run(p); });
    return CUBLAS_STATUS_SUCCESS;
}
