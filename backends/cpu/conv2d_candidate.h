/* conv2d_candidate.h - one way to run one pass of a convolution. conv2d.c makes all that fit a problem, times them when the
 * plan is made, and keeps the fastest of each pass.
 *
 *     cairn_conv2d_candidate *candidate;
 *     CAIRN_TRY(cairn_winograd_create(&problem, CAIRN_CONV2D_FORWARD, &candidate));
 *     if (candidate) {                                            NULL: this way doesn't fit the problem
 *         ... candidate->workspace bytes at operands.workspace ...
 *         CAIRN_TRY(candidate->run(candidate, &operands));
 *         candidate->destroy(candidate);
 *     }
 */
#ifndef CAIRN_BACKENDS_CPU_CONV2D_CANDIDATE_H
#define CAIRN_BACKENDS_CPU_CONV2D_CANDIDATE_H

#include "core/backend.h"

typedef enum cairn_conv2d_pass {
    CAIRN_CONV2D_FORWARD,          /* reads src, weights, bias; writes dst, clamped at 0 with problem.relu */
    CAIRN_CONV2D_BACKWARD_DATA,    /* reads diff_dst, weights; writes diff_src */
    CAIRN_CONV2D_BACKWARD_WEIGHTS, /* reads src, diff_dst; writes diff_weights and, with problem.has_bias, diff_bias */
    CAIRN_CONV2D_PASSES
} cairn_conv2d_pass;

/* A convolution whose operands lie in blocked layouts, f32. With b = block:
 *   src, diff_src         nChw<b>c: [batch][channels / b][height][width][b]
 *   dst, diff_dst         the same of out_channels, out_height, out_width
 *   weights, diff_weights OIhw<b>i<b>o a group: [group][out_channels / groups / b][channels / groups / b][kernel][kernel][b in][b out]
 *   bias, diff_bias       [out_channels]
 * A group's channels and out_channels are multiples of b. Buffers are 64-byte aligned. */
typedef struct cairn_conv2d_problem {
    int64_t batch, channels, height, width;
    int64_t out_channels, out_height, out_width;
    int64_t kernel, stride, pad; /* square */
    int64_t groups;              /* at least 1 */
    int block;                   /* 8 or 16 */
    int threads;                 /* of the OpenMP team that run() works with */
    bool has_bias, relu;
} cairn_conv2d_problem;

typedef struct cairn_conv2d_candidate cairn_conv2d_candidate;

struct cairn_conv2d_candidate {
    char name[64];    /* for people, and its key among remembered choices: "winograd F(4x4,3x3)" */
    size_t workspace; /* bytes wanted at operands->workspace (64-byte aligned; contents undefined before and after) */

    /* Runs the pass with every output overwritten (operands->accumulate is not looked at) and nothing allocated. Called from
     * the device's thread, outside any parallel region. The same numbers on every run with the same number of threads. */
    cairn_status (*run)(const cairn_conv2d_candidate *candidate, const cairn_operands *operands);
    void (*destroy)(cairn_conv2d_candidate *candidate);
};

/* Our own Winograd convolution (winograd.c). *out is NULL, and the status CAIRN_OK, for a problem it has no form for. */
cairn_status cairn_winograd_create(const cairn_conv2d_problem *problem, cairn_conv2d_pass pass,
                                   cairn_conv2d_candidate **out);

#endif
