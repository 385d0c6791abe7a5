/* calls.h - every function of CUDA, cuBLASLt and cuDNN that this plug-in calls, and what is left for the kernels' launchers.
 *
 * A double of these libraries (tests/gpusim) must offer just these; whoever adds a call adds it here. All work goes to one of two streams,
 * made with cudaStreamNonBlocking; nothing uses the default stream, a callback or managed memory.
 *
 * Runtime
 *     cudaGetDeviceCount cudaGetDeviceProperties cudaSetDevice cudaMemGetInfo cudaDriverGetVersion cudaRuntimeGetVersion
 *     cudaMalloc cudaFree cudaHostAlloc cudaFreeHost cudaMemcpyAsync cudaMemsetAsync
 *     cudaStreamCreateWithFlags cudaStreamDestroy cudaStreamSynchronize cudaStreamWaitEvent
 *     cudaEventCreateWithFlags cudaEventDestroy cudaEventRecord cudaEventSynchronize cudaEventQuery
 *     cudaGetLastError cudaGetErrorName cudaGetErrorString
 *     cudaLaunchKernel, by kernels/ only
 * Of cudaDeviceProp: name uuid major minor totalGlobalMem multiProcessorCount pciDomainID pciBusID pciDeviceID
 *
 * cuBLASLt (row-major matrices, seen by it as column-major ones of the transposes)
 *     cublasLtCreate cublasLtDestroy cublasLtGetVersion cublasLtGetStatusName cublasLtGetStatusString
 *     cublasLtMatmulDescCreate cublasLtMatmulDescDestroy cublasLtMatmulDescSetAttribute
 *     cublasLtMatrixLayoutCreate cublasLtMatrixLayoutDestroy
 *     cublasLtMatmulPreferenceCreate cublasLtMatmulPreferenceDestroy cublasLtMatmulPreferenceSetAttribute
 *     cublasLtMatmulAlgoGetHeuristic cublasLtMatmul
 * Matmul attributes: TRANSA TRANSB EPILOGUE BIAS_POINTER; C is D; beta 0 or 1; epilogues DEFAULT BIAS RELU_BIAS RELU; preference MAX_WORKSPACE_BYTES,
 * REDUCTION_SCHEME_MASK (COMPUTE_TYPE) and MIN_ALIGNMENT_{A,B,C,D}_BYTES (16); compute types 32F and 32F_FAST_TF32, scale type 32F, alpha and beta on the host
 *
 * cuDNN, graph API (NHWC activations, KRSC weights; each graph is built once and executed many times)
 *     cudnnCreate cudnnDestroy cudnnSetStream cudnnGetVersion cudnnGetErrorString cudnnGetLastErrorString
 *     cudnnBackendCreateDescriptor cudnnBackendDestroyDescriptor cudnnBackendSetAttribute cudnnBackendGetAttribute cudnnBackendFinalize
 *     cudnnBackendExecute
 * Plans are made for a DEVICEPROP descriptor, made of the handle; heuristics, engines and plans are given it and no handle.
 * Graphs: convolution forward; convolution forward, add bias, ReLU with virtual f32 tensors between; convolution backward data;
 * convolution backward filter; alpha 1, beta 0; modes A, B and FALLBACK
 * Descriptors read back: ENGINEHEUR_RESULTS (engine configurations), ENGINECFG_ENGINE, ENGINE_NUMERICAL_NOTE, ENGINE_BEHAVIOR_NOTE,
 * ENGINE_GLOBAL_INDEX, OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, EXECUTION_PLAN_WORKSPACE_SIZE
 *
 * cuDNN, classic calls (NHWC, alpha 1, beta 0; with --kernels cudnn only)
 *     cudnnCreateTensorDescriptor cudnnDestroyTensorDescriptor cudnnSetTensor4dDescriptor
 *     cudnnCreatePoolingDescriptor cudnnDestroyPoolingDescriptor cudnnSetPooling2dDescriptor cudnnPoolingForward cudnnPoolingBackward
 *     cudnnCreateActivationDescriptor cudnnDestroyActivationDescriptor cudnnSetActivationDescriptor cudnnActivationForward
 *     cudnnActivationBackward
 *     cudnnCreateLRNDescriptor cudnnDestroyLRNDescriptor cudnnSetLRNDescriptor cudnnLRNCrossChannelForward cudnnLRNCrossChannelBackward
 *     cudnnSoftmaxForward
 */
#ifndef CAIRN_BACKENDS_CUDA_CALLS_H
#define CAIRN_BACKENDS_CUDA_CALLS_H
#endif
