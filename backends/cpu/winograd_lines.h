/* winograd_lines.h - the one-dimensional transforms of a Winograd convolution, on vectors of channels.
 *
 * A correlation y_i = sum_k w_k d_(i+k) of m outputs and r taps is the transpose of a product of polynomials, so with
 * n = m + r - 1 points it costs n products:   y = A^T ((G w) * (B^T d))     (Winograd 1980; Lavin & Gray 2016).
 *
 * The points, in this order:  0  1  -1  2  -2  infinity  1/2  -1/2.  A line of n = 6, 7 or 8 points takes the first n, and G is
 * the same row for row whatever n is: lines of different n share the transformed filters. That works because
 *   - row a of B^T holds the coefficients of M(x) / (x - a), M the product of all (x - b) and M itself at infinity. With
 *     M6(x) = x (x^2 - 1) (x^2 - 4), M7 = M6 (x - 1/2) and M8 = M6 (x^2 - 1/4), the rows of the first six points are those of
 *     n = 6 applied to e_j = d_(j+1) - d_j / 2 or e_j = d_(j+2) - d_j / 4;
 *   - G evaluates the filter at a and divides by M6'(a); what M7'(a) and M8'(a) have beyond that goes into A.
 * Two-dimensional tiles apply a line transform to the columns and then to the rows; the two may differ in n.
 *
 * Included by winograd_simd.h, where `vec` is a vector of WINOGRAD_LANES floats. n and the counts are constants at every call, so
 * all loops unroll.
 */
#ifndef CAIRN_BACKENDS_CPU_WINOGRAD_LINES_H
#define CAIRN_BACKENDS_CPU_WINOGRAD_LINES_H

enum { WINOGRAD_MOST_POINTS = 8, WINOGRAD_MOST_TAPS = 5 };

#define WINOGRAD_INLINE static inline __attribute__((always_inline))

/* Factors of the points in A for n = 6, 7, 8: 1, 1 / (a - 1/2), 1 / (a^2 - 1/4). */
static const float winograd_output_scale[3][WINOGRAD_MOST_POINTS] = {
    {1, 1, 1, 1, 1, 1, 0, 0},
    {-2, 2, -2.0f / 3, 2.0f / 3, -0.4f, 1, 1, 0},
    {-4, 4.0f / 3, 4.0f / 3, 4.0f / 15, 4.0f / 15, 1, 1, 1},
};

/* Factors of the points in G: 1 / M6'(a); at +-1/2, 1 / M6(1/2). */
static const float winograd_filter_scale[WINOGRAD_MOST_POINTS] = {0.25f,     -1.0f / 6, -1.0f / 6,  1.0f / 24,
                                                                  1.0f / 24, 1,         32.0f / 45, 32.0f / 45};

/* (B^T d) for the six points 0, +-1, +-2, infinity. */
WINOGRAD_INLINE void winograd_data_six(const vec d[6], vec out[6])
{
    vec even1 = d[4] - 4.0f * d[2], odd1 = d[3] - 4.0f * d[1];
    vec even2 = d[4] - d[2], odd2 = 2.0f * (d[3] - d[1]);
    out[0] = 4.0f * d[0] + (d[4] - 5.0f * d[2]);
    out[1] = even1 + odd1;
    out[2] = even1 - odd1;
    out[3] = even2 + odd2;
    out[4] = even2 - odd2;
    out[5] = 4.0f * d[1] + (d[5] - 5.0f * d[3]);
}

/* out = B^T d, n values each. */
WINOGRAD_INLINE void winograd_data_line(int n, const vec *d, vec *out)
{
    if (n == 6) {
        winograd_data_six(d, out);
        return;
    }
    vec reduced[6];
    for (int j = 0; j < 6; j++)
        reduced[j] = n == 7 ? d[j + 1] - 0.5f * d[j] : d[j + 2] - 0.25f * d[j];
    winograd_data_six(reduced, out);
    vec low = 4.0f * d[1] + (d[5] - 5.0f * d[3]);
    if (n == 7) {
        out[6] = low;
        return;
    }
    vec high = 4.0f * d[2] + (d[6] - 5.0f * d[4]);
    out[6] = high + 0.5f * low;
    out[7] = high - 0.5f * low;
}

/* out_a = scale_a * (in_0 + in_1 a + ... + in_(count-1) a^(count-1)) at the first n points; at infinity the last coefficient.
 * G w with winograd_filter_scale, and A dy with winograd_output_scale. */
WINOGRAD_INLINE void winograd_evaluate_line(int count, int n, const float *scale, const vec *in, vec *out)
{
    vec even1 = in[0], odd1 = in[1], even2 = in[0], odd2 = 2.0f * in[1], even_half = in[0], odd_half = 0.5f * in[1];
    for (int i = 2; i < count; i++) {
        float power = (float)(1 << i);
        if (i % 2 == 0) {
            even1 += in[i];
            even2 += power * in[i];
            even_half += 1.0f / power * in[i];
        } else {
            odd1 += in[i];
            odd2 += power * in[i];
            odd_half += 1.0f / power * in[i];
        }
    }
    out[0] = scale[0] * in[0];
    out[1] = scale[1] * (even1 + odd1);
    out[2] = scale[2] * (even1 - odd1);
    out[3] = scale[3] * (even2 + odd2);
    out[4] = scale[4] * (even2 - odd2);
    out[5] = scale[5] * in[count - 1];
    if (n > 6) out[6] = scale[6] * (even_half + odd_half);
    if (n > 7) out[7] = scale[7] * (even_half - odd_half);
}

/* The transpose of winograd_evaluate_line: out_i = sum over the first n points of scale_a a^i in_a. A^T m and G^T du. */
WINOGRAD_INLINE void winograd_collect_line(int count, int n, const float *scale, const vec *in, vec *out)
{
    vec plus1 = scale[1] * in[1], minus1 = scale[2] * in[2], plus2 = scale[3] * in[3], minus2 = scale[4] * in[4];
    vec even1 = plus1 + minus1, odd1 = plus1 - minus1, even2 = plus2 + minus2, odd2 = plus2 - minus2;
    vec even_half = in[0], odd_half = in[0]; /* set below where they are used */
    if (n > 6) even_half = odd_half = scale[6] * in[6];
    if (n > 7) {
        even_half += scale[7] * in[7];
        odd_half -= scale[7] * in[7];
    }
    for (int i = 0; i < count; i++) {
        float power = (float)(1 << i);
        vec sum = i % 2 == 0 ? even1 + power * even2 : odd1 + power * odd2;
        if (n > 6) sum += 1.0f / power * (i % 2 == 0 ? even_half : odd_half);
        if (i == 0) sum += scale[0] * in[0];
        if (i == count - 1) sum += scale[5] * in[5];
        out[i] = sum;
    }
}

#endif
