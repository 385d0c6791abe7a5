/* matmul.hpp - products of f32 matrices, fast enough for whole networks.
 *
 *     multiply(m, n, k, {a, k, 1}, {b, 1, k}, c, n, false);        c = a b^T, all of them in rows
 */
#pragma once

#include <cstdint>

namespace arithmetic
{

/* Element (i, j) is at data[i * down + j * across]. */
struct matrix {
    const float *data;
    std::int64_t down, across;
};

/* c[i][j] (+)= sum over l of a[i][l] b[l][j], rows of c `pitch` apart. Sums of 256 products are f32, and so is the sum of these. */
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, matrix a, matrix b, float *c, std::int64_t pitch,
              bool accumulate);

} // namespace arithmetic
