#include "description.hpp"
#include "gpusim.hpp"
#include <cstring>

namespace gpusim
{

namespace
{

/* Copies an attribute of the size that the manual gives it. */
template <class T> cublasStatus_t take(T *to, const void *from, std::size_t bytes)
{
    if (!from || bytes != sizeof *to) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(to, from, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t set(operation *o, cublasLtMatmulDescAttributes_t what, const void *from, std::size_t bytes)
{
    switch (what) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
        return take(&o->transpose_a, from, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
        return take(&o->transpose_b, from, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
        return take(&o->epilogue, from, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
        return take(&o->bias, from, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
        return take(&o->bias_type, from, bytes);
    default:
        misuse("cublasLtMatmulDescSetAttribute: the double knows no attribute %d", static_cast<int>(what));
    }
}

bool has_bias(const operation &o)
{
    return o.epilogue == CUBLASLT_EPILOGUE_BIAS || o.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
}

} // namespace

arithmetic::element element_of(cudaDataType type)
{
    switch (type) {
    case CUDA_R_32F:
        return arithmetic::element::f32;
    case CUDA_R_16F:
        return arithmetic::element::f16;
    case CUDA_R_16BF:
        return arithmetic::element::bf16;
    default:
        misuse("cuBLASLt: the double knows no type %d", static_cast<int>(type));
    }
}

cublasStatus_t check(const operation &o, const layout &a, const layout &b, const layout &c, const layout &d)
{
    const bool ta = o.transpose_a != CUBLAS_OP_N, tb = o.transpose_b != CUBLAS_OP_N;
    const std::int64_t m = ta ? a.columns : a.rows, k = ta ? a.rows : a.columns;
    const std::int64_t n = tb ? b.rows : b.columns, inner = tb ? b.columns : b.rows;
    if (k != inner || c.rows != m || c.columns != n || d.rows != m || d.columns != n)
        return CUBLAS_STATUS_INVALID_VALUE;
    const bool known = o.epilogue == CUBLASLT_EPILOGUE_DEFAULT || o.epilogue == CUBLASLT_EPILOGUE_RELU || has_bias(o);
    if (!known) misuse("cuBLASLt: the double knows no epilogue %d", static_cast<int>(o.epilogue));
    if (a.type != b.type || c.type != d.type) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (d.type != a.type && d.type != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (o.compute == CUBLAS_COMPUTE_32F_FAST_TF32 && a.type != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (has_bias(o) && o.bias_type >= 0 && o.bias_type != d.type) return CUBLAS_STATUS_NOT_SUPPORTED;
    return CUBLAS_STATUS_SUCCESS;
}

std::uint64_t fingerprint(const operation &o, const layout &a, const layout &b, const layout &c, const layout &d)
{
    std::uint64_t sum = 14695981039346656037u; /* FNV-1a over numbers in place of bytes */
    auto add = [&sum](auto value) { sum = (sum ^ static_cast<std::uint64_t>(value)) * 1099511628211u; };
    add(o.compute), add(o.transpose_a), add(o.transpose_b), add(o.epilogue), add(o.bias_type);
    for (const layout *l : {&a, &b, &c, &d})
        add(l->type), add(l->rows), add(l->columns), add(l->pitch);
    return sum;
}

} // namespace gpusim

using gpusim::call;
using gpusim::kind;

extern "C" cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *out, cublasComputeType_t compute,
                                                   cudaDataType_t scale)
{
    call call(__func__, kind::create);
    if (call.fails()) return CUBLAS_STATUS_ALLOC_FAILED;
    if (compute != CUBLAS_COMPUTE_32F && compute != CUBLAS_COMPUTE_32F_FAST_TF32)
        gpusim::misuse("cublasLtMatmulDescCreate: the double knows no compute type %d", static_cast<int>(compute));
    if (scale != CUDA_R_32F) return CUBLAS_STATUS_INVALID_VALUE;
    auto *made = new gpusim::operation();
    made->compute = compute;
    made->transpose_a = made->transpose_b = CUBLAS_OP_N;
    made->epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    made->bias_type = -1;
    *out = made;
    return CUBLAS_STATUS_SUCCESS;
}

extern "C" cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d)
{
    call call(__func__, kind::free);
    delete static_cast<gpusim::operation *>(d);
    return CUBLAS_STATUS_SUCCESS;
}

extern "C" cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t what,
                                                         const void *from, std::size_t bytes)
{
    return gpusim::set(static_cast<gpusim::operation *>(d), what, from, bytes);
}

extern "C" cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *out, cudaDataType type, std::uint64_t rows,
                                                     std::uint64_t columns, std::int64_t pitch)
{
    call call(__func__, kind::create);
    if (call.fails()) return CUBLAS_STATUS_ALLOC_FAILED;
    if (!rows || !columns || pitch < static_cast<std::int64_t>(rows)) return CUBLAS_STATUS_INVALID_VALUE;
    gpusim::element_of(type);
    auto *made = new gpusim::layout();
    made->type = type;
    made->rows = static_cast<std::int64_t>(rows);
    made->columns = static_cast<std::int64_t>(columns);
    made->pitch = pitch;
    *out = made;
    return CUBLAS_STATUS_SUCCESS;
}

extern "C" cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t l)
{
    call call(__func__, kind::free);
    delete static_cast<gpusim::layout *>(l);
    return CUBLAS_STATUS_SUCCESS;
}

extern "C" cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *out)
{
    call call(__func__, kind::create);
    if (call.fails()) return CUBLAS_STATUS_ALLOC_FAILED;
    auto *made = new gpusim::preference();
    for (std::uint32_t &alignment : made->alignment)
        alignment = 256;
    *out = made;
    return CUBLAS_STATUS_SUCCESS;
}

extern "C" cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p)
{
    call call(__func__, kind::free);
    delete static_cast<gpusim::preference *>(p);
    return CUBLAS_STATUS_SUCCESS;
}

extern "C" cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t p,
                                                               cublasLtMatmulPreferenceAttributes_t what,
                                                               const void *from, std::size_t bytes)
{
    auto *to = static_cast<gpusim::preference *>(p);
    switch (what) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
        return gpusim::take(&to->workspace, from, bytes);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
        return gpusim::take(&to->reductions, from, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
        return gpusim::take(&to->alignment[0], from, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
        return gpusim::take(&to->alignment[1], from, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
        return gpusim::take(&to->alignment[2], from, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
        return gpusim::take(&to->alignment[3], from, bytes);
    default:
        gpusim::misuse("cublasLtMatmulPreferenceSetAttribute: the double knows no attribute %d",
                       static_cast<int>(what));
    }
}
