/* winograd_multiply.h - the matrix product of winograd_kernel.h: a block of WINOGRAD_ROWS x two vectors stays in registers
 * while a column of a and a row of b go by. The operands come from the transforms in the order they are read here, so nothing is
 * packed. Included by winograd_simd.h.
 */
#ifndef CAIRN_BACKENDS_CPU_WINOGRAD_MULTIPLY_H
#define CAIRN_BACKENDS_CPU_WINOGRAD_MULTIPLY_H

/* Steps of b fetched ahead: b streams by from the second or third level of the cache. */
enum { WINOGRAD_AHEAD = 16 };

/* `rows` is a constant at every call. */
WINOGRAD_INLINE void multiply_rows(int rows, const cairn_winograd_product *p, const float *a, const float *b, float *c)
{
    vec sum[WINOGRAD_ROWS][2];
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++) {
        sum[i][0] = p->add ? *(const vec *)(c + i * p->c_row) : (vec){0};
        sum[i][1] = p->add ? *(const vec *)(c + i * p->c_row + LANES) : (vec){0};
    }
    ptrdiff_t a_row = p->a_row, a_step = p->a_step, b_step = p->b_step;
    for (ptrdiff_t step = p->steps; step > 0; step--) {
        __builtin_prefetch(b + WINOGRAD_AHEAD * b_step);
        if (LANES > 8) __builtin_prefetch(b + WINOGRAD_AHEAD * b_step + LANES); /* a step is two cache lines wide */
        vec left = *(const vec *)b, right = *(const vec *)(b + LANES);
#pragma GCC unroll 16
        for (int i = 0; i < rows; i++) {
            float factor = a[i * a_row];
            sum[i][0] += factor * left;
            sum[i][1] += factor * right;
        }
        a += a_step;
        b += b_step;
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++) {
        *(vec *)(c + i * p->c_row) = sum[i][0];
        *(vec *)(c + i * p->c_row + LANES) = sum[i][1];
    }
}

#define MULTIPLY_CASE(n)                                                                                               \
    case n:                                                                                                            \
        multiply_rows(n, p, a, b, c);                                                                                  \
        break;

static void winograd_multiply(const cairn_winograd_product *p)
{
    ptrdiff_t groups = (p->rows + WINOGRAD_ROWS - 1) / WINOGRAD_ROWS;
    for (ptrdiff_t panel = 0; panel < p->panels; panel++) {
        for (ptrdiff_t group = 0; group < groups; group++) {
            /* as even as can be: a last group of one row would run at the speed of its latency */
            ptrdiff_t first = p->rows * group / groups, rows = p->rows * (group + 1) / groups - first;
            const float *a = p->a + first * p->a_row, *b = p->b + panel * p->b_panel;
            float *c = p->c + first * p->c_row + panel * p->c_panel;
            switch (rows) {
                MULTIPLY_CASE(1)
                MULTIPLY_CASE(2)
                MULTIPLY_CASE(3)
                MULTIPLY_CASE(4)
                MULTIPLY_CASE(5)
                MULTIPLY_CASE(6)
#if WINOGRAD_ROWS == 12
                MULTIPLY_CASE(7)
                MULTIPLY_CASE(8)
                MULTIPLY_CASE(9)
                MULTIPLY_CASE(10)
                MULTIPLY_CASE(11)
                MULTIPLY_CASE(12)
#endif
            default:
                break;
            }
        }
    }
}

#endif
