#include "backends/cuda/matmul.h"
#include <string.h>

#define WORKSPACE_LIMIT                                                                                                \
    ((size_t)32 << 20) /* what NVIDIA recommends for Hopper (cuBLAS documentation, "cublasSetWorkspace") */
#define ALIGNMENT 16   /* bytes, of every operand */

static cudaDataType_t native(cairn_dtype dtype)
{
    return dtype == CAIRN_F16 ? CUDA_R_16F : dtype == CAIRN_BF16 ? CUDA_R_16BF : CUDA_R_32F;
}

static cairn_status set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t name, const void *value,
                        size_t size)
{
    CUBLAS_TRY(cublasLtMatmulDescSetAttribute(operation, name, value, size));
    return CAIRN_OK;
}

static cairn_status describe(cairn_cuda *cuda, const cairn_matmul_desc *desc, cairn_matmul *out)
{
    bool tf32 = desc->input == CAIRN_F32 && cuda->base.options.tf32;
    const cublasComputeType_t compute = tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    const cublasOperation_t first = desc->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t second = desc->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasLtEpilogue_t epilogue = desc->bias   ? desc->relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS
                                        : desc->relu ? CUBLASLT_EPILOGUE_RELU
                                                     : CUBLASLT_EPILOGUE_DEFAULT;
    CUBLAS_TRY(cublasLtMatmulDescCreate(&out->operation, compute, CUDA_R_32F));
    CAIRN_TRY(set(out->operation, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first));
    CAIRN_TRY(set(out->operation, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof second));
    CAIRN_TRY(set(out->operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
    /* Without any address the library recommends nothing for a product with a bias; the one that counts comes with each run. */
    if (desc->bias) CAIRN_TRY(set(out->operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &cuda->stage, sizeof cuda->stage));
    out->bias = desc->bias;
    return CAIRN_OK;
}

static cairn_status shape(cublasLtMatrixLayout_t *out, cairn_dtype dtype, int64_t rows, int64_t columns)
{
    CUBLAS_TRY(cublasLtMatrixLayoutCreate(out, native(dtype), (uint64_t)rows, (uint64_t)columns, rows));
    return CAIRN_OK;
}

/* Row-major matrices as column-major ones: a row is a column of theirs. */
static cairn_status describe_matrices(const cairn_matmul_desc *desc, cairn_matmul *out)
{
    int64_t rows = desc->rows, columns = desc->columns, inner = desc->inner;
    CAIRN_TRY(shape(&out->a, desc->input, desc->transpose_a ? rows : inner, desc->transpose_a ? inner : rows));
    CAIRN_TRY(shape(&out->b, desc->input, desc->transpose_b ? inner : columns, desc->transpose_b ? columns : inner));
    return shape(&out->d, desc->output, columns, rows);
}

/* Split sums are added up in f32 too, never in the type of the result. */
static cairn_status prefer(cublasLtMatmulPreference_t preference)
{
    static const cublasLtMatmulPreferenceAttributes_t alignments[] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    const size_t limit = WORKSPACE_LIMIT;
    const uint32_t alignment = ALIGNMENT, reduction = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    CUBLAS_TRY(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit,
                                                    sizeof limit));
    CUBLAS_TRY(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reduction,
                                                    sizeof reduction));
    for (size_t i = 0; i < sizeof alignments / sizeof *alignments; i++)
        CUBLAS_TRY(cublasLtMatmulPreferenceSetAttribute(preference, alignments[i], &alignment, sizeof alignment));
    return CAIRN_OK;
}

static cairn_status choose(cairn_cuda *cuda, const cairn_matmul_desc *desc, cublasLtMatmulPreference_t preference,
                           cairn_matmul *out)
{
    cublasLtMatmulHeuristicResult_t result;
    int count = 0;
    CAIRN_TRY(prefer(preference));
    cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(cuda->blas, out->operation, out->b, out->a, out->d, out->d,
                                                           preference, 1, &result, &count);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && count == 0))
        return cairn_fail(CAIRN_DEVICE,
                          "linear on cuda: cuBLASLt has no algorithm for a product of %lldx%lld by %lldx%lld in %s",
                          (long long)desc->rows, (long long)desc->inner, (long long)desc->inner,
                          (long long)desc->columns, cairn_dtype_name(desc->input));
    CAIRN_TRY(cairn_cublas_check(status, "cublasLtMatmulAlgoGetHeuristic", __FILE__, __LINE__));
    out->algorithm = result.algo;
    out->workspace = result.workspaceSize;
    return CAIRN_OK;
}

cairn_status cairn_matmul_plan(cairn_cuda *cuda, const cairn_matmul_desc *desc, cairn_matmul *out)
{
    cublasLtMatmulPreference_t preference;
    memset(out, 0, sizeof *out);
    CAIRN_TRY(describe(cuda, desc, out));
    CAIRN_TRY(describe_matrices(desc, out));
    CUBLAS_TRY(cublasLtMatmulPreferenceCreate(&preference));
    cairn_status status = choose(cuda, desc, preference, out);
    cublasLtMatmulPreferenceDestroy(preference);
    return status;
}

cairn_status cairn_matmul_run(const cairn_matmul *product, cairn_cuda *cuda, const void *a, const void *b,
                              const void *bias, float beta, void *d, void *workspace)
{
    const float alpha = 1;
    if (product->bias) CAIRN_TRY(set(product->operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
    CUBLAS_TRY(cublasLtMatmul(cuda->blas, product->operation, &alpha, b, product->b, a, product->a, &beta, d,
                              product->d, d, product->d, &product->algorithm, workspace, product->workspace,
                              cuda->compute));
    return CAIRN_OK;
}

void cairn_matmul_release(cairn_matmul *product)
{
    if (product->d) cublasLtMatrixLayoutDestroy(product->d);
    if (product->b) cublasLtMatrixLayoutDestroy(product->b);
    if (product->a) cublasLtMatrixLayoutDestroy(product->a);
    if (product->operation) cublasLtMatmulDescDestroy(product->operation);
    memset(product, 0, sizeof *product);
}
