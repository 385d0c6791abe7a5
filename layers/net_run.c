#include "layers/net_state.h"
#include <math.h>
#include <stdlib.h>

cairn_status net_check_planned(const cairn_net *net, bool train)
{
    if (!net->planned) return cairn_fail(CAIRN_USAGE, "%s: is not planned; call cairn_net_plan first", net->name);
    if (train && !net->options.train)
        return cairn_fail(CAIRN_USAGE, "%s: is planned for evaluation only; plan it with train", net->name);
    return CAIRN_OK;
}

/* ---- the search for the first number that is not finite ---- */

static cairn_status check_values(const cairn_tensor *tensor, const char *what, float *host, int64_t count)
{
    CAIRN_TRY(cairn_tensor_read(tensor, host, count));
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(host[i]))
            return cairn_fail(CAIRN_NONFINITE, "%s is not finite: element %lld of %lld is %g", what, (long long)i,
                              (long long)count, (double)host[i]);
    return CAIRN_OK;
}

static cairn_status check_finite(const cairn_net *net, const char *what, int value)
{
    const net_value *v = &net->values[value];
    const cairn_tensor tensor = cairn_tensor_view(net->device, v->data, v->shape, v->dtype, v->layout);
    int64_t count = cairn_shape_count(v->shape);
    float *host = malloc((size_t)count * sizeof *host);
    if (!host) return cairn_fail(CAIRN_MEMORY, "no memory to look at %lld elements", (long long)count);
    cairn_status status = check_values(&tensor, what, host, count);
    free(host);
    return status;
}

/* ---- forward and backward ---- */

static cairn_status run_forward(const cairn_net *net, const net_step *step, const cairn_forward *forward)
{
    cairn_operands operands = step->operands;
    operands.train = forward->train;
    operands.step = forward->step;
    operands.first_sample = forward->first_sample;
    CAIRN_TRY(step->plan->ops->forward(step->plan, &operands));
    if (!forward->check_finite || step->reorder) return CAIRN_OK;
    return check_finite(net, "the output", step->dst);
}

cairn_status cairn_net_forward(cairn_net *net, const cairn_forward *forward)
{
    CAIRN_TRY(net_check_planned(net, forward->train));
    if (forward->check_finite && check_finite(net, "the input", net->input) != CAIRN_OK)
        return cairn_error_add_context("%s", net->name);
    net->forward = *forward;
    for (int i = 0; i < net->forward_count; i++) {
        const net_step *step = &net->steps[i];
        if (run_forward(net, step, forward) != CAIRN_OK) return net_layer_failed(&net->layers[step->layer]);
    }
    return CAIRN_OK;
}

static cairn_status run_backward(const cairn_net *net, const net_step *step, bool accumulate)
{
    cairn_operands operands = step->operands;
    operands.train = true;
    operands.accumulate = accumulate;
    operands.step = net->forward.step; /* dropout draws the mask of the forward again */
    operands.first_sample = net->forward.first_sample;
    if (step->reorder) return step->plan->ops->forward(step->plan, &operands);
    return step->plan->ops->backward(step->plan, &operands);
}

cairn_status cairn_net_backward(cairn_net *net, bool accumulate)
{
    CAIRN_TRY(net_check_planned(net, true));
    if (!net->forward.train)
        return cairn_fail(CAIRN_USAGE, "%s: backward needs a training forward before it", net->name);
    for (int i = net->forward_count; i < net->step_count; i++) {
        const net_step *step = &net->steps[i];
        if (run_backward(net, step, accumulate) != CAIRN_OK) {
            net_layer_failed(&net->layers[step->layer]);
            return cairn_error_add_context("backward");
        }
    }
    return CAIRN_OK;
}
