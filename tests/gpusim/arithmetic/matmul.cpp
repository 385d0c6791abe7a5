#include "matmul.hpp"
#include <algorithm>
#include <cstring>
#include <vector>

namespace arithmetic
{

namespace
{

/* A tile of c is TALL x WIDE and stays in registers while DEEP products are added to each of its elements; BROAD columns of b are packed at
 * a time (1 MB). */
constexpr std::int64_t TALL = 6, WIDE = 16, DEEP = 256, BROAD = 1024;

using lanes = float __attribute__((vector_size(32)));

#if defined(__x86_64__)
#define PER_PROCESSOR __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PER_PROCESSOR
#endif

/* sum[i][j] = sum over l of a[l][i] b[l][j]: both packed without gaps. */
PER_PROCESSOR void tile(std::int64_t depth, const float *a, const float *b, float *sum)
{
    lanes acc[TALL][2] = {};
    for (std::int64_t l = 0; l < depth; l++, a += TALL, b += WIDE) {
        lanes left, right;
        std::memcpy(&left, b, sizeof left);
        std::memcpy(&right, b + 8, sizeof right);
        for (int i = 0; i < TALL; i++) {
            acc[i][0] += a[i] * left;
            acc[i][1] += a[i] * right;
        }
    }
    std::memcpy(sum, acc, sizeof acc);
}

/* Columns (rows of a) [first, first + width) by `depth`, packed side by side; zeros beyond `count`. */
void pack(const float *from, std::int64_t side, std::int64_t along, std::int64_t count, std::int64_t width,
          std::int64_t depth, float *to)
{
    for (std::int64_t l = 0; l < depth; l++, to += width) {
        for (std::int64_t i = 0; i < count; i++)
            to[i] = from[i * side + l * along];
        std::fill(to + count, to + width, 0.0f);
    }
}

void add_tile(const float *sum, std::int64_t rows, std::int64_t columns, float *c, std::int64_t pitch, bool overwrite)
{
    for (std::int64_t i = 0; i < rows; i++)
        for (std::int64_t j = 0; j < columns; j++)
            c[i * pitch + j] = overwrite ? sum[i * WIDE + j] : c[i * pitch + j] + sum[i * WIDE + j];
}

} // namespace

void multiply(std::int64_t m, std::int64_t n, std::int64_t k, matrix a, matrix b, float *c, std::int64_t pitch,
              bool accumulate)
{
    static thread_local std::vector<float> packed_a, packed_b;
    packed_a.resize(TALL * DEEP);
    packed_b.resize((BROAD + WIDE) * DEEP);
    for (std::int64_t l = 0; l < k; l += DEEP) {
        const std::int64_t depth = std::min(DEEP, k - l);
        for (std::int64_t j0 = 0; j0 < n; j0 += BROAD) {
            const std::int64_t columns = std::min(BROAD, n - j0);
            for (std::int64_t j = 0; j < columns; j += WIDE)
                pack(b.data + l * b.down + (j0 + j) * b.across, b.across, b.down, std::min(WIDE, columns - j), WIDE,
                     depth, packed_b.data() + j * depth);
            for (std::int64_t i = 0; i < m; i += TALL) {
                const std::int64_t rows = std::min(TALL, m - i);
                pack(a.data + i * a.down + l * a.across, a.down, a.across, rows, TALL, depth, packed_a.data());
                for (std::int64_t j = 0; j < columns; j += WIDE) {
                    float sum[TALL * WIDE];
                    tile(depth, packed_a.data(), packed_b.data() + j * depth, sum);
                    add_tile(sum, rows, std::min(WIDE, columns - j), c + i * pitch + j0 + j, pitch,
                             l == 0 && !accumulate);
                }
            }
        }
    }
}

} // namespace arithmetic
