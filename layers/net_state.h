/* net_state.h - what a net consists of; shared by the net_*.c files only.
 *
 * Planning compiles the layers into a program: an array of steps, forward first, then backward. Each step is one planned operation over
 * values (activations, gradients, saved state) whose memory lies in one arena. Running is walking over the steps.
 */
#ifndef CAIRN_LAYERS_NET_STATE_H
#define CAIRN_LAYERS_NET_STATE_H

#include "layers/layer_class.h"
#include "layers/net.h"

enum { NET_NAME_SIZE = 40, NET_NONE = -1 };

typedef struct net_layer {
    char name[NET_NAME_SIZE];
    char prefix[NET_NAME_SIZE]; /* of its parameters */
    cairn_layer *layer;         /* owned */
    cairn_shape src, dst;       /* for one sample: dim[0] is 1 */
    int first_parameter, parameter_count, first_buffer, buffer_count;

    /* After planning. */
    bool relu;              /* the ReLU behind it is part of it */
    bool relu_backward;     /* it masks the gradient of its output */
    bool fused;             /* it is that ReLU, or an LRN that the max-pool behind it computes: no step of its own */
    const cairn_layer *lrn; /* of that max-pool: the LRN; `relu` then says that it clamps the LRN's input */
    bool viewed;            /* its output is its input's memory */
    int step;               /* its forward step, or NET_NONE */
    int input, output, diff_output; /* values, or NET_NONE */
} net_layer;

typedef struct net_buffer {
    char name[64];
    int64_t offset, count; /* elements in the slab of buffers */
} net_buffer;

/* Memory with a lifetime: an activation, a gradient, saved state or the workspace. */
typedef struct net_value {
    cairn_shape shape;
    cairn_dtype dtype;
    const cairn_layout *layout;
    size_t bytes;
    int root;        /* the value whose memory it is; itself where it has its own */
    int first, last; /* times of its first and last use; of roots only */
    int slot;        /* number in the memory plan; of roots only */
    void *data;
} net_value;

/* Of a parameter in a net of low precision: the copy that its layer reads. */
typedef struct net_low {
    const cairn_layout *layout;
    int64_t offset;   /* elements in the slab of copies */
    cairn_plan *plan; /* makes it from the f32 weights; NULL where there is no copy */
} net_low;

/* One operation of the program. Values or NET_NONE; a reorder has src and dst. */
typedef struct net_step {
    int layer; /* for messages */
    cairn_plan *plan;
    bool owns_plan; /* a layer's backward step shares the plan of its forward step */
    bool backward;  /* runs plan->ops->backward */
    bool reorder;
    int src, dst, diff_dst, diff_src, saved;
    cairn_operands operands; /* addresses, bound once memory is placed */
} net_step;

struct cairn_net {
    char name[NET_NAME_SIZE];
    cairn_shape input_shape; /* for one sample */

    net_layer *layers;
    int layer_count, layer_capacity;
    cairn_parameter *parameters;
    int parameter_count, parameter_capacity;
    net_buffer *buffers;
    int buffer_count, buffer_capacity;

    /* After planning. */
    cairn_device *device; /* NULL before; borrowed */
    bool planned;
    cairn_net_options options;
    net_value *values;
    int value_count;
    net_step *steps;
    int step_count, forward_count;
    int input, output, diff_input, diff_output, workspace; /* values */
    cairn_slab weights, gradients, running, arena;
    cairn_slab weights_low; /* in low precision */
    net_low *low;           /* [parameter_count]; NULL in f32 */
    int64_t slab_count;
    size_t workspace_bytes;
    cairn_forward forward; /* the last one; backward draws its dropout masks again */
};

/* Times of the memory plan: forward steps, then the loss, then backward steps. */
static inline int net_time(const cairn_net *net, int step)
{
    return step < net->forward_count ? step : step + 1;
}

static inline int net_last_time(const cairn_net *net)
{
    return net->step_count; /* the loss took one */
}

/* Passes a failure up with the layer's name and kind before it. */
cairn_status net_layer_failed(const net_layer *layer);

/* CAIRN_USAGE unless the net is planned, with train where that is asked. */
cairn_status net_check_planned(const cairn_net *net, bool train);

/* The first layer that has parameters; layer_count when none has. */
int net_first_trainable(const cairn_net *net);

/* Shape of a value for the planned batch. */
cairn_shape net_batched(const cairn_net *net, cairn_shape sample);

/* net_fuse.c: decides which ReLUs are folded and who masks for them, and which max-pools compute the LRN before them too. */
void net_fuse(cairn_net *net);

/* net_forward.c: what the layer asks its class to plan, once it is known what is fused with it. */
cairn_layer_request net_request(const cairn_net *net, int layer, const cairn_layout *src_layout);

/* net_backward.c, net_forward.c: append the steps of a direction, making plans and values. */
cairn_status net_plan_forward(cairn_net *net);
cairn_status net_plan_backward(cairn_net *net);

/* net_program.c: the pieces both directions are made of. Values and steps were allocated for the worst case before. */
int net_add_value(cairn_net *net, cairn_shape shape, cairn_dtype dtype, const cairn_layout *layout);
int net_add_bytes(cairn_net *net, size_t bytes);
int net_add_alias(cairn_net *net, int value, cairn_shape shape, const cairn_layout *layout);
net_step *net_add_step(cairn_net *net, int layer, cairn_plan *plan);
/* *value as `dtype` in `layout`: itself, or a new value written by a reorder step. */
cairn_status net_add_reorder(cairn_net *net, int layer, cairn_dtype dtype, const cairn_layout *layout, int *value);
/* Does the step's backward read src, or dst? */
bool net_backward_reads_src(const cairn_net *net, const net_step *step);
bool net_backward_reads_dst(const cairn_net *net, const net_step *step);

/* net_low.c, after the parameters have their places: places and plans their copies, where the net has low precision. Their address. */
cairn_status net_place_low(cairn_net *net);
void *net_low_address(const cairn_net *net, int parameter);

/* net_memory.c: gives parameters their places and takes the slabs; places every value in the arena and binds addresses. */
cairn_status net_place_parameters(cairn_net *net);
cairn_status net_place_values(cairn_net *net);

#endif
