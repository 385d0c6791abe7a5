/* matmul.h - one product of row-major matrices by cuBLASLt, planned once for its sizes and run many times.
 *
 *     const cairn_matmul_desc desc = {.rows = n, .columns = out, .inner = in, .transpose_b = true, ...};       y = x w^T
 *     CAIRN_TRY(cairn_matmul_plan(cuda, &desc, &product));
 *     CAIRN_TRY(cairn_matmul_run(&product, cuda, x, w, bias, 0, y, workspace));
 *     cairn_matmul_release(&product);
 *
 * cuBLASLt counts in columns: the row-major D = A B is the column-major D^T = B^T A^T, so it is given B first.
 */
#ifndef CAIRN_BACKENDS_CUDA_MATMUL_H
#define CAIRN_BACKENDS_CUDA_MATMUL_H

#include "backends/cuda/cuda.h"

/* D (rows, columns) = A (rows, inner) B (inner, columns), with sums in f32; a transposed operand lies as (inner, rows) or (columns, inner). */
typedef struct cairn_matmul_desc {
    int64_t rows, columns, inner;
    bool transpose_a, transpose_b;
    cairn_dtype input, output; /* of A and B, of D and the bias */
    bool bias, relu;           /* D = max(A B + bias, 0): a bias for each column */
} cairn_matmul_desc;

typedef struct cairn_matmul {
    cublasLtMatmulDesc_t operation; /* NULL: not planned */
    cublasLtMatrixLayout_t a, b, d;
    cublasLtMatmulAlgo_t algorithm;
    size_t workspace; /* bytes */
    bool bias;
} cairn_matmul;

/* The first algorithm that the library recommends. CAIRN_DEVICE where it has none. Release the product also after a failure. */
cairn_status cairn_matmul_plan(cairn_cuda *cuda, const cairn_matmul_desc *desc, cairn_matmul *out);

/* D = A B + beta D on the compute stream. */
cairn_status cairn_matmul_run(const cairn_matmul *product, cairn_cuda *cuda, const void *a, const void *b,
                              const void *bias, float beta, void *d, void *workspace);
void cairn_matmul_release(cairn_matmul *product);

#endif
