#include "train/nonfinite.h"
#include <math.h>
#include <stdlib.h>

cairn_status cairn_find_nonfinite_weight(const cairn_net *net)
{
    cairn_slab weights = cairn_net_weights(net);
    for (int p = 0; p < cairn_net_parameter_count(net); p++) {
        cairn_tensor view = cairn_net_view(net, &weights, p);
        int64_t count = cairn_shape_count(view.shape);
        float *values = malloc((size_t)count * sizeof *values);
        if (!values) return cairn_fail(CAIRN_MEMORY, "no memory to look for the weight that is not finite");
        cairn_status status = cairn_tensor_read(&view, values, count);
        for (int64_t i = 0; status == CAIRN_OK && i < count; i++)
            if (!isfinite(values[i]))
                status = cairn_fail(CAIRN_NONFINITE, "%s is not finite", cairn_net_parameter(net, p)->name);
        free(values);
        CAIRN_TRY(status);
    }
    return CAIRN_OK;
}

cairn_status cairn_find_nonfinite(cairn_net *net, cairn_feed *feed, const uint8_t *rgb, const cairn_forward *forward)
{
    cairn_forward looking = *forward;
    looking.check_finite = true;
    CAIRN_TRY(cairn_find_nonfinite_weight(net));
    CAIRN_TRY(cairn_feed_images(feed, rgb, NULL, NULL));
    return cairn_net_forward(net, &looking);
}

cairn_status cairn_fail_nonfinite(cairn_status found, const char *what, const char *advice)
{
    if (found != CAIRN_OK && found != CAIRN_NONFINITE) return found; /* looking for it failed on its own account */
    const char *where = found == CAIRN_OK ? "every layer's output is finite, so the logits themselves are too large"
                                          : cairn_error_last()->message;
    return cairn_fail(CAIRN_NONFINITE, "%s is not finite: %s%s%s", what, where, *advice ? ": " : "", advice);
}
