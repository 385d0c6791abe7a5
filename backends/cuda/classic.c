/* classic.c - descriptors of cuDNN's classic calls, and softmax by them. */
#include "backends/cuda/classic.h"

bool cairn_classic_fits(cairn_shape shape)
{
    int64_t count = cairn_shape_count(shape);
    return count > 0 && count <= INT32_MAX;
}

cairn_status cairn_classic_describe(cudnnTensorDescriptor_t tensor, cairn_dtype dtype, cairn_shape shape)
{
    cudnnDataType_t type = dtype == CAIRN_F16    ? CUDNN_DATA_HALF
                           : dtype == CAIRN_BF16 ? CUDNN_DATA_BFLOAT16
                                                 : CUDNN_DATA_FLOAT;
    CUDNN_TRY(cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NHWC, type, (int)shape.dim[0], (int)shape.dim[1],
                                         (int)shape.dim[2], (int)shape.dim[3]));
    return CAIRN_OK;
}

cairn_status cairn_classic_log_softmax(cairn_cuda *cuda, int64_t batch, int64_t classes, const float *logits,
                                       float *out)
{
    const float one = 1, zero = 0;
    CAIRN_TRY(cairn_classic_describe(cuda->logits, CAIRN_F32, cairn_shape_make(2, batch, classes)));
    CUDNN_TRY(cudnnSoftmaxForward(cuda->dnn, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_INSTANCE, &one, cuda->logits, logits,
                                  &zero, cuda->logits, out));
    return CAIRN_OK;
}
